from __future__ import annotations

import numpy as np
import pytest
from matplotlib.dates import date2num

from factorstream import MaskedNMF, plot
from plot_artists import labels, line
from sequence_problems import quick


def test_densities_are_those_of_the_model(model, gappy):
    X = gappy.copy()
    X[70] = np.nan  # a row without data has no density
    X[90] = 20.0 * np.cos(np.arange(6))
    (ax,) = plot.innovations(model, X, n_marked=2)
    x, y = line(ax, "log-density")
    np.testing.assert_array_equal(x, np.arange(120))
    count = (~np.isnan(X)).sum(axis=1)
    expected = np.where(count > 0, model.score_samples(X) / np.maximum(count, 1), np.nan)
    np.testing.assert_array_equal(y, expected)
    assert np.isnan(y[70])
    marked, lowest = line(ax, "lowest 2")
    assert 90 in marked
    np.testing.assert_array_equal(np.sort(lowest), np.sort(expected[~np.isnan(expected)])[:2])
    assert labels(ax) == ["log-density", "lowest 2"]
    assert ax.get_xlabel() == "row"
    assert labels(plot.innovations(model, X, n_marked=0)[0]) == ["log-density"]


def test_alarms_of_a_sequence(sequence, gappy):
    X = gappy.copy()
    X[80:] += 15.0 * np.cos(3.0 * np.arange(40.0 * 6)).reshape(40, 6)  # from here on it is another process
    scores, ax = plot.innovations(sequence, X)
    np.testing.assert_array_equal(line(scores, "log-density")[1][80], sequence.score_samples(X)[80] / 6)
    alarms = sequence.alarms(X)
    assert alarms.fired.any()
    for label, values in (("score", np.clip(alarms.score, -4, 4)), ("sum up", alarms.up), ("sum down", alarms.down)):
        np.testing.assert_array_equal(line(ax, label)[1], values)
    np.testing.assert_array_equal(line(ax, "alarm")[0], np.flatnonzero(alarms.fired))
    drawn = np.maximum(line(ax, "sum up")[1], line(ax, "sum down")[1])
    beyond = np.flatnonzero(drawn[:-1] > line(ax, "threshold")[1][0])
    assert beyond.size
    assert (drawn[beyond + 1] < drawn[beyond]).all()  # then the sums start again
    assert alarms.fired[beyond[0] : beyond[0] + 5].any()  # an alarm may wait for what the next values say
    np.testing.assert_array_equal(line(ax, "threshold")[1], sequence.state_.thresholds.spread)
    assert (line(ax, "alarm")[1] > 4).all()


def test_a_sequence_without_alarms_has_no_marks(sequence, gappy):
    quiet = gappy[:50]
    assert not sequence.alarms(quiet).fired.any()
    assert "alarm" not in labels(plot.innovations(sequence, quiet)[1])


def test_time_stamps_are_the_axis(frame):
    axes = plot.innovations(quick(2).fit(frame), frame)
    for ax, label in zip(axes, ("log-density", "score"), strict=True):
        np.testing.assert_allclose(line(ax, label)[0], date2num(frame.index.to_numpy()))


def test_models_that_score_nothing_are_refused(gappy):
    with pytest.raises(TypeError, match="MaskedNMF does not score rows"):
        plot.innovations(MaskedNMF(2, max_iter=5).fit(np.abs(gappy)), np.abs(gappy))
