"""The filter against its textbook twin and against the written-out Kronecker filter."""

from __future__ import annotations

import numpy as np
import pytest

import reference
from factorstream import BroydenFactorization, DictionaryFilter, SGDFactorization
from factorstream.core.filter.coefficients import least_squares
from factorstream.core.filter.covariance import kalman_gain
from factorstream.core.filter.state import FilterState, Model, SmallState
from factorstream.tall.filtering import filter_rows


def start(C, V, lam):
    small = SmallState(
        G=np.asfortranarray(C.T @ C),
        S=np.asfortranarray(np.linalg.cholesky(V)),
        T=np.eye(C.shape[1]),
        xbar=np.zeros(C.shape[1]),
        lam=lam,
        noise_sum=lam,
        noise_dof=1.0,
        k=0,
        age=0,
    )
    return FilterState(C, np.zeros(len(C)), None, small)


def paper_model(r, Q=None):
    return Model(r, r, least_squares, kalman_gain, True, False, True, False, r, 1e-14, Q)


def random_spd(rng, r, scale=1.0):
    A = rng.standard_normal((r, r))
    return scale * (A @ A.T / r + 0.1 * np.eye(r))


@pytest.mark.parametrize("block_size", [1, 7, 64])
def test_block_recursion_is_algorithm_1_over_5000_samples(rng, block_size):
    m, r, n, lam = 300, 20, 5000, 0.5
    Y = rng.standard_normal((n, r)) @ rng.standard_normal((r, m)) + 0.3 * rng.standard_normal((n, m))
    C0, V0 = rng.standard_normal((m, r)), random_spd(rng, r)
    C, V, _ = reference.mf_rlf(Y.T, C0, V0, lam)
    state, info = filter_rows(start(C0, V0, lam), paper_model(r), Y, block_size)
    assert np.linalg.norm(state.C - C) <= 1e-9 * np.linalg.norm(C)
    assert np.linalg.norm(state.small.S @ state.small.S.T - V) <= 1e-9 * np.linalg.norm(V)
    assert np.linalg.norm(state.small.G - C.T @ C) <= 1e-9 * np.linalg.norm(C.T @ C)
    assert len(info.innovation) == n


def process_noises(rng, r):
    return {
        "none": None,
        "scalar": 0.01 * np.eye(r),
        "diagonal": np.diag(rng.random(r)),
        "full": random_spd(rng, r),
    }


@pytest.mark.parametrize("kind", ["none", "scalar", "diagonal", "full"])
def test_propositions_1_and_2_against_the_kronecker_filter(rng, kind):
    m, r, n, lam = 6, 3, 25, 0.7
    Q = process_noises(rng, r)[kind]
    Y, C0, V0 = rng.standard_normal((n, m)), rng.standard_normal((m, r)), random_spd(rng, r)
    C, V, X = reference.mf_rlf(Y.T, C0, V0, lam, Q)
    C_oracle, P = reference.kronecker_kalman(Y.T, X, C0, V0, lam, Q)
    for size in (1, 8):
        state, _ = filter_rows(start(C0, V0, lam), paper_model(r, Q), Y, size)
        np.testing.assert_allclose(state.C, C_oracle, rtol=0, atol=1e-10)
        V_fast = state.small.S @ state.small.S.T
        np.testing.assert_allclose(np.kron(V_fast, np.eye(m)), P, rtol=0, atol=1e-10)
    np.testing.assert_allclose(C, C_oracle, rtol=0, atol=1e-10)
    np.testing.assert_allclose(np.kron(V, np.eye(m)), P, rtol=0, atol=1e-10)


