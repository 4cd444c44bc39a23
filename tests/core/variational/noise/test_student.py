"""Student-t noise."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose
from scipy.stats import gamma as gamma_law

from factorstream.core.place import HERE
from factorstream.core.variational.factors import new_weights
from factorstream.core.variational.fit import FitOptions, fit
from factorstream.core.variational.noise.student import (
    StudentNoise,
    TailSums,
    learn_nu,
    tail_bound,
    tail_sums,
    tail_weights,
)
from factorstream.core.variational.observed import observations
from factorstream.core.variational.posterior import moments, second_moment
from factorstream.core.variational.predictive import predict, predict_variance
from variational_problems import problem, random_factors, solve


def test_tail_bound_is_the_gamma_integral():
    """0.5 E log u - KL(q || p) by numerical expectation over q(u)."""
    nu0, nu, d = 5.0, 3.0, np.array([0.2, 4.0])
    a, rate = 0.5 * (nu0 + 1), 0.5 * (nu0 + d)
    want = 0.0
    for b in rate:
        q, p = gamma_law(a, scale=1 / b), gamma_law(nu / 2, scale=2 / nu)
        want += q.expect(lambda u, q=q, p=p: 0.5 * np.log(u) - q.logpdf(u) + p.logpdf(u))
    tails = TailSums(2.0, nu0, float(np.log(rate).sum()), float((a / rate).sum()))
    assert_allclose(tail_bound(tails, nu), want, rtol=1e-6)
    best = learn_nu(tails, nu)
    assert all(tail_bound(tails, best) >= tail_bound(tails, v) for v in (best * 0.9, min(best * 1.1, 1e3)))
    assert learn_nu(TailSums(0.0, 4.0, 0.0, 0.0), 4.0) == 4.0


def test_outliers_lose_their_weight():
    rng, Y, W = problem(17, n=150, m=40, r=3, noise=0.1)
    bad = (rng.random(Y.shape) < 0.05) & (W > 0)
    Z = np.where(bad, 50.0 * rng.normal(size=Y.shape), Y)
    miss = W == 0

    def error(options):
        f = fit(observations(Z, W), options)
        coef = solve(f.factors, Z, new_weights(f.factors, observations(Z, W)))
        return np.sqrt(((predict(coef, f.factors.post) - Y)[miss] ** 2).mean()), f

    clean, robust = error(FitOptions(r=3))[0], error(FitOptions(r=3, noise=StudentNoise(4.0, learned=True)))
    assert robust[0] < 0.2
    assert clean > 3 * robust[0]
    assert robust[1].weights[bad].mean() < 0.1 < 0.5 < robust[1].weights[(W > 0) & ~bad].mean()


def test_weights_formula():
    rng, Y, W = problem(18, n=6, m=5)
    model = random_factors(rng, 5, 2)
    coef = solve(model, Y, W)
    Z = moments(coef, 2)
    w = tail_weights(Y, W, coef, second_moment(model.post, model.s2), model.post.C, Z, model.s2, 4.0)
    N, log_rate, total = tail_sums(w, slice(None), 4.0)
    d = ((Y - predict(coef, model.post)) ** 2 + predict_variance(coef, model.post, 2)) / model.s2
    assert_allclose(w, np.where(W > 0, 5.0 / (4.0 + d), 0), rtol=1e-9)
    assert_allclose(log_rate, (W * np.log((4 + d) / 2)).sum(), rtol=1e-9)
    assert_allclose((N, total), (W.sum(), w.sum()))


def test_values_that_are_mostly_those_of_the_median_do_not_make_outliers_of_the_others():
    """Counts, most of which are zero: the start believes the others too, but for a gross outlier."""
    rng = np.random.default_rng(6)
    Y = np.where(rng.random((200, 6)) < 0.8, 0.0, rng.poisson(3.0, size=(200, 6))).astype(float)
    Y[0, 0] = 1e6
    believed = StudentNoise().believed(Y, np.ones(Y.shape, dtype=bool), HERE)
    assert not believed[0, 0]
    assert believed.sum() == believed.size - 1
