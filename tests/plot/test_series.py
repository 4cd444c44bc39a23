from __future__ import annotations

import numpy as np
import pytest
from matplotlib.dates import date2num

from factorstream import DictionaryFilter, LowRankImputer, MaskedNMF, plot
from plot_artists import band, corners, labels, line


def beside(gap):
    """Gaps and the rows before and after them."""
    wide = np.convolve(gap, [1, 1, 1], mode="same") > 0
    return wide


def test_what_is_drawn_is_what_the_model_says(model, gappy, complete):
    (ax,) = plot.series(model, gappy, columns=[1], level=0.8, truth=complete)
    x, y = line(ax, "observed")
    np.testing.assert_array_equal(x, np.arange(len(gappy)))
    np.testing.assert_array_equal(y, gappy[:, 1])
    gap = np.isnan(gappy[:, 1])
    near = beside(gap)
    np.testing.assert_array_equal(line(ax, "filled")[1], np.where(near, model.impute(gappy)[:, 1], np.nan))
    low, high = (bound[near, 1] for bound in model.predict_interval(gappy, level=0.8))
    assert corners(x[near], low, high) <= band(ax, "80% interval")
    removed, truth = line(ax, "truth")
    np.testing.assert_array_equal(removed, np.flatnonzero(gap))
    np.testing.assert_array_equal(truth, complete[gap, 1])
    assert labels(ax) == ["80% interval", "observed", "filled", "truth"]


def test_the_first_columns_with_gaps_are_drawn(model, gappy):
    axes = plot.series(model, gappy)
    assert [ax.get_title("left") for ax in axes] == ["column 0", "column 1", "column 3", "column 4"]
    assert [ax.get_legend() is None for ax in axes] == [False, True, True, True]
    assert axes[-1].get_xlabel() == "row"
    assert len(plot.series(model, np.nan_to_num(gappy))) == 4  # without gaps the first


def test_a_single_gap_and_gaps_at_the_ends_are_seen(model, gappy):
    alone, ends = plot.series(model, gappy, columns=[3, 4])
    filled, (low, high) = model.impute(gappy), model.predict_interval(gappy)
    _, y = line(alone, "filled")
    assert np.flatnonzero(np.isfinite(y)).tolist() == [49, 50, 51]
    expected = {(50.0, np.round(low[50, 3], 6)), (50.0, np.round(high[50, 3], 6))}
    assert expected <= band(alone, "95% interval")
    _, y = line(ends, "filled")
    assert np.flatnonzero(np.isfinite(y)).tolist() == [0, 1, 118, 119]
    assert y[0] == filled[0, 4]


def test_time_stamps_are_the_axis(frame):
    table = DictionaryFilter(2, random_state=0).fit(frame)
    (ax,) = plot.series(table, frame, columns=["sensor b"])
    assert ax.get_title("left") == "sensor b"
    np.testing.assert_allclose(line(ax, "observed")[0], date2num(frame.index.to_numpy()))
    ax.figure.canvas.draw()
    assert "2024-Mar" in ax.xaxis.get_offset_text().get_text()


def test_time_zones_are_shown(frame):
    moved = frame.tz_localize("UTC").tz_convert("Asia/Tokyo").iloc[:13]  # midnight in London is nine in Tokyo
    (ax,) = plot.series((moved.bfill().ffill(),), moved, columns=["sensor a"])
    ax.set_xticks(date2num(frame.index[:1].to_numpy()))
    assert ax.xaxis.get_major_formatter().format_ticks(ax.get_xticks())[0].startswith("09:00")


def test_fills_of_ones_own(gappy):
    filled = np.where(np.isnan(gappy), 0.0, gappy)
    (ax,) = plot.series((filled, filled - 1, filled + 1), gappy, columns=[1])
    near = beside(np.isnan(gappy[:, 1]))
    x = np.arange(len(gappy))[near]
    assert corners(x, filled[near, 1] - 1, filled[near, 1] + 1) <= band(ax, "interval")
    (ax,) = plot.series((filled,), gappy, columns=[1])
    assert labels(ax) == ["observed", "filled"]
    with pytest.raises(ValueError, match="got a tuple of 2"):
        plot.series((filled, filled), gappy)
    with pytest.raises(ValueError, match=r"and what fills it \(5, 6\)"):
        plot.series((filled[:5],), gappy)
    with pytest.raises(ValueError, match=r"and truth \(5, 6\)"):
        plot.series((filled,), gappy, truth=filled[:5])


def test_a_band_is_left_out_where_nothing_is_known(gappy):
    filled = np.where(np.isnan(gappy), 0.0, gappy)
    upper = np.where(np.isnan(gappy), np.inf, gappy)
    upper[25, 1] = 1.0
    (ax,) = plot.series((filled, filled, upper), gappy, columns=[1])
    assert all(np.isfinite(corner).all() for corner in band(ax, "interval"))
    assert np.isfinite(ax.get_ylim()).all()
    ax.figure.canvas.draw()


def test_an_imputer_that_drops_a_column(frame):
    frame = frame.assign(**{"sensor c": np.nan})
    with pytest.warns(UserWarning, match="Dropping"):
        imputer = LowRankImputer(2, random_state=0, add_indicator=True).fit(frame)
    (ax,) = plot.series(imputer, frame, columns=["sensor e"])
    at = list(imputer.get_feature_names_out()).index("sensor e")
    assert line(ax, "filled")[1][0] == imputer.transform(frame)[0, at]
    dropped, *_ = plot.series(imputer, frame, columns=["sensor c"])
    assert np.isnan(line(dropped, "filled")[1]).all()


def test_models_without_intervals_are_refused(gappy):
    X = np.abs(gappy)
    model = MaskedNMF(2, max_iter=10, random_state=0).fit(X)
    with pytest.raises(TypeError, match=r"MaskedNMF gives no intervals; fill X with it, and pass \(filled,\)"):
        plot.series(model, X)
    assert len(plot.series((model.impute(X),), X)) == 4


def test_other_marks_of_missing_values_are_refused(gappy):
    X = np.nan_to_num(gappy, nan=-999.0)
    imputer = LowRankImputer(2, missing_values=-999.0, random_state=0).fit(X)
    with pytest.raises(ValueError, match="Pictures take NaN as missing"):
        plot.series(imputer, X, columns=[1])
