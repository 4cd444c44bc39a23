"""Noise of which a part is known, and rows that count more or less than once."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from factorstream.core.variational import known_errors
from factorstream.core.variational.factors import Factors
from factorstream.core.variational.fit import FitOptions, fit
from factorstream.core.variational.known_errors import STEPS, column_law, sweep_known
from factorstream.core.variational.noise.gaussian import GaussianNoise
from factorstream.core.variational.noise.variance import GivenVariance, PerFeatureVariance, PooledVariance
from factorstream.core.variational.observed import Known, Observations
from factorstream.core.variational.packed import pack, unpack
from factorstream.core.variational.posterior import FactorPrior, Posterior
from factorstream.core.variational.relevance import GivenPrior
from factorstream.core.variational.sweep import SweepRules, sweep
from reference_known import sweep_by_hand


def table(seed=0, n=40, m=6, r=2):
    rng = np.random.default_rng(seed)
    v = 10.0 ** rng.uniform(-3.0, 1.0, (n, m))
    Y = rng.standard_normal((n, r)) @ rng.standard_normal((r, m)) + 0.2 * rng.standard_normal((n, m))
    Y += np.sqrt(v) * rng.standard_normal((n, m))
    seen = rng.random((n, m)) < 0.7
    return np.where(seen, Y, 0.0), seen, v, rng.integers(1, 4, n).astype(float)


def factors_to_begin_with(m=6, r=2, seed=1):
    rng = np.random.default_rng(seed)
    C, V = rng.standard_normal((m, r + 1)), np.array([np.eye(r + 1) * s for s in rng.uniform(0.1, 0.5, m)])
    P0, c0 = np.diag([2.0, 3.0, 1.0]), 0.1 * rng.standard_normal((m, r + 1))
    post = Posterior(C, pack(V), np.linalg.slogdet(V)[1])
    return Factors(post, FactorPrior(c0, P0, np.zeros(r), np.eye(r)), rng.uniform(0.1, 1.0, m), GaussianNoise())


def rows_of(Y, seen, v, times):
    known = Known(v, times)
    return Observations(Y, seen.astype(float), *Y.shape, known=known), known


def test_a_sweep_is_that_of_the_naive_twin(monkeypatch):
    monkeypatch.setattr(known_errors, "SETTLED", 0.0)  # the twin takes all steps
    Y, seen, v, times = table()
    data, known = rows_of(Y, seen, v, times)
    begin = factors_to_begin_with()
    expected = sweep_by_hand(
        Y, seen, v, times, begin.post.C, unpack(begin.post.V, 3), begin.s2, begin.prior.P0, begin.prior.c0, STEPS
    )
    rules = SweepRules(None, PerFeatureVariance(), 0.0)
    found = sweep_known(data, known, begin, rules)
    np.testing.assert_allclose(found.factors.s2, expected[2], rtol=1e-10)
    np.testing.assert_allclose(found.factors.post.C, expected[3], rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(unpack(found.factors.post.V, 3), expected[4], rtol=1e-9, atol=1e-12)
    assert found.bound == pytest.approx(expected[5], rel=1e-10)


@pytest.mark.parametrize("variance", [PerFeatureVariance(), PooledVariance(), GivenVariance(0.05)])
def test_the_bound_does_not_fall(variance):
    Y, seen, v, times = table(n=120)
    fitted = fit(rows_of(Y, seen, v, times)[0], FitOptions(r=2, variance=variance, tol=0.0, prune=False))
    bounds = np.array([one.bound for one in fitted.history])
    assert len(bounds) > 3
    assert np.diff(bounds).min() > -1e-9 * np.abs(bounds).max()


def test_equal_known_errors_are_a_part_of_the_noise():
    """Of a sweep with noise of 0.3, it does not matter how much of that is known."""
    Y, seen, v, _ = table()
    begin = factors_to_begin_with()
    data, known = rows_of(Y, seen, np.full(v.shape, 0.2), np.ones(len(Y)))
    rules = SweepRules(None, GivenVariance(0.1), 0.0)
    found = sweep_known(data, known, begin._replace(s2=np.full(6, 0.1)), rules)
    expected = sweep(data._replace(known=None), data.W, begin._replace(s2=np.full(6, 0.3)), rules)
    np.testing.assert_allclose(found.factors.post.C, expected.factors.post.C, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(found.factors.post.V, expected.factors.post.V, rtol=1e-9, atol=1e-12)
    assert found.bound == pytest.approx(expected.bound, rel=1e-10)


@pytest.mark.parametrize("variance", [PerFeatureVariance(), PooledVariance()])
def test_without_errors_and_weights_it_is_the_ordinary_fit(variance):
    Y, seen, v, _ = table(n=120)
    data, _ = rows_of(Y, seen, 0.0 * v, np.ones(len(Y)))
    options = FitOptions(r=2, variance=variance)
    found, expected = fit(data, options), fit(data._replace(known=None), options)
    np.testing.assert_allclose(found.factors.post.C, expected.factors.post.C, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(found.spent, expected.spent, rtol=1e-6)
    assert found.history[-1].bound == pytest.approx(expected.history[-1].bound, rel=1e-10)


def test_a_weight_of_two_is_the_row_twice():
    """Both fits are swept until nothing moves; they start from different decompositions."""
    Y, seen, v, times = table(n=60)
    times[::5] = 0.0
    options = FitOptions(r=2, variance=PerFeatureVariance(), prior=GivenPrior(1.0), tol=1e-13, max_sweeps=1000)
    twice = np.repeat(np.arange(len(Y)), times.astype(int))
    found = fit(rows_of(Y, seen, v, times)[0], options)
    expected = fit(rows_of(Y[twice], seen[twice], v[twice], np.ones(len(twice)))[0], options)
    C, D = (one.factors.post.C for one in (found, expected))
    np.testing.assert_allclose(C[:, :2] @ C[:, :2].T, D[:, :2] @ D[:, :2].T, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(C[:, 2], D[:, 2], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found.factors.s2, expected.factors.s2, rtol=1e-4)
    np.testing.assert_allclose(found.spent, expected.spent, rtol=1e-3)


def test_means_and_variances_of_columns_are_those_of_the_greatest_likelihood():
    Y, seen, v, times = table(n=200)
    data, known = rows_of(Y + 3.0, seen, v, times)
    data = data._replace(Y=np.where(seen, data.Y, 0.0))
    mean, variance = column_law(data, known)
    for i in range(3):
        on = seen[:, i]

        def surprise(p, on=on, i=i):
            total = np.exp(p[1]) + v[on, i]
            return 0.5 * float(times[on] @ (np.log(total) + (data.Y[on, i] - p[0]) ** 2 / total))

        best = minimize(surprise, [mean[i], np.log(variance[i])], tol=1e-10)
        np.testing.assert_allclose([mean[i], variance[i]], [best.x[0], np.exp(best.x[1])], rtol=5e-3)
