"""The variational factorisation as its users meet it."""

from __future__ import annotations

import itertools
import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from conftest import low_rank
from factorstream import BayesianFactorization, DictionaryFilter
from factorstream.core.variational.noise.gaussian import GaussianNoise
from factorstream.core.variational.noise.student import StudentNoise
from factorstream.core.variational.packed import size as packed_size
from factorstream.core.variational.packed import unpack
from factorstream.core.variational.posterior import FIT_ARRAYS, STREAM_ARRAYS, posterior
from factorstream.core.variational.squares import information
from factorstream.metrics import coverage
from split_place import fetched


def factorization(r=3, **settings):
    return BayesianFactorization(r, random_state=0, **settings)


def gaps(rng, X, fraction):
    return np.where(rng.random(X.shape) < fraction, np.nan, X)


def test_sweeps_raise_the_bound_and_do_not_double_count(rng):
    X = gaps(rng, low_rank(rng, 150, 20, 3, noise=0.5, offset=2.0), 0.3)
    few, many = factorization(tol=1e-2).fit(X), factorization(max_iter=60, tol=1e-12).fit(X)
    assert few.n_iter_ < 6 < 30 < many.n_iter_
    bounds = [record["bound"] for record in many.history_]
    assert all(after >= before - 1e-9 * abs(before) for before, after in itertools.pairwise(bounds))
    volume = [np.linalg.slogdet(model.covariance_)[1].mean() for model in (few, many)]
    assert abs(volume[0] - volume[1]) < 0.5  # counting ten times as often would be 3 log 10 = 6.9


@pytest.mark.parametrize("noise", ["auto", "per_feature"])
@pytest.mark.parametrize("calibrate", [False, True])
def test_intervals_cover_and_draws_agree(rng, noise, calibrate):
    truth = low_rank(rng, 400, 30, 3, noise=0.0, offset=1.0)
    truth += (0.3 if noise == "auto" else np.linspace(0.1, 1.0, 30)) * rng.standard_normal(truth.shape)
    X = gaps(rng, truth, 0.3)
    gone = np.isnan(X)
    model = factorization(noise_variance=noise, calibrate=calibrate, max_iter=20).fit(X)
    filled, std = model.impute(X, return_std=True)
    assert 0.93 < coverage(truth, filled, std, where=gone) < 0.97
    lower, upper = model.predict_interval(X, level=0.9)
    assert 0.88 < np.mean((lower <= truth) & (truth <= upper), where=gone) < 0.93
    draws = model.sample_imputations(X, n_draws=200, random_state=1)
    np.testing.assert_array_equal(draws[:, ~gone], np.repeat(X[None, ~gone], 200, axis=0))
    ratio = draws[:, gone].std(axis=0) / std[gone]
    assert 0.95 < ratio.mean() < 1.05
    assert np.shape(model.noise_variance_) == (() if noise == "auto" else (30,))


def test_draws_of_the_filter_have_its_deviations(rng):
    X = gaps(rng, low_rank(rng, 300, 20, 3, noise=0.4, offset=1.0), 0.3)
    model = DictionaryFilter(3, random_state=0).fit(X)
    filled, std = model.impute(X, return_std=True)
    draws, gone = model.sample_imputations(X, n_draws=300, random_state=1), np.isnan(X)
    assert 0.95 < np.mean(draws[:, gone].std(axis=0) / std[gone]) < 1.05
    assert np.abs((draws[:, gone].mean(axis=0) - filled[gone]) / std[gone]).mean() < 0.1
    lower, upper = model.predict_interval(X, level=0.9)
    np.testing.assert_allclose(0.5 * (lower + upper)[gone], filled[gone])


def test_unneeded_components_switch_off(rng):
    X = gaps(rng, low_rank(rng, 300, 80, 3, noise=0.5), 0.3)
    assert factorization("auto", max_iter=50).fit(X).n_components_ == 3


