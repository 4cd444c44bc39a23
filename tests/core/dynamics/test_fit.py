"""What a whole fit finds: intervals, random walks, outliers, and shapes at the edges."""

from __future__ import annotations

import numpy as np
import pytest

import reference_sequences as ref
from dynamics_problems import GAPS, changed, draw, linear, make, standardised
from factorstream.core.dynamics.arrow import flat
from factorstream.core.dynamics.drift import with_drift
from factorstream.core.dynamics.filter import filter_rows
from factorstream.core.dynamics.fit import ALL_LEVELS, LEVELS, STATES, filtered, fit, smoothed
from factorstream.core.dynamics.noise import GaussianSpec, LearnedStudentSpec
from factorstream.core.dynamics.smoother import smooth


@pytest.mark.parametrize("level", [False, True])
def test_intervals_cover_after_learning(level):
    hit, n = 0, 0
    for seed in range(8):
        model = make(seed, m=12, r=2, level=level, R=0.2, q=0.05)
        _, _, full, Y = draw(model, 500, seed)
        mu, sd = np.nanmean(Y, 0), np.nanstd(Y, 0)
        f = fit((Y - mu) / sd, 4 if level else 2, LEVELS if level else STATES)
        gone = np.isnan(Y)
        z = (((full - mu) / sd - f.smoothed.signal) / np.sqrt(f.smoothed.var + f.model.noise.variance))[gone]
        hit += int((np.abs(z) < 1.959964).sum())
        n += len(z)
    assert 0.935 < hit / n < 0.965


def bridge(Z):
    out = Z.copy()
    t = np.arange(len(Z))
    for j in range(Z.shape[1]):
        o = np.isfinite(Z[:, j])
        out[:, j] = np.interp(t, t[o], Z[o, j])
    return out


@pytest.mark.parametrize("kind", ["independent", "correlated", "prices"])
def test_random_walks_are_never_worse_than_linear_interpolation(kind):
    ours, theirs = 0.0, 0.0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        T, m = 600, 15
        if kind == "independent":
            Y = np.cumsum(rng.normal(size=(T, m)), 0)
        elif kind == "correlated":
            Y = np.cumsum(rng.normal(size=(T, 2)) @ rng.normal(size=(2, m)) + rng.normal(size=(T, m)), 0)
        else:
            beta = rng.uniform(0.5, 1.5, m)
            steps = 0.01 * rng.normal(size=(T, 1)) * beta + 0.015 * rng.normal(size=(T, m))
            Y = 100 * np.exp(np.cumsum(steps, 0))
        Z = Y.copy()
        for j in range(m):
            for t in rng.integers(1, T - 21, 8):
                Z[t : t + 20, j] = np.nan
        gone = np.isnan(Z)
        mu, sd = np.nanmean(Z, 0), np.nanstd(Z, 0)
        f = fit((Z - mu) / sd, 10)
        ours += float(((f.smoothed.signal * sd + mu - Y)[gone] ** 2).sum())
        theirs += float(((bridge(Z) - Y)[gone] ** 2).sum())
    assert np.sqrt(ours / theirs) < (1.005 if kind == "independent" else 0.95)


def test_a_feature_never_observed_keeps_a_wide_interval():
    model = make(0, m=6, r=2)
    _, _, _, Y = draw(model, 100, 0)
    Y = standardised(Y)
    Y[:, 3] = np.nan
    for level in (False, True):
        f = fit(Y, 2, LEVELS if level else STATES, sweeps=10)
        assert np.isfinite(f.smoothed.signal).all()
        assert np.isfinite(f.smoothed.var).all()
        assert np.median(f.smoothed.var[:, 3] + f.model.noise.R[3]) > 0.7


def test_outliers_hurt_less_with_student_t_noise():
    model = make(1, m=10, r=2)
    _, _, _full, Y = draw(model, 400, 1)
    rng = np.random.default_rng(0)
    bad = rng.random(Y.shape) < 0.03
    Y = np.where(bad, Y + 15 * rng.normal(size=Y.shape), Y)
    clean = draw(changed(model, R=model.noise.R * 1e-12), 400, 1)[2]
    error = {}
    for robust in (False, True):
        mu, sd = np.nanmean(Y, 0), np.nanstd(Y, 0)
        f = fit((Y - mu) / sd, 2, STATES, noise=LearnedStudentSpec() if robust else GaussianSpec())
        error[robust] = np.mean((f.smoothed.signal * sd + mu - clean) ** 2)
    assert error[True] < 0.8 * error[False]


