"""Coefficient steps, gains, drift and learning inside the filter, against naive loops that share no code with it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import approx_fprime
from scipy.stats import kstest

import reference
from conftest import low_rank
from factorstream import BroydenFactorization, DictionaryFilter, SGDFactorization
from factorstream.core.filter.coefficients import COEFFICIENT_STEPS, Belief, Sample, marginal_likelihood
from factorstream.core.filter.covariance import kalman_gain
from factorstream.core.filter.masked import observed_gram
from factorstream.core.filter.state import FilterState, Model, SmallState
from factorstream.tall.filtering import _masked, filter_rows, filter_sparse_rows

NOISE = 0.4


def random_spd(rng, q, scale=1.0):
    A = rng.standard_normal((q, q))
    return scale * (A @ A.T / q + 0.1 * np.eye(q))


def begin(C, V, lam, r):
    S = np.asfortranarray(np.linalg.cholesky(V))
    small = SmallState(np.asfortranarray(C.T @ C), S, np.eye(r, order="F"), np.zeros(r), lam, lam, 1.0, 0, 0)
    return FilterState(C, np.zeros(len(C)), None, small)


def model_of(r, q, step="least_squares", Q=None):
    return Model(r, q, COEFFICIENT_STEPS[step], kalman_gain, True, False, step != "map", False, r, 1e-14, Q)


def stream(rng, n, m, r, missing):
    """Rows with complete runs in between, the mask of observed entries (r + 2 or more), and the rows with gaps."""
    Y = low_rank(rng, n, m, r, noise=0.5) + rng.standard_normal(m)
    gone = rng.random(Y.shape) < missing
    gone[::5] = gone[1::5] = False
    gone[(~gone).sum(axis=1) < r + 2, : r + 2] = False
    return Y, (~gone).astype(float), np.where(gone, np.nan, Y)


def close(a, b, rtol=1e-8):
    np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * np.abs(b).max())


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
    state, _ = filter_rows(begin(C0, V0, NOISE, r), model_of(r, q, step, Q), X, 8)
    drift = 0.0 if Q is None else Q
    C, V, _ = reference.filter_loop(Y.T, M.T, C0, V0, STEPS[step], reference.kalman_step(NOISE), with_mean, drift)
    return state, C, V


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("with_mean", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.3, 0.7])
def test_every_step_in_the_filter_is_its_naive_loop(rng, step, with_mean, missing):
    state, C, V = run_both(rng, step, with_mean, missing)
    rtol = 1e-5 if step == "marginal" else 1e-8  # the twin's optimiser is the less exact of the two
    close(state.C, C, rtol)
    close(state.small.S @ state.small.S.T, V, rtol)
    close(state.small.G, state.C.T @ state.C)


@pytest.mark.parametrize("step", ["least_squares", "map", "marginal"])
@pytest.mark.parametrize("with_mean", [False, True])
def test_steps_with_a_drifting_dictionary(rng, step, with_mean):
    state, C, V = run_both(rng, step, with_mean, 0.3, Q=random_spd(rng, 3 + with_mean, 0.05))
    rtol = 1e-5 if step == "marginal" else 1e-8
    close(state.C, C, rtol)
    close(state.small.S @ state.small.S.T, V, rtol)


@pytest.mark.parametrize("step", ["map", "marginal"])
@pytest.mark.parametrize("fit_mean", [False, True])
def test_the_estimator_runs_the_step_it_was_asked_for(rng, step, fit_mean):
    Y, M, X = stream(rng, 50, 14, 3, 0.3)
    settings = {"noise_variance": NOISE, "prior_covariance": 0.5, "init": rng.standard_normal((3, 14))}
    model = DictionaryFilter(3, coefficients=step, fit_mean=fit_mean, shuffle=False, **settings).fit(X)
    first = model._start(X[:10])
    V0, gain = first.small.S @ first.small.S.T, reference.kalman_step(NOISE)
    C, V, _ = reference.filter_loop((Y - first.origin).T, M.T, first.C, V0, STEPS[step], gain, fit_mean)
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


# ------------------------------------------------------------------ Broyden and SGD


@pytest.mark.parametrize("fit_mean", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.3, 0.7])
def test_broyden_with_mask_and_mean(rng, fit_mean, missing):
    Y, M, X = stream(rng, 70, 15, 3, missing)
    settings = {"noise_variance": NOISE, "prior_covariance": random_spd(rng, 3), "init": rng.standard_normal((3, 15))}
    model = BroydenFactorization(3, fit_mean=fit_mean, shuffle=False, **settings).fit(X)
    first = model._start(X[:10])

    def gain(k, z, V):
        return V @ z / (NOISE + z @ V @ z), V

    V0 = first.small.S @ first.small.S.T
    C, _, _ = reference.filter_loop(
        (Y - first.origin).T, M.T, first.C, V0, reference.least_squares_step, gain, fit_mean
    )
    close(model.state_.C, C)


@pytest.mark.parametrize("fit_mean", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.3, 0.7])
@pytest.mark.parametrize("schedule", ["number", "callable"])
def test_sgd_with_mask_and_mean(rng, fit_mean, missing, schedule):
    Y, M, _ = stream(rng, 70, 40, 3, missing)
    M[M.sum(axis=1) < 15, :15] = 1.0  # with fewer entries the learned prior would take over
    X = np.where(M == 1.0, Y, np.nan)

    def step(k, zz):
        return 0.05 / k**0.6 if schedule == "number" else 1.0 / (2.0 + k + zz)

    sizes = {"step_size": 0.05, "decay": 0.6} if schedule == "number" else {"step_size": step}
    model = SGDFactorization(3, fit_mean=fit_mean, init=rng.standard_normal((3, 40)), shuffle=False, **sizes).fit(X)
    first = model._start(X)

    def gain(k, z, V):
        return step(k, z @ z) * z, V

    V0 = np.eye(3 + fit_mean)
    C, _, _ = reference.filter_loop(
        (Y - first.origin).T, M.T, first.C, V0, reference.least_squares_step, gain, fit_mean
    )
    close(model.state_.C, C)


# ------------------------------------------------------------------ what is learned along the way


@pytest.mark.parametrize("fit_mean", [False, True])
@pytest.mark.parametrize("process_noise", [0.0, 0.02, [0.03, 0.0, 0.01]], ids=["none", "scalar", "diagonal"])
@pytest.mark.parametrize("prior", ["auto", 0.5])
def test_learned_noise_prior_and_drift(rng, fit_mean, process_noise, prior):
    """Rows with few entries get the learned prior; every moment is recomputed from all samples in the twin."""
    Y, M, X = stream(rng, 60, 24, 3, 0.5)  # 5 r = 15 observed entries decide who gets the prior
    settings = {"process_noise": process_noise, "prior_covariance": prior, "init": rng.standard_normal((3, 24))}
    model = DictionaryFilter(3, fit_mean=fit_mean, shuffle=False, **settings).fit(X)
    first = model._start(X)
    q = 3 + fit_mean
    Q = np.zeros((q, q))
    Q[:3, :3] = process_noise * np.eye(3) if np.ndim(process_noise) == 0 else np.diag(process_noise)
    if fit_mean and np.ndim(process_noise) == 0:
        Q[3, 3] = process_noise  # a number lets the mean drift as well
    V0 = first.small.S @ first.small.S.T
    few = M.sum(axis=1) < 15
    assert 0.1 < few.mean() < 0.9
    C, V, noise, xbar, T = reference.learning_filter(
        (Y - first.origin).T, M.T, first.C, V0, first.small.lam, Q, fit_mean, follow=prior != "auto"
    )
    close(model.state_.C, C, 1e-7)
    assert model.noise_variance_ == pytest.approx(noise, rel=1e-8)
    close(model.covariance_, V[:3, :3], 1e-7)
    small = model.state_.small
    close(small.S @ small.S.T * small.noise / small.lam, V, 1e-7)
    close(small.T, T, 1e-7)
    np.testing.assert_allclose(small.xbar, xbar, rtol=1e-7, atol=1e-9)


def test_uniform_start_is_uniform_on_the_unit_interval(rng):
    """With a prior far below the noise the dictionary stays where it starts."""
    X = low_rank(rng, 20, 400, 3)
    still = {"noise_variance": 1e9, "prior_covariance": 1e-9, "fit_mean": False}
    one, other = (DictionaryFilter(3, init="uniform", random_state=seed, **still).fit(X) for seed in (0, 1))
    values = np.ravel(one.components_)
    assert values.min() >= 0.0
    assert values.max() < 1.0
    assert kstest(values, "uniform").pvalue > 1e-3
    assert np.abs(one.components_ - other.components_).max() > 0.1


def test_a_scalar_process_noise_lets_the_mean_drift(rng):
    X = low_rank(rng, 1000, 6, 2, noise=0.3)
    settings = {"noise_variance": 0.09, "prior_covariance": 1.0, "shuffle": False, "random_state": 0}
    drifts, stays = (DictionaryFilter(2, process_noise=q, **settings).fit(X) for q in (1e-3, [1e-3, 1e-3]))
    variances = [np.sum(model.state_.small.S[2] ** 2) for model in (drifts, stays)]
    assert variances[0] > 3 * variances[1]


# ------------------------------------------------------------------ masks and Gram matrices

POISON = [1e300, np.inf, -np.inf, 0.0, np.nan]


@pytest.mark.parametrize("poison", POISON)
@pytest.mark.parametrize("n_missing", [1, 5, 12, 18])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("step", ["least_squares", "map", "marginal"])
def test_values_under_the_mask_never_matter(rng, poison, n_missing, dtype, step):
    m, r = 20, 3
    C0, y = rng.standard_normal((m, r)).astype(dtype), rng.standard_normal(m).astype(dtype)
    missing = np.zeros(m, dtype=bool)
    missing[rng.permutation(m)[:n_missing]] = True
    results = []
    for value in (0.123, poison):
        state = begin(C0.copy(), np.eye(r), NOISE, r)
        with np.errstate(over="ignore"):
            small, info = _masked(
                state.small, model_of(r, r, step), state.C, np.where(missing, value, y).astype(dtype), missing
            )
        results.append((state.C, small.G, small.S, small.T, small.xbar, np.array(small[4:]), *info))
    assert not np.array_equal(results[0][0], C0)
    np.testing.assert_array_equal(results[0][0][missing], C0[missing])
    for clean, poisoned in zip(*results, strict=True):
        assert np.isfinite(clean).all()
        assert clean.tobytes() == poisoned.tobytes()


@pytest.mark.parametrize("n_missing", [0, 1, 3, 9, 10, 11, 15, 19, 20])
def test_observed_gram_reads_the_fewer_rows_only(rng, n_missing):
    """What it must not read is wiped out; NaN would not do, since a subtraction that fails is done over."""
    m, r = 20, 3
    C = rng.standard_normal((m, r))
    G = C.T @ C
    missing = np.zeros(m, dtype=bool)
    missing[rng.permutation(m)[:n_missing]] = True
    expected = C[~missing].T @ C[~missing]
    wiped = C.copy()
    wiped[~missing if 2 * n_missing < m else missing] = 0.0
    np.testing.assert_allclose(observed_gram(wiped, G, np.flatnonzero(missing)), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("huge", [1.0, 1e3, 1e5, 1e7, 1e9, 1e12])
@pytest.mark.parametrize("column", [None, 1])
def test_gram_without_a_feature_of_huge_scale(rng, huge, column):
    """G − (missing part) would keep nothing but rounding; with ``column``, in one of its directions only."""
    m, r = 30, 3
    C = rng.standard_normal((m, r))
    if column is None:
        C[4] *= huge
    else:
        C[4, column] *= huge
    missing = np.arange(m) == 4
    exact = C[~missing].T @ C[~missing]
    size = np.sqrt(np.outer(exact.diagonal(), exact.diagonal()))
    assert np.abs((observed_gram(C, C.T @ C, np.flatnonzero(missing)) - exact) / size).max() < 1e-8


def test_a_feature_of_huge_scale_may_be_missing(rng):
    Y = low_rank(rng, 80, 20, 3, noise=0.2)
    gone = rng.random(Y.shape) < 0.1
    gone[:, 7] = True
    C0 = rng.standard_normal((20, 3))
    C0[7] *= 1e9
    state, _ = filter_rows(begin(C0, np.eye(3), 0.04, 3), model_of(3, 3), np.where(gone, np.nan, Y), 8)
    C, _ = reference.mf_rlf_masked(Y.T, (~gone).T.astype(float), C0, np.eye(3), 0.04)
    others = np.arange(20) != 7
    close(state.C[others], C[others])
    np.testing.assert_array_equal(state.C[7], C0[7])


@pytest.mark.parametrize("kind", ["complete", "masked", "sparse"])
def test_gram_matrix_is_computed_anew_now_and_then(rng, kind):
    """An error in G, as rounding makes it, is gone after some hundred samples."""
    Y, M, X = stream(rng, 1500, 9, 2, 0.2)
    state = begin(rng.standard_normal((9, 2)), np.eye(2), NOISE, 2)
    wrong = state._replace(small=state.small._replace(G=np.asfortranarray(1.01 * state.small.G)))
    if kind == "sparse":
        rows, columns = np.nonzero(M)
        data = sparse.csr_array((Y[rows, columns], (rows, columns)), shape=Y.shape)
        after, _ = filter_sparse_rows(wrong, model_of(2, 2), data)
    else:
        after, _ = filter_rows(wrong, model_of(2, 2), X if kind == "masked" else Y, 32)
    close(after.small.G, after.C.T @ after.C, 1e-9)
    assert after.small.age < 1000
    assert after.small.k == 1500


# ------------------------------------------------------------------ long streams


@pytest.mark.parametrize("process_noise", [1e-6, [1e-3, 0.0, 0.0]], ids=["scalar", "singular"])
def test_a_long_drifting_stream_keeps_v_positive_definite(rng, process_noise):
    """20,000 nearly noiseless samples; V, which the scales of the features pull apart, settles."""
    mixing = rng.standard_normal((3, 5)) * np.array([1.0, 10.0, 100.0, 1.0, 1.0])
    X = rng.standard_normal((20_000, 3)) * np.array([100.0, 1.0, 0.01]) @ mixing
    X += 1e-2 * rng.standard_normal(X.shape)
    X[::4, 3] = np.nan
    model = DictionaryFilter(
        3, noise_variance=1e-4, prior_covariance=10.0, process_noise=process_noise, shuffle=False, random_state=0
    )
    traces = []
    for block in np.split(X, 10):
        V = np.array(model.partial_fit(block).covariance_)
        np.testing.assert_array_equal(V, V.T)
        assert np.linalg.eigvalsh(V)[0] > 0.0
        traces.append(np.trace(V))
    assert np.isfinite(model.components_).all()
    assert max(traces[5:]) < 10 * min(traces[5:])