def test_stream_follows_the_fit(rng):
    truth = low_rank(rng, 600, 30, 3, noise=0.3, offset=2.0)
    X = gaps(rng, truth, 0.3)
    gone = np.isnan(X)
    stream = factorization()
    for part in np.split(X, [1, 4, 9, 150, 151, 400]):
        stream.partial_fit(part)
    fitted = factorization(max_iter=20).fit(X)
    errors = [np.mean((model.impute(X) - truth)[gone] ** 2) for model in (stream, fitted)]
    assert errors[0] < 1.1 * errors[1]
    assert stream.n_samples_seen_ == 600
    filled, std = stream.impute(X, return_std=True)
    assert 0.92 < coverage(truth, filled, std, where=gone) < 0.98
    fitted.partial_fit(X[:50] + 0.0)  # a stream goes on from a fit
    assert np.mean((fitted.impute(X) - truth)[gone] ** 2) < 1.1 * errors[1]


def test_a_stream_goes_on_exactly_where_the_fit_ended(rng):
    X = gaps(rng, low_rank(rng, 100, 40, 5, offset=1.0), 0.8)
    X[1:, 39], X[0, 39] = np.nan, 1.0
    state = factorization(5).fit(X).state_.current
    factors, n_observed = fetched(state.factors), fetched(state.n_observed)
    assert factors.r == 5  # nothing was pruned, so the sums behind the posterior can be had back from it
    stats = information(factors.post, factors.prior, factors.s2, n_observed)
    np.testing.assert_allclose(unpack(stats.S, 6)[:, -1, -1], n_observed, rtol=1e-6, atol=1e-6)
    again = posterior(stats, factors.prior, factors.s2)
    np.testing.assert_allclose(again.C, factors.post.C, atol=1e-8)
    np.testing.assert_allclose(again.V, factors.post.V, rtol=1e-6, atol=1e-12)
    rng = np.random.default_rng(0)
    model = factorization(10).fit(X)
    for _ in range(5):  # much less noise than before: no matrix may turn indefinite
        model.partial_fit(0.1 * gaps(rng, low_rank(rng, 50, 40, 5), 0.5))
    assert np.isfinite(model.components_).all()


def test_a_late_feature_does_no_harm(rng):
    truth = low_rank(rng, 600, 10, 2, noise=0.3)
    truth[:, 9] += 1000.0
    X = gaps(rng, truth, 0.2)
    X[:100, 9] = np.nan
    model = factorization(2)
    for part in np.split(X, 12):
        model.partial_fit(part)
    gone = np.isnan(X)
    gone[:100, 9] = False
    assert np.sqrt(np.mean((model.impute(X) - truth)[gone] ** 2)) < 0.6
    assert model.mean_[9] == pytest.approx(1000.0, abs=1.0)


def test_values_of_an_unknown_feature_say_nothing(rng):
    truth = low_rank(rng, 300, 8, 2, noise=0.1)
    X = gaps(rng, truth, 0.2)
    X[:100, 3] = np.nan
    model = factorization(2).partial_fit(X[:100])
    without = X[100:].copy()
    without[:, 3] = np.nan
    others = np.isnan(X[100:])
    others[:, 3] = False
    for rows in (X[100:], without):
        assert np.sqrt(np.mean((model.impute(rows) - truth[100:])[others] ** 2)) < 0.35


def test_dull_first_rows_do_not_stop_a_stream(rng):
    truth = low_rank(rng, 600, 20, 3, noise=0.2)
    model = factorization(3).partial_fit(np.zeros((30, 20)))
    for part in np.split(truth, 12):
        model.partial_fit(part)
    X = gaps(rng, truth, 0.3)
    assert np.std((model.impute(X) - truth)[np.isnan(X)]) < 0.5


@pytest.mark.parametrize("settings", [{"calibrate": True}, {"n_components": "auto"}])
def test_a_rare_feature_is_not_hidden_away(rng, settings):
    X = gaps(rng, low_rank(rng, 200, 20, 2), 0.3)
    X[:, 7] = np.nan
    X[:2, 7] = (1000.0, 1001.0)
    for seed in range(6):
        model = factorization(**{"r": 2, **{"r" if k == "n_components" else k: v for k, v in settings.items()}})
        assert model.set_params(random_state=seed).fit(X).mean_[7] == pytest.approx(1000.5, abs=20.0)


