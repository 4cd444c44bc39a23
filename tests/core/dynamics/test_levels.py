"""Levels in arrow form beside the exact joint state."""

from __future__ import annotations

import numpy as np
import pytest

import reference_sequences as ref
from dynamics_problems import GAPS, augment, changed, draw, linear, make, without_states
from factorstream.core.dynamics import levels
from factorstream.core.dynamics.arrow import flat
from factorstream.core.dynamics.filter import entry, filter_rows, initial, predict, update
from factorstream.core.dynamics.forward_levels import forward
from factorstream.core.dynamics.levels import smooth_levels, smooth_recent
from factorstream.core.dynamics.smoother import smooth


@pytest.mark.parametrize("gaps", GAPS)
def test_levels_without_factors_are_exact(gaps):
    model = without_states(make(1, r=2, level=True))
    _, _, _, Y = draw(model, 12, 4, gaps)
    big = augment(model)
    x, cov, logp = ref.joint_gaussian(*linear(big), Y)
    s, mom = smooth_levels(model, Y)
    assert np.allclose(s.signal - model.emission.mean, x, atol=1e-8)
    assert np.allclose(s.var, [np.diag(cov[t, :, t]) for t in range(12)], atol=1e-8)
    assert s.logp == pytest.approx(logp, abs=1e-8)
    cross = sum(np.diag(cov[t, :, t + 1]) + x[t] * x[t + 1] for t in range(11))
    assert np.allclose(mom.levels.L[1], cross, atol=1e-8)


@pytest.mark.parametrize("gaps", GAPS)
def test_two_steps_with_levels_are_exact_at_the_first_update_and_prediction(gaps):
    """The first approximation happens when levels are predicted: one update + marginals of one prediction are exact."""
    model = make(5, m=6, r=2, level=True)
    _, _, _, Y = draw(model, 2, 5, gaps)
    big = augment(model)
    s, info = update(model, initial(model), Y[0])
    t, tinfo = update(big, initial(big), Y[0])
    assert info.logp == pytest.approx(tinfo.logp, abs=1e-9)
    for a, b in ((s, t), (predict(model, s), predict(big, t))):
        mu, var = entry(model, a)
        mu2, var2 = entry(big, b)
        assert np.allclose(mu, mu2, atol=1e-9)
        assert np.allclose(var, var2, atol=1e-9)


@pytest.mark.parametrize(("R", "q"), [(0.3, 0.05), (0.01, 0.05), (0.05, 0.5)])
def test_levels_stay_close_to_the_exact_joint_state(R, q):
    model = make(7, m=12, r=2, level=True, R=R, q=q)
    _, _, _, Y = draw(model, 120, 7, "random")
    Y[40:60, :4] = np.nan
    exact = smooth(augment(model), Y)
    s, _ = smooth_levels(model, Y)
    gone = np.isnan(Y)
    sd = np.sqrt(exact.var + model.noise.R)
    assert np.sqrt(np.mean(((s.signal - exact.signal) / sd)[gone] ** 2)) < 0.1
    ratio = np.sqrt(s.var + model.noise.R) / sd
    assert 0.95 < np.median(ratio[gone]) < 1.05
    assert ratio[gone].min() > 0.8


def test_fast_forward_equals_the_step_by_step_filter():
    model = make(3, m=7, r=3, level=True)
    _, _, _, Y = draw(model, 40, 3)
    states, infos = filter_rows(model, Y)
    s, logp = forward(model, Y, None, None)
    for name in s._fields:
        assert np.allclose(getattr(s, name), [getattr(flat(k), name) for k in states], atol=1e-9)
    assert np.allclose(logp, [i.logp for i in infos], atol=1e-9)
    smoothed, _ = smooth_levels(model, Y)
    back = smooth_recent(model, states)[0]
    assert np.allclose(smoothed.x[0], back.x)
    assert np.allclose(smoothed.signal[0], entry(model, back)[0])
    assert np.allclose(smoothed.x[-1], states[-1].x)


@pytest.mark.parametrize("r", [0, 1, 4])
def test_fast_rows_equal_the_steps_of_the_arrow_form(monkeypatch, r):
    """Rows without data, long gaps, levels that forget, and pieces of any length."""
    model = changed(make(3, m=7, r=max(r, 1), level=True), phi=np.linspace(0.8, 1.0, 7))
    model = model if r else without_states(model)
    _, _, _, Y = draw(model, 60, 3)
    Y[20:24], Y[30:55, 2] = np.nan, np.nan
    expected = smooth_recent(model, filter_rows(model, Y)[0])
    for rows in (1, 7, 256):
        monkeypatch.setattr(levels, "CHUNK", rows)
        s, _ = smooth_levels(model, Y)
        for t, belief in enumerate(expected):
            mean, var = entry(model, belief)
            assert np.allclose(s.x[t], belief.x, atol=1e-9)
            assert np.allclose(s.P[t], belief.P, atol=1e-9)
            assert np.allclose(s.signal[t], mean, atol=1e-9)
            assert np.allclose(s.var[t], var, atol=1e-9)


