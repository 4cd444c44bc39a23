"""``sample_weight`` and ``variances`` of the estimators that take them."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from factorstream import BayesianFactorization, LowRankImputer, load
from factorstream.core.variational.conformal import CalibrationError

N, M = 300, 8
ESTIMATORS = [
    LowRankImputer(random_state=0),
    BayesianFactorization(noise_variance="per_feature", calibrate=True, random_state=0),
    BayesianFactorization(3),
]


def table(seed):
    """True values, what is seen of them, and the variances of the errors, which are very unequal."""
    rng = np.random.default_rng(seed)
    v = 10.0 ** rng.uniform(-3.0, 1.5, (N, M))
    Y = rng.standard_normal((N, 3)) @ rng.standard_normal((3, M)) + 3.0 * rng.standard_normal(M)
    Y += 0.2 * rng.standard_normal((N, M))
    gaps = rng.random(Y.shape) < 0.3
    return Y, np.where(gaps, np.nan, Y + np.sqrt(v) * rng.standard_normal(Y.shape)), v, gaps


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_fills_are_better_and_intervals_hold(estimator):
    errors, without, held = [], [], []
    for seed in range(4):
        Y, X, v, gaps = table(seed)
        model = sklearn.clone(estimator).fit(X, variances=v)
        errors.append((model.impute(X, variances=v) - Y)[gaps])
        without.append((sklearn.clone(estimator).fit(X).impute(X) - Y)[gaps])
        lower, upper = model.predict_interval(X, variances=v)
        held.append(((lower <= Y) & (upper >= Y))[gaps])
    assert np.mean(np.square(np.concatenate(errors))) < 0.5 * np.mean(np.square(np.concatenate(without)))
    assert 0.93 < np.mean(np.concatenate(held)) < 0.985


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_a_weight_of_zero_leaves_a_row_out(estimator):
    """To the last bit: it is dropped before anything else."""
    _, X, v, _ = table(0)
    weight = np.where(np.arange(N) % 3, 1.0, 0.0)
    some = weight > 0
    found = sklearn.clone(estimator).fit(X, sample_weight=weight, variances=v)
    expected = sklearn.clone(estimator).fit(X[some], sample_weight=weight[some], variances=v[some])
    np.testing.assert_array_equal(found.impute(X, variances=v), expected.impute(X, variances=v))
    for one, other in zip(found.predict_interval(X), expected.predict_interval(X), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    "estimator",
    [
        BayesianFactorization(3),
        BayesianFactorization(3, noise_variance="per_feature", robust=True),
        LowRankImputer(3, calibrate=False, marginals="linear", residual=None, max_iter=30),
    ],
    ids=str,
)
def test_a_weight_of_two_is_the_row_twice(estimator):
    """Small whole weights count in the start of a fit too, so that all sweeps are the same but for rounding."""
    _, X, _, _ = table(1)
    weight = np.arange(N) % 4
    found = sklearn.clone(estimator).fit(X, sample_weight=weight)
    expected = sklearn.clone(estimator).fit(np.repeat(X, weight, axis=0))
    tolerance = 1e-9 * np.nanstd(X)
    np.testing.assert_allclose(found.impute(X), expected.impute(X), rtol=0, atol=tolerance)
    for one, other in zip(found.predict_interval(X), expected.predict_interval(X), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=2 * tolerance)
    if isinstance(estimator, LowRankImputer):
        np.testing.assert_allclose(found.statistics_, expected.statistics_, rtol=1e-9)
        np.testing.assert_allclose(found.n_observed_, expected.n_observed_)


def test_weights_in_the_same_proportion_as_rows_find_the_same():
    """Weights that are too many for the start to repeat rows: swept until nothing moves, the fits agree."""
    _, X, _, _ = table(1)
    weight, few = np.where(np.arange(N) % 9, 1.0, 40.0), BayesianFactorization(3, tol=0.0, max_iter=500)
    found = sklearn.clone(few).fit(X, sample_weight=weight)
    expected = few.fit(np.repeat(X, weight.astype(int), axis=0))
    np.testing.assert_allclose(found.impute(X), expected.impute(X), rtol=0, atol=1e-5 * np.nanstd(X))


def test_scale_is_that_of_the_values_without_their_known_errors():
    Y, X, v, _ = table(0)
    imputer = LowRankImputer(random_state=0).fit(X, variances=v)
    assert np.all(imputer.scale_ < 1.3 * Y.std(axis=0))
    assert np.all(np.nanstd(X, axis=0) > 1.1 * imputer.scale_)
    assert imputer.state_.table is None


@pytest.mark.parametrize("n", [1, 2, 40])
def test_errors_may_be_all_that_there_is(n):
    """Nothing is left to learn of the noise, or to calibrate bounds on: the model's law tells them."""
    X = np.random.default_rng(0).standard_normal((n, 4))
    X[:, 3] = 7.0
    for v in (np.ones(X.shape), np.full(X.shape, 1e12), np.zeros(X.shape)):
        imputer = LowRankImputer(random_state=0, calibrate=n > 2).fit(X, variances=v, sample_weight=np.full(n, 0.3))
        asked = np.where(np.eye(4)[np.arange(n) % 4] > 0, np.nan, X)
        lower, upper = imputer.predict_interval(asked, variances=v)
        filled, gaps = imputer.impute(asked, variances=v), np.isnan(asked)
        np.testing.assert_allclose(filled[gaps], np.broadcast_to(X.mean(axis=0), X.shape)[gaps])  # no component is left
        assert np.all((lower <= filled) & (filled <= upper))
        varied = np.broadcast_to(np.array([n > 2] * 3 + [False]), X.shape)  # twelve equal values have no bounds either
        far = np.finfo(np.float64).max / 2
        assert (np.abs([lower, upper])[:, gaps & ~varied] > far).all()
        if n > 2:
            width = (upper - lower)[gaps & varied] / np.broadcast_to(X.std(axis=0), X.shape)[gaps & varied]
            exact = v[0, 0] == 0.0
            # between a normal law and Student's with five degrees of freedom (2.57), for the rows count as twelve
            assert (width > 2 * 1.96).all()
            assert not exact or (width < 2 * 2.57 * np.sqrt(1 + 1 / 12)).all()
            assert (width < 30.0).all()