@pytest.mark.filterwarnings("ignore:X has an absurd value")  # the largest are
@pytest.mark.parametrize("size", [1e2, 1e3, 1e5])
@pytest.mark.parametrize("noise", ["auto", "per_feature"])
def test_outliers_of_any_size(rng, size, noise):
    truth = low_rank(rng, 300, 30, 3, noise=0.3)
    X = gaps(rng, truth, 0.2)
    spoiled = np.where(rng.random(X.shape) < 0.05, size * rng.choice([-1.0, 1.0], X.shape), X)
    spoiled[np.isnan(X)] = np.nan
    model = factorization(3, robust=True, noise_variance=noise).fit(spoiled)
    filled, std = model.impute(spoiled, return_std=True)
    assert np.sqrt(np.mean((filled - truth)[np.isnan(X)] ** 2)) < 0.5
    assert np.median(std[np.isnan(X)]) < 1.0


def test_numbers_for_robust_are_taken_as_they_are(rng):
    X = low_rank(rng, 60, 8, 2)
    for given, noise in (
        (3.0, StudentNoise(3.0)),
        (3, StudentNoise(3.0)),
        (7.5, StudentNoise(7.5)),
        (np.False_, GaussianNoise()),
    ):
        found = factorization(2, robust=given).fit(X).state_.current.factors.noise
        assert type(found) is type(noise)
        assert found == noise
    learned = factorization(2, robust=True).fit(X).state_.current.factors.noise
    assert learned.learned
    assert learned.nu != StudentNoise().nu


@pytest.mark.parametrize(("noise", "shape"), [("auto", ()), (0.5, ()), ("per_feature", (4,))])
def test_noise_variance_is_a_number_or_one_for_each_feature(rng, noise, shape):
    """Whatever the values: here those of the features coincide, at their floor or because the columns are the same."""
    one = low_rank(rng, 60, 1, 1)
    for X in (np.zeros((20, 4)), np.repeat(one, 4, axis=1)):
        found = factorization(1, noise_variance=noise).fit(X).noise_variance_
        assert np.shape(found) == shape
        assert isinstance(found, np.ndarray if shape else float)


def test_as_many_components_as_features(rng):
    X = gaps(rng, low_rank(rng, 300, 10, 3, noise=0.5), 0.2)
    assert 0.05 < factorization(10).fit(X).noise_variance_ < 0.5


def test_values_that_cannot_be_squared(rng):
    X = low_rank(rng, 50, 8, 2)
    for size, dtype in ((1e160, float), (1e-170, float), (1e20, np.float32), (1e-30, np.float32)):
        with pytest.raises(ValueError, match="multiply the data by a constant"):
            factorization(2).fit((size * X).astype(dtype))


def test_settings_cannot_change_in_a_stream(rng):
    X = low_rank(rng, 60, 8, 2)
    model = factorization(2).partial_fit(X)
    for changed in ({"n_components": 5}, {"n_components": 2, "robust": True}):
        with pytest.raises(ValueError, match=r"the stream began with .*; set it back, or call fit"):
            model.set_params(**changed).partial_fit(X)


def test_a_stream_is_calibrated_on_the_rows_that_it_starts_from(rng):
    truth = low_rank(rng, 400, 12, 2, noise=0.3)
    X = gaps(rng, truth, 0.3)
    gone = np.isnan(X)
    stream, plain = (factorization(2, calibrate=calibrate) for calibrate in (True, False))
    for part in np.split(X, [30, 90, 91, 250]):
        stream.partial_fit(part)
        plain.partial_fit(part)
    assert stream.state_.settled.scores.away.size > 0
    (lower, upper), (low, high) = (model.predict_interval(X, level=0.9) for model in (stream, plain))
    assert not np.allclose((upper - lower)[gone], (high - low)[gone])
    assert 0.86 < np.mean((lower <= truth)[gone] & (truth <= upper)[gone]) < 0.97


