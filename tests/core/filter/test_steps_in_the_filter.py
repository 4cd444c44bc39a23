"""Coefficient steps, drift and learning inside the filter, against naive loops that share no code with it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.stats import kstest

import reference
from conftest import first_state, low_rank
from factorstream.core.filter.coefficients import Belief, Sample, marginal_likelihood
from factorstream.tall.filtering import filter_rows
from filter_problems import begin, close, paper_filter, paper_model, random_spd, stream
from split_place import fetched

NOISE = 0.4


# ------------------------------------------------------------------ coefficient steps, given numbers

STEPS = {
    "least_squares": reference.least_squares_step,
    "map": reference.map_step(NOISE),
    "marginal": reference.marginal_step(NOISE),
}


def run_both(rng, step, with_mean, missing, Q=None, n=40):
    """The filter with complete runs in blocks and masked rows between, and its naive twin, from the same start."""
    m, r = 16, 3
    q = r + with_mean
    Y, M, X = stream(rng, n, m, r, missing)
    C0, V0 = rng.standard_normal((m, q)), random_spd(rng, q)
    state, _ = filter_rows(begin(C0, V0, NOISE, r), paper_model(r, q, step, Q), X, 8)
    drift = 0.0 if Q is None else Q
    C, V, _ = reference.filter_loop(Y.T, M.T, C0, V0, STEPS[step], reference.kalman_step(NOISE), with_mean, drift)
    return state, C, V


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("with_mean", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.3, 0.7])
def test_every_step_in_the_filter_is_its_naive_loop(rng, step, with_mean, missing):
    state, C, V = run_both(rng, step, with_mean, missing)
    rtol = 1e-5 if step == "marginal" else 1e-8  # the twin's optimiser is the less exact of the two
    close(fetched(state.C), C, rtol)
    close(state.small.S @ state.small.S.T, V, rtol)
    close(state.small.G, fetched(state.C).T @ fetched(state.C))


@pytest.mark.parametrize("step", ["least_squares", "map", "marginal"])
@pytest.mark.parametrize("with_mean", [False, True])
def test_steps_with_a_drifting_dictionary(rng, step, with_mean):
    state, C, V = run_both(rng, step, with_mean, 0.3, Q=random_spd(rng, 3 + with_mean, 0.05))
    rtol = 1e-5 if step == "marginal" else 1e-8
    close(fetched(state.C), C, rtol)
    close(state.small.S @ state.small.S.T, V, rtol)


@pytest.mark.parametrize("step", ["map", "marginal"])
@pytest.mark.parametrize("fit_mean", [False, True])
def test_the_estimator_runs_the_step_it_was_asked_for(rng, step, fit_mean):
    Y, M, X = stream(rng, 50, 14, 3, 0.3)
    settings = {"noise_variance": NOISE, "prior_covariance": 0.5, "init": rng.standard_normal((3, 14))}
    model = paper_filter(3, coefficients=step, fit_mean=fit_mean, shuffle=False, **settings).fit(X)
    first = first_state(model, X[:10])
    V0, gain = first.small.S @ first.small.S.T, reference.kalman_step(NOISE)
    C, V, _ = reference.filter_loop(
        (Y - fetched(first.origin)).T, M.T, fetched(first.C), V0, STEPS[step], gain, fit_mean
    )
    close(model.components_, C[:, :3].T, 1e-5)
    close(model.covariance_, V[:3, :3], 1e-5)


@pytest.mark.parametrize("with_mean", [False, True])
@pytest.mark.parametrize("v_scale", [0.01, 0.3, 5.0])
def test_marginal_covariance_is_scaled_by_the_predictive_variance(rng, with_mean, v_scale):
    """Σ = s (G + αṼ)⁻¹ with s and α = |Ω| − ‖e‖²/s taken at the maximiser that the twin finds."""
    n, r = 25, 3
    A, t, V = rng.standard_normal((n, r)), 2.0 * rng.standard_normal(n), random_spd(rng, r + with_mean, v_scale)
    belief = Belief(NOISE, np.zeros(r), np.eye(r), np.linalg.cholesky(V / 0.3), 0.3, r, 1e-14)
    found = marginal_likelihood(Sample(A.T @ A, A.T @ t, float(t @ t), n), belief)
    x = reference.marginal_step(NOISE, starts=12)(A, t, V)
    close(found.x, x, 1e-6)
    slope = approx_fprime(x, reference.marginal_cost, 1e-7, A, t, V, NOISE)
    assert np.abs(slope).max() < 1e-3
    z = np.append(x, 1.0) if with_mean else x
    s = NOISE + z @ V @ z
    alpha = n - np.sum((t - A @ x) ** 2) / s
    close(found.root() @ found.root().T, s * np.linalg.inv(A.T @ A + alpha * V[:r, :r]), 1e-6)


# ------------------------------------------------------------------ what is learned along the way


@pytest.mark.parametrize("fit_mean", [False, True])
@pytest.mark.parametrize("drift", [0.0, 0.02, [0.03, 0.0, 0.01]], ids=["none", "scalar", "diagonal"])
@pytest.mark.parametrize("prior", ["auto", 0.5])
def test_learned_noise_prior_and_drift(rng, fit_mean, drift, prior):
    """Rows with few entries get the learned prior; every moment is recomputed from all samples in the twin."""
    Y, M, X = stream(rng, 60, 24, 3, 0.5)  # 5 r = 15 observed entries decide who gets the prior
    settings = {"drift": drift, "prior_covariance": prior, "init": rng.standard_normal((3, 24))}
    model = paper_filter(3, fit_mean=fit_mean, shuffle=False, **settings).fit(X)
    first = first_state(model, X)
    q = 3 + fit_mean
    Q = np.zeros((q, q))
    Q[:3, :3] = drift * np.eye(3) if np.ndim(drift) == 0 else np.diag(drift)
    if fit_mean and np.ndim(drift) == 0:
        Q[3, 3] = drift  # a number lets the mean drift as well
    V0 = first.small.S @ first.small.S.T
    few = M.sum(axis=1) < 15
    assert 0.1 < few.mean() < 0.9
    C, V, noise, xbar, T = reference.learning_filter(
        (Y - fetched(first.origin)).T, M.T, fetched(first.C), V0, first.small.lam, Q, fit_mean, follow=prior != "auto"
    )
    close(fetched(model.state_.filter.C), C, 1e-7)
    assert model.noise_variance_ == pytest.approx(noise, rel=1e-8)
    close(model.covariance_, V[:3, :3], 1e-7)
    small = model.state_.filter.small
    close(small.S @ small.S.T * small.noise / small.lam, V, 1e-7)
    close(small.T, T, 1e-7)
    np.testing.assert_allclose(small.xbar, xbar, rtol=1e-7, atol=1e-9)


def test_uniform_start_is_uniform_on_the_unit_interval(rng):
    """With a prior far below the noise the dictionary stays where it starts."""
    X = low_rank(rng, 20, 400, 3)
    still = {"noise_variance": 1e9, "prior_covariance": 1e-9, "fit_mean": False}
    one, other = (paper_filter(3, init="uniform", random_state=seed, **still).fit(X) for seed in (0, 1))
    values = np.ravel(one.components_)
    assert values.min() >= 0.0
    assert values.max() < 1.0
    assert kstest(values, "uniform").pvalue > 1e-3
    assert np.abs(one.components_ - other.components_).max() > 0.1


def test_a_scalar_drift_lets_the_mean_drift(rng):
    X = low_rank(rng, 1000, 6, 2, noise=0.3)
    settings = {"noise_variance": 0.09, "prior_covariance": 1.0, "shuffle": False, "random_state": 0}
    drifts, stays = (paper_filter(2, drift=q, **settings).fit(X) for q in (1e-3, [1e-3, 1e-3]))
    variances = [np.sum(model.state_.filter.small.S[2] ** 2) for model in (drifts, stays)]
    assert variances[0] > 3 * variances[1]


# ------------------------------------------------------------------ long streams


@pytest.mark.here(reason="a long stream, whose rows go on as those of a short one")
@pytest.mark.parametrize("drift", [1e-6, [1e-3, 0.0, 0.0]], ids=["scalar", "singular"])
def test_a_long_drifting_stream_keeps_v_positive_definite(rng, drift):
    """20,000 nearly noiseless samples; V, which the scales of the features pull apart, settles."""
    mixing = rng.standard_normal((3, 5)) * np.array([1.0, 10.0, 100.0, 1.0, 1.0])
    X = rng.standard_normal((20_000, 3)) * np.array([100.0, 1.0, 0.01]) @ mixing
    X += 1e-2 * rng.standard_normal(X.shape)
    X[::4, 3] = np.nan
    model = paper_filter(3, noise_variance=1e-4, prior_covariance=10.0, drift=drift, shuffle=False, random_state=0)
    traces = []
    for block in np.split(X, 10):
        V = np.array(model.partial_fit(block).covariance_)
        np.testing.assert_array_equal(V, V.T)
        assert np.linalg.eigvalsh(V)[0] > 0.0
        traces.append(np.trace(V))
    assert np.isfinite(model.components_).all()
    assert max(traces[5:]) < 10 * min(traces[5:])
