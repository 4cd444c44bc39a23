"""Small random problems for the tests."""

from __future__ import annotations

import numpy as np

from factorstream.core.variational.factors import Factors
from factorstream.core.variational.noise.gaussian import GaussianNoise
from factorstream.core.variational.observed import observations
from factorstream.core.variational.packed import pack
from factorstream.core.variational.posterior import FactorPrior, Posterior, coefficients

GAUSSIAN = GaussianNoise()


def spd(rng, q, *lead):
    B = rng.normal(size=(*lead, q, q + 3))
    return B @ np.swapaxes(B, -1, -2) / q + 0.1 * np.eye(q)


def problem(seed, n=40, m=12, r=3, missing=0.3, noise=0.3):
    rng = np.random.default_rng(seed)
    Y = rng.normal(size=(n, r)) @ rng.normal(size=(r, m)) + rng.normal(size=m) + noise * rng.normal(size=(n, m))
    W = (rng.random((n, m)) >= missing).astype(float)
    return rng, Y, W


def random_factors(rng, m, r, noise=GAUSSIAN):
    q = r + 1
    V = spd(rng, q, m) * 0.1
    post = Posterior(rng.normal(size=(m, q)), pack(V), np.linalg.slogdet(V)[1])
    P0 = np.eye(q) * 0.7
    return Factors(post, FactorPrior(np.zeros((m, q)), P0, np.zeros(r), np.eye(r)), rng.uniform(0.5, 2.0, m), noise)


def solve(factors, Y, W):
    """Coefficients of rows given as arrays."""
    return coefficients(observations(Y, W), factors.post, factors.s2, factors.prior)
