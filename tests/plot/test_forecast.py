from __future__ import annotations

import numpy as np
import pytest
from matplotlib.dates import date2num
from scipy.stats import norm

from factorstream import plot
from plot_artists import band, corners, labels, line
from sequence_problems import quick


def test_the_fan_is_that_of_the_model(sequence, gappy):
    (ax,) = plot.forecast(sequence, 10, gappy, columns=[1], levels=(0.5, 0.9), past=30)
    mean = sequence.forecast(10)
    x, y = line(ax, "forecast")
    np.testing.assert_array_equal(x, np.arange(120, 130))
    np.testing.assert_array_equal(y, mean[:, 1])
    for level in (0.5, 0.9):
        low, high = sequence.forecast_interval(10, level)
        assert corners(x, low[:, 1], high[:, 1]) <= band(ax, f"{100 * level:g}%")
    past, values = line(ax, "observed")
    np.testing.assert_array_equal(past, np.arange(90, 120))
    np.testing.assert_array_equal(values, gappy[90:, 1])
    assert labels(ax) == ["90%", "50%", "observed", "forecast"]
    assert [one.get_label() for one in ax.collections] == ["90%", "50%"]  # the widest lies below


def test_time_goes_on_where_the_table_ends(frame):
    model = quick(2).fit(frame)
    axes = plot.forecast(model, 6, frame)
    assert [ax.get_title("left") for ax in axes] == [f"sensor {name}" for name in "abcd"]
    x, _ = line(axes[0], "forecast")
    np.testing.assert_allclose(x, date2num(model.forecast(6).index.to_numpy()))
    past, _ = line(axes[0], "observed")
    np.testing.assert_allclose(past, date2num(frame.index[-24:].to_numpy()))  # four rows for each step
    with pytest.raises(ValueError, match="X does not end before the forecast begins"):
        plot.forecast(model, 6, frame.shift(3, freq="h"))
    with pytest.raises(ValueError, match="X does not end before the forecast begins"):
        plot.forecast(model, 6, frame.to_numpy())


def test_one_step_is_seen(sequence):
    axes = plot.forecast(sequence, 1)
    assert len(axes) == 4
    (lines,) = [one for one in axes[0].collections if one.get_label() == "95%"]
    mean, std = sequence.forecast(1, return_std=True)
    (segment,) = lines.get_segments()
    np.testing.assert_allclose(segment[:, 1], norm.interval(0.95, mean[0, 0], std[0, 0]))


def test_other_models_and_bad_levels_are_refused(model, sequence, gappy):
    with pytest.raises(TypeError, match="DictionaryFilter does not forecast; fit a SequenceFilter"):
        plot.forecast(model, 5)
    for levels in ((), (0.5, 1.0), (0.0,)):
        with pytest.raises(ValueError, match="strictly between 0 and 1"):
            plot.forecast(sequence, 5, levels=levels)
    with pytest.raises(ValueError, match="X has 3 columns, and the forecast 6"):
        plot.forecast(sequence, 5, gappy[:, :3])