@pytest.mark.parametrize("missing", [0.1, 0.4, 0.7])
@pytest.mark.parametrize("with_drift", [False, True])
def test_masked_filter_is_the_papers(rng, missing, with_drift):
    m, r, n, lam = 60, 4, 700, 0.5
    Y = rng.standard_normal((n, r)) @ rng.standard_normal((r, m)) + 0.3 * rng.standard_normal((n, m))
    gone = rng.random(Y.shape) < missing
    gone[::5] = False  # complete rows in between take the block path
    gone[1::5] = False
    C0, V0 = rng.standard_normal((m, r)), random_spd(rng, r)
    Q = 1e-3 * np.eye(r) if with_drift else None
    C, V = reference.mf_rlf_masked(Y.T, (~gone).T.astype(float), C0, V0, lam, Q)
    state, _ = filter_rows(start(C0, V0, lam), paper_model(r, Q), np.where(gone, np.nan, Y), 16)
    np.testing.assert_allclose(state.C, C, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(state.small.S @ state.small.S.T, V, rtol=1e-9, atol=1e-12)


def test_paper_run_through_the_estimator(rng):
    Y = 255 * rng.random((40, 30))
    gone = rng.random(Y.shape) < 0.25
    C0 = rng.random((30, 5))
    model = DictionaryFilter(
        5, noise_variance=2, prior_covariance=1, fit_mean=False, init=C0.T, n_passes=3, shuffle=False
    ).fit(np.where(gone, np.nan, Y))
    C, V = C0, np.eye(5)
    for _ in range(3):
        C, V = reference.mf_rlf_masked(Y.T, (~gone).T.astype(float), C, V, 2.0)
    np.testing.assert_allclose(model.components_, C.T, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(model.covariance_, V, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_mean_is_one_more_column(rng, missing):
    n, m, r = 80, 25, 3
    Y = rng.standard_normal((n, r)) @ rng.standard_normal((r, m)) + rng.standard_normal(m)
    gone = rng.random(Y.shape) < missing
    C0 = rng.standard_normal((r, m))
    model = DictionaryFilter(r, noise_variance=0.3, prior_covariance=0.5, init=C0, shuffle=False)
    X = np.where(gone, np.nan, Y)
    begin = model.fit(X)._start(X[:10])  # the prior that the first ten rows set
    C, V = reference.mf_rlf_with_mean(
        (Y - begin.origin).T, (~gone).T.astype(float), begin.C, begin.small.S @ begin.small.S.T, 0.3
    )
    model.fit(X)
    np.testing.assert_allclose(model.components_, C[:, :r].T, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(model.state_.C[:, r], C[:, r], rtol=1e-8, atol=1e-9)
    center = np.append(model.state_.small.xbar, 1.0)
    np.testing.assert_allclose(model.mean_, begin.origin + C @ center, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(model.covariance_, V[:r, :r], rtol=1e-8, atol=1e-12)


def test_broyden_and_sgd_against_their_twins(rng):
    Y, C0, lam = rng.standard_normal((60, 20)), rng.standard_normal((20, 4)), 0.8
    common = {"fit_mean": False, "init": C0.T, "shuffle": False}
    broyden = BroydenFactorization(4, noise_variance=lam, prior_covariance=1.0, **common).fit(Y)
    np.testing.assert_allclose(broyden.components_, reference.broyden(Y.T, C0, lam).T, rtol=0, atol=1e-10)
    as_sgd = SGDFactorization(4, step_size=lambda k, xx: 1 / (lam + xx), **common).fit(Y)
    np.testing.assert_allclose(as_sgd.components_, broyden.components_, rtol=0, atol=1e-12)
    scheduled = SGDFactorization(4, step_size=0.05, decay=0.6, **common).fit(Y)
    twin = reference.sgd(Y.T, C0, lambda k, xx: 0.05 / k**0.6)
    np.testing.assert_allclose(scheduled.components_, twin.T, rtol=0, atol=1e-10)


def test_broyden_with_a_given_covariance(rng):
    Y, C0 = rng.standard_normal((30, 12)), rng.standard_normal((12, 3))
    V = random_spd(rng, 3)
    model = BroydenFactorization(
        3, noise_variance=0.4, prior_covariance=V, fit_mean=False, init=C0.T, shuffle=False
    ).fit(Y)
    C = C0.copy()
    for y in Y:
        x = np.linalg.lstsq(C, y, rcond=None)[0]
        C += np.outer(y - C @ x, V @ x) / (0.4 + x @ V @ x)
    np.testing.assert_allclose(model.components_, C.T, rtol=0, atol=1e-10)
    assert not hasattr(model, "covariance_")


def test_state_is_never_changed_in_place(rng):
    Y, C0 = rng.standard_normal((20, 15)), rng.standard_normal((15, 3))
    Y[::2, 3] = np.nan
    before = start(C0, np.eye(3), 1.0)
    copies = [np.array(a) for a in (before.C, before.small.G, before.small.S, before.small.T)]
    filter_rows(before, paper_model(3), Y, 4)
    for kept, now in zip(copies, (before.C, before.small.G, before.small.S, before.small.T), strict=True):
        np.testing.assert_array_equal(kept, now)
