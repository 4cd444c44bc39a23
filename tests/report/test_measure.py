"""What a report measures is what anybody measures who hides entries by hand."""

from __future__ import annotations

import numpy as np
import pytest

from factorstream import DictionaryFilter, LowRankImputer
from factorstream.masks import segment_mask
from factorstream.report.given import given
from factorstream.report.measure import NotMeasuredError, measure, straight_lines, typical_run
from factorstream.report.words import beaten, by_column, pooled
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