@pytest.mark.once
@pytest.mark.here(reason="another place has more room")
def test_memory_of_a_fit_does_not_grow_with_the_samples(rng):
    """But for a few arrays of the data's size: moments of all samples would be eight of them."""
    peaks, sizes = [], []
    for n in (24_000, 36_000):  # both fill four or more blocks of 6,000 rows
        X = low_rank(rng, n, 30, 3)
        tracemalloc.start()
        factorization(20, max_iter=2).fit(X)
        peaks.append(tracemalloc.get_traced_memory()[1])
        sizes.append(X.nbytes)
        tracemalloc.stop()
    assert peaks[1] - peaks[0] < 5 * (sizes[1] - sizes[0])


@pytest.mark.once
@pytest.mark.here(reason="another place copies arrays to and fro")
@pytest.mark.parametrize(
    ("settings", "copies", "least"), [({}, 4, 2), ({"fit_row_mean": True}, 3, 3), ({"robust": True}, 8, 3)]
)
def test_memory_of_a_fit_is_what_it_is_said_to_be(rng, settings, copies, least):
    """Beside so many copies of the data, which are small in wide tables."""
    X = low_rank(rng, 60, 4000, 20, noise=1.0)
    X[rng.random(X.shape) < 0.3] = np.nan
    factorization(20, max_iter=1, **settings).fit(X)  # what is loaded and compiled once stays
    array = 8 * 4000 * packed_size(22 if "fit_row_mean" in settings else 21)  # the row mean is one more component
    tracemalloc.start()
    factorization(20, max_iter=3, **settings).fit(X)
    peak = tracemalloc.get_traced_memory()[1] - copies * X.nbytes
    tracemalloc.stop()
    assert least < peak / array < FIT_ARRAYS


@pytest.mark.once
@pytest.mark.here(reason="another place copies arrays to and fro")
def test_memory_of_a_stream_is_what_it_is_said_to_be(rng):
    X = low_rank(rng, 125, 4000, 20, noise=1.0)
    model, array = factorization(20, max_iter=2), 8 * 4000 * packed_size(21)
    tracemalloc.start()
    for part in np.array_split(X, 6):
        model.partial_fit(part)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert STREAM_ARRAYS - 0.5 < peak / array < STREAM_ARRAYS + 2 * X.nbytes / array


def test_answers_at_the_start_of_a_stream_go_by_every_row(rng):
    X = low_rank(rng, 19, 12, 2, noise=0.01)
    for n in range(1, 19):
        model = factorization(2).partial_fit(X[:n])
        assert model.state_.settled is None
        assert not np.array_equal(model.components_, model.partial_fit(X[n : n + 1]).components_)


@pytest.mark.parametrize(("r", "lots"), [(2, 1), (5, 1), (10, 2), (20, 2)])
def test_when_a_stream_of_complete_rows_starts(rng, r, lots):
    X = low_rank(rng, lots * 2 * max(r, 10), 6 * r + 20, r)
    assert factorization(r).partial_fit(X[:-1]).state_.settled is None
    assert factorization(r).partial_fit(X).state_.settled is not None


def test_every_call_of_a_stream_is_recorded_and_told(rng, capsys):
    X = low_rank(rng, 60, 12, 2)
    model = factorization(2, verbose=2)
    for part in np.split(X, [5, 40]):
        model.partial_fit(part)
    assert [record["n_samples"] for record in model.history_] == [5.0, 35.0, 20.0]
    assert model.history_[0].keys() == {"n_samples"}  # still starting
    assert model.history_[2] == {"n_samples": 20.0, "n_components": 2.0, "noise": model.noise_variance_}
    assert len(capsys.readouterr().out.splitlines()) == 3
    model.state_ = model.state_._replace(history=model.history_[:1] * 1000)
    assert len(model.partial_fit(X[:1]).history_) == 1000


def test_sparse_rows(rng):
    truth = low_rank(rng, 400, 60, 3, noise=0.3, offset=2.0)
    X = gaps(rng, truth, 0.8)
    row, column = np.nonzero(~np.isnan(X))
    stored = sparse.csr_array((X[row, column], (row, column)), shape=X.shape)
    model, twin = factorization(max_iter=60, tol=1e-7).fit(stored), factorization(max_iter=60, tol=1e-7).fit(X)
    gone = np.isnan(X)
    assert np.mean((model.impute(stored) - truth)[gone] ** 2) < 1.1 * np.mean((twin.impute(X) - truth)[gone] ** 2)
    np.testing.assert_allclose(model.transform(stored), model.transform(X), atol=1e-8)
    np.testing.assert_allclose(model.score_samples(stored), model.score_samples(X), rtol=1e-8)
    model.partial_fit(stored[:20])


