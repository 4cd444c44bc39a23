"""Filter and forecast against textbook twins and the written-out joint Gaussian."""

from __future__ import annotations

import numpy as np
import pytest

import reference_sequences as ref
from dynamics_problems import GAPS, draw, linear, make
from factorstream.core.dynamics.filter import filter_rows, forecast
from factorstream.core.dynamics.levels import smooth_recent
from factorstream.core.dynamics.smoother import smooth


@pytest.mark.parametrize("gaps", GAPS)
@pytest.mark.parametrize("seed", [0, 1])
def test_filter_equals_textbook(gaps, seed):
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


def test_forecast_equals_the_joint_gaussian():
    model = make(8)
    _, _, _, Y = draw(model, 10, 8)
    states, _ = filter_rows(model, Y)
    mu, var = forecast(model, states[-1], 4)
    longer = np.vstack([Y, np.full((4, 5), np.nan)])
    s = smooth(model, longer)
    assert np.allclose(mu, s.signal[10:], atol=1e-9)
    assert np.allclose(var, s.var[10:] + model.noise.R, atol=1e-9)