def test_fit_transform_uses_variances_twice():
    _, X, v, _ = table(0)
    for estimator in (LowRankImputer(3, random_state=0), BayesianFactorization(3)):
        expected = sklearn.clone(estimator).fit(X, variances=v).transform(X, variances=v)
        np.testing.assert_array_equal(estimator.fit_transform(X, variances=v), expected)


def test_variances_of_missing_entries_do_not_matter():
    _, X, v, gaps = table(0)
    v[gaps] = np.nan
    assert np.isfinite(LowRankImputer(3, random_state=0).fit(X, variances=v).impute(X, variances=v)).all()


def test_a_file_keeps_what_was_learned(tmp_path):
    _, X, v, _ = table(0)
    imputer = LowRankImputer(random_state=0).fit(X, variances=v)
    imputer.save(tmp_path / "model.fsm")
    again = load(tmp_path / "model.fsm")
    for one, other in zip(again.predict_interval(X), imputer.predict_interval(X), strict=True):
        np.testing.assert_array_equal(one, other)


def test_draws_spread_as_intervals_say():
    _, X, v, gaps = table(0)
    model = BayesianFactorization(3).fit(X, variances=v)
    draws = model.sample_imputations(X, n_draws=100, random_state=0, variances=v)
    _, std = model.impute(X, return_std=True, variances=v)
    assert np.mean(draws.std(axis=0)[gaps] / std[gaps]) == pytest.approx(1.0, abs=0.05)


def test_requests_of_metadata_are_routed():
    Y, X, v, _ = table(0)
    with sklearn.config_context(enable_metadata_routing=True):
        imputer = LowRankImputer(3, random_state=0)
        imputer.set_fit_request(variances=True, sample_weight=True).set_transform_request(variances=True)
        pipe = make_pipeline(imputer, Ridge().set_fit_request(sample_weight=False))
        pipe.fit(X, Y[:, 0], variances=v, sample_weight=np.ones(N))
    expected = LowRankImputer(3, random_state=0).fit(X, variances=v, sample_weight=np.ones(N))
    np.testing.assert_array_equal(pipe[0].impute(X), expected.impute(X))


