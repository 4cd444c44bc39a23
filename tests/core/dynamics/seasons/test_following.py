"""New layers follow the rows of a stream from the first one on, and dampings are chosen on the way."""

from __future__ import annotations

import numpy as np

from factorstream.core.dynamics.seasons.damping import DAMPINGS
from factorstream.core.dynamics.seasons.layers import take
from factorstream.core.dynamics.seasons.relearning import begun, further
from factorstream.core.dynamics.seasons.trends import TrendLayer
from factorstream.core.dynamics.stream import StreamOptions
from relearning_problems import M, learned, season_rows


def test_rows_are_followed_from_the_first_one_on():
    rows = season_rows()
    Y, K = rows
    W, opt, m = np.hstack(rows), StreamOptions(r=2), M
    anew, _ = learned(W[:120], (8,), "asked", opt)
    layers, trend = anew.layers, anew.trend
    while anew.stream is None:
        anew, _ = further(anew, W, m, opt, 4)
    left, said = [], []
    for t, y in enumerate(Y):
        layers, signal, var = take(layers, y, K[t])
        left.append(y - signal)
        said.append([signal, var])
        if t + 1 == 120:  # no row is counted twice
            layers = tuple(one.with_coefficients_of(trend) if isinstance(one, TrendLayer) else one for one in layers)
    np.testing.assert_array_equal(anew.stream.window, left)
    np.testing.assert_array_equal(anew.seasons, np.array(said)[-4:])
    np.testing.assert_array_equal(anew.layers[-1].running.A, layers[-1].running.A)
    assert set(anew.layers[-1].damping) <= set(DAMPINGS)
    assert not anew.ready


def caught_up(Y, opt):
    """Learning that has followed all rows Y, whose features may have trends."""
    anew = begun(Y, (), "auto")
    while anew.stream is None:
        anew, _ = further(anew, Y, Y.shape[1], opt, 1)
    return anew


def test_only_features_with_a_trend_keep_one():
    Y = np.random.default_rng(1).normal(size=(300, 23))
    Y[:, :3] += 0.5 * np.arange(300)[:, None]
    anew = caught_up(Y, StreamOptions(r=2))
    (layer,) = anew.layers
    trended = np.isfinite(layer.damping)
    assert trended[:3].all()
    assert trended[3:].mean() < 0.25
    np.testing.assert_array_equal(anew.stream.window[:, ~trended], Y[:, ~trended])


def test_where_no_feature_has_a_trend_there_is_no_layer():
    Y = np.random.default_rng(5).normal(size=(60, 3))  # too few for forecasts that do not overlap
    anew = caught_up(Y, StreamOptions(r=2))
    assert anew.layers == ()
    np.testing.assert_array_equal(anew.stream.window, Y)
