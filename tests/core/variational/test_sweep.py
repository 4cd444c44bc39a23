"""Sweeps against their naive twin; the bound never falls."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import reference_variational as ref
from factorstream.core.variational import posterior as posteriors
from factorstream.core.variational.noise.student import StudentNoise
from factorstream.core.variational.noise.variance import PerFeatureVariance, PooledVariance
from factorstream.core.variational.observed import observations
from factorstream.core.variational.packed import pack, unpack
from factorstream.core.variational.posterior import (
    CoefficientPosterior,
    FactorPrior,
    posterior,
    statistics,
)
from factorstream.core.variational.relevance import Relevance
from factorstream.core.variational.squares import expected_square, square_by_inverse
from factorstream.core.variational.sweep import SweepRules, sweep
from variational_problems import problem, random_factors, spd

RULES = {False: PooledVariance(), True: PerFeatureVariance()}


@pytest.mark.parametrize("in_pieces", [False, True])
@pytest.mark.parametrize("per_feature", [False, True])
def test_sweeps_equal_the_naive_twin(per_feature, in_pieces, monkeypatch):
    rng, Y, W = problem(5, n=15, m=7, r=2)
    r, m = 2, 7
    model = random_factors(rng, m, r)
    if in_pieces:  # as if the table were wide: two features at a time
        monkeypatch.setattr(posteriors, "BUDGET", 10)
        monkeypatch.setattr(posteriors, "PIECE", 12)
    assert (posteriors.moments_for_sweep(observations(Y, W), model.post, model.s2) is None) == in_pieces
    data, floor = observations(Y, W), np.full(m, 1e-6)
    rules = SweepRules(Relevance(4.0, 0.5), RULES[per_feature], floor if per_feature else 1e-6)
    C, V = list(model.post.C), list(unpack(model.post.V, r + 1))
    s2, P0 = model.s2, model.prior.P0
    for _ in range(4):
        model, _, value, _ = sweep(data, data.W, model, rules)
        C, V, s2, P0, _X, _Sigmas, want = ref.naive_sweep(
            Y, W, C, V, s2, model.prior.c0, P0, r, 4.0, 0.5, per_feature, floor
        )
        assert_allclose(model.post.C, np.array(C), rtol=1e-8, atol=1e-10)
        assert_allclose(unpack(model.post.V, r + 1), np.array(V), rtol=1e-8, atol=1e-10)
        assert_allclose(model.s2, s2, rtol=1e-8)
        assert_allclose(model.prior.P0, P0, rtol=1e-8, atol=1e-10)
        assert_allclose(value, want, rtol=1e-9)


@pytest.mark.parametrize("per_feature", [False, True])
@pytest.mark.parametrize("kappa", [0.0, 5.0, 30.0, None])
@pytest.mark.parametrize("seed", range(3))
def test_bound_never_decreases(per_feature, kappa, seed):
    rng, Y, W = problem(seed, n=60, m=20, r=4)
    model, data = random_factors(rng, 20, 6), observations(Y, W)
    how = None if kappa is None else Relevance(kappa, 0.3)
    last = -np.inf
    for _ in range(40):
        model, _, value, _ = sweep(data, data.W, model, SweepRules(how, RULES[per_feature], 1e-4))
        assert value >= last - 1e-9 * abs(value)
        last = value


@pytest.mark.parametrize("learn", [False, True])
@pytest.mark.parametrize("per_feature", [False, True])
def test_robust_bound_never_decreases(learn, per_feature):
    rng, Y, W = problem(7, n=60, m=20, r=4)
    Y = Y + (rng.random(Y.shape) < 0.05) * 30
    model, data, w = random_factors(rng, 20, 4, StudentNoise(4.0, learn)), observations(Y, W), W.copy()
    rules = SweepRules(Relevance(5.0, 0.3), RULES[per_feature], 1e-4)
    last = -np.inf
    for k in range(40):
        model, w, value, _ = sweep(data, w, model, rules)
        if k:  # the first weights were not a posterior
            assert value >= last - 1e-9 * abs(value)
        last = value


def test_expected_squares_by_the_inverse(rng):
    Z, W = rng.normal(size=(30, 4)), (rng.random((30, 7)) < 0.7) * 1.0
    W[:, 3] = 0.0  # a feature without any value
    stats = statistics(rng.normal(size=(30, 7)), W, CoefficientPosterior(Z, pack(spd(rng, 3, 30)), np.zeros(30)), 3)
    prior = FactorPrior(rng.normal(size=(7, 4)), spd(rng, 4), np.zeros(3), np.eye(3))
    s2 = rng.uniform(0.5, 2.0, 7)
    post = posterior(stats, prior, s2)
    assert_allclose(square_by_inverse(stats, post, prior, s2), expected_square(stats, post), rtol=1e-9, atol=1e-12)


def test_the_moment_that_a_sweep_returns_is_what_the_next_one_would_make(rng):
    _, Y, W = problem(3, n=60, m=20, r=4)
    data, rules = observations(Y, W), SweepRules(Relevance(5.0, 0.3), RULES[False], 1e-4)
    first = sweep(data, data.W, random_factors(rng, 20, 4), rules)
    plain, given = (sweep(data, data.W, first.factors, rules, moment=moment) for moment in (None, first.moment))
    assert plain.bound == given.bound
    assert (plain.factors.post.C == given.factors.post.C).all()
