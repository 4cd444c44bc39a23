"""Small state-space models for the tests, and rows drawn from them."""

from __future__ import annotations

import numpy as np

import reference_sequences as ref
from factorstream.core.dynamics.model import (
    Model,
)

GAPS = ["none", "random", "runs", "rows", "columns"]


def make(seed=0, m=5, r=2, level=False, R=0.3, q=0.05):
    rng = np.random.default_rng(seed)
    A = 0.8 * np.eye(r) + 0.1 * rng.normal(size=(r, r))
    B = rng.normal(size=(r, r))
    z = np.zeros(m)
    return Model(
        A=A,
        Q=0.3 * np.eye(r) + 0.05 * B @ B.T,
        P0=np.eye(r),
        C=rng.normal(size=(m, r)),
        V=np.zeros((m, r, r)),
        mean=rng.normal(size=m),
        R=R * rng.uniform(0.5, 2, m),
        phi=rng.uniform(0.7, 1.0, m) if level else z,
        q=np.full(m, q) if level else z,
        p0=np.full(m, 0.5) if level else z,
        nu=np.inf,
    )


def draw(model, T, seed=0, gaps="random"):
    rng = np.random.default_rng(seed)
    x, own, Y = ref.simulate(
        rng, model.A, model.Q, model.P0, model.C, model.R, model.mean, model.phi, model.q, model.p0, T, model.nu
    )
    full = Y.copy()
    m = Y.shape[1]
    if gaps == "random":
        Y[rng.random(Y.shape) < 0.3] = np.nan
    elif gaps == "runs":
        for i in range(m):
            t = rng.integers(0, max(T - 4, 1))
            Y[t : t + 4, i] = np.nan
    elif gaps == "rows":
        Y[[0, T // 2, T - 1]] = np.nan
    elif gaps == "columns":
        Y[:, 1] = np.nan
    return x, own, full, Y
