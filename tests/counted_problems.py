"""States and streams for the filter in which every feature has its own doubt."""

from __future__ import annotations

import numpy as np

from factorstream.core.filter.coefficients import COEFFICIENT_STEPS, DOUBTING
from factorstream.core.filter.gains import KalmanGain
from factorstream.core.filter.groups import Groups, covariances, stack
from factorstream.core.filter.model import FilterModel
from factorstream.tall.places import place_to_start
from filter_problems import begin
from split_place import fetched


def counted_model(r, q, step="least_squares", *, drift=None, learn_noise=False, follow=False, min_observed=None):
    return FilterModel(
        r, q, COEFFICIENT_STEPS[DOUBTING[step]], KalmanGain(), learn_noise, follow, min_observed or r, 1e-14, drift
    )


def begin_counted(C, V, lam, r, unseen=None):
    """The state before the first sample; the features ``unseen`` have no origin yet."""
    state, place = begin(C, V, lam, r), place_to_start()
    m, q = C.shape
    zeros, alike = place.put(np.zeros(m), 0), place.put(np.zeros(m, dtype=np.intp), 0)
    groups = Groups(zeros, alike, np.zeros((0, q, q)), np.zeros(0), 0.0, np.linalg.cholesky(V))
    mask = None
    if unseen is not None:
        mask = np.zeros(m, dtype=bool)
        mask[list(unseen)] = True
        mask = place.put(mask, 0)
    return state._replace(groups=groups, unseen=mask)


def feature_covariances(state):
    """V_i of every feature (m × q × q), in the units of λ."""
    return covariances(stack(state.small.S, state.groups))[fetched(state.groups.group)]


def problem(rng, n, m, r, *, missing=0.0, noise=0.3, with_mean=True):
    """Rows of a low-rank matrix with noise and random gaps, every row with at least two values; a start; V0."""
    Y = rng.standard_normal((n, r)) @ rng.standard_normal((r, m)) + noise * rng.standard_normal((n, m))
    if with_mean:
        Y += 2.0 * rng.standard_normal(m)
    hidden = rng.random(Y.shape) < missing
    hidden[:, :2] &= (~hidden).sum(axis=1, keepdims=True) > 2
    q = r + with_mean
    A = rng.standard_normal((q, q))
    C = 0.3 * rng.standard_normal((m, q))
    return np.where(hidden, np.nan, Y), C, A @ A.T / q + 0.5 * np.eye(q)
