"""Rows that a run keeps, and what follows from them: noises of columns, units that grow, columns that start late."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from conftest import low_rank
from counted_problems import counted_model
from factorstream import DictionaryFilter, load
from factorstream.arrays import to_host
from factorstream.estimators import _kept_rows
from factorstream.estimators._filter_columns import new_columns
from factorstream.estimators._kept_rows import kept, rows_to_look
from filter_problems import paper_filter


def streamed(X, cuts=(), **settings):
    model = DictionaryFilter(3, random_state=0, **settings)
    for part in np.split(X, list(cuts)):
        model.partial_fit(part)
    return model


def world(rng, n=600, m=10, noise=0.3, missing=0.2):
    """Rows, and the same with gaps; every row has a value."""
    X = low_rank(rng, n, m, 3, noise=0.0) + noise * rng.standard_normal((n, m))
    gone = rng.random(X.shape) < missing
    gone[np.arange(n), np.arange(n) % m] = False
    return X, np.where(gone, np.nan, X)


# ------------------------------------------------------------------ which rows are kept


STILL, DRIFTS = (counted_model(3, 4, learn_noise=True, drift=drift) for drift in (None, np.eye(4)))


@pytest.mark.parametrize("room", [8, 20, 128])
def test_kept_are_rows_of_the_second_half_spread_over_it(monkeypatch, room):
    monkeypatch.setattr(_kept_rows, "MOST", room)
    columns = new_columns(None, True, np.empty((0, 1)))
    for k in range(40 * room):
        columns = kept(columns, np.array([[float(k)]]), k, STILL)
        numbers = columns.recent[:, 0]
        assert len(numbers) == min(k + 1, room)
        assert numbers[0] >= 0.3 * k - room
        assert np.diff(numbers).min(initial=1) >= 1
        assert np.diff(numbers).max(initial=1) <= 0.1 * k + 8.0 * k / room + 1
    together = kept(new_columns(None, True, np.empty((0, 1))), np.arange(40.0 * room)[:, None], 0, STILL)
    np.testing.assert_array_equal(together.recent, columns.recent)


@pytest.mark.parametrize("turns", [2, 3, 4, 7, 8])
def test_sensors_that_report_in_turn_are_all_among_them(turns):
    for n in (1000, 4096, 20_000, 10**6):
        rows = np.arange(n - 500_000 if n > 500_000 else 0, n, dtype=float)
        columns = kept(new_columns(None, True, np.empty((0, 1))), rows[:, None], int(rows[0]), STILL)
        turn = np.bincount(columns.recent[:, 0].astype(int) % turns, minlength=turns)
        assert turn.min() >= 0.3 * 128 / turns
        assert turn.max() <= 2.0 * 128 / turns


def test_under_a_drift_the_last_rows_are_kept():
    columns = kept(new_columns(None, True, np.empty((0, 1))), np.arange(5000.0)[:, None], 0, DRIFTS)
    np.testing.assert_array_equal(columns.recent[:, 0], np.arange(5000 - 128, 5000))


def test_there_are_four_looks_while_the_number_of_rows_doubles():
    columns, k, looks = new_columns(None, True, np.empty((0, 1))), 0, []
    while len(looks) < 10:
        k += rows_to_look(columns, k, 3)
        looks.append(k)
    assert looks == [16, 20, 24, 28, 32, 40, 48, 56, 64, 80]
    assert rows_to_look(columns, 17, 3) == 3
    assert rows_to_look(new_columns(None, False, np.empty((0, 1))), 17, 3) is None
    wide = new_columns(None, True, np.empty((0, 10**4)))
    assert [rows_to_look(wide, k, 40) for k in (3, 16, 20, 32, 63)] == [13, 16, 12, 32, 1]


def test_the_division_of_a_stream_into_calls_does_not_matter(rng):
    """With rows without data, a column that starts late in another unit, and one that wakes up."""
    _, X = world(rng, n=300)
    X[:90, 1] = np.nan
    X[:, 1] *= 500.0
    X[:100, 2] = 1.0 + 1e-3 * X[:100, 2]
    X[[0, 5, 31, 32, 100]] = np.nan
    whole = streamed(X)
    for cuts in ([1, 2, 40], range(1, 300, 7), range(20, 300)):
        other = streamed(X, cuts)
        np.testing.assert_allclose(other.components_, whole.components_, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(to_host(other.state_.unit), to_host(whole.state_.unit), rtol=1e-9)
        np.testing.assert_allclose(other.noise_variance_, whole.noise_variance_, rtol=1e-7)
        np.testing.assert_array_equal(to_host(other.state_.columns.recent), to_host(whole.state_.columns.recent))


def test_only_a_filter_that_learns_something_of_its_columns_keeps_rows(rng):
    _, X = world(rng, n=50)
    assert paper_filter(3).fit(X).state_.columns.recent is None
    assert DictionaryFilter(3, noise_variance=0.1).fit(X).state_.columns.recent is None
    shared = DictionaryFilter(3, covariance="shared").partial_fit(X).state_.columns
    assert shared.recent.shape[0] == 50
    assert shared.noise is None


def test_sparse_rows_are_kept_like_dense_ones(rng):
    _, X = world(rng, n=200)
    row, column = np.nonzero(~np.isnan(X))
    stored = sparse.csr_array((X[row, column], (row, column)), shape=X.shape)
    dense = DictionaryFilter(3, random_state=0, shuffle=False).fit(X)
    other = DictionaryFilter(3, random_state=0, shuffle=False).fit(stored)
    np.testing.assert_array_equal(to_host(other.state_.columns.recent), to_host(dense.state_.columns.recent))
    np.testing.assert_allclose(other.noise_variance_, dense.noise_variance_, rtol=1e-7)


# ------------------------------------------------------------------ the noise of columns


@pytest.mark.parametrize("how", ["fit", "partial_fit"])
def test_intervals_hold_in_every_column_whatever_its_noise(how):
    held, noises = [], np.geomspace(0.05, 1.5, 10)
    for seed in range(3):
        X, gappy = world(np.random.default_rng(seed), n=800, noise=noises, missing=0.3)
        model = getattr(DictionaryFilter(3, random_state=seed), how)(gappy)
        low, high = model.predict_interval(gappy)
        gone = np.isnan(gappy)
        held.append(np.sum((low <= X) & (high >= X) & gone, axis=0) / gone.sum(axis=0))
    assert 0.93 < np.mean(held) < 0.975
    assert np.mean(held, axis=0).min() > 0.9


def test_a_precise_station_is_out(rng):
    """What is filled in then rests on noisy columns, and how precise the others were says nothing of it."""
    held = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        noises = np.r_[np.full(10, 0.1), np.full(5, 1.5)]
        X, gappy = world(rng, n=1000, m=15, noise=noises)
        out = rng.random(1000) < 0.1
        gappy[out, :10] = np.nan
        low, high = DictionaryFilter(3, random_state=0).fit(gappy).predict_interval(gappy)
        held.append(((low <= X) & (high >= X))[out, :10].mean())
    assert 0.9 < np.mean(held) < 0.985


def test_a_constant_column_makes_no_other_certain(rng):
    """A column that is seen in 40 of 3000 rows, beside one that never moves and beside one that does."""
    _, gappy = world(rng, n=3000, missing=0.0)
    gappy[rng.permutation(3000)[40:], 3] = np.nan
    constant = gappy.copy()
    constant[:, 7] = 5.0
    stds = [
        DictionaryFilter(3, random_state=0).fit(rows).impute(rows, return_std=True)[1] for rows in (gappy, constant)
    ]
    plain, beside = (std[np.isnan(gappy)].mean() for std in stds)
    assert 0.7 * plain < beside < 1.5 * plain


def test_draws_have_the_spread_of_the_intervals(rng):
    _, X = world(rng, noise=np.geomspace(0.05, 1.5, 10))
    model = DictionaryFilter(3, random_state=0).fit(X)
    gone, rows = np.isnan(X[:40]), X[:40]
    draws = model.sample_imputations(rows, n_draws=2000, random_state=0)
    filled, std = model.impute(rows, return_std=True)
    np.testing.assert_allclose((draws.std(axis=0) / np.where(gone, std, 1.0))[gone].mean(), 1.0, atol=0.03)
    low, high = model.predict_interval(rows, 0.9)
    inside = ((draws >= low) & (draws <= high))[:, gone]
    assert 0.88 < inside.mean() < 0.92
    assert np.abs(draws.mean(axis=0) - filled)[gone].max() < 0.2 * std.max()


def test_what_is_known_of_columns_is_saved(rng, tmp_path):
    _, X = world(rng, noise=np.geomspace(0.05, 1.5, 10))
    X[:200, 1] = np.nan
    model = streamed(X[:203])
    model.save(tmp_path / "model")
    other = load(tmp_path / "model")
    for one in (model, other):
        one.partial_fit(X[203:])
    np.testing.assert_array_equal(other.noise_variance_, model.noise_variance_)
    np.testing.assert_array_equal(other.predict_interval(X), model.predict_interval(X))


# ------------------------------------------------------------------ units that grow


def error_of(model, X, gappy, columns, start=300):
    """RMSE of the gaps of some columns, in deviations of each."""
    off = ((model.impute(gappy) - X) / X.std(axis=0))[start:, columns]
    return float(np.sqrt(np.mean(off[np.isnan(gappy[start:, columns])] ** 2)))


@pytest.mark.parametrize("rest", [1e-9, 1e-2])
def test_a_sensor_that_rests_when_a_stream_begins_harms_no_other(rest):
    others, ratios = [0, 1, 2, 4, 5, 6, 7, 8, 9], []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X, gappy = world(rng)
        X *= 10.0 ** np.linspace(-2.0, 3.0, 10)
        gappy = np.where(np.isnan(gappy), np.nan, X)
        clean = streamed(gappy, range(50, 600, 50))
        gappy[:12, 3] = X[0, 3] * (1.0 + rest * rng.standard_normal(12))
        model = streamed(gappy, range(50, 600, 50))
        ratios.append([error_of(model, X, gappy, of) / error_of(clean, X, gappy, of) for of in ([3], others)])
    assert (np.mean(ratios, axis=0) < 1.1).all()  # 7.5 and 2.0 where units never change


@pytest.mark.parametrize("what", ["silent", "resting", "mostly zero"])
def test_a_column_in_a_small_unit_keeps_it_while_it_is_not_seen_to_vary(rng, what):
    _, gappy = world(rng, n=1200)
    gappy[:, 2] *= 1e-3
    if what == "mostly zero":
        gappy[200:, 2] = np.where(rng.random(1000) < 0.93, 0.0, gappy[200:, 2])
    else:
        gappy[200:, 2] = np.nan if what == "silent" else gappy[0, 3] * 1e-3
    model = streamed(gappy, range(200, 1200, 100))
    assert model.state_.unit[2] < 0.02
    assert model.state_.unit[2] == streamed(gappy[:200]).state_.unit[2]


def test_glitches_do_not_make_a_unit_larger(rng):
    _, gappy = world(rng)
    clean = streamed(gappy)
    gappy[50::40, 2] = 100.0
    np.testing.assert_allclose(streamed(gappy).state_.unit[2], clean.state_.unit[2], rtol=1e-6)


# ------------------------------------------------------------------ columns that start late, or never


@pytest.mark.parametrize("factor", [1e-3, 1.0, 100.0, 1000.0])
def test_a_column_that_starts_late_finds_its_unit(rng, factor):
    X, gappy = world(rng, n=1500)
    X[:, 1] *= factor
    gappy[:, 1] *= factor
    gappy[:300, 1] = np.nan
    others = [0, *range(2, 10)]
    without = streamed(gappy[:, others], range(50, 1500, 50))
    model = streamed(gappy, range(50, 1500, 50))
    assert factor / 10.0 < model.state_.unit[1] < 10.0 * factor
    alone = error_of(without, X[:, others], gappy[:, others], list(range(9)), start=400)
    assert error_of(model, X, gappy, others, start=400) < 1.05 * alone
    low, high = model.predict_interval(gappy[400:])
    gone = np.isnan(gappy[400:, 1])
    assert 0.9 < np.mean(((low <= X[400:]) & (high >= X[400:]))[gone, 1]) < 0.99


def test_nothing_is_known_of_a_column_without_any_value(rng):
    _, gappy = world(rng, n=100)
    gappy[:, 4] = np.nan
    model = streamed(gappy)
    filled, std = model.impute(gappy, return_std=True)
    low, high = model.predict_interval(gappy)
    assert np.isposinf(std[:, 4]).all()
    assert np.isneginf(low[:, 4]).all()
    assert np.isposinf(high[:, 4]).all()
    assert np.isfinite(filled).all()
    assert np.isfinite(np.delete(std, 4, axis=1)).all()
    draws = model.sample_imputations(gappy, n_draws=3, random_state=0)
    assert np.isnan(draws[:, :, 4]).all()
    assert np.isfinite(np.delete(draws, 4, axis=2)).all()


def test_a_value_of_such_a_column_changes_no_answer_but_its_own(rng):
    _, gappy = world(rng, n=100)
    gappy[:, 4] = np.nan
    model = streamed(gappy)
    asked = gappy.copy()
    asked[:, 4] = 1e3
    others = np.arange(10) != 4
    np.testing.assert_array_equal(model.transform(asked), model.transform(gappy))
    np.testing.assert_array_equal(model.score_samples(asked), model.score_samples(gappy))
    for ours, theirs in zip(model.predict_interval(asked), model.predict_interval(gappy), strict=True):
        np.testing.assert_array_equal(ours[:, others], theirs[:, others])
        np.testing.assert_array_equal(ours[:, 4], 1e3)
    row, column = np.nonzero(~np.isnan(asked))
    stored = sparse.csr_array((asked[row, column], (row, column)), shape=asked.shape)
    np.testing.assert_allclose(model.transform(stored), model.transform(gappy), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.score_samples(stored), model.score_samples(gappy), rtol=1e-9)
