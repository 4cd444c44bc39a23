"""``LowRankImputer.partial_fit``: tables that arrive in pieces."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from factorstream import LowRankImputer, load
from factorstream.estimators import _table_stream
from factorstream.estimators._kept_rows import scrambled
from factorstream.estimators._table_stream import go_on, last_look, new_stream, room


def table(n=400, m=6, seed=0, missing=0.3):
    """Skewed columns with gaps, and what they would be without."""
    rng = np.random.default_rng(seed)
    X = np.exp(0.5 * (rng.standard_normal((n, 3)) @ rng.standard_normal((3, m)) + 0.3 * rng.standard_normal((n, m))))
    return X, np.where(rng.random(X.shape) < missing, np.nan, X)


@pytest.fixture
def little_room(monkeypatch):
    """Sixty rows are kept."""
    monkeypatch.setattr(_table_stream, "MOST_KEPT", 60)
    monkeypatch.setattr(_table_stream, "LEAST_KEPT", 60)


def test_where_a_model_is_learned_it_is_that_of_fit():
    """As long as all rows are kept, bit for bit."""
    _, X = table()
    for n in (64, 320):
        stream = LowRankImputer(random_state=0).partial_fit(X[:n])
        fitted = LowRankImputer(random_state=0).fit(X[:n])
        np.testing.assert_array_equal(stream.transform(X[:n]), fitted.transform(X[:n]))
        for one, other in zip(stream.predict_interval(X[:n]), fitted.predict_interval(X[:n]), strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.usefixtures("little_room")
@pytest.mark.parametrize("cuts", [range(1, 150), [3, 61, 62, 149], [100]], ids=["singly", "several", "two"])
def test_the_split_does_not_matter_once_rows_are_dropped(cuts):
    _, X = table(150)
    model = LowRankImputer(random_state=0)
    for part in np.split(X, list(cuts)):
        model.partial_fit(part)
    whole = LowRankImputer(random_state=0).partial_fit(X)
    assert whole.state_.stream.rows.shape[0] == 60
    np.testing.assert_array_equal(model.state_.stream.numbers, whole.state_.stream.numbers)
    np.testing.assert_array_equal(model.state_.stream.rows, whole.state_.stream.rows)
    np.testing.assert_array_equal(model.predict_interval(X), whole.predict_interval(X))


@pytest.mark.usefixtures("little_room")
def test_kept_rows_are_those_with_the_smallest_hashes():
    _, X = table(500)
    stream = LowRankImputer(random_state=0).partial_fit(X).state_.stream
    by_hash = sorted(range(500), key=lambda k: int(scrambled(np.array([k], dtype=np.uint64))[0]))[:60]
    np.testing.assert_array_equal(stream.numbers, sorted(by_hash))
    np.testing.assert_array_equal(stream.rows, X[sorted(by_hash)])


def test_kept_rows_are_spread_over_the_stream():
    X = np.zeros((100_000, 4))
    numbers = go_on(new_stream(X, 0), None, X).stream.numbers
    assert len(numbers) == room(4) == 2000
    counts = np.histogram(numbers, bins=10, range=(0, 100_000))[0]
    assert np.abs(counts - 200).max() < 4 * np.sqrt(200)


def test_what_is_kept_is_bounded():
    assert [room(m) for m in (1, 15, 30, 100, 300, 10_000)] == [2000, 2000, 1000, 300, 100, 100]
    X, _ = table(5000)
    model = LowRankImputer(random_state=0, calibrate=False, residual=None, marginals="linear").partial_fit(X)
    assert model.state_.stream.rows.shape == (2000, 6)
    assert model.n_samples_seen_ == 5000


def test_looks_are_at_most_a_quarter_of_the_rows_apart():
    looks = [n for n in range(1, 4097) if last_look(n - 1, n) == n]
    assert looks[:9] == [1, 2, 3, 4, 5, 6, 7, 8, 10]
    assert all(b - a <= max(1, a / 4) for a, b in pairwise(looks))
    assert len(looks) == 8 + 4 * 9
    assert last_look(0, 4095) == 3584
    assert last_look(3584, 4095) is None


def test_questions_can_be_asked_from_the_first_row_on():
    X, gappy = table(80)
    model = LowRankImputer(random_state=0, keep_empty_features=True)
    for k in range(80):
        model.partial_fit(gappy[k : k + 1])
        filled, std = model.impute(gappy[:4], return_std=True)
        lower, upper = model.predict_interval(gappy[:4])
        assert np.isfinite(filled).all()
        assert not np.isnan(std).any()
        assert (lower <= filled).all()
        assert (filled <= upper).all()
    assert np.isfinite(upper).all()
    assert np.isfinite(X).all()


def test_a_value_far_beyond_those_learned_from_does_not_decide_about_its_row():
    """It is not absurd, and comes back as it came; for the others of its row it is taken to lie within reach."""
    _, X = table(80)
    model = LowRankImputer(random_state=0).partial_fit(X)
    low, high = model.state_.reach
    np.testing.assert_allclose(high, 2 * np.nanmax(X, axis=0) - np.nanmin(X, axis=0))
    np.testing.assert_allclose(low, 2 * np.nanmin(X, axis=0) - np.nanmax(X, axis=0))
    asked = np.full((3, 6), np.nan)
    asked[:, 0] = high[0], 10.0 * high[0], 30.0 * high[0]
    filled = model.transform(asked)
    np.testing.assert_array_equal(filled[:, 0], asked[:, 0])
    np.testing.assert_array_equal(filled[1:, 1:], filled[[0, 0], 1:])


def test_rows_without_values_change_nothing():
    _, X = table(40)
    model = LowRankImputer(random_state=0, keep_empty_features=True).partial_fit(np.full((2, 6), np.nan))
    np.testing.assert_array_equal(model.transform(X[:2]), np.nan_to_num(X[:2]))
    assert model.n_samples_seen_ == 0
    model.partial_fit(X).partial_fit(np.full((3, 6), np.nan))
    assert model.n_samples_seen_ == 40
    expected = LowRankImputer(random_state=0, keep_empty_features=True).partial_fit(X)
    np.testing.assert_array_equal(model.transform(X), expected.transform(X))


def test_a_file_in_the_middle_of_a_stream_goes_on(tmp_path):
    _, X = table(150)
    model = LowRankImputer(random_state=0).partial_fit(X[:70])
    model.save(tmp_path / "model.fsm")
    again = load(tmp_path / "model.fsm").partial_fit(X[70:])
    np.testing.assert_array_equal(again.predict_interval(X), model.partial_fit(X[70:]).predict_interval(X))


def test_a_fit_of_weighted_rows_is_no_start_of_a_stream():
    _, X = table(60)
    model = LowRankImputer(random_state=0).fit(X, sample_weight=np.full(60, 0.5))
    with pytest.raises(ValueError, match="start a stream of its own"):
        model.partial_fit(X)
    assert model.n_samples_seen_ == 30


@pytest.mark.usefixtures("little_room")
def test_a_fit_to_more_rows_than_are_kept_is_no_start_of_a_stream(tmp_path):
    """One row more would replace its model by one of fewer rows."""
    _, X = table(61)
    assert LowRankImputer(random_state=0).fit(X[:60]).partial_fit(X[60:]).n_samples_seen_ == 61
    model = LowRankImputer(random_state=0).fit(X)
    filled = model.transform(X)
    model.save(tmp_path / "model.fsm")
    for one in (model, load(tmp_path / "model.fsm")):
        with pytest.raises(ValueError, match=r"a fit to 61 rows, as .* sample of 60 of them; fit again"):
            one.partial_fit(X[:1])
        np.testing.assert_array_equal(one.transform(X), filled)
        assert one.n_samples_seen_ == 61
        assert one.state_.stream.rows.shape == (0, 6)


@pytest.mark.long
def test_a_stream_fills_better_than_means_and_its_bounds_hold():
    held, errors, means = [], [], []
    for seed in range(4):
        X, gappy = table(500, seed=seed)
        model = LowRankImputer(random_state=0).partial_fit(gappy[:200])
        for first in range(200, 500, 50):
            some = slice(first, first + 50)
            gaps = np.isnan(gappy[some])
            lower, upper = model.predict_interval(gappy[some])
            held.append(((lower <= X[some]) & (upper >= X[some]))[gaps])
            errors.append((model.transform(gappy[some]) - X[some])[gaps])
            means.append((np.nanmean(gappy[:first], axis=0) - X[some])[gaps])
            model.partial_fit(gappy[some])
    assert 0.93 < np.mean(np.concatenate(held)) < 0.98
    assert np.mean(np.concatenate(errors) ** 2) < 0.5 * np.mean(np.concatenate(means) ** 2)


def test_whole_numbers_stay_whole_in_a_stream_and_labels_are_refused(rng):
    pandas = pytest.importorskip("pandas")
    x = rng.standard_normal((60, 2))
    X = pandas.DataFrame({"count": np.round(10 * x[:, 0]), "b": x[:, 0] + 0.1 * x[:, 1]}).convert_dtypes()
    X.loc[::5, "count"] = pandas.NA
    model = LowRankImputer(random_state=0)
    for first in range(0, 60, 20):
        model.partial_fit(X[first : first + 20])
    assert model.impute(X).dtypes.equals(X.dtypes)
    assert LowRankImputer(random_state=0).fit(X).partial_fit(X).impute(X).dtypes.equals(X.dtypes)
    labelled = X.assign(side=np.where(x[:, 0] > 0, "left", "right"))
    with pytest.raises(ValueError, match=r"partial_fit is for tables of numbers, and not for other columns \('side'\)"):
        LowRankImputer().partial_fit(labelled)
    with pytest.raises(ValueError, match="after a fit to numbers in memory"):
        LowRankImputer(random_state=0).fit(labelled).partial_fit(labelled)