@pytest.mark.parametrize("q", [1e-3, 1e-7, 1e-9, 1e-12])
def test_states_that_hardly_move_are_filtered_as_step_by_step(q):
    """Precisions would lose what covariances keep."""
    model = make(3, m=7, r=3, level=True)
    model = model._replace(dynamics=model.dynamics._replace(A=np.eye(3), Q=q * np.eye(3)))
    _, _, _, Y = draw(model, 40, 3, "random")
    states, infos = filter_rows(model, Y)
    s, logp = forward(model, Y, None, None)
    for name in s._fields:
        assert np.allclose(getattr(s, name), [getattr(flat(k), name) for k in states], atol=1e-8)
    assert np.allclose(logp, [i.logp for i in infos], atol=1e-8)


def test_level_moments_equal_the_exact_ones_when_levels_are_small():
    """With tiny levels the arrow form is almost exact, so every sum can be compared with the joint state."""
    model = changed(make(6, m=4, r=2, level=True, q=1e-6), p0=np.full(4, 1e-5))
    _, _, _, Y = draw(model, 30, 6)
    _s, mom = smooth_levels(model, Y)
    e = smooth(augment(model), Y)
    r = 2
    second = e.P + e.x[:, :, None] * e.x[:, None, :]
    lag = e.lag + e.x[:-1, :, None] * e.x[1:, None, :]
    assert np.allclose(mom.S10, lag[:, :r, :r].sum(0).T, atol=1e-5)
    diag = np.einsum("tii->ti", second[:, r:, r:])
    assert np.allclose(mom.levels.L[0], diag[1:].sum(0), rtol=1e-3, atol=1e-9)
    assert np.allclose(mom.levels.L[1], np.einsum("tii->ti", lag[:, r:, r:]).sum(0), rtol=1e-3, atol=1e-9)
    assert np.allclose(mom.levels.M[0], second[1:, r:, :r].sum(0), rtol=1e-2, atol=1e-6)
    assert np.allclose(mom.levels.M[1], np.swapaxes(lag, 1, 2)[:, r:, :r].sum(0), rtol=1e-2, atol=1e-6)
    assert np.allclose(mom.levels.M[2], lag[:, r:, :r].sum(0), rtol=1e-2, atol=1e-6)
    assert np.allclose(mom.levels.M[3], second[:-1, r:, :r].sum(0), rtol=1e-2, atol=1e-6)


@pytest.mark.parametrize("gaps", GAPS)
@pytest.mark.parametrize(("r", "weighted", "started"), [(3, False, False), (1, True, True), (0, False, True)])
def test_compiled_loops_equal_numpy(monkeypatch, gaps, r, weighted, started):
    """More rows than go backwards at once, with weights, after other rows, and without any state."""
    pytest.importorskip("numba")
    model = make(3, m=7, r=max(r, 1), level=True)
    model = model if r else without_states(model)
    _, _, _, Y = draw(model, 300, 3, gaps)
    w = np.random.default_rng(0).uniform(0.2, 1.0, size=Y.shape) if weighted else None
    start = filter_rows(model, Y[:5])[0][-1] if started else None
    both = []
    for compiled in ("0", "1"):
        monkeypatch.setenv("FACTORSTREAM_COMPILED", compiled)
        both.append((forward(model, Y, w, start), *smooth_levels(model, Y, w, start)))
    for a, b in zip(leaves(both[0]), leaves(both[1]), strict=True):
        assert np.allclose(a, b, rtol=1e-9, atol=1e-10)
    assert any((np.asarray(a) != np.asarray(b)).any() for a, b in zip(leaves(both[0]), leaves(both[1]), strict=True))


def leaves(tree):
    if isinstance(tree, tuple):
        return [leaf for part in tree for leaf in leaves(part)]
    return [] if tree is None else [tree]


def test_numpy_takes_over_where_a_covariance_is_not_positive_definite(monkeypatch):
    loops = pytest.importorskip("factorstream.core.dynamics.compiled_levels")
    singular = np.array([[1.0, 1.0], [1.0, 1.0]])
    assert not loops.invert(singular, np.empty((2, 2)), np.empty((2, 2)))
    model = make(3, m=7, r=2, level=True)
    _, _, _, Y = draw(model, 20, 3, "random")
    expected = smooth_levels(model, Y)
    monkeypatch.setenv("FACTORSTREAM_COMPILED", "1")
    for name in ("forward", "backward"):
        monkeypatch.setattr(loops, name, spoiling(getattr(loops, name), loops.FAILED))
    for a, b in zip(leaves(expected), leaves(smooth_levels(model, Y)), strict=True):
        assert np.array_equal(a, b)


def spoiling(function, answer):
    """The function, which does its work and then says that it could not."""

    def spoilt(*args):
        function(*args)
        return answer

    return spoilt