@pytest.mark.parametrize(
    ("estimator", "given", "message"),
    [
        (LowRankImputer(), {"variances": np.zeros((2, 2))}, "one variance for every entry"),
        (LowRankImputer(), {"variances": np.full((N, M), -1.0)}, "finite and not negative"),
        (LowRankImputer(), {"sample_weight": np.zeros(N)}, "at least one non-zero"),
        (LowRankImputer(robust=True), {"sample_weight": np.full(N, 0.5)}, "robust=True"),
        (LowRankImputer(marginals="normal"), {"variances": np.ones((N, M))}, "marginals='normal'"),
        (BayesianFactorization(2, fit_row_mean=True), {"sample_weight": np.full(N, 0.5)}, "fit_row_mean=True"),
    ],
)
def test_what_cannot_be_is_refused(estimator, given, message):
    _, X, _, _ = table(0)
    with pytest.raises(ValueError, match=message):
        estimator.fit(X, **given)
    assert not hasattr(estimator, "state_")


def test_rows_elsewhere_are_refused(tmp_path):
    _, X, v, _ = table(0)
    for rows, message in ((sparse.csr_array(np.nan_to_num(X)), "sparse rows"), (tmp_path / "rows.csv", "in memory")):
        with pytest.raises(ValueError, match=message):
            BayesianFactorization(2).fit(rows, variances=v)


@pytest.mark.parametrize("given", [{"sample_weight": np.ones(12)}, {"variances": np.zeros((12, 4))}], ids=list)
def test_too_few_entries_to_calibrate_bounds_on_are_too_few_with_weights_too(given):
    _, X, _, _ = table(0)
    model = BayesianFactorization("auto", random_state=0, calibrate=True).fit(X[:12, :4], **given)
    with pytest.raises(CalibrationError, match="hidden entries are too few"):
        model.predict_interval(X[:12, :4], 0.99)


def test_known_errors_that_leave_little_to_calibrate_on_leave_bounds_to_the_model():
    _, X, _, _ = table(0)
    model = BayesianFactorization(3, random_state=0, calibrate=True).fit(X, variances=np.full(X.shape, 1e6))
    assert np.isfinite(model.predict_interval(X)).all()


def test_small_weights_do_not_make_the_noise_small():
    """Rows that hardly count say nothing of components: the noise is all that the values are apart, and what is not
    known of their means."""
    Y, _, _, _ = table(0)
    for weight in (1e-3, 1e-5):
        found = BayesianFactorization(1).fit(Y, sample_weight=np.full(N, weight)).noise_variance_
        assert 1.0 < found / Y.var(axis=0).mean() < 2.0


def test_a_table_that_was_read_twice_is_not_asked_with_variances():
    _, X, v, _ = table(0)
    with pytest.raises(ValueError, match="fitted with them"):
        LowRankImputer(random_state=0).fit(X).impute(X, variances=v)


@pytest.mark.parametrize("how", [{}, {"marginals": "linear", "residual": None}], ids=["default", "linear"])
def test_a_table_with_categories_is_not_asked_with_variances(how):
    """Their probabilities come from all columns as they were seen."""
    pandas = pytest.importorskip("pandas")
    _, X, _, _ = table(0)
    frame = pandas.DataFrame(X[:, :3], columns=list("abc")).assign(k=np.array(list("xyz"))[np.arange(N) % 3])
    model = LowRankImputer(random_state=0, **how).fit(frame)
    for ask in (model.transform, model.impute, model.predict_interval, model.sample_imputations):
        with pytest.raises(ValueError, match=r"^variances are for tables of numbers, and not for other columns"):
            ask(frame, variances=np.zeros(frame.shape))


def test_variances_have_the_shape_of_a_table_of_numbers():
    pandas = pytest.importorskip("pandas")
    _, X, v, _ = table(0)
    frame = pandas.DataFrame(np.round(X[:, :4])).astype("Int64")
    model = LowRankImputer(random_state=0, marginals="linear", residual=None).fit(frame)
    assert not model.impute(frame, variances=v[:, :4]).isna().any(axis=None)
    with pytest.raises(ValueError, match=r"shape \(300, 5\) and X \(300, 4\)"):
        model.impute(frame, variances=v[:, :5])
