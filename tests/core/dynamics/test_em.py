"""The steps of expectation-maximisation, and that its bound rises."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from dynamics_problems import changed, draw, make, standardised
from factorstream.core.dynamics.em import MEAN_PRECISION, DynamicsSpec, LoadingPrior, maximise, penalty, relevance
from factorstream.core.dynamics.fit import STATES, fit
from factorstream.core.dynamics.levels import smooth_levels
from factorstream.core.dynamics.moments import observed_moments
from factorstream.core.dynamics.noise import GaussianSpec, LearnedStudentSpec
from factorstream.core.dynamics.smoother import smooth


def test_a_step_is_ridge_regression_on_known_states():
    model = make(0, m=4)
    x, _, _, Y = draw(model, 300, 0, gaps="none")
    zero = np.zeros((300, 2, 2))
    prior = LoadingPrior(np.array([2.0, 3.0]))
    s = smooth(model, Y)._replace(x=x, P=zero, lag=zero[1:])
    found = maximise(model, observed_moments(Y, s), prior).emission
    X = np.hstack([x, np.ones((300, 1))])
    for i in range(4):
        K = X.T @ X + model.noise.R[i] * np.diag([2.0, 3.0, MEAN_PRECISION])
        right = np.linalg.solve(K, X.T @ Y[:, i])
        np.testing.assert_allclose(np.append(found.C[i], found.mean[i]), right)
        np.testing.assert_allclose(found.V[i], model.noise.R[i] * np.linalg.inv(K)[:2, :2])


def test_what_the_prior_takes_off_and_how_relevance_sets_it():
    model = make(0, m=4)
    C, alpha = model.emission.C, np.array([2.0, 3.0])
    exact = -norm.logpdf(C, scale=alpha**-0.5).sum() - C.size * 0.5 * np.log(2 * np.pi)
    assert penalty(model, LoadingPrior(alpha)) == pytest.approx(exact)
    np.testing.assert_allclose(relevance(model), 4 / (C**2).sum(0), rtol=1e-3)
    V = np.tile(np.diag([0.5, 0.2]), (4, 1, 1))
    np.testing.assert_allclose(relevance(changed(model, V=V)), 4 / ((C**2).sum(0) + np.array([2.0, 0.8])), rtol=1e-3)
    kl = penalty(changed(model, C=np.zeros((4, 2)), V=np.tile(np.diag(1 / alpha), (4, 1, 1))), LoadingPrior(alpha))
    assert kl == pytest.approx(0.0, abs=1e-12)


def test_levels_are_never_dropped():
    model = make(0, m=4, level=True)
    Y = draw(model, 30, 0)[3]
    plain = model._replace(levels=None)
    with pytest.raises(ValueError, match="needs moments with levels"):
        maximise(model, observed_moments(Y, smooth(plain, Y)), LoadingPrior(np.ones(2)))
    with pytest.raises(ValueError, match="without needs moments without"):
        maximise(plain, smooth_levels(model, Y)[1], LoadingPrior(np.ones(2)))


@pytest.mark.parametrize("kind", ["fixed", "diagonal", "full"])
@pytest.mark.parametrize("robust", [False, True])
def test_bound_never_falls_without_levels(kind, robust):
    model = make(0, m=8, r=2, nu=4.0 if robust else None)
    _, _, _, Y = draw(model, 200, 0)
    Y = standardised(Y)
    f = fit(
        Y,
        2,
        STATES,
        dynamics=DynamicsSpec(kind),
        noise=LearnedStudentSpec() if robust else GaussianSpec(),
        sweeps=25,
        tol=-1.0,
    )
    steps = np.diff(f.history)
    assert steps[1:].min() > -1e-6 * abs(f.history[-1])


def test_likelihood_rises_with_levels():
    model = make(0, m=10, r=2, level=True)
    _, _, _, Y = draw(model, 300, 0)
    Y = standardised(Y)
    f = fit(Y, 2, sweeps=20, tol=-1.0)
    h = np.array(f.history)
    assert h[-1] > h[0]
    assert np.diff(h)[4:].min() > -1e-4 * abs(h[-1])


def test_given_transitions_are_kept_and_the_rest_is_learned():
    model = make(0, m=8, r=2)
    _, _, _, Y = draw(model, 200, 0)
    Y = standardised(Y)
    A, Q = np.array([[0.9, 0.1], [0.0, 0.5]]), 0.3
    f = fit(Y, 2, STATES, dynamics=DynamicsSpec("fixed", A, Q), sweeps=25, tol=-1.0)
    assert np.array_equal(f.model.dynamics.A, A)
    assert np.array_equal(f.model.dynamics.Q, Q * np.eye(2))
    assert np.diff(f.history)[1:].min() > -1e-6 * abs(f.history[-1])
    diagonal = fit(Y, 2, STATES, dynamics=DynamicsSpec("diagonal", None, Q), sweeps=5).model
    assert np.array_equal(diagonal.dynamics.A, np.diag(np.diag(diagonal.dynamics.A)))
    assert np.array_equal(diagonal.dynamics.Q, Q * np.eye(2))


def test_diagonal_dynamics_are_the_best_one_for_correlated_steps():
    rng = np.random.default_rng(0)
    Q = np.array([[1.0, 0.9], [0.9, 1.0]])
    x = np.zeros((400, 2))
    for k in range(1, 400):
        x[k] = np.array([0.7, 0.8]) * x[k - 1] + rng.multivariate_normal([0, 0], Q)
    model = changed(make(0, m=4, r=2), Q=Q)
    zero = np.zeros((400, 2, 2))
    Y = x @ model.emission.C.T
    s = smooth(model, Y)._replace(x=x, P=zero, lag=zero[1:])
    A = np.diag(
        maximise(model, observed_moments(Y, s), LoadingPrior(np.ones(2)), DynamicsSpec("diagonal", Q=Q)).dynamics.A
    )

    def loss(a):
        e = x[1:] - a * x[:-1]
        return float(np.einsum("ti,ij,tj->", e, np.linalg.inv(Q), e))

    best = loss(A)
    assert all(best <= loss(A + step) for step in 1e-3 * rng.normal(size=(20, 2)))


def test_given_dynamics_stay_as_they_are():
    angle = np.deg2rad(7.0)
    A = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    model = changed(make(0, m=4, r=2), A=A)
    _, _, _, Y = draw(make(0, m=4, r=2), 30, 0)
    new = maximise(model, observed_moments(Y, smooth(model, Y)), LoadingPrior(np.ones(2)), DynamicsSpec("fixed", A=A))
    np.testing.assert_array_equal(new.dynamics.A, A)
