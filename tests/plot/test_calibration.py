from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from conftest import low_rank
from factorstream import DictionaryFilter, LowRankImputer, SequenceFilter, plot
from factorstream.masks import segment_mask
from plot_artists import labels
from sequence_problems import hours, panel, quick, table


def curve(ax, number=-1):
    return tuple(np.asarray(part) for part in ax.lines[number].get_data())


@pytest.mark.parametrize("refit", [True, False])
def test_the_curve_is_the_coverage_of_hidden_entries(refit, model, gappy):
    ax = plot.calibration(model, gappy, levels=(0.9, 0.5), fraction=0.2, rng=3, refit=refit)
    hidden = segment_mask(gappy.shape, 0.2, 1, rng=3, missing=np.isnan(gappy))
    asked = np.where(hidden, np.nan, gappy)
    judge = clone(model).fit(asked) if refit else model
    held = []
    for level in (0.5, 0.9):
        lower, upper = judge.predict_interval(asked, level=level)
        held.append(np.mean(((lower <= gappy) & (gappy <= upper))[hidden]))
    np.testing.assert_array_equal(curve(ax)[0], [0.5, 0.9])
    np.testing.assert_array_equal(curve(ax)[1], held)
    assert labels(ax) == [f"DictionaryFilter, {hidden.sum()} entries"]


def test_the_model_and_the_data_stay_as_they_are(model, gappy):
    before, filled = gappy.copy(), model.impute(gappy)
    plot.calibration(model, gappy)
    np.testing.assert_array_equal(gappy, before)
    np.testing.assert_array_equal(model.impute(gappy), filled)


def test_honest_intervals_lie_near_the_diagonal_and_others_do_not(rng):
    X = low_rank(rng, 400, 10, 2, noise=0.3)
    ax = plot.calibration(DictionaryFilter(2, random_state=0).fit(X), X)
    assert np.abs(np.subtract(*curve(ax))).max() < 0.06
    narrow = DictionaryFilter(2, noise_variance=0.01, random_state=0).fit(X)  # a ninth of the true one
    ax = plot.calibration(narrow, X, label="narrow", ax=ax)
    promised, held = curve(ax)
    assert (promised - held)[promised >= 0.5].min() > 0.2
    assert len(ax.lines) == 3  # one diagonal, two curves
    assert labels(ax)[1].startswith("narrow, ")
    assert ax.lines[1].get_color() != ax.lines[2].get_color()


def test_the_band_is_the_chance_of_independent_entries(model, gappy):
    ax = plot.calibration(model, gappy, refit=False, levels=[0.5])
    n = int(labels(ax)[0].split()[1])
    vertices = ax.collections[0].get_paths()[0].vertices
    at_half = vertices[np.isclose(vertices[:, 0], 0.5), 1]
    assert at_half.max() == pytest.approx(0.5 + 1.96 * np.sqrt(0.25 / n))
    assert at_half.min() == pytest.approx(0.5 - 1.96 * np.sqrt(0.25 / n))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_tables_with_time_stamps(library):
    Y = panel(T=80)
    times = hours(library, 80)
    from_table = plot.calibration(quick(2).fit(table(library, Y, times)), table(library, Y, times), length=5)
    from_array = plot.calibration(quick(2).fit(Y), Y, length=5)
    np.testing.assert_allclose(curve(from_table)[1], curve(from_array)[1])


def test_columns_keep_a_value_and_dropped_ones_are_not_judged(gappy):
    X = gappy.copy()
    X[1:, 2] = np.nan  # one value
    X[:, 5] = np.nan
    imputer = LowRankImputer(2, calibrate=False, random_state=0)
    with pytest.warns(UserWarning, match="Dropping"):
        ax = plot.calibration(imputer, X, levels=[0.9])
    hidden = segment_mask(X.shape, 0.1, 1, rng=0, missing=np.isnan(X))
    assert labels(ax) == [f"LowRankImputer, {hidden[:, [0, 1, 3, 4]].sum()} entries"]
    assert 0.7 < curve(ax)[1][0] <= 1.0


def test_what_cannot_be_hidden_is_refused(model, gappy):
    with pytest.raises(ValueError, match="fraction must lie strictly between 0 and 1; got 0"):
        plot.calibration(model, gappy, fraction=0)
    with pytest.raises(ValueError, match="There is no entry to hide"):
        plot.calibration(SequenceFilter(1), np.ones((1, 2)))
    with pytest.raises(ValueError, match="Runs of 500 samples do not fit"):
        plot.calibration(model, gappy, length=500)
