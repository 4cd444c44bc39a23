"""Filter, smoother and forecast against textbook twins and the written-out joint Gaussian."""

from __future__ import annotations

import numpy as np
import pytest
from factorstream.core.dynamics.level import smooth_levels, smooth_recent

import reference_sequences as ref
from dynamics_problems import GAPS, draw, make
from factorstream.core.dynamics.model import (
    augment,
    filter_rows,
    forecast,
    smooth,
)


@pytest.mark.parametrize("gaps", GAPS)
@pytest.mark.parametrize("level", [False, True])
def test_equals_the_joint_gaussian(gaps, level):
    model = make(level=level)
    model = augment(model) if level else model
    _, _, _, Y = draw(model, 9, 3, gaps)
    x, cov, logp = ref.joint_gaussian(model.A, model.Q, model.P0, model.C, model.R, model.mean, Y)
    s = smooth(model, Y)
    assert np.allclose(s.x, x, atol=1e-8)
    assert np.allclose(s.P, np.array([cov[t, :, t] for t in range(9)]), atol=1e-8)
    assert np.allclose(s.lag, np.array([cov[t, :, t + 1] for t in range(8)]), atol=1e-8)
    assert s.logp == pytest.approx(logp, abs=1e-8)
    assert np.allclose(s.signal, x @ model.C.T + model.mean, atol=1e-8)
    exact = [[c @ cov[t, :, t] @ c for c in model.C] for t in range(9)]
    assert np.allclose(s.var, exact, atol=1e-8)


@pytest.mark.parametrize("gaps", GAPS)
@pytest.mark.parametrize("seed", [0, 1])
def test_filter_equals_textbook(gaps, seed):
    model = make(seed, m=6, r=3)
    _, _, _, Y = draw(model, 30, seed, gaps)
    xf, Pf, xs, Ps, lag, logp = ref.kalman_rts(model.A, model.Q, model.P0, model.C, model.R, model.mean, Y)
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


def test_smoother_from_a_start_state_continues_the_filter():
    model = make(2)
    _, _, _, Y = draw(model, 20, 2)
    whole = smooth(model, Y)
    states, infos = filter_rows(model, Y[:12])
    rest = smooth(model, Y[12:], start=states[-1])
    assert np.allclose(rest.x, whole.x[12:], atol=1e-9)
    assert rest.logp + sum(i.logp for i in infos) == pytest.approx(whole.logp, abs=1e-8)


def test_forecast_equals_the_joint_gaussian():
    model = make(8)
    _, _, _, Y = draw(model, 10, 8)
    states, _ = filter_rows(model, Y)
    mu, var = forecast(model, states[-1], 4)
    longer = np.vstack([Y, np.full((4, 5), np.nan)])
    s = smooth(model, longer)
    assert np.allclose(mu, s.signal[10:], atol=1e-9)
    assert np.allclose(var, s.var[10:] + model.R, atol=1e-9)


@pytest.mark.parametrize("level", [False, True])
def test_intervals_cover_what_the_model_draws(level):
    """95% intervals of removed entries, parameters known, 40 draws: 94-96%."""
    hit, n = 0, 0
    for seed in range(40):
        model = make(seed, m=10, r=2, level=level, R=0.1, q=0.1)
        _, _, full, Y = draw(model, 150, seed)
        Y[50:70, :5] = np.nan
        s = smooth_levels(model, Y)[0] if level else smooth(model, Y)
        gone = np.isnan(Y)
        z = ((full - s.signal) / np.sqrt(s.var + model.R))[gone]
        hit += int((np.abs(z) < 1.959964).sum())
        n += len(z)
    assert 0.94 < hit / n < 0.96