def test_a_robust_fit_can_be_asked_about_sparse_rows(rng):
    X = gaps(rng, low_rank(rng, 60, 9, 2, offset=1.0), 0.3)
    row, column = np.nonzero(~np.isnan(X))
    stored = sparse.csr_array((X[row, column], (row, column)), shape=X.shape)
    model = factorization(2, robust=True).fit(X)
    for method in ("transform", "impute", "score_samples"):
        np.testing.assert_array_equal(getattr(model, method)(stored), getattr(model, method)(X))


def test_density_is_the_written_out_gaussian(rng):
    X = gaps(rng, low_rank(rng, 60, 9, 2, offset=1.0), 0.3)
    model = factorization(2, noise_variance="per_feature").fit(X)
    post = fetched(model.state_.current.factors.post)
    V, C = unpack(post.V, 3), model.components_.T
    d = model.noise_variance_ + np.trace(V, axis1=1, axis2=2)
    for i in range(5):
        seen = ~np.isnan(X[i])
        cov = C[seen] @ C[seen].T + np.diag(d[seen])
        e = (X[i] - model.mean_)[seen]
        want = -0.5 * (e @ np.linalg.solve(cov, e) + np.linalg.slogdet(2 * np.pi * cov)[1])
        assert model.score_samples(X[i : i + 1])[0] == pytest.approx(want, rel=1e-8)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_components": 0}, "n_components"),
        ({"noise_variance": "loud"}, "noise_variance"),
        ({"noise_variance": 0.0}, "noise_variance"),
        ({"prior_covariance": np.eye(2)}, "prior_covariance"),
        ({"robust": -1.0}, "robust"),
        ({"robust": 2.0}, "robust"),
        ({"robust": "learn"}, "robust"),
        ({"calibrate": "yes"}, "calibrate"),
        ({"max_iter": 0}, "max_iter"),
        ({"tol": -1.0}, "tol"),
    ],
)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_bad_settings(rng, settings, message, method):
    X = rng.standard_normal((30, 5))
    model = BayesianFactorization(**{"n_components": 2, **settings})
    with pytest.raises(ValueError, match=message):
        getattr(model, method)(X)
    assert vars(model) == vars(BayesianFactorization(**{"n_components": 2, **settings}))


@pytest.mark.here(reason="on a device, sparse rows become dense ones with gaps")
@pytest.mark.here(reason="on a device sparse rows are dense, and any settings take them")
@pytest.mark.parametrize("settings", [{"n_components": "auto"}, {"robust": True}, {"calibrate": True}])
def test_sparse_rows_say_what_they_need(settings):
    X = sparse.random_array((30, 5), density=0.5, format="csr", rng=0)
    with pytest.raises(ValueError, match="Sparse rows need a number of components, robust=False and calibrate=False"):
        BayesianFactorization(**{"n_components": 2, **settings}).fit(X)


def test_levels_and_small_calibration_sets(rng):
    X = gaps(rng, low_rank(rng, 30, 6, 2), 0.2)
    model = factorization(2, calibrate=True).fit(X)
    for level in (0.0, 1.0, 1.5, -0.1):
        with pytest.raises(ValueError, match="strictly between 0 and 1"):
            model.predict_interval(X, level=level)
    with pytest.raises(ValueError, match=r"too few to calibrate level 0\.999"):
        model.predict_interval(X, level=0.999)


@pytest.mark.here(reason="a device says itself that it has too little memory")
def test_too_large_a_posterior_is_refused():
    X = sparse.csr_array((np.ones(2), ([0, 1], [0, 1])), shape=(2, 10_000_000))
    with pytest.raises(MemoryError, match="lower n_components or use DictionaryFilter"):
        factorization(100).partial_fit(X)
