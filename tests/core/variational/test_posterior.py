"""The posterior of every feature against a Kalman filter, and its sums."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import reference_variational as ref
from factorstream.core.variational.observed import observations
from factorstream.core.variational.packed import size, unpack
from factorstream.core.variational.posterior import (
    CoefficientPosterior,
    FactorPrior,
    Statistics,
    absorb,
    blocks,
    merge,
    no_statistics,
    posterior,
    statistics,
)
from variational_problems import problem, random_factors, solve, spd


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("mean", [True, False])
@pytest.mark.parametrize("batch", [1, 7, 40])
def test_known_coefficients_equal_the_kalman_filter(seed, mean, batch):
    rng, Y, W = problem(seed)
    n, m = Y.shape
    r = 3
    q = r + int(mean)
    X = np.ones((n, q))
    X[:, :r] = rng.normal(size=(n, r))
    c0, V0, s2 = rng.normal(size=(m, q)), spd(rng, q), rng.uniform(0.1, 2.0, m)
    prior = FactorPrior(c0, np.linalg.inv(V0), np.zeros(r), np.eye(r))
    known = CoefficientPosterior(X, np.zeros((n, size(r))), np.zeros(n))
    stats = no_statistics(m, q)
    for s in range(0, n, batch):  # mini-batches WITH missing data
        b = slice(s, s + batch)
        stats = merge(stats, statistics(Y[b], W[b], CoefficientPosterior(X[b], known.Sigma[b], known.logdet[b]), r))
    post = posterior(stats, prior, s2)
    for i in range(m):
        seen = W[:, i] > 0
        c, V = ref.feature_kalman(Y[seen, i], X[seen], c0[i], V0, np.full(seen.sum(), s2[i]))
        assert_allclose(post.C[i], c, rtol=1e-9, atol=1e-9)
        assert_allclose(unpack(post.V[i], q), V, rtol=1e-9, atol=1e-9)
        assert_allclose(post.logdet[i], np.linalg.slogdet(V)[1], atol=1e-9)


def test_merge_remove_and_replacement():
    rng, Y, W = problem(1)
    model = random_factors(rng, Y.shape[1], 3)
    coef = solve(model, Y, W)
    whole = statistics(Y, W, coef, 3)
    part = [
        statistics(Y[b], W[b], CoefficientPosterior(*(a[b] for a in coef)), 3) for b in (slice(0, 11), slice(11, 40))
    ]
    for a, b in zip(merge(*part), whole, strict=True):
        assert_allclose(a, b, rtol=1e-12, atol=1e-12)
    without = Statistics(*(a - b for a, b in zip(whole, part[1], strict=True)))
    for a, b in zip(without, part[0], strict=True):
        assert_allclose(a, b, rtol=1e-9, atol=1e-9)


def test_absorb_does_not_alias_and_chunking_does_not_matter(monkeypatch):
    rng, Y, W = problem(2)
    model = random_factors(rng, Y.shape[1], 3)
    args = (observations(Y, W), model.post, model.s2, model.prior)
    stats = no_statistics(Y.shape[1], 4)
    one = absorb(stats, *args)
    assert not stats.S.any()
    assert not stats.N.any()
    monkeypatch.setattr(
        "factorstream.core.variational.posterior.blocks", lambda n, width, budget=0, start=0: blocks(n, 1, 3, start)
    )
    two = absorb(stats, *args)
    assert_allclose(one[1].C, two[1].C, rtol=1e-10)
    assert_allclose(one[2].X, two[2].X, rtol=1e-10)


def test_a_feature_never_seen_keeps_its_prior():
    rng, Y, W = problem(3)
    W[:, 4] = 0
    model = random_factors(rng, Y.shape[1], 3)
    post = posterior(statistics(Y, W, solve(model, Y, W), 3), model.prior, model.s2)
    assert_allclose(post.C[4], 0, atol=1e-14)
    assert_allclose(unpack(post.V[4], 4), np.linalg.inv(model.prior.P0))
