"""Each coefficient step against a plain computation or a numerical optimiser."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from conftest import low_rank
from factorstream import DictionaryFilter
from factorstream.core.filter.coefficients import (
    COEFFICIENT_STEPS,
    Belief,
    Sample,
    least_squares,
    marginal_likelihood,
    maximum_a_posteriori,
)
from factorstream.tall.filtering import filter_rows


def problem(rng, n, r, with_mean, v_scale=1.0):
    C = rng.standard_normal((n, r))
    mu = rng.standard_normal(n) if with_mean else np.zeros(n)
    y = C @ (2 * rng.standard_normal(r)) + mu + rng.standard_normal(n)
    q = r + with_mean
    A = rng.standard_normal((q, q))
    V = v_scale * (A @ A.T / q + 0.05 * np.eye(q))
    t = y - mu
    sample = Sample(C.T @ C, C.T @ t, float(t @ t), n)
    return (
        C,
        t,
        V,
        sample,
        Belief(0.7, rng.standard_normal(r), np.diag(rng.random(r) + 0.5), np.linalg.cholesky(V), 1.0, r, 1e-14),
    )


def test_least_squares(rng):
    C, t, _, sample, belief = problem(rng, 20, 4, False)
    found = least_squares(sample, belief)
    np.testing.assert_allclose(found.x, np.linalg.lstsq(C, t, rcond=None)[0], rtol=1e-10)
    np.testing.assert_allclose(found.root() @ found.root().T, 0.7 * np.linalg.inv(C.T @ C), rtol=1e-10)
    assert found.fitted == 4


@pytest.mark.parametrize("n", [0, 1, 3, 5])
def test_fewer_entries_than_components_use_the_learned_prior(rng, n):
    r = 6
    C, t, _, sample, belief = problem(rng, n, r, False)
    for name in ("least_squares", "marginal"):
        found = COEFFICIENT_STEPS[name].find(sample, belief)
        precision = C.T @ C / 0.7 + np.linalg.inv(belief.T)
        x = np.linalg.solve(precision, C.T @ t / 0.7 + np.linalg.solve(belief.T, belief.mean))
        np.testing.assert_allclose(found.x, x, atol=1e-10)
        np.testing.assert_allclose(found.root() @ found.root().T, np.linalg.inv(precision), atol=1e-10)
        assert found.from_prior
        assert 0 <= found.fitted <= n + 1e-9


def test_singular_system_uses_the_prior_too(rng):
    C = np.repeat(rng.standard_normal((10, 1)), 3, axis=1)
    t = rng.standard_normal(10)
    sample = Sample(C.T @ C, C.T @ t, float(t @ t), 10)
    found = least_squares(sample, Belief(1.0, np.zeros(3), np.eye(3), np.eye(3), 1.0, 3, 1e-14))
    assert found.from_prior
    np.testing.assert_allclose(found.x, np.linalg.solve(C.T @ C + np.eye(3), C.T @ t), atol=1e-10)


def test_map(rng):
    C, t, _, sample, belief = problem(rng, 9, 4, False)
    found = maximum_a_posteriori(sample, belief)
    precision = C.T @ C / 0.7 + np.eye(4)
    np.testing.assert_allclose(found.x, np.linalg.solve(precision, C.T @ t / 0.7), rtol=1e-10)
    np.testing.assert_allclose(found.root() @ found.root().T, np.linalg.inv(precision), rtol=1e-9, atol=1e-12)
    hat = C @ np.linalg.solve(C.T @ C + 0.7 * np.eye(4), C.T)
    assert found.fitted == pytest.approx(np.trace(hat))


@pytest.mark.once  # a plain function of small arrays
@pytest.mark.parametrize("with_mean", [False, True])
@pytest.mark.parametrize("v_scale", [1e-4, 0.1, 3.0, 100.0])
@pytest.mark.parametrize(("n", "r"), [(5, 2), (8, 4), (30, 3)])
def test_marginal_likelihood_against_a_numerical_optimiser(with_mean, v_scale, n, r):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        C, t, V, sample, belief = problem(rng, n, r, with_mean, v_scale)

        def cost(x, C=C, t=t, V=V, with_mean=with_mean):
            z = np.append(x, 1.0) if with_mean else x
            s = 0.7 + z @ V @ z
            return len(t) * np.log(s) + np.sum((t - C @ x) ** 2) / s

        found = marginal_likelihood(sample, belief)
        ls = np.linalg.lstsq(C, t, rcond=None)[0]
        starts = [np.zeros(r), ls, found.x, *(ls * rng.standard_normal((12, r)) * 2)]
        best = min((minimize(cost, s, method="BFGS", options={"gtol": 1e-9}) for s in starts), key=lambda o: o.fun)
        assert cost(found.x) <= best.fun + 1e-7 * abs(best.fun)
        gradient = [(cost(found.x + h) - cost(found.x - h)) / 2e-6 for h in 1e-6 * np.eye(r)]
        assert np.max(np.abs(gradient)) < 1e-4 * (1 + abs(best.fun))


def test_marginal_without_doubt_about_the_dictionary_is_least_squares(rng):
    _, _, _, sample, belief = problem(rng, 12, 3, False)
    certain = belief._replace(S=np.zeros((3, 3)))
    np.testing.assert_allclose(marginal_likelihood(sample, certain).x, least_squares(sample, certain).x, rtol=1e-8)


# ------------------------------------------------------------------ covariances that rounding has touched


@pytest.mark.parametrize("size", [1e9, 1e12, 1e18])
@pytest.mark.parametrize("whole_row", [False, True])
def test_a_stream_survives_an_absurd_value(rng, size, whole_row):
    X = low_rank(rng, 1500, 20, 5)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[700, slice(None) if whole_row else 3] = size
    model = DictionaryFilter(5, random_state=0).partial_fit(X[:700])
    run = model.state_  # past the door, where such values are taken as missing
    state, _ = filter_rows(run.filter, run.settings.model, X[700:], run.settings.block_size)
    model.state_ = run._replace(filter=state)
    for answer in (model.transform(X[:50]), model.score_samples(X[:50]), *model.impute(X[:50], return_std=True)):
        assert np.isfinite(answer).all()
