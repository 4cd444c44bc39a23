"""Filter, smoother and EM of sequences against textbook twins and the written-out joint Gaussian."""

from __future__ import annotations

import numpy as np
import pytest

import reference as ref
from factorstream.core.dynamics.alarm import Alarm, threshold, watch
from factorstream.core.dynamics.em import (
    Law,
    Prior,
    add,
    maximise,
    observed_moments,
    penalty,
    recentre,
    relevance,
    robust_weights,
)
from factorstream.core.dynamics.fit import STUDENT, Noise, adapt, fit
from factorstream.core.dynamics.level import forward, smooth_back, smooth_levels
from factorstream.core.dynamics.model import (
    Model,
    augment,
    entry,
    filter_rows,
    forecast,
    initial,
    noise_variance,
    predict,
    smooth,
    update,
)
from factorstream.core.dynamics.stream import Options, advance, new_stream, standards

GAPS = ["none", "random", "runs", "rows", "columns"]


def make(seed=0, m=5, r=2, level=False, R=0.3, q=0.05):
    rng = np.random.default_rng(seed)
    A = 0.8 * np.eye(r) + 0.1 * rng.normal(size=(r, r))
    B = rng.normal(size=(r, r))
    z = np.zeros(m)
    return Model(
        A=A,
        Q=0.3 * np.eye(r) + 0.05 * B @ B.T,
        P0=np.eye(r),
        C=rng.normal(size=(m, r)),
        V=np.zeros((m, r, r)),
        mean=rng.normal(size=m),
        R=R * rng.uniform(0.5, 2, m),
        phi=rng.uniform(0.7, 1.0, m) if level else z,
        q=np.full(m, q) if level else z,
        p0=np.full(m, 0.5) if level else z,
        nu=np.inf,
    )


