"""The filter against its textbook twin and against the written-out Kronecker filter."""

from __future__ import annotations

import numpy as np
import pytest

import reference
from conftest import first_state
from factorstream.tall.filtering import filter_rows
from filter_problems import begin, paper_filter, paper_model, random_spd
from split_place import fetched


@pytest.mark.parametrize("block_size", [1, 7, 64, 256])
def test_block_recursion_is_algorithm_1_over_5000_samples(rng, block_size):
    m, r, n, lam = 300, 20, 5000, 0.5
    Y = rng.standard_normal((n, r)) @ rng.standard_normal((r, m)) + 0.3 * rng.standard_normal((n, m))
    C0, V0 = rng.standard_normal((m, r)), random_spd(rng, r)
    C, V, _ = reference.mf_rlf(Y.T, C0, V0, lam)
    state, info = filter_rows(begin(C0, V0, lam), paper_model(r), Y, block_size)
    assert np.linalg.norm(fetched(state.C) - C) <= 1e-9 * np.linalg.norm(C)
    assert np.linalg.norm(state.small.S @ state.small.S.T - V) <= 1e-9 * np.linalg.norm(V)
    assert np.linalg.norm(state.small.G - C.T @ C) <= 1e-9 * np.linalg.norm(C.T @ C)
    assert len(info.innovation) == n


def drifts(rng, r):
    return {
        "none": None,
        "scalar": 0.01 * np.eye(r),
        "diagonal": np.diag(rng.random(r)),
        "full": random_spd(rng, r),
    }


@pytest.mark.parametrize("kind", ["none", "scalar", "diagonal", "full"])
def test_propositions_1_and_2_against_the_kronecker_filter(rng, kind):
    m, r, n, lam = 6, 3, 25, 0.7
    Q = drifts(rng, r)[kind]
    Y, C0, V0 = rng.standard_normal((n, m)), rng.standard_normal((m, r)), random_spd(rng, r)
    C, V, X = reference.mf_rlf(Y.T, C0, V0, lam, Q)
    C_oracle, P = reference.kronecker_kalman(Y.T, X, C0, V0, lam, Q)
    for size in (1, 8):
        state, _ = filter_rows(begin(C0, V0, lam), paper_model(r, drift=Q), Y, size)
        np.testing.assert_allclose(fetched(state.C), C_oracle, rtol=0, atol=1e-10)
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
    state, _ = filter_rows(begin(C0, V0, lam), paper_model(r, drift=Q), np.where(gone, np.nan, Y), 16)
    np.testing.assert_allclose(fetched(state.C), C, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(state.small.S @ state.small.S.T, V, rtol=1e-9, atol=1e-12)


def test_paper_run_through_the_estimator(rng):
    Y = 255 * rng.random((40, 30))
    gone = rng.random(Y.shape) < 0.25
    C0 = rng.random((30, 5))
    model = paper_filter(
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
    model = paper_filter(r, noise_variance=0.3, prior_covariance=0.5, init=C0, shuffle=False)
    X = np.where(gone, np.nan, Y)
    first = first_state(model.fit(X), X[:10])  # the prior that the first ten rows set
    C, V = reference.mf_rlf_with_mean(
        (Y - fetched(first.origin)).T, (~gone).T.astype(float), fetched(first.C), first.small.S @ first.small.S.T, 0.3
    )
    model.fit(X)
    np.testing.assert_allclose(model.components_, C[:, :r].T, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(fetched(model.state_.filter.C)[:, r], C[:, r], rtol=1e-8, atol=1e-9)
    center = np.append(model.state_.filter.small.xbar, 1.0)
    np.testing.assert_allclose(model.mean_, fetched(first.origin) + C @ center, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(model.covariance_, V[:r, :r], rtol=1e-8, atol=1e-12)
