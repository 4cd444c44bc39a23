"""What LowRankImputer fills in, how sure it is, and what it refuses."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import datasets
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer
from sklearn.preprocessing import StandardScaler

from factorstream import LowRankImputer

# ---------------------------------------------------------------- real tables


@pytest.mark.long
@pytest.mark.once
@pytest.mark.parametrize(
    ("name", "seeds"),
    [("breast_cancer", (11, 12, 13)), ("wine", (11, 12, 13)), ("diabetes", (11, 12, 13)), ("digits", (11,))],
)
def test_real_tables_against_the_other_imputers(name, seeds):
    """One seed hides 34,500 entries of the digits, twice as many as three seeds hide of any other table."""
    X = StandardScaler().fit_transform(getattr(datasets, f"load_{name}")().data)
    ours, iterative, knn, covered = [], [], [], []
    for seed in seeds:
        gaps = np.random.default_rng(seed).random(X.shape) < 0.3
        gappy = np.where(gaps, np.nan, X)

        def error(filled, gaps=gaps):
            return np.sqrt(np.mean((filled - X)[gaps] ** 2))

        imputer = LowRankImputer(random_state=seed)
        ours.append(error(imputer.fit_transform(gappy)))
        lower, upper = imputer.predict_interval(gappy, level=0.95)
        covered.append(np.mean((lower <= X)[gaps] & (upper >= X)[gaps]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # ten rounds are too few for it, its default all the same
            iterative.append(error(IterativeImputer(random_state=seed).fit_transform(gappy)))
        knn.append(error(KNNImputer().fit_transform(gappy)))
    assert np.mean(ours) < np.mean(iterative)
    assert name == "digits" or np.mean(ours) < np.mean(knn)
    assert 0.93 < np.mean(covered) < 0.97


def test_units_do_not_matter(problem, rng):
    _, gappy, gaps = problem
    units = 10.0 ** rng.uniform(-4.0, 4.0, gappy.shape[1])
    plain, scaled = LowRankImputer(random_state=0).fit(gappy), LowRankImputer(random_state=0).fit(gappy * units)
    assert plain.n_components_ == scaled.n_components_
    assert_allclose(scaled.transform(gappy * units) / units, plain.transform(gappy), rtol=1e-6)
    for ours, other in zip(plain.predict_interval(gappy), scaled.predict_interval(gappy * units), strict=True):
        assert_allclose(other / units, ours, rtol=1e-6)
    draws = plain.sample_imputations(gappy, 2, random_state=1)
    assert_allclose(scaled.sample_imputations(gappy * units, 2, random_state=1) / units, draws, rtol=1e-6, atol=1e-6)
    assert gaps.any()


@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_sizes_at_the_edge_of_floats(problem, size):
    _, gappy, _ = problem
    want = LowRankImputer(random_state=0).fit_transform(gappy)
    assert_allclose(LowRankImputer(random_state=0).fit_transform(gappy * size) / size, want, rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_nothing_overflows(dtype, rng):
    most = np.finfo(dtype).max
    X = (rng.choice([-0.99, 0.99], (40, 3)) * most).astype(dtype)
    X[rng.random(X.shape) < 0.2] = np.nan
    imputer = LowRankImputer(calibrate=False, random_state=0).fit(X)
    assert np.isfinite(imputer.transform(X)).all()
    assert np.isfinite(imputer.predict_interval(X, level=0.999)).all()


# ---------------------------------------------------------------- what comes out


def test_observed_values_are_kept_and_gaps_are_filled(problem):
    X, gappy, gaps = problem
    before = gappy.copy()
    imputer = LowRankImputer(random_state=0)
    filled = imputer.fit_transform(gappy)
    assert_array_equal(gappy, before)
    assert_array_equal(filled[~gaps], X[~gaps])
    assert np.sqrt(np.mean((filled - X)[gaps] ** 2)) < 0.5
    assert_array_equal(filled, imputer.transform(gappy))
    assert_array_equal(imputer.transform(X), X)
    assert_allclose(imputer.statistics_, np.nanmean(gappy, axis=0))
    assert_allclose(imputer.scale_, np.nanstd(gappy, axis=0))
    assert_array_equal(imputer.n_observed_, (~gaps).sum(axis=0))
    assert 1 <= imputer.n_components_ <= 8
    assert LowRankImputer(2, random_state=0).fit(gappy).n_components_ <= 2


def test_new_rows(problem):
    X, gappy, gaps = problem
    imputer = LowRankImputer(random_state=0).fit(gappy[:100])
    filled = imputer.transform(gappy[100:])
    assert np.sqrt(np.mean((filled - X[100:])[gaps[100:]] ** 2)) < 0.6
    assert_allclose(imputer.transform(gappy[100:101]), filled[:1], rtol=1e-9)
    empty = np.full((2, 8), np.nan)
    assert_allclose(imputer.transform(empty), np.tile(imputer.statistics_, (2, 1)), atol=0.5)
    lower, upper = imputer.predict_interval(empty)
    assert (lower < X[100:].mean(axis=0)).all()
    assert (upper > X[100:].mean(axis=0)).all()


def test_intervals(problem):
    X, gappy, gaps = problem
    imputer = LowRankImputer(random_state=0).fit(gappy)
    filled = imputer.transform(gappy)
    narrow, wide = imputer.predict_interval(gappy, level=0.5), imputer.predict_interval(gappy, level=0.9)
    for lower, upper in (narrow, wide):
        assert_array_equal(lower[~gaps], X[~gaps])
        assert_array_equal(upper[~gaps], X[~gaps])
        assert (lower[gaps] < filled[gaps]).all()
        assert (filled[gaps] < upper[gaps]).all()
    assert (wide[0] <= narrow[0]).all()
    assert (wide[1] >= narrow[1]).all()


def test_impute_is_transform_with_deviations(problem):
    _, X, _ = problem
    n = len(X)
    gap = np.where(np.arange(n) < 30, 1.0, np.nan)  # a constant that was seen often
    rare = np.where(np.arange(n) < 5, 1.0, np.nan)
    X = np.column_stack([X, gap, rare, np.full(n, np.nan)])
    with pytest.warns(UserWarning, match="Dropping features"):
        imputer = LowRankImputer(add_indicator=True, marginals="linear", residual=None, random_state=0).fit(X)
    filled, std = imputer.impute(X, return_std=True)
    kept = X[:, :-1]
    assert_array_equal(filled, imputer.transform(X)[:, : kept.shape[1]])
    assert_array_equal(imputer.impute(X), filled)
    mean, scale = np.nanmean(X[:, :-3], axis=0), np.nanstd(X[:, :-3], axis=0)
    _, expected = imputer.factorization_.impute((X[:, :-3] - mean) / scale, return_std=True)
    assert_allclose(std[:, :-2], expected * scale, rtol=1e-6)
    assert (std[np.isfinite(kept)] == 0).all()
    assert (std[:, -2] == 0).all()
    assert np.isinf(std[5:, -1]).all()


def test_draws_spread_like_the_intervals(problem):
    X, gappy, gaps = problem
    imputer = LowRankImputer(random_state=0, calibrate=False).fit(gappy)
    draws = imputer.sample_imputations(gappy, 400, random_state=0)
    assert draws.shape == (400, *X.shape)
    assert_array_equal(draws[:, ~gaps], np.tile(X[~gaps], (400, 1)))
    lower, upper = imputer.predict_interval(gappy, level=0.9)
    inside = np.mean((lower <= draws)[:, gaps] & (draws <= upper)[:, gaps])
    assert inside == pytest.approx(0.9, abs=0.03)
    assert_array_equal(draws[:2], imputer.sample_imputations(gappy, 400, random_state=0)[:2])
    assert imputer.sample_imputations(gappy).shape == (5, *X.shape)
    for n_draws in (0, -1, 2.5):
        with pytest.raises(ValueError, match="n_draws must be a whole number"):
            imputer.sample_imputations(gappy, n_draws)


def test_robust_against_outliers(problem, rng):
    X, gappy, gaps = problem
    spoilt = np.where(rng.random(X.shape) < 0.05, 100.0 * rng.standard_normal(X.shape), gappy)
    spoilt[gaps] = np.nan

    def error(robust):
        filled = LowRankImputer(2, robust=robust, random_state=0).fit_transform(spoilt)
        return np.sqrt(np.mean((filled - X)[gaps] ** 2))

    assert error(True) < 0.7 * error(False)


# ---------------------------------------------------------------- small and bad input


@pytest.mark.parametrize("calibrate", [True, False])
@pytest.mark.parametrize("shape", [(1, 1), (1, 4), (2, 1), (2, 3), (3, 3), (6, 1), (3, 20)])
def test_tiny_tables(shape, calibrate):
    X = np.arange(np.prod(shape), dtype=float).reshape(shape) ** 2
    gappy = X.copy()
    gappy[-1, 0] = np.nan
    imputer = LowRankImputer(calibrate=calibrate, keep_empty_features=True, random_state=0).fit(gappy)
    assert np.isfinite(imputer.transform(gappy)).all()
    assert imputer.sample_imputations(gappy, 3).shape == (3, *shape)
    if not calibrate:
        lower, upper = imputer.predict_interval(gappy)
        unknown = np.isnan(gappy) & (imputer.scale_ == 0)
        assert_array_equal(np.isinf(lower), unknown)
        assert_array_equal(np.isinf(upper), unknown)
        assert (lower <= upper).all()


@pytest.mark.parametrize("calibrate", [True, False])
def test_a_feature_that_did_not_vary_has_bounds_only_if_it_was_seen_often(calibrate, rng):
    """One value, 18 and 19 equal ones, none at all; the others keep the intervals that they have without these."""
    plain = np.where(rng.random((80, 5)) < 0.3, np.nan, rng.standard_normal((80, 1)) + rng.standard_normal((80, 5)))
    odd = np.full((80, 4), np.nan)
    odd[0, 0], odd[:18, 1], odd[:19, 2] = 5.0, 6.0, 7.0
    X = np.hstack([plain, odd])
    imputer = LowRankImputer(calibrate=calibrate, keep_empty_features=True, random_state=0).fit(X)
    lower, upper = imputer.predict_interval(X, level=0.95)
    gaps = np.isnan(X)
    assert_array_equal(lower[~gaps], X[~gaps])
    assert_array_equal(upper[~gaps], X[~gaps])
    for j in (5, 6, 8):
        assert (lower[gaps[:, j], j] == -np.inf).all()
        assert (upper[gaps[:, j], j] == np.inf).all()
    assert (lower[:, 7] == 7.0).all()
    assert (upper[:, 7] == 7.0).all()
    alone = LowRankImputer(calibrate=calibrate, random_state=0).fit(plain).predict_interval(plain, level=0.95)
    assert_array_equal((lower[:, :5], upper[:, :5]), alone)


def test_only_gaps_in_features_that_vary_need_calibration():
    """Too few entries to calibrate matter to no one where the features that vary are complete."""
    X = np.array([[5.0, 1.0], [np.nan, 2.0], [np.nan, 3.0], [np.nan, 4.0]])
    lower, upper = LowRankImputer(random_state=0).fit(X).predict_interval(X)
    assert_array_equal(lower, [[5.0, 1.0], [-np.inf, 2.0], [-np.inf, 3.0], [-np.inf, 4.0]])
    assert_array_equal(upper, [[5.0, 1.0], [np.inf, 2.0], [np.inf, 3.0], [np.inf, 4.0]])


@pytest.mark.parametrize("level", [0.95, 0.99])
def test_too_small_to_calibrate(level, rng):
    gappy = rng.standard_normal((12, 4))
    gappy[0, 0] = np.nan
    imputer = LowRankImputer(random_state=0).fit(gappy)
    with pytest.raises(ValueError, match=f"too few.*{level}"):
        imputer.predict_interval(gappy, level=level)
    lower, upper = LowRankImputer(random_state=0).fit(gappy).predict_interval(gappy, level=0.01)
    assert lower[0, 0] < upper[0, 0]


@pytest.mark.parametrize("level", [0.0, 1.0, -0.1, 1.5, np.nan])
def test_bad_levels(problem, level):
    for X in (problem[1], np.ones((3, 2))):
        with pytest.raises(ValueError, match="level must lie strictly between 0 and 1"):
            LowRankImputer(random_state=0).fit(X).predict_interval(X, level=level)


@pytest.mark.parametrize("robust", [0, -1.0, "yes", None])
def test_bad_degrees_of_freedom(problem, robust):
    with pytest.raises(ValueError, match="'robust' parameter"):
        LowRankImputer(robust=robust).fit(problem[1])


def test_nothing_observed():
    X = np.full((4, 3), np.nan)
    assert_array_equal(LowRankImputer(keep_empty_features=True).fit_transform(X), np.zeros((4, 3)))
    with pytest.raises(ValueError, match="no observed entry"):
        LowRankImputer().fit(X)


def test_a_failed_fit_changes_nothing(problem):
    _, gappy, _ = problem
    imputer = LowRankImputer(random_state=0).fit(gappy)
    before = imputer.transform(gappy)
    for bad in (np.where(np.isnan(gappy), np.inf, gappy)[:, :5], np.full((4, 3), np.nan)):
        with pytest.raises(ValueError):
            imputer.fit(bad)
    assert_array_equal(imputer.transform(gappy), before)
    with pytest.raises(ValueError, match="infinity at row 0, column 1"):
        imputer.transform([[1.0, np.inf, *[0.0] * 6]])


@pytest.mark.filterwarnings("ignore:X has an absurd value")  # the larger one is
@pytest.mark.parametrize("outlier", [1e4, 1e7])
def test_one_gross_outlier_does_not_widen_its_column(rng, outlier):
    truth = rng.standard_normal((200, 2)) @ rng.standard_normal((2, 8)) + 0.1 * rng.standard_normal((200, 8))
    X = np.where(rng.random(truth.shape) < 0.2, np.nan, truth)
    X[0, 0] = outlier
    lower, upper = LowRankImputer(robust=True, random_state=0).fit(X).predict_interval(X)
    gone = np.isnan(X[:, 0])
    assert np.median((upper - lower)[gone, 0]) < 2.0


def test_the_sweeps_are_bounded(rng):
    X = np.where(rng.random((80, 6)) < 0.2, np.nan, rng.standard_normal((80, 6)))
    assert LowRankImputer(max_iter=1, random_state=0).fit(X).n_iter_ == 1


def test_a_level_close_to_one_is_answered_at_once(rng):
    X = np.where(rng.random((80, 6)) < 0.2, np.nan, rng.standard_normal((80, 6)))
    with pytest.raises(ValueError, match="too few"):
        LowRankImputer(random_state=0).fit(X).predict_interval(X, level=1 - 1e-12)
