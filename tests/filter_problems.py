"""States and models of the filter, made by hand."""

from __future__ import annotations

import numpy as np

from conftest import low_rank
from factorstream import DictionaryFilter
from factorstream.core.filter.coefficients import COEFFICIENT_STEPS
from factorstream.core.filter.gains import KalmanGain
from factorstream.core.filter.model import FilterModel
from factorstream.core.filter.state import FilterState, SmallState
from factorstream.tall.places import place_to_start


def random_spd(rng, q, scale=1.0):
    A = rng.standard_normal((q, q))
    return scale * (A @ A.T / q + 0.1 * np.eye(q))


def begin(C, V, lam, r=None):
    """The state before the first sample, for r components (all columns of C without a mean)."""
    r = C.shape[1] if r is None else r
    S = np.asfortranarray(np.linalg.cholesky(V))
    small = SmallState(np.asfortranarray(C.T @ C), S, np.eye(r, order="F"), np.zeros(r), lam, lam, 1.0, 0, 0)
    place = place_to_start()
    return FilterState(place.put(C, 0), place.put(np.zeros(len(C)), 0), None, small)


def paper_filter(n_components, **settings):
    """The estimator as Algorithm 1 has it: one V for all features, columns as they are."""
    return DictionaryFilter(n_components, covariance="shared", scale=False, **settings)


def paper_model(r, q=None, step="least_squares", drift=None):
    """Algorithm 1 with given numbers."""
    return FilterModel(r, q or r, COEFFICIENT_STEPS[step], KalmanGain(), False, False, r, 1e-14, drift)


def stream(rng, n, m, r, missing):
    """Rows with complete runs in between, the mask of observed entries (r + 2 or more), and the rows with gaps."""
    Y = low_rank(rng, n, m, r, noise=0.5) + rng.standard_normal(m)
    hidden = rng.random(Y.shape) < missing
    hidden[::5] = hidden[1::5] = False
    hidden[(~hidden).sum(axis=1) < r + 2, : r + 2] = False
    return Y, (~hidden).astype(float), np.where(hidden, np.nan, Y)


def close(a, b, rtol=1e-8):
    np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * np.abs(b).max())
