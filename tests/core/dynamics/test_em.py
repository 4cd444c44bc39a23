"""The sums and the steps of expectation-maximisation, and that its bound rises."""

from __future__ import annotations

import numpy as np
import pytest
from factorstream.core.dynamics.level import smooth_levels

import reference_sequences as ref
from dynamics_problems import draw, make
from factorstream.core.dynamics.em import (
    Law,
    Prior,
    add,
    maximise,
    observed_moments,
    penalty,
    recentre,
    relevance,
)
from factorstream.core.dynamics.fit import STUDENT, Noise, fit
from factorstream.core.dynamics.model import (
    smooth,
)


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


def test_a_step_keeps_its_shapes_and_signs():
    model = make(0, m=4)
    _, _, _, Y = draw(model, 30, 0)
    prior = Prior(np.ones(2))
    assert np.isfinite(penalty(model, prior))
    assert (relevance(model) > 0).all()
    assert maximise(model, observed_moments(Y, smooth(model, Y)), prior).C.shape == (4, 2)


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


def test_a_diagonal_law_is_the_best_one_for_correlated_steps():
    rng = np.random.default_rng(0)
    Q = np.array([[1.0, 0.9], [0.9, 1.0]])
    x = np.zeros((400, 2))
    for k in range(1, 400):
        x[k] = np.array([0.7, 0.8]) * x[k - 1] + rng.multivariate_normal([0, 0], Q)
    model = make(0, m=4, r=2)._replace(Q=Q)
    zero = np.zeros((400, 2, 2))
    Y = x @ model.C.T
    s = smooth(model, Y)._replace(x=x, P=zero, lag=zero[1:])
    A = np.diag(maximise(model, observed_moments(Y, s), Prior(np.ones(2)), Law("diagonal", Q=Q)).A)

    def loss(a):
        e = x[1:] - a * x[:-1]
        return float(np.einsum("ti,ij,tj->", e, np.linalg.inv(Q), e))

    best = loss(A)
    assert all(best <= loss(A + step) for step in 1e-3 * rng.normal(size=(20, 2)))


def test_a_given_law_stays_as_it_is():
    angle = np.deg2rad(7.0)
    A = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    model = make(0, m=4, r=2)._replace(A=A)
    _, _, _, Y = draw(make(0, m=4, r=2), 30, 0)
    new = maximise(model, observed_moments(Y, smooth(model, Y)), Prior(np.ones(2)), Law("fixed", A=A))
    np.testing.assert_array_equal(new.A, A)
