"""The layer of trends and known columns: what it learns, follows and continues."""

from __future__ import annotations

import numpy as np
import pytest

import reference_sequences as ref
from factorstream.core.dynamics.noise import GaussianSpec, GivenStudentSpec
from factorstream.core.dynamics.seasons.layers import Plan, ahead, learn, passed_before, season_before, season_of, take
from factorstream.core.dynamics.seasons.lines import coefficients
from factorstream.core.dynamics.seasons.trends import learn_trends, without_outliers_beside

T, M, P = 160, 3, 2
BETA = np.array([[2.0, 0.0], [-1.0, 0.5], [0.0, 0.0]])
DAMPING = np.array([1.0, np.nan, 0.9])


@pytest.fixture
def rows(rng):
    """A wandering line, a noise and a walk, and what two known columns give them."""
    t = np.arange(T)
    K = 5.0 + 3.0 * rng.normal(size=(T, P))
    Y = rng.normal(size=(T, M))
    Y[:, 0] = 100 + 0.5 * t + 0.3 * Y[:, 0].cumsum()
    Y[:, 2] = Y[:, 2].cumsum()
    Y = Y + K @ BETA.T
    Y[rng.random(Y.shape) < 0.2] = np.nan
    return np.hstack([Y, K])


def test_slopes_and_coefficients_are_found(rows):
    layer, season = learn_trends(rows, DAMPING, m=M)
    beta = coefficients(layer.running, layer.variances.v)[0] / layer.scale
    np.testing.assert_allclose(beta, BETA, atol=0.15)
    _, slope, _ = layer.line(rows[:1])
    assert abs(slope[0] - 0.5) < 0.1
    assert slope[1] == 0.0
    assert layer.variances.q[1] < 0.01 < layer.variances.q[2]  # a level that stays, and one that wanders
    assert np.nanstd((rows - season.signal)[:, 0]) < 0.1 * np.nanstd(rows[:, 0])
    np.testing.assert_array_equal(season.signal[:, M:], 0.0)


def test_what_comes_is_as_the_joint_gaussian(rows):
    """But for the level's own part: the rest of the model goes on with that, from the last row."""
    layer, _ = learn_trends(rows, np.ones(M), m=M)
    layer = layer._replace(spread=layer.spread + 0.1).restarted()
    layer = layer._replace(running=layer.running._replace(A=0 * layer.running.A, c=0 * layer.running.c))
    some = rows[:12]
    for w in some:
        layer = layer.taken(w)
    steps = 5
    comes = layer.ahead(np.where(np.arange(M + P) < M, np.nan, rows[12 : 12 + steps]))
    X = (rows[:, M:] - layer.shift) / layer.scale
    v = layer.variances
    for j in range(M):
        mean, K = ref.line_joint(
            some[:, j], X[: 12 + steps], v.R[j], v.q[j], v.qb[j], layer.slope[j], layer.spread[j], v.v[j], steps=steps
        )
        n = 12 + steps
        for h in range(steps):  # the slope's sum from the last row on, and the known columns
            risen = np.zeros(2 * n + P)
            risen[n + 11 : n + 12 + h] = 1.0
            both = risen.copy()
            both[2 * n :] = X[12 + h]
            np.testing.assert_allclose(comes.var[h, j], both @ K @ both, rtol=1e-4)
            start = layer.height[j] - mean[n + 11]
            np.testing.assert_allclose(comes.signal[h, j] - start, both @ mean, rtol=1e-4, atol=1e-4)


def test_a_damped_slope_fades(rows):
    line, _ = learn_trends(rows, np.full(M, 1.0), m=M)
    damped = line._replace(damping=np.full(M, 0.5))
    come = np.hstack([np.full((4, M), np.nan), np.repeat(line.shift[None], 4, axis=0)])
    b = line.line(come)[1]
    np.testing.assert_allclose(np.diff(line.ahead(come).signal[:, :M], axis=0), [b, b, b])
    np.testing.assert_allclose(np.diff(damped.ahead(come).signal[:, :M], axis=0), [b / 2, b / 4, b / 8])
    assert (damped.ahead(come).var[-1, :M] < line.ahead(come).var[-1, :M]).all()


def test_row_by_row_and_all_at_once_end_alike(rows):
    layer, season = learn_trends(rows, DAMPING, m=M)
    again = layer.restarted()
    for w in rows:
        again = again.taken(w)
    np.testing.assert_allclose(again.line(rows)[1], layer.line(rows)[1], atol=0.01)
    np.testing.assert_allclose(again.height[1:], layer.height[1:], atol=8.0)
    whole = layer.smoothed(rows)
    np.testing.assert_allclose(whole.signal[:, 1], season.signal[:, 1], atol=0.05)
    assert np.abs(np.diff(whole.signal[:, 2] - season.signal[:, 2])).max() < 0.1  # it may begin elsewhere


