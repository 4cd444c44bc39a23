"""The gains against naive loops, and what they say of themselves."""

from __future__ import annotations

import numpy as np
import pytest

import reference
from conftest import first_state
from factorstream import BroydenFactorization, SGDFactorization
from factorstream.core.filter.gains import BroydenGain, KalmanGain, SGDGain
from filter_problems import begin, close, random_spd, stream
from split_place import fetched

NOISE = 0.4


def test_broyden_and_sgd_against_their_twins(rng):
    Y, C0, lam = rng.standard_normal((60, 20)), rng.standard_normal((20, 4)), 0.8
    common = {"fit_mean": False, "init": C0.T, "shuffle": False}
    broyden = BroydenFactorization(4, noise_variance=lam, prior_covariance=1.0, **common).fit(Y)
    np.testing.assert_allclose(broyden.components_, reference.broyden(Y.T, C0, lam).T, rtol=0, atol=1e-10)
    as_sgd = SGDFactorization(4, step_size=lambda k, xx: 1 / (lam + xx), decay=0, **common).fit(Y)
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


@pytest.mark.parametrize("fit_mean", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.3, 0.7])
def test_broyden_with_mask_and_mean(rng, fit_mean, missing):
    Y, M, X = stream(rng, 70, 15, 3, missing)
    settings = {"noise_variance": NOISE, "prior_covariance": random_spd(rng, 3), "init": rng.standard_normal((3, 15))}
    model = BroydenFactorization(3, fit_mean=fit_mean, shuffle=False, **settings).fit(X)
    first = first_state(model, X[:10])

    def gain(k, z, V):
        return V @ z / (NOISE + z @ V @ z), V

    V0 = first.small.S @ first.small.S.T
    C, _, _ = reference.filter_loop(
        (Y - fetched(first.origin)).T, M.T, fetched(first.C), V0, reference.least_squares_step, gain, fit_mean
    )
    close(fetched(model.state_.filter.C), C)


@pytest.mark.parametrize("fit_mean", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.3, 0.7])
@pytest.mark.parametrize("schedule", ["number", "callable"])
def test_sgd_with_mask_and_mean(rng, fit_mean, missing, schedule):
    Y, M, _ = stream(rng, 70, 40, 3, missing)
    M[M.sum(axis=1) < 15, :15] = 1.0  # with fewer entries the learned prior would take over
    X = np.where(M == 1.0, Y, np.nan)

    def step(k, zz):
        return 0.05 / k**0.6 if schedule == "number" else 1.0 / (2.0 + k + zz)

    sizes = {"step_size": 0.05, "decay": 0.6} if schedule == "number" else {"step_size": step, "decay": 0}
    model = SGDFactorization(3, fit_mean=fit_mean, init=rng.standard_normal((3, 40)), shuffle=False, **sizes).fit(X)
    first = first_state(model, X)

    def gain(k, z, V):
        return step(k, z @ z) * z, V

    V0 = np.eye(3 + fit_mean)
    C, _, _ = reference.filter_loop(
        (Y - fetched(first.origin)).T, M.T, fetched(first.C), V0, reference.least_squares_step, gain, fit_mean
    )
    close(fetched(model.state_.filter.C), C)


def test_automatic_step_size_has_no_scale(rng):
    """γ_k = 1 / (E‖x‖² k^decay), with the 1 of a mean's coefficient in E‖x‖²."""
    small = begin(rng.standard_normal((6, 4)), np.eye(4), 1.0, 3).small
    small = small._replace(T=np.diag([1.0, 2.0, 3.0]), xbar=np.array([2.0, 0.0, 0.0]), k=7)
    x = np.append(rng.standard_normal(3), 1.0)
    g, xVx = SGDGain(decay=0.5)(small, x)
    np.testing.assert_allclose(g, x / (11.0 * np.sqrt(8.0)), rtol=1e-14)
    assert xVx == 0.0


@pytest.mark.parametrize("gain", [KalmanGain(), BroydenGain(), SGDGain()], ids=lambda gain: type(gain).__name__)
def test_only_the_kalman_gain_leaves_a_posterior_behind(gain):
    assert gain.facts.posterior == isinstance(gain, KalmanGain)
