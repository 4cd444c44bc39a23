"""Slow levels of the places of a period, against naive Gaussian conditioning."""

from __future__ import annotations

import numpy as np
import pytest

from factorstream.core.dynamics.seasons.phases import PhaseLayer, Variances, learn_phases

P = 4
FREE = 1e9
"""Variance of a height that is free."""


def layer_of(rng, k=1):
    mean = rng.normal(size=(P, k))
    variances = Variances(np.full(k, 0.1), np.full(k, 0.7), np.full(k, 0.4))
    nothing = np.full((P, k), np.nan)
    blank = PhaseLayer(P, np.arange(k), mean, variances, nothing, nothing, nothing[0], nothing, 0)
    return blank.restarted(0)


def naive_levels(layer, F, slopes):
    """Filtered and smoothed levels of long rows F (n, P) of one feature, with variances: each long row is conditioned
    on as one Gaussian of its levels and its height, of which the levels' variances alone are kept."""
    q, p0, R = (float(part[0]) for part in layer.variances)
    mean = layer.mean[:, 0]
    level, d = np.zeros(P), np.full(P, p0)
    out = []
    for n, f in enumerate(F):
        d = d + q if n else d
        K = np.diag([*d, FREE])
        seen = np.isfinite(f)
        H = np.column_stack([np.eye(P), np.ones(P)])[seen]
        e = (f - mean - slopes[n] * (np.arange(P) - (P - 1) / 2))[seen] - H[:, :P] @ level
        G = K @ H.T @ np.linalg.inv(H @ K @ H.T + R * np.eye(len(e)))
        level, d = level + (G @ e)[:P], np.diag(K - G @ H @ K)[:P]
        out.append((level, d))
    smoothed = [out[-1]]
    for level, d in out[-2::-1]:
        J = d / (d + q)
        after, v = smoothed[0]
        smoothed.insert(0, (level + J * (after - level), d + J * J * (v - d - q)))
    return out, smoothed


def test_levels_are_those_of_naive_conditioning(rng):
    layer = layer_of(rng)
    Y = rng.normal(size=(5 * P, 1))
    Y[[2, 9, 12, 13, 14]] = np.nan  # in one long row one value is left: it says nothing beside a free height
    F = Y.reshape(5, P)
    heights = np.where(np.isfinite(F).sum(1) >= P / 2, np.nanmean(F - layer.mean[:, 0], axis=1), np.nan)
    slopes = np.nan_to_num(np.gradient(heights) / P)
    season = layer.smoothed(Y, 0)
    _, smoothed = naive_levels(layer, F, slopes)
    np.testing.assert_allclose(season.signal[:, 0], np.concatenate([layer.mean[:, 0] + s[0] for s in smoothed]), 1e-6)
    np.testing.assert_allclose(season.var[:, 0], np.concatenate([s[1] for s in smoothed]), 1e-6)


def test_rows_one_by_one_are_as_long_rows(rng):
    layer = layer_of(rng)
    Y = rng.normal(size=(3 * P + 2, 1))
    Y[[2, 9]] = np.nan
    known = np.nan
    slopes = []
    for f in (Y - np.tile(layer.mean, (4, 1))[: len(Y)])[: 3 * P].reshape(3, P):
        height = np.nanmean(f)
        slopes.append(np.nan_to_num((height - known) / P))
        known = height  # of the filter it is weighed by variances: see below
    passed = layer
    for y in Y[:P]:
        assert passed.now()[0] == pytest.approx(layer.mean[passed.place])
        passed = passed.taken(y)
    filtered, _ = naive_levels(layer, Y[:P].reshape(1, P), slopes)
    np.testing.assert_allclose(passed.level[:, 0], filtered[0][0], 1e-6)
    np.testing.assert_allclose(passed.d[:, 0], filtered[0][1] + 0.1, 1e-6)
    for y in Y[P:]:
        passed = passed.taken(y)
    assert passed.place == 2
    comes = passed.ahead(3 * P)
    np.testing.assert_allclose(comes.signal[:2], passed.mean[2:] + passed.level[2:])
    np.testing.assert_allclose(comes.signal[2 + P : 2 + 2 * P], comes.signal[2 : 2 + P])
    assert (comes.var[2 + P : 2 + 2 * P] > comes.var[2 : 2 + P]).all()


@pytest.mark.parametrize("trend", [0.0, 0.05])
def test_a_season_is_found_beside_a_trend(rng, trend):
    period, T = 12, 12 * 15 + 5
    shape = rng.normal(size=period)
    shape -= shape.mean()
    t = np.arange(T)
    Y = (shape[t % period] + trend * t + 0.1 * rng.normal(size=T))[:, None]
    Y[rng.random(Y.shape) < 0.2] = np.nan
    layer, season = learn_phases(Y, period, np.array([0]), None)
    left = np.nanmean(Y) + trend * (t - t.mean())  # the height and the trend are no season
    off = season.signal[:, 0] - shape[t % period]
    assert np.std(off) < 0.06
    comes = layer.ahead(24).signal[:, 0]
    later = shape[np.arange(T, T + 24) % period]
    assert np.std(comes - later) < 0.08
    assert np.nanstd(Y[:, 0] - season.signal[:, 0] - left) < 0.15


def test_phases_without_a_season_are_next_to_nothing(rng):
    Y = rng.normal(size=(400, 2))
    _, season = learn_phases(Y, 10, np.arange(2), None)
    assert season.signal.std(0).max() < 0.15


def test_a_shape_that_moves_is_followed(rng):
    period, n = 8, 60
    levels = 0.3 * rng.normal(size=(n, period)).cumsum(0)
    Y = (levels + 0.1 * rng.normal(size=(n, period))).reshape(-1, 1)
    layer, _ = learn_phases(Y[:-period], period, np.array([0]), None)
    assert layer.variances.q[0] > layer.variances.R[0]
    off = layer.ahead(period).signal[:, 0] - Y[-period:, 0]
    assert np.std(off) < 1.5 * np.std(Y[-period:, 0] - Y[-2 * period : -period, 0])


def test_a_layer_whose_feature_has_moved_goes_on_as_if_it_had_been_there_before(rng):
    """A height that all rows have in common is no season, but one of a part of a long row would be."""
    Y, by, since = rng.normal(size=(5 * P, 1)), np.array([30.0]), 2 * P + 1
    plain = moved = layer_of(rng)
    for t, y in enumerate(Y):
        plain, moved = plain.taken(y), moved.taken(y + by * (t >= since))
        if t == since + 1:
            moved = moved.moved(by, 2)
        np.testing.assert_allclose(moved.now(), plain.now(), atol=1e-9)


def test_the_height_of_a_long_row_that_came_after_a_shift_is_right_already(rng):
    Y, by, since = rng.normal(size=(5 * P, 1)), np.array([30.0]), 2 * P
    plain = moved = layer_of(rng)
    for t, y in enumerate(Y[: 3 * P + 1]):
        plain, moved = plain.taken(y), moved.taken(y + by * (t >= since))
    np.testing.assert_allclose(moved.moved(by, P + 1).height, moved.height)