def test_another_sequence_begins_where_it_is(rows):
    layer, _ = learn_trends(rows, DAMPING, m=M)
    high = rows + np.array([1e4, 0.0, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(layer.smoothed(high).signal[:, 0], layer.smoothed(rows).signal[:, 0] + 1e4, atol=1e-6)
    first = int(np.flatnonzero(np.isfinite(rows[:, 0]))[0])
    assert layer.restarted().now(high[first])[0][0] == high[first, 0]


def test_a_layer_beside_seasons_is_told_what_they_leave(rng):
    """A known column with the same season: its season is taken for that of the feature, the rest gives the slope."""
    t = np.arange(480)
    known = (np.sin(2 * np.pi * t / 24) * 3 + rng.normal(size=len(t)))[:, None]
    Y = 2.0 * known + 5.0 * (t % 24 > 7)[:, None] + 0.1 * rng.normal(size=(len(t), 1))
    plan = Plan((24,), np.arange(0), known=known)
    layers, season = learn(Y[:-24], plan, 1, GaussianSpec(), 5)
    assert np.std(Y[:-24] - season.signal) < 0.3
    off = ahead(layers, 1, 24, known[-24:]).signal - Y[-24:]
    assert np.std(off) < 0.5
    assert season.signal.shape == (456, 1)
    np.testing.assert_allclose(season_of(layers, Y[:-24], 0, known[:-24]).signal, season.signal, atol=0.2)
    before = season_before(layers, Y[:-24], 0, known[:-24])
    assert np.std((before.signal - Y[:-24])[240:]) < 0.6
    end, _ = passed_before(layers, Y[:-24], 0, known[:-24])
    np.testing.assert_array_equal(end[-1].running.A, layers[-1].running.A)  # nothing is counted twice
    _, signal, var = take(layers, Y[-24], known[-24])
    comes = ahead(layers, 1, 1, known[[-24]])
    np.testing.assert_allclose(signal, comes.signal[0])
    np.testing.assert_allclose(var, comes.var[0])


@pytest.mark.parametrize("seen", [0, 1, 2])
def test_features_with_next_to_nothing(rng, seen):
    W = rng.normal(size=(30, 3))
    W[:, 0] = np.nan
    W[:seen, 0] = 3.0
    W[:, 2] = 4.0  # a known column that never moves
    layer, season = learn_trends(W, np.ones(2), m=2)
    comes = layer.ahead(np.hstack([np.full((3, 2), np.nan), np.full((3, 1), 4.0)]))
    for part in (*season, *comes):
        assert np.isfinite(part).all()
    assert coefficients(layer.running, layer.variances.v)[0].max() == 0.0


@pytest.mark.parametrize("lasting", [False, True])
def test_a_spike_or_a_jump_moves_neither_slope_nor_coefficients(rows, lasting):
    layer, _ = learn_trends(rows[:-20], DAMPING, m=M)
    plain = layer
    for k, w in enumerate(rows[-20:]):
        far = w + np.where((np.arange(M + P) < M) & ((k == 10) | (lasting & (k > 10))), 1e6, 0.0)
        layer, plain = layer.taken(far), plain.taken(w)
    # the last feature wanders, and its slope goes on learning from where it wanders after the jump
    np.testing.assert_allclose(layer.line(rows)[1][:2], plain.line(rows)[1][:2], atol=0.02)
    np.testing.assert_allclose(
        coefficients(layer.running, layer.variances.v)[0], coefficients(plain.running, plain.variances.v)[0], atol=0.05
    )
    np.testing.assert_allclose(layer.height[:2], plain.height[:2], atol=0.2)


def test_outliers_are_judged_beside_what_known_columns_say():
    rng = np.random.default_rng(0)
    K = np.column_stack([(rng.random(200) < 0.03) * 1.0, rng.normal(size=200)])
    Y = rng.normal(size=(200, 2)) + K @ [[-40.0, 0.0], [5.0, -8.0]]
    Y[rng.random(Y.shape) < 0.1] = np.nan
    Y[[20, 90], [0, 1]] = 1e6
    W = np.hstack([Y, K])
    assert without_outliers_beside(W, GaussianSpec(), 2) is W
    plain = without_outliers_beside(W, GivenStudentSpec(4.0), 2)
    np.testing.assert_array_equal(plain[:, 2:], K)
    np.testing.assert_array_equal(np.argwhere(np.isnan(plain[:, :2]) & np.isfinite(Y)), [[20, 0], [90, 1]])
    rare = (K[:, 0] > 0) & np.isfinite(Y[:, 0])
    assert np.isnan(GivenStudentSpec(4.0).without_outliers(Y)[rare, 0]).mean() > 0.5  # judged alone
