"""What a report measures is what anybody measures who hides entries by hand."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from conftest import low_rank
from factorstream import BayesianFactorization, DictionaryFilter, LowRankImputer
from factorstream.masks import segment_mask
from factorstream.report.given import given
from factorstream.report.measure import Errors, Measured, NotMeasuredError, measure, straight_lines, typical_run
from factorstream.report.words import beaten, by_column, how_calibrated, how_measured, pooled, the_model
from sequence_problems import panel, quick


@pytest.mark.parametrize(
    "model",
    [DictionaryFilter(2, random_state=3), LowRankImputer(2, random_state=0), quick(2)],
    ids=lambda m: type(m).__name__,
)
def test_errors_and_coverage_by_hand(model, gappy):
    sequence = type(model).__name__ == "SequenceFilter"
    found = given(model.fit(gappy), gappy)
    measured = measure(found, 0.8, 0.2, 4 if sequence else None, 5)
    hidden = segment_mask(gappy.shape, 0.2, 4 if sequence else 1, rng=5, missing=np.isnan(gappy))
    left = np.where(hidden, np.nan, gappy)
    copy = type(model)(**model.get_params()).fit(left)
    filled = copy.transform(left) if isinstance(model, LowRankImputer) else copy.impute(left)
    lower, upper = copy.predict_interval(left, 0.8)
    errors, means, inside = by_column(measured, measured.errors.model), by_column(measured, measured.errors.mean), []
    for j in range(gappy.shape[1]):
        here = hidden[:, j]
        truth = gappy[here, j]
        assert errors[j] == pytest.approx(np.sqrt(np.mean((filled[here, j] - truth) ** 2)), rel=1e-12)
        assert means[j] == pytest.approx(np.sqrt(np.mean((np.nanmean(left[:, j]) - truth) ** 2)), rel=1e-12)
        inside += [low <= value <= high for low, value, high in zip(lower[here, j], truth, upper[here, j], strict=True)]
    assert measured.n == hidden.sum()
    assert measured.inside[0.8].mean() == pytest.approx(np.mean(inside))
    assert set(measured.inside) == {0.5, 0.8, 0.9, 0.95}
    assert (measured.errors.line is not None) == sequence
    assert beaten(measured).tolist() == [
        j
        for j in range(6)
        if errors[j] > min(means[j], by_column(measured, measured.errors.line)[j] if sequence else np.inf)
    ]
    scaled = (filled - gappy)[hidden] / np.broadcast_to(np.nanstd(left, axis=0), gappy.shape)[hidden]
    assert pooled(measured, measured.errors.model) == pytest.approx(np.sqrt(np.mean(scaled**2)))


def test_the_settings_are_those_of_the_fit(gappy):
    model = DictionaryFilter(2, random_state=0).fit(gappy)
    before = measure(given(model, gappy), 0.95, 0.1, None, 0)
    model.set_params(n_components=1, coefficients="map", verbose=1)
    after = measure(given(model, gappy), 0.95, 0.1, None, 0)
    np.testing.assert_array_equal(after.errors.model, before.errors.model)


def test_columns_without_values_take_no_part(gappy):
    X = gappy.copy()
    X[:, 2] = np.nan
    model = DictionaryFilter(2, random_state=0)
    model.partial_fit(X)
    measured = measure(given(model, X), 0.95, 0.1, None, 0)
    assert set(measured.column) == {0, 1, 3, 4, 5}
    assert np.isnan(measured.scale[2])


def test_too_few_values_are_a_sentence(rng):
    X = rng.normal(size=(2, 3))
    model = DictionaryFilter(1, random_state=0).fit(X)
    with pytest.raises(NotMeasuredError, match="There is no entry to hide"):
        measure(given(model, X[:1]), 0.95, 0.1, None, 0)


def test_how_long_gaps_last():
    rng = np.random.default_rng(0)
    for _ in range(50):
        gap = rng.random((40, 3)) < rng.choice([0.1, 0.5, 0.9])
        runs = []
        for column in gap.T:
            length = 0
            for missing in [*column, False]:
                if missing:
                    length += 1
                elif length:
                    runs.append(length)
                    length = 0
        experienced = np.sort(np.repeat(runs, runs))[::-1]  # by every missing entry, how long its run is
        expected = experienced[(len(experienced) - 1) // 2] if len(experienced) else 1
        assert typical_run(gap, 0.5) == min(expected, 10)
    assert typical_run(np.zeros((5, 2), dtype=bool), 0.5) == 1


def test_straight_lines_go_by_time_and_end_flat():
    times, values = np.array([0.0, 1.0, 4.0, 5.0, 9.0]), np.array([np.nan, 2.0, np.nan, 10.0, np.nan])
    found = straight_lines(values[:, None], times).ravel()
    np.testing.assert_allclose(found, [2.0, 2.0, 2.0 + 8.0 * 3 / 4, 10.0, 10.0])


def test_rows_of_a_sequence_are_hidden_in_runs_as_long_as_its_gaps():
    Y = panel(T=200)
    Y[20:28, 1] = Y[100:108, 3] = np.nan
    measured = measure(given(quick(2).fit(Y), Y), 0.95, 0.1, None, 0)
    assert measured.length == 8
    assert measured.errors.line is not None


def test_the_share_that_was_hidden_is_told_as_it_was():
    """A tenth of 200 rows, in runs of 15, is more than a tenth."""
    Y = panel(T=200)
    found = given(quick(1).fit(Y), Y)
    measured = measure(found, 0.95, 0.1, 15, 0)
    share = measured.n / Y.size
    assert share > 0.12
    said = f"({100 * share:.1f}%) were hidden at random: 10% of every column, rounded up to whole runs of 15 rows."
    assert said in how_measured(found, measured)[0]
    assert "1 component that changes from row to row." in the_model(found)[1]


@pytest.mark.parametrize(
    "model",
    [DictionaryFilter(2, random_state=0), BayesianFactorization(2, random_state=0), LowRankImputer(2), quick(2)],
    ids=lambda m: type(m).__name__,
)
def test_new_rows_are_asked_of_the_model_itself(model, rng):
    """By hand: it is much better than one that is fitted to the 25 new rows."""
    X = low_rank(rng, 1025, 12, 2, noise=0.1, offset=5.0)
    model.fit(X[:1000])
    new = np.where(rng.random((25, 12)) < 0.3, np.nan, X[1000:])
    measured = measure(given(model, new), 0.8, 0.2, 1, 5)
    hidden = segment_mask(new.shape, 0.2, 1, rng=5, missing=np.isnan(new))
    left = np.where(hidden, np.nan, new)
    filled = model.transform(left) if isinstance(model, LowRankImputer) else model.impute(left)
    lower, upper = model.predict_interval(left, 0.8)
    np.testing.assert_array_equal(measured.errors.model, (filled - new)[hidden])
    np.testing.assert_array_equal(measured.inside[0.8], ((lower <= new) & (new <= upper))[hidden])
    assert not measured.refitted
    truly_missing = np.isnan(new)
    complete = model.transform(new) if isinstance(model, LowRankImputer) else model.impute(new)
    truth = np.sqrt(np.mean((complete - X[1000:])[truly_missing] ** 2))
    assert np.sqrt(np.mean(measured.errors.model**2)) == pytest.approx(truth, rel=0.35)


@pytest.mark.parametrize("fit", ["fit", "partial_fit"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "model",
    [DictionaryFilter(2, n_passes=2), BayesianFactorization(2, max_iter=3), LowRankImputer(2), quick(2)],
    ids=lambda m: type(m).__name__,
)
@pytest.mark.filterwarnings("ignore:X has an absurd value")
def test_whether_a_table_is_the_one_that_was_fitted(model, dtype, fit, gappy):
    X = gappy.copy()
    X[7] = np.nan
    X[20, 3] = 1e20  # taken as missing
    model = clone(model)
    if not hasattr(model, fit):
        return
    getattr(model, fit)(X.astype(dtype))
    assert given(model, X).is_fitted_to_it
    assert not given(model, X[1:]).is_fitted_to_it
    assert not given(model, np.vstack([X[1:], X[1:2]]) + 0.01).is_fitted_to_it


@pytest.mark.filterwarnings("ignore:Bounds are infinite")
def test_an_empty_column_says_nothing_about_how_long_gaps_last():
    Y = panel(T=200)
    Y[20:28, 1] = Y[100:108, 3] = Y[:, 4] = np.nan
    assert measure(given(quick(2).fit(Y), Y), 0.95, 0.1, None, 0).length == 8


def test_columns_that_an_imputer_has_dropped_are_not_measured(gappy):
    X = gappy.copy()
    X[:60, 2] = np.nan
    with pytest.warns(UserWarning, match="Dropping"):
        model = LowRankImputer(2, random_state=0).fit(X[:60])
    assert set(measure(given(model, X[60:]), 0.95, 0.1, None, 0).column) == {0, 1, 3, 4, 5}


def test_constant_columns_do_not_count_as_held():
    inside = {0.9: np.array([True, False, True, True])}
    errors = Errors(np.zeros(4), np.zeros(4), None)
    found = Measured(np.array([0, 0, 1, 1]), errors, np.array([2.0, 0.0]), inside, 1, 0.1, False)
    assert found.held(0.9) == 0.5
    (sentence,) = how_calibrated(found, 0.9)
    assert "**50.0%** of the 2 hidden values in columns that vary" in sentence