def draw(model, T, seed=0, gaps="random"):
    rng = np.random.default_rng(seed)
    x, own, Y = ref.simulate(
        rng, model.A, model.Q, model.P0, model.C, model.R, model.mean, model.phi, model.q, model.p0, T, model.nu
    )
    full = Y.copy()
    m = Y.shape[1]
    if gaps == "random":
        Y[rng.random(Y.shape) < 0.3] = np.nan
    elif gaps == "runs":
        for i in range(m):
            t = rng.integers(0, max(T - 4, 1))
            Y[t : t + 4, i] = np.nan
    elif gaps == "rows":
        Y[[0, T // 2, T - 1]] = np.nan
    elif gaps == "columns":
        Y[:, 1] = np.nan
    return x, own, full, Y


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
    first = smooth_back(model, states)
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


@pytest.mark.parametrize("gaps", GAPS)
def test_levels_without_factors_are_exact(gaps):
    model = make(1, r=2, level=True)
    model = model._replace(
        A=model.A[:0, :0], Q=model.Q[:0, :0], P0=model.P0[:0, :0], C=model.C[:, :0], V=model.V[:, :0, :0]
    )
    _, _, _, Y = draw(model, 12, 4, gaps)
    big = augment(model)
    x, cov, logp = ref.joint_gaussian(big.A, big.Q, big.P0, big.C, big.R, big.mean, Y)
    s, mom = smooth_levels(model, Y)
    assert np.allclose(s.signal - model.mean, x, atol=1e-8)
    assert np.allclose(s.var, [np.diag(cov[t, :, t]) for t in range(12)], atol=1e-8)
    assert s.logp == pytest.approx(logp, abs=1e-8)
    cross = sum(np.diag(cov[t, :, t + 1]) + x[t] * x[t + 1] for t in range(11))
    assert np.allclose(mom.L[1], cross, atol=1e-8)


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
    sd = np.sqrt(exact.var + model.R)
    assert np.sqrt(np.mean(((s.signal - exact.signal) / sd)[gone] ** 2)) < 0.1
    ratio = np.sqrt(s.var + model.R) / sd
    assert 0.95 < np.median(ratio[gone]) < 1.05
    assert ratio[gone].min() > 0.8


def test_fast_forward_equals_the_step_by_step_filter():
    model = make(3, m=7, r=3, level=True)
    _, _, _, Y = draw(model, 40, 3)
    states, infos = filter_rows(model, Y)
    s, logp = forward(model, Y, None, None)
    for name in ("x", "P", "lev", "B", "d"):
        assert np.allclose(getattr(s, name), [getattr(k, name) for k in states], atol=1e-9)
    assert np.allclose(logp, [i.logp for i in infos], atol=1e-9)
    smoothed, _ = smooth_levels(model, Y)
    back = smooth_back(model, states)
    assert np.allclose(smoothed.x[0], back.x)
    assert np.allclose(smoothed.signal[0], entry(model, back)[0])
    assert np.allclose(smoothed.x[-1], states[-1].x)


def test_moments_equal_plain_loops():
    model = make(4)
    _, _, _, Y = draw(model, 25, 4)
    s = smooth(model, Y)
    mom = observed_moments(Y, s)
    S11, S10, S00, G, g, h = ref.em_sums(s.x, s.P, s.lag, Y)
    r = 2
    for a, b in ((mom.S11, S11), (mom.S10, S10), (mom.S00, S00), (mom.G[:, :r, :r], G), (mom.g[:, :r], g), (mom.h, h)):
        assert np.allclose(a, b, atol=1e-9)
    half = smooth(model, Y)
    assert np.allclose(add(mom, observed_moments(Y, half), 0.5).h, 1.5 * h)


def test_level_moments_equal_the_exact_ones_when_levels_are_small():
    """With tiny levels the arrow form is almost exact, so every sum can be compared with the joint state."""
    model = make(6, m=4, r=2, level=True, q=1e-6)._replace(p0=np.full(4, 1e-5))
    _, _, _, Y = draw(model, 30, 6)
    _s, mom = smooth_levels(model, Y)
    e = smooth(augment(model), Y)
    r = 2
    second = e.P + e.x[:, :, None] * e.x[:, None, :]
    lag = e.lag + e.x[:-1, :, None] * e.x[1:, None, :]
    assert np.allclose(mom.S10, lag[:, :r, :r].sum(0).T, atol=1e-5)
    diag = np.einsum("tii->ti", second[:, r:, r:])
    assert np.allclose(mom.L[0], diag[1:].sum(0), rtol=1e-3, atol=1e-9)
    assert np.allclose(mom.L[1], np.einsum("tii->ti", lag[:, r:, r:]).sum(0), rtol=1e-3, atol=1e-9)
    assert np.allclose(mom.M[0], second[1:, r:, :r].sum(0), rtol=1e-2, atol=1e-6)
    assert np.allclose(mom.M[1], np.swapaxes(lag, 1, 2)[:, r:, :r].sum(0), rtol=1e-2, atol=1e-6)
    assert np.allclose(mom.M[2], lag[:, r:, :r].sum(0), rtol=1e-2, atol=1e-6)
    assert np.allclose(mom.M[3], second[:-1, r:, :r].sum(0), rtol=1e-2, atol=1e-6)


@pytest.mark.parametrize("kind", ["fixed", "diagonal", "full"])
@pytest.mark.parametrize("robust", [False, True])
def test_bound_never_falls_without_levels(kind, robust):
    model = make(0, m=8, r=2)._replace(nu=4.0 if robust else np.inf)
    _, _, _, Y = draw(model, 200, 0)
    Y = (Y - np.nanmean(Y, 0)) / np.nanstd(Y, 0)
    f = fit(Y, 2, level=False, law=Law(kind), noise=STUDENT if robust else Noise(), sweeps=25, tol=-1.0)
    steps = np.diff(f.history)
    assert steps[1:].min() > -1e-6 * abs(f.history[-1])


def test_likelihood_rises_with_levels():
    model = make(0, m=10, r=2, level=True)
    _, _, _, Y = draw(model, 300, 0)
    Y = (Y - np.nanmean(Y, 0)) / np.nanstd(Y, 0)
    f = fit(Y, 2, sweeps=20, tol=-1.0)
    h = np.array(f.history)
    assert h[-1] > h[0]
    assert np.diff(h)[4:].min() > -1e-4 * abs(h[-1])


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


@pytest.mark.parametrize("level", [False, True])
def test_intervals_cover_after_learning(level):
    hit, n = 0, 0
    for seed in range(8):
        model = make(seed, m=12, r=2, level=level, R=0.2, q=0.05)
        _, _, full, Y = draw(model, 500, seed)
        mu, sd = np.nanmean(Y, 0), np.nanstd(Y, 0)
        f = fit((Y - mu) / sd, 2 if not level else 4, level=level)
        gone = np.isnan(Y)
        z = (((full - mu) / sd - f.smoothed.signal) / np.sqrt(f.smoothed.var + noise_variance(f.model)))[gone]
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
    Y = (Y - np.nanmean(Y, 0)) / np.nanstd(Y, 0)
    Y[:, 3] = np.nan
    for level in (False, True):
        f = fit(Y, 2, level=level, sweeps=10)
        assert np.isfinite(f.smoothed.signal).all()
        assert np.isfinite(f.smoothed.var).all()
        assert np.median(f.smoothed.var[:, 3] + f.model.R[3]) > 0.7


def test_outliers_hurt_less_with_student_t_noise():
    model = make(1, m=10, r=2)
    _, _, _full, Y = draw(model, 400, 1)
    rng = np.random.default_rng(0)
    bad = rng.random(Y.shape) < 0.03
    Y = np.where(bad, Y + 15 * rng.normal(size=Y.shape), Y)
    clean = draw(model._replace(R=model.R * 1e-12), 400, 1)[2]
    error = {}
    for robust in (False, True):
        mu, sd = np.nanmean(Y, 0), np.nanstd(Y, 0)
        f = fit((Y - mu) / sd, 2, level=False, noise=STUDENT if robust else Noise())
        error[robust] = np.mean((f.smoothed.signal * sd + mu - clean) ** 2)
    assert error[True] < 0.8 * error[False]


def test_streams_do_not_depend_on_their_split_and_stay_bounded():
    model = make(2, m=6, r=2, level=True)
    _, _, _, Y = draw(model, 300, 2)
    opt = Options(r=2, warmup=128, window=32, sweeps=3)
    a, b = new_stream(6), new_stream(6)
    for y in Y:
        a, _ = advance(a, y, opt)
        assert len(a.window) <= 128
    for part in (Y[:7], Y[7:100], Y[100:]):
        for y in part.copy():
            b, _ = advance(b, y, opt)
    assert a.model is not None
    assert b.model is not None
    assert np.array_equal(a.model.C, b.model.C)
    assert a.refreshes == (300 - 128) // 32
    kept = a.model.C.copy()
    advance(a, Y[0], opt)
    assert np.array_equal(kept, a.model.C)  # nothing is changed in place


@pytest.mark.parametrize("shared", [False, True])
def test_rank_one_steps_follow_drifting_loadings(shared):
    rng = np.random.default_rng(0)
    truth = make(3, m=20, r=2, R=0.05)._replace(mean=np.zeros(20))
    V = np.tile(0.05 * np.eye(2), (1 if shared else 20, 1, 1))
    model, fixed = truth._replace(V=V), truth
    C, x = truth.C.copy(), np.zeros(2)
    s = f = initial(model)
    score = np.zeros(2)
    for _t in range(1500):
        x = truth.A @ x + np.linalg.cholesky(truth.Q) @ rng.normal(size=2)
        C = C + 0.02 * rng.normal(size=C.shape)
        y = C @ x + np.sqrt(truth.R) * rng.normal(size=20)
        y[rng.random(20) < 0.2] = np.nan
        s, info = update(model, predict(model, s), y)
        model = adapt(model, s, y, Q_V=4e-4)
        f, other = update(fixed, predict(fixed, f), y)
        score += [info.logp, other.logp]
    assert score[0] > score[1]
    assert np.linalg.eigvalsh(model.V).min() > 0


def test_alarm_fires_on_a_change_and_seldom_before():
    model = make(4, m=8, r=2)
    early, late = 0, 0
    for seed in range(10):
        _, _, _, Y = draw(model, 600, seed)
        Y[400:] += 2.0 * np.sqrt(model.R) * np.sign(np.arange(8) - 3.5)
        _, infos = filter_rows(model, Y)
        a = Alarm()
        fired = []
        for t, info in enumerate(infos):
            a, now, _ = watch(a, info, h=10.0)
            fired += [t] if now else []
        early += sum(t < 400 for t in fired)
        late += any(400 <= t < 440 for t in fired)
    assert early <= 1
    assert late >= 9


def test_units_do_not_matter_for_weights_and_penalties():
    model = make(0, m=4)._replace(nu=4.0)
    _, _, _, Y = draw(model, 30, 0)
    w, extra, nu = robust_weights(model, Y, smooth(model, Y))
    assert w.shape == Y.shape
    assert (w > 0).all()
    assert np.isfinite(extra)
    assert nu >= 3
    prior = Prior(np.ones(2))
    assert np.isfinite(penalty(model, prior))
    assert (relevance(model) > 0).all()
    assert maximise(model, observed_moments(Y, smooth(model, Y)), prior).C.shape == (4, 2)


def test_recentred_moments_are_those_of_the_moved_levels():
    """Move c by a step and l by -step'x in the exact joint state: every sum must follow."""
    model = make(6, m=4, r=2, level=True)
    _, _, _, Y = draw(model, 20, 6)
    Y = np.where(np.isfinite(Y), Y, 0.3)
    rng = np.random.default_rng(0)
    x, own, step = rng.normal(size=(20, 2)), rng.normal(size=(20, 4)), rng.normal(size=(4, 2))
    _, template = smooth_levels(model, Y)

    def sums(own):
        X = np.hstack([x, np.ones((20, 1))])
        return template._replace(
            S11=x[1:].T @ x[1:],
            S10=x[1:].T @ x[:-1],
            S00=x[:-1].T @ x[:-1],
            G=np.tile(X.T @ X, (4, 1, 1)),
            g=(Y - own).T @ X,
            h=((Y - own) ** 2).sum(0),
            L=np.stack([(own[1:] ** 2).sum(0), (own[1:] * own[:-1]).sum(0), (own[:-1] ** 2).sum(0)]),
            M=np.stack([own[1:].T @ x[1:], own[1:].T @ x[:-1], own[:-1].T @ x[1:], own[:-1].T @ x[:-1]]),
        )

    for a, b in zip(recentre(sums(own), step), sums(own - x @ step.T), strict=True):
        assert np.allclose(a, b)


def test_shapes_at_the_edges():
    rng = np.random.default_rng(0)
    for T, m, r in ((1, 3, 2), (2, 3, 5), (5, 1, 1), (30, 2, 10)):
        Y = rng.normal(size=(T, m))
        for level in (False, True):
            f = fit(Y, r, level=level, sweeps=3)
            assert f.smoothed.signal.shape == (T, m)
            assert np.isfinite(f.smoothed.var).all()


def test_given_transitions_are_kept_and_the_rest_is_learned():
    model = make(0, m=8, r=2)
    _, _, _, Y = draw(model, 200, 0)
    Y = (Y - np.nanmean(Y, 0)) / np.nanstd(Y, 0)
    A, Q = np.array([[0.9, 0.1], [0.0, 0.5]]), 0.3
    f = fit(Y, 2, level=False, law=Law("fixed", A, Q), sweeps=25, tol=-1.0)
    assert np.array_equal(f.model.A, A)
    assert np.array_equal(f.model.Q, Q * np.eye(2))
    assert np.diff(f.history)[1:].min() > -1e-6 * abs(f.history[-1])
    diagonal = fit(Y, 2, level=False, law=Law("diagonal", None, Q), sweeps=5).model
    assert np.array_equal(diagonal.A, np.diag(np.diag(diagonal.A)))
    assert np.array_equal(diagonal.Q, Q * np.eye(2))


@pytest.mark.parametrize("level", [False, True])
def test_a_fit_ends_in_the_filters_belief(level):
    _, _, _, Y = draw(make(3, m=6, r=2, level=level), 80, 3)
    f = fit((Y - np.nanmean(Y, 0)) / np.nanstd(Y, 0), 2, level=level, select=False, sweeps=4)
    last = filter_rows(f.model, (Y - np.nanmean(Y, 0)) / np.nanstd(Y, 0))[0][-1]
    for a, b in zip(f.end, last, strict=True):
        assert np.allclose(a, b, atol=1e-8)


@pytest.mark.parametrize("rate", [1e-2, 1e-3])
def test_false_alarms_of_gaussian_innovations_come_at_the_rate_asked_for(rate):
    """200,000 rows; Siegmund's approximation and the running standardisation together are within a factor of 1.6."""
    rng = np.random.default_rng(0)
    template = filter_rows(make(0, m=5), np.zeros((1, 5)))[1][0]
    alarm, count, h = Alarm(), 0, threshold(rate)
    for chi2 in rng.chisquare(20, 200_000):
        alarm, fired, _ = watch(alarm, template._replace(n_obs=20, chi2=chi2), h)
        count += fired
    assert 1 / 1.6 < count / 200_000 / rate < 1.6


def test_standards_survive_columns_of_any_size():
    Y = np.array([[1e300, 1.0, 5.0, np.nan], [-1e300, 2.0, 5.0, np.nan], [1e300, 3.0, 5.0, np.nan]])
    shift, scale = standards(Y)
    assert np.isfinite((Y - shift)[:, :3] / scale[:3]).all()
    assert shift[1] == 2.0
    assert shift[2] == 5.0
    assert (scale > 0).all()
    assert np.array_equal(standards(Y[:1, 1:3])[1], [1.0, 5.0])  # one row: the size of the values
