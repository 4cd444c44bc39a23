"""The smoother against the written-out joint Gaussian, the filter it continues, and what the model draws."""

from __future__ import annotations

import numpy as np
import pytest

import reference_sequences as ref
from dynamics_problems import GAPS, augment, draw, linear, make
from factorstream.core.dynamics.filter import filter_rows
from factorstream.core.dynamics.levels import smooth_levels
from factorstream.core.dynamics.smoother import smooth


@pytest.mark.parametrize("gaps", GAPS)
@pytest.mark.parametrize("level", [False, True])
def test_equals_the_joint_gaussian(gaps, level):
    model = make(level=level)
    model = augment(model) if level else model
    _, _, _, Y = draw(model, 9, 3, gaps)
    x, cov, logp = ref.joint_gaussian(*linear(model), Y)
    s = smooth(model, Y)
    assert np.allclose(s.x, x, atol=1e-8)
    assert np.allclose(s.P, np.array([cov[t, :, t] for t in range(9)]), atol=1e-8)
    assert np.allclose(s.lag, np.array([cov[t, :, t + 1] for t in range(8)]), atol=1e-8)
    assert s.logp == pytest.approx(logp, abs=1e-8)
    assert np.allclose(s.signal, x @ model.emission.C.T + model.emission.mean, atol=1e-8)
    exact = [[c @ cov[t, :, t] @ c for c in model.emission.C] for t in range(9)]
    assert np.allclose(s.var, exact, atol=1e-8)


def test_smoother_from_a_start_state_continues_the_filter():
    model = make(2)
    _, _, _, Y = draw(model, 20, 2)
    whole = smooth(model, Y)
    states, infos = filter_rows(model, Y[:12])
    rest = smooth(model, Y[12:], start=states[-1])
    assert np.allclose(rest.x, whole.x[12:], atol=1e-9)
    assert rest.logp + sum(i.logp for i in infos) == pytest.approx(whole.logp, abs=1e-8)


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
        z = ((full - s.signal) / np.sqrt(s.var + model.noise.R))[gone]
        hit += int((np.abs(z) < 1.959964).sum())
        n += len(z)
    assert 0.94 < hit / n < 0.96
