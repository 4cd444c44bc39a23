"""A mean for every row: sweeps against their naive twin, answers against the joint Gaussian law."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

import reference_variational as ref
from factorstream.core.place import HERE
from factorstream.core.variational.factors import Factors, by_relevance, prune, rescale, standardise
from factorstream.core.variational.fit import FitOptions, fit
from factorstream.core.variational.noise.student import StudentNoise
from factorstream.core.variational.noise.variance import PerFeatureVariance, PooledVariance
from factorstream.core.variational.observed import observations
from factorstream.core.variational.packed import pack, unpack
from factorstream.core.variational.posterior import (
    FactorPrior,
    Posterior,
    coefficients,
    posterior,
    statistics,
)
from factorstream.core.variational.predictive import predict, predict_variance
from factorstream.core.variational.relevance import Relevance, dictionary_moment
from factorstream.core.variational.row_mean import two_way, without_means
from factorstream.core.variational.squares import expected_square, information, square_by_inverse
from factorstream.core.variational.sweep import SweepRules, sweep
from split_place import SplitPlace
from variational_problems import GAUSSIAN, problem, spd


def rows_with_means(seed, n=15, m=7, r=2, missing=0.3):
    rng, Y, W = problem(seed, n=n, m=m, r=r, missing=missing)
    return rng, Y + rng.normal(size=(n, 1)), W


def row_mean_factors(rng, m, r, loading=0.8, noise=GAUSSIAN):
    """Factors of r components, a known loading and a mean; and C and V without the known one."""
    q, unknown = r + 2, [*range(r), r + 1]
    C = rng.normal(size=(m, q))
    C[:, r] = loading
    V = np.zeros((m, q, q))
    small = spd(rng, r + 1, m) * 0.1
    V[np.ix_(range(m), unknown, unknown)] = small
    c0 = np.zeros((m, q))
    c0[:, r] = loading
    prior = FactorPrior(c0, np.eye(q), np.zeros(r + 1), np.eye(r + 1), row_mean=True)
    post = Posterior(C, pack(V), np.linalg.slogdet(small)[1])
    return Factors(post, prior, np.full(m, 0.7), noise), list(C[:, unknown]), list(small)


def test_sweeps_equal_the_naive_twin():
    rng, Y, W = rows_with_means(5)
    r, m, loading = 2, 7, 0.8
    model, C, V = row_mean_factors(rng, m, r, loading)
    data, s2, unknown = observations(Y, W), model.s2, [0, 1, 3]
    for _ in range(4):
        model, _, value, _ = sweep(data, data.W, model, SweepRules(Relevance(4.0, 0.5), PooledVariance(), 1e-6))
        C, V, s2, loading, P0, a, want = ref.naive_row_mean_sweep(Y, W, C, V, s2, loading, r, 4.0, 0.5, 1e-6)
        assert_allclose(model.post.C[:, unknown], np.array(C), rtol=1e-8, atol=1e-10)
        full = unpack(model.post.V, r + 2)
        assert_allclose(full[np.ix_(range(m), unknown, unknown)], np.array(V), rtol=1e-8, atol=1e-10)
        assert not full[:, r].any()
        assert_allclose(model.post.C[:, r], loading, rtol=1e-9)
        assert_allclose(model.s2, s2, rtol=1e-8)
        assert_allclose(model.prior.P0[np.ix_(unknown, unknown)], P0, rtol=1e-8, atol=1e-10)
        assert_allclose(model.prior.c0[:, -1], a, rtol=1e-8, atol=1e-10)
        assert_allclose(value, want, rtol=1e-9)


@pytest.mark.parametrize("variance", [PooledVariance(), PerFeatureVariance()])
@pytest.mark.parametrize("noise", [GAUSSIAN, StudentNoise(4.0, True)])
@pytest.mark.parametrize("how", [None, Relevance(0.0, 0.3), Relevance(5.0, 0.3)])
def test_bound_never_decreases(variance, noise, how):
    rng, Y, W = rows_with_means(1, n=60, m=20, r=4)
    model, _, _ = row_mean_factors(rng, 20, 6, noise=noise)
    data, w, last = observations(Y, W), W.copy(), -np.inf
    for k in range(30):
        model, w, value, _ = sweep(data, w, model, SweepRules(how, variance, 1e-4))
        if k:  # the first weights of robust noise were not a posterior
            assert value >= last - 1e-9 * abs(value)
        last = value


def test_a_known_dictionary_answers_as_the_joint_gaussian_law():
    rng = np.random.default_rng(3)
    m, r, loading, s2 = 9, 2, 0.6, 0.3
    C, a = rng.normal(size=(m, r)), rng.normal(size=m)
    full = np.column_stack([C, np.full(m, loading), a])
    q = r + 2
    prior = FactorPrior(full, np.eye(q), np.zeros(r + 1), np.eye(r + 1), row_mean=True)
    post = Posterior(full, np.zeros((m, q * (q + 1) // 2)), np.zeros(m))
    Y, W = rng.normal(size=(4, m)), (rng.random((4, m)) < 0.6) * 1.0
    coef = coefficients(observations(Y, W), post, np.full(m, s2), prior)
    means, variances = predict(coef, post), predict_variance(coef, post, r + 1)
    law = C @ C.T + loading**2 * np.ones((m, m))  # every pair of entries of a row shares its mean
    for k in range(4):
        seen = W[k] > 0
        gain = law[:, seen] @ np.linalg.inv(law[np.ix_(seen, seen)] + s2 * np.eye(seen.sum()))
        assert_allclose(means[k], a + gain @ (Y[k, seen] - a[seen]), rtol=1e-9)
        assert_allclose(variances[k], np.diag(law - gain @ law[seen]), rtol=1e-8, atol=1e-12)


def test_expected_squares_and_information():
    rng, Y, W = rows_with_means(2, n=40, m=9)
    W[:, 3] = 0.0  # a feature without any value
    model, _, _ = row_mean_factors(rng, 9, 2)
    coef = coefficients(observations(Y, W), model.post, model.s2, model.prior)
    stats = statistics(Y, W, coef, 3)
    post = posterior(stats, model.prior, model.s2)
    assert_allclose(square_by_inverse(stats, post, model.prior, model.s2), expected_square(stats, post), rtol=1e-9)
    again = posterior(information(post, model.prior, model.s2, stats.N), model.prior, model.s2)
    for one, other in zip(again, post, strict=True):
        assert_allclose(one, other, rtol=1e-7, atol=1e-9)


def test_the_basis_and_the_units_leave_the_known_loading():
    model, _, _ = row_mean_factors(np.random.default_rng(4), 9, 3)
    turned = by_relevance(model)
    assert (turned.post.C[:, 3] == 0.8).all()
    assert not unpack(turned.post.V, 5)[:, 3].any()
    there = standardise(model, np.full(9, 2.0), 4.0)
    assert_allclose(there.post.C[:, 3], 0.2, rtol=1e-12)
    assert_allclose(rescale(there, np.full(9, 2.0), 4.0).post.C, model.post.C, rtol=1e-12)


def test_components_that_are_noise_are_dropped_and_the_row_mean_stays():
    rng = np.random.default_rng(0)
    model, _, _ = row_mean_factors(rng, 50, 2)
    C = model.post.C.copy()
    C[:, 1] = 1e-4 * rng.normal(size=50)
    model = model._replace(post=model.post._replace(C=C))
    kept = prune(model, dictionary_moment(model.post, model.prior.c0))
    assert kept.r == 2
    assert kept.prior.row_mean
    assert (kept.post.C[:, 1] == 0.8).all()
    unknown = unpack(kept.post.V, 3)[np.ix_(range(50), [0, 2], [0, 2])]
    assert_allclose(kept.post.logdet, np.linalg.slogdet(unknown)[1], rtol=1e-9)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_the_start_finds_the_means(kind):
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=40), 0.5 * rng.normal(size=300)
    Y, W = b[:, None] + a + 0.1 * rng.normal(size=(300, 40)), (rng.random((300, 40)) < 0.8) * 1.0
    rows = observations(kind(W * Y), kind(W))
    means = two_way(rows, HERE)
    assert np.corrcoef(means.b, b)[0, 1] > 0.99
    left = without_means(rows, means, HERE).Y
    left = left.toarray() if kind is sparse.csr_array else left
    assert left[W > 0].std() < 0.3
    assert not left[W == 0].any()


def filled(place, factors, Y, W):
    post = Posterior(*(place.get(part, 0) for part in factors.post))
    prior = factors.prior._replace(c0=place.get(factors.prior.c0, 0))
    return predict(coefficients(observations(Y, W), post, place.get(factors.s2, 0), prior), post)


def test_sparse_and_divided_features_are_fitted_as_dense_ones():
    _, Y, W = rows_with_means(6, n=80, m=30, r=2)
    Y = W * Y
    options = FitOptions(r=2, row_mean=True, max_sweeps=30, tol=1e-7)
    want = filled(HERE, fit(observations(Y, W), options).factors, Y, W)
    divided, rows = SplitPlace(), observations(sparse.csr_array(Y), sparse.csr_array(W))
    assert_allclose(filled(HERE, fit(rows, options).factors, Y, W), want, atol=1e-3)
    there = fit(observations(Y, W, divided), options, place=divided).factors
    assert_allclose(filled(divided, there, Y, W), want, atol=1e-6)
