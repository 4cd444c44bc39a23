"""Sweeps over blocks of rows equal sweeps over all rows."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from factorstream.core.place import HERE
from factorstream.core.variational.blockwise import (
    add_moments,
    block_sums,
    fit_blocks,
    merge_moments,
    no_moments,
)
from factorstream.core.variational.factors import new_weights, standardise
from factorstream.core.variational.fit import FitOptions, fit
from factorstream.core.variational.noise.law import Scaling
from factorstream.core.variational.noise.student import StudentNoise
from factorstream.core.variational.noise.variance import GivenVariance, PerFeatureVariance, PooledVariance
from factorstream.core.variational.observed import observations
from factorstream.core.variational.posterior import second_moment
from factorstream.core.variational.relevance import dictionary_moment
from factorstream.core.variational.squares import square_by_moments
from factorstream.core.variational.sweep import SweepRules, add_rows, conclude, merge_sums, no_sums, sweep
from variational_problems import problem, random_factors

ENDS = {"one block": (90,), "uneven blocks": (7, 8, 50, 90)}


def cut(Y, W, ends):
    return [observations(Y[a:b], W[a:b]) for a, b in zip((0, *ends[:-1]), ends, strict=True)]


def moments_of(parts):
    total = no_moments(parts[0].m)
    for part in parts:
        total = add_moments(total, part)
    return total


def assert_same_factors(found, want, rtol=1e-10):
    for part in ("C", "V", "logdet"):
        expected = getattr(want.post, part)
        assert_allclose(getattr(found.post, part), expected, rtol=rtol, atol=rtol * np.abs(expected).max())
    assert_allclose(found.s2, want.s2, rtol=rtol)
    assert_allclose(found.prior.P0, want.prior.P0, rtol=rtol, atol=rtol * np.abs(want.prior.P0).max())


@pytest.mark.parametrize("ends", ENDS.values(), ids=ENDS)
def test_moments_of_blocks_are_those_of_all_rows(ends):
    _, Y, W = problem(0, n=90)
    Y, W[:, 3] = Y + 1e6, 0.0
    W[:7, 2] = 0.0  # absent from the first block
    found = moments_of(cut(Y, W, ends))
    for i in range(Y.shape[1]):
        y = Y[W[:, i] > 0, i]
        assert found.count[i] == len(y)
        if len(y):
            assert_allclose(found.mean[i], y.mean(), rtol=1e-14)
            assert_allclose(found.square[i], np.sum((y - y.mean()) ** 2), rtol=1e-8)  # of values around 1e6
    assert found.mean[3] == found.square[3] == 0.0
    parts = [moments_of([part]) for part in cut(Y, W, ends)]
    assert_allclose(merge_moments(parts[-1], no_moments(12)).mean, parts[-1].mean, rtol=0)


def test_sums_of_blocks_found_apart_are_merged_into_a_sweep():
    rng, Y, W = problem(1, n=90)
    factors = random_factors(rng, 12, 3)
    rules = SweepRules(None, PooledVariance(), 0.0)
    want = sweep(observations(Y, W), W, factors, rules)
    M = second_moment(factors.post, factors.s2)
    total = no_sums(factors)
    for part in cut(Y, W, ENDS["uneven blocks"]):
        total = merge_sums(total, add_rows(no_sums(factors), part, part.W, factors, M)[0])
    moment = dictionary_moment(factors.post, factors.prior.c0)
    found = conclude(total, factors, rules, square_by_moments(total.stats, factors.post, M, factors.s2), moment, 12)
    assert total.n == 90
    assert_same_factors(found.factors, want.factors)
    assert_allclose(found.bound, want.bound, rtol=1e-10)


@pytest.mark.parametrize("ends", ENDS.values(), ids=ENDS)
@pytest.mark.parametrize("variance", [PooledVariance(), PerFeatureVariance(), GivenVariance(0.1)])
def test_sweeps_over_blocks_equal_sweeps_over_all_rows(ends, variance):
    _, Y, W = problem(2, n=90)
    Y = 5.0 + 20.0 * Y
    options = FitOptions(r=3, variance=variance)
    start = fit(observations(Y[:40], W[:40]), options)
    want = fit(observations(Y, W), options, start.factors)
    parts, passes = cut(Y, W, ends), []

    def blocks():
        passes.append(1)
        return iter(parts)

    found = fit_blocks(blocks, start.factors, moments_of(parts), observations(Y[:40], W[:40]), options)
    assert len(found.history) == len(want.history) == len(passes) - 1
    assert_same_factors(found.factors, want.factors)
    assert_allclose([h.bound for h in found.history], [h.bound for h in want.history], rtol=1e-10)
    assert_allclose(found.spent, want.spent, rtol=1e-8)  # differences of sums


def test_sparse_blocks_equal_dense_ones():
    _, Y, W = problem(3, n=90)
    options, ends = FitOptions(r=3), ENDS["uneven blocks"]
    start = fit(observations(Y, W), options._replace(max_sweeps=1))
    some = observations(Y, W)
    stored = [
        observations(*(sparse.csr_array((v[p.W > 0], np.nonzero(p.W)), shape=p.W.shape) for v in (p.Y, p.W)))
        for p in cut(Y, W, ends)
    ]
    assert all(part.sparse for part in stored)
    thick = cut(Y, W, ends)
    want = fit_blocks(lambda: thick, start.factors, moments_of(thick), some, options)
    found = fit_blocks(lambda: stored, start.factors, moments_of(stored), some, options)
    assert_same_factors(found.factors, want.factors)


def with_outliers():
    rng, Y, W = problem(4, n=90)
    Y[rng.random(Y.shape) < 0.02] += 50.0
    return Y, W, FitOptions(r=3, noise=StudentNoise(4.0, learned=True))


def test_a_robust_sweep_over_blocks_equals_one_over_all_rows():
    Y, W, options = with_outliers()
    data = observations(Y, W)
    parts, start = cut(Y, W, ENDS["uneven blocks"]), fit(data, options).factors
    ready = options.noise.prepare(data, HERE)
    factors, scaling = standardise(start, ready.offset, ready.scale), Scaling(ready.offset, ready.scale, ready.own)
    data = data._replace(Y=ready.F)
    rules = SweepRules(None, PooledVariance(), 0.0)
    want = sweep(data, new_weights(factors, data), factors, rules)
    M, total = second_moment(factors.post, factors.s2), no_sums(factors)
    for part in parts:
        total = merge_sums(total, block_sums(part, factors, scaling, M))
    found = conclude(
        total,
        factors,
        rules,
        square_by_moments(total.stats, factors.post, M, factors.s2),
        dictionary_moment(factors.post, factors.prior.c0),
        12,
    )
    assert_same_factors(found.factors, want.factors)
    assert_allclose(found.factors.noise.nu, want.factors.noise.nu, rtol=1e-10)
    assert_allclose(found.bound, want.bound, rtol=1e-10)


def test_weights_that_are_found_anew_lead_where_weights_that_are_kept_do():
    Y, W, options = with_outliers()
    options = options._replace(max_sweeps=100, tol=1e-9)
    data, parts = observations(Y, W), cut(Y, W, ENDS["uneven blocks"])
    start = fit(data, options._replace(max_sweeps=5)).factors
    want = fit(data, options, start).factors
    found = fit_blocks(lambda: parts, start, moments_of(parts), data, options).factors
    G, expected = (one.post.C[:, :-1] @ one.post.C[:, :-1].T for one in (found, want))  # whatever the rotation
    assert_allclose(G, expected, rtol=0, atol=0.01 * np.abs(expected).max())
    assert_allclose(found.s2, want.s2, rtol=0.01)


@pytest.mark.parametrize("noise", [None, StudentNoise()])
def test_a_feature_without_a_value_in_the_start_is_learned_from_the_others_blocks(noise):
    _, Y, W = problem(5, n=200, missing=0.0, noise=0.1)
    Y[:, 4] += 1e3
    W[:60, 4] = 0.0
    options = FitOptions(r=3) if noise is None else FitOptions(r=3, noise=noise)
    some = observations(Y[:60], W[:60])
    start = fit(some, options)
    parts = cut(Y, W, (60, 130, 200))
    found = fit_blocks(lambda: parts, start.factors, moments_of(parts), some, options).factors
    want = fit(observations(Y, W), options).factors
    assert abs(want.post.C[4, -1] - Y[60:, 4].mean()) < 1.0
    assert_allclose(found.post.C[4, -1], want.post.C[4, -1], atol=0.1)
    assert_allclose(found.s2, want.s2, rtol=0.05)