def test_shapes_at_the_edges():
    rng = np.random.default_rng(0)
    for T, m, r in ((1, 3, 2), (2, 3, 5), (5, 1, 1), (30, 2, 10)):
        Y = rng.normal(size=(T, m))
        for level in (False, True):
            f = fit(Y, r, LEVELS if level else STATES, sweeps=3)
            assert f.smoothed.signal.shape == (T, m)
            assert np.isfinite(f.smoothed.var).all()


@pytest.mark.parametrize("level", [False, True])
def test_a_fit_ends_in_the_filters_belief(level):
    _, _, _, Y = draw(make(3, m=6, r=2, level=level), 80, 3)
    f = fit((Y - np.nanmean(Y, 0)) / np.nanstd(Y, 0), 2, ALL_LEVELS if level else STATES, sweeps=4)
    last = filter_rows(f.model, (Y - np.nanmean(Y, 0)) / np.nanstd(Y, 0))[0][-1]
    for a, b in zip(flat(f.smoothed.end), flat(last), strict=True):
        assert np.allclose(a, b, atol=1e-8)


@pytest.mark.parametrize("gaps", GAPS)
def test_smoothing_while_the_dictionary_drifts_equals_plain_loops(gaps):
    model = make(4, m=5, r=2)
    V = np.random.default_rng(4).normal(size=(5, 2, 3))
    V = 0.02 * V @ V.transpose(0, 2, 1)
    _, _, _, Y = draw(model, 30, 4, gaps)
    x, signal, var = ref.following_rts(*linear(model), V, 1e-2, Y)
    s = smoothed(with_drift(changed(model, V=V), 1e-2), Y)
    np.testing.assert_allclose(s.x, x, atol=1e-10)
    np.testing.assert_allclose(s.signal, signal, atol=1e-10)
    np.testing.assert_allclose(s.var, var, atol=1e-10)


@pytest.mark.parametrize("gaps", GAPS)
def test_smoothing_with_a_vanishing_drift_is_that_of_a_known_dictionary(gaps):
    model = make(4)
    _, _, _, Y = draw(model, 30, 4, gaps)
    x, cov, _ = ref.joint_gaussian(*linear(model), Y)
    C = model.emission.C
    s = smoothed(with_drift(model, 1e-12), Y)
    np.testing.assert_allclose(s.x, x, atol=1e-8)
    np.testing.assert_allclose(s.signal, x @ C.T + model.emission.mean, atol=1e-8)
    np.testing.assert_allclose(s.var, [[c @ cov[t, :, t] @ c for c in C] for t in range(30)], atol=1e-8)


def test_smoothing_takes_precisions_of_any_size():
    """Loadings of 1e10 beside others of 1: one factor of all rows cannot be computed, the recursion can."""
    model = make(4)
    _, _, _, Y = draw(model, 30, 4)
    known = smoothed(model, Y)
    C = model.emission.C.copy()
    C[0] *= 1e10
    Y[:, 0] = np.nan
    Y[::3, 0] = (known.x[::3] @ C[0]) + model.emission.mean[0]
    harder = changed(model, C=C)
    with pytest.raises(np.linalg.LinAlgError):
        smooth(harder, Y)
    s = smoothed(harder, Y)
    assert (s.var >= 0).all()
    np.testing.assert_allclose(s.signal[::3, 0], Y[::3, 0], rtol=1e-6)


@pytest.mark.parametrize("nu", [None, 4.0])
def test_after_its_last_row_a_drifting_sequence_is_smoothed_as_it_is_filtered(nu):
    model = with_drift(make(4, nu=nu), 1e-3)
    _, _, _, Y = draw(model, 30, 4)
    both, before = smoothed(model, Y), filtered(model, Y)
    for a, b in zip(both, before, strict=True):
        np.testing.assert_allclose(a[-1], b[-1], rtol=1e-12)
        assert (np.abs(a[:-1] - b[:-1]).max(1) > 1e-6).all()
