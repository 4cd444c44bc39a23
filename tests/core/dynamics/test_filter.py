"""Filter and forecast against textbook twins and the written-out joint Gaussian."""

from __future__ import annotations

import numpy as np
import pytest

import factorstream.core.dynamics.filter as filter_module
import reference_sequences as ref
from dynamics_problems import GAPS, draw, linear, make
from factorstream.core.dynamics.filter import filter_rows, forecast, initial, predict, update
from factorstream.core.dynamics.levels import smooth_recent
from factorstream.core.dynamics.smoother import smooth


@pytest.mark.parametrize("gaps", GAPS)
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("most_precise", [filter_module.MOST_PRECISE, 0.0])  # 0: always by square roots
def test_filter_equals_textbook(gaps, seed, most_precise, monkeypatch):
    monkeypatch.setattr(filter_module, "MOST_PRECISE", most_precise)
    model = make(seed, m=6, r=3)
    _, _, _, Y = draw(model, 30, seed, gaps)
    xf, Pf, xs, Ps, lag, logp = ref.kalman_rts(*linear(model), Y)
    states, infos = filter_rows(model, Y)
    assert np.allclose([s.x for s in states], xf, atol=1e-9)
    assert np.allclose([s.P for s in states], Pf, atol=1e-9)
    assert np.allclose([i.logp for i in infos], logp, atol=1e-9)
    s = smooth(model, Y)
    assert np.allclose(s.x, xs, atol=1e-9)
    assert np.allclose(s.P, Ps, atol=1e-9)
    assert np.allclose(s.lag, lag, atol=1e-9)
    assert s.logp == pytest.approx(logp.sum(), abs=1e-8)
    # filter = smoother at the last step; fixed-lag smoother over everything = smoother at the first
    assert np.allclose(s.x[-1], states[-1].x, atol=1e-10)
    assert np.allclose(s.P[-1], states[-1].P, atol=1e-10)
    first = smooth_recent(model, states)[0]
    assert np.allclose(first.x, xs[0], atol=1e-9)
    assert np.allclose(first.P, Ps[0], atol=1e-9)


@pytest.mark.parametrize("size", [1e4, 1e8, 1e12])
def test_variances_stay_positive_however_precise_an_entry_is(size):
    """A loading of any size: P stays a covariance, and the other directions keep what they had."""
    model = make(3, m=6, r=3)
    C = model.emission.C.copy()
    C[4] *= size
    model = model._replace(emission=model.emission._replace(C=C))
    s, y = initial(model), np.array([np.nan] * 4 + [size, np.nan])
    for turn in range(3):
        after, info = update(model, s, y)
        h = C[4] / np.linalg.norm(C[4])
        across = np.linalg.svd(h[None])[2][1:]  # directions that the entry says nothing of
        assert np.linalg.eigvalsh(after.P).min() >= -1e-14
        assert after.P @ h == pytest.approx(0.0, abs=1e-6)
        if turn == 0:  # P0 is a multiple of I
            np.testing.assert_allclose(across @ after.P @ across.T, across @ s.P @ across.T, atol=1e-6)
        assert np.isfinite(info.logp)
        s = predict(model, after)


def test_forecast_equals_the_joint_gaussian():
    model = make(8)
    _, _, _, Y = draw(model, 10, 8)
    states, _ = filter_rows(model, Y)
    mu, var = forecast(model, states[-1], 4)
    longer = np.vstack([Y, np.full((4, 5), np.nan)])
    s = smooth(model, longer)
    assert np.allclose(mu, s.signal[10:], atol=1e-9)
    assert np.allclose(var, s.var[10:] + model.noise.R, atol=1e-9)


@pytest.mark.parametrize("most_precise", [filter_module.MOST_PRECISE, 0.0])
def test_a_row_whose_squares_overflow_is_most_surprising(most_precise, monkeypatch):
    """Without a warning of NumPy's, and so that log-densities of many such rows can be added up."""
    monkeypatch.setattr(filter_module, "MOST_PRECISE", most_precise)
    model = make(0, m=4)
    y = np.array([0.1, 8e153, -3e153, 0.2])
    belief, innovation = update(model, initial(model), 1e5 * y)
    assert innovation.chi2 == filter_module.MOST_SURPRISING
    assert np.isfinite(1000 * innovation.logp)
    assert np.isfinite(belief.x).all()
