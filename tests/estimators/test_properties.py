"""Properties that must hold for any data hypothesis can think of."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import first_state
from factorstream import DictionaryFilter
from factorstream.core.filter.state import copy_arrays
from factorstream.tall.counted_rows import CountedRows
from factorstream.tall.engine import RowBlock
from factorstream.tall.places import place_of
from factorstream.tall.rows_numpy import NumpyRows
from filter_problems import paper_filter
from reference import mf_rlf_masked
from split_place import fetched

seeds = st.integers(0, 2**32 - 1)
sizes = st.tuples(st.integers(12, 40), st.integers(6, 12), st.integers(1, 4))
missing = st.sampled_from([0.0, 0.2, 0.6])
LIMITS = settings(max_examples=25, deadline=None)


def problem(seed, size, fraction):
    rng = np.random.default_rng(seed)
    n, m, r = size
    X = rng.standard_normal((n, r)) @ rng.standard_normal((r, m)) + 0.5 * rng.standard_normal((n, m)) + 1.0
    gone = rng.random(X.shape) < fraction
    gone[:, ~(~gone).any(axis=0)] = False  # every feature is seen somewhere
    return rng, X, gone


def close(a, b, rtol=1e-6):
    np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * np.abs(b).max())


@LIMITS
@given(seeds, sizes, missing, st.lists(st.integers(1, 39), max_size=5))
def test_split_invariance(seed, size, fraction, cuts):
    _, X, gone = problem(seed, size, fraction)
    X[gone] = np.nan
    whole = DictionaryFilter(size[2], random_state=0, shuffle=False).partial_fit(X)
    parts = DictionaryFilter(size[2], random_state=0, shuffle=False)
    for part in np.split(X, sorted({c for c in cuts if c < len(X)})):
        parts.partial_fit(part)
    close(parts.components_, whole.components_)
    close(parts.covariance_, whole.covariance_)


@LIMITS
@given(seeds, sizes, missing)
def test_permuting_features_permutes_the_result(seed, size, fraction):
    rng, X, gone = problem(seed, size, fraction)
    X[gone] = np.nan
    order = rng.permutation(size[1])
    init = rng.standard_normal((size[2], size[1]))
    plain = DictionaryFilter(size[2], init=init, shuffle=False).fit(X)
    permuted = DictionaryFilter(size[2], init=init[:, order], shuffle=False).fit(X[:, order])
    close(permuted.components_, plain.components_[:, order])
    close(permuted.covariance_, plain.covariance_[order])
    close(permuted.impute(X[:, order]), plain.impute(X)[:, order])


@LIMITS
@given(seeds, sizes, missing, st.floats(-6, 6))
def test_scale_equivariance(seed, size, fraction, exponent):
    _, X, gone = problem(seed, size, fraction)
    X[gone] = np.nan
    factor = 10.0**exponent
    plain = DictionaryFilter(size[2], random_state=0).fit(X)
    scaled = DictionaryFilter(size[2], random_state=0).fit(factor * X)
    close(scaled.components_ / factor, plain.components_)
    close(scaled.impute(factor * X) / factor, plain.impute(X))


@LIMITS
@given(seeds, sizes, missing)
def test_v_never_grows_without_drift(seed, size, fraction):
    _, X, gone = problem(seed, size, fraction)
    X[gone] = np.nan
    given = {"noise_variance": 0.1, "prior_covariance": 1.0, "fit_mean": False}
    model = paper_filter(size[2], random_state=0, **given).partial_fit(X[:1])
    for row in X[1:]:
        before = model.covariance_
        model.partial_fit(row[None])
        assert np.linalg.eigvalsh(before - model.covariance_)[0] >= -1e-12 * np.trace(before)


@LIMITS
@given(
    seeds,
    sizes,
    st.sampled_from([0.2, 0.6]),
    st.sampled_from([1e300, np.inf, -np.inf, 0.0]),
    st.sampled_from(["shared", "counted"]),
)
def test_values_under_the_mask_never_matter(seed, size, fraction, poison, covariance):
    """The filter is given the mask, and anything may stand in the rows where it says missing."""
    rng, X, gone = problem(seed, size, fraction)
    init = rng.standard_normal((size[2], size[1]))
    settings = {
        "noise_variance": 0.5,
        "prior_covariance": 1.0,
        "fit_mean": False,
        "init": init,
        "shuffle": False,
        "covariance": covariance,
        "scale": False,
    }
    clean = np.where(gone, np.nan, X)
    model = DictionaryFilter(size[2], **settings).fit(clean)
    start = first_state(model, clean)
    place = place_of(start.C)
    rows = RowBlock(place.put(np.where(gone, poison, X), 1), len(X), place.put(gone, 1))
    one_by_one = CountedRows if covariance == "counted" else NumpyRows
    engine = one_by_one(place, model.state_.settings.model, start.C)
    found, _ = engine.run(start._replace(small=copy_arrays(start.small)), [rows])
    close(fetched(found.C), fetched(model.state_.filter.C), rtol=1e-7)
    if covariance == "shared" and (~gone).sum(axis=1).min() > size[2]:
        C, _ = mf_rlf_masked(np.where(gone, 7.0, X).T, (~gone).T.astype(float), init.T, np.eye(size[2]), 0.5)
        close(model.components_, C.T, rtol=1e-5)
