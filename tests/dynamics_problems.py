"""Small state-space models for the tests, and rows drawn from them."""

from __future__ import annotations

import numpy as np

import reference_sequences as ref
from factorstream.core.dynamics.model import Dynamics, Emission, Levels, SequenceModel
from factorstream.core.dynamics.noise import GaussianNoise, StudentNoise

GAPS = ["none", "random", "runs", "rows", "columns"]


def make(seed=0, m=5, r=2, level=False, R=0.3, q=0.05, nu=None):
    rng = np.random.default_rng(seed)
    A = 0.8 * np.eye(r) + 0.1 * rng.normal(size=(r, r))
    B = rng.normal(size=(r, r))
    dynamics = Dynamics(A, 0.3 * np.eye(r) + 0.05 * B @ B.T, np.eye(r))
    emission = Emission(rng.normal(size=(m, r)), rng.normal(size=m))
    R = R * rng.uniform(0.5, 2, m)
    noise = GaussianNoise(R) if nu is None else StudentNoise(R, nu)
    levels = Levels(rng.uniform(0.7, 1.0, m), np.full(m, q), np.full(m, 0.5)) if level else None
    return SequenceModel(dynamics, emission, noise, levels)


def changed(model, **parts):
    """The model with some of its arrays replaced, each named by its letter."""
    for name, value in parts.items():
        place = next(p for p in ("dynamics", "emission", "noise", "levels") if hasattr(getattr(model, p), name))
        model = model._replace(**{place: getattr(model, place)._replace(**{name: value})})
    return model


def without_states(model):
    """The same features with no shared state."""
    C = model.emission.C[:, :0]
    empty = np.zeros((0, 0))
    return changed(model._replace(dynamics=Dynamics(empty, empty, empty)), C=C, V=None)


def linear(model):
    """A, Q, P0, C, R and mean, as the references want them."""
    return *model.dynamics, model.emission.C, model.noise.R, model.emission.mean


def augment(model):
    """The same model with the levels as extra components: exact, O((r+m)³) per step."""
    m, r = model.emission.C.shape
    phi, q, p0 = model.levels

    def block(a, b):
        out = np.zeros((r + m, r + m))
        out[:r, :r] = a
        out[r:, r:] = np.diag(b)
        return out

    A, Q, P0 = model.dynamics
    dynamics = Dynamics(block(A, phi), block(Q, q), block(P0, p0))
    assert model.emission.V is None
    return changed(model._replace(dynamics=dynamics, levels=None), C=np.hstack([model.emission.C, np.eye(m)]))


def draw(model, T, seed=0, gaps="random"):
    rng = np.random.default_rng(seed)
    zero = np.zeros(len(model.noise.R))
    levels = (zero, zero, zero) if model.levels is None else model.levels
    x, own, Y = ref.simulate(rng, *linear(model), *levels, T, model.noise.degrees_of_freedom)
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


def standardised(Y):
    return (Y - np.nanmean(Y, 0)) / np.nanstd(Y, 0)


def moving_rows(T, m, factors, seed=0):
    """Standardised rows that move."""
    rng = np.random.default_rng(seed)
    x = np.cumsum(rng.normal(size=(T, factors)), axis=0) - np.linspace(0, 1, T)[:, None]
    Y = 0.2 * x @ rng.normal(size=(factors, m)) + rng.normal(size=(T, m)) * rng.uniform(0.3, 1.5, m)
    return (Y - Y.mean(0)) / Y.std(0)


def missing(Y, kind, seed=0):
    Y, rng = Y.copy(), np.random.default_rng(seed)
    if kind == "rows":
        Y[rng.random(len(Y)) < 0.3] = np.nan
    if kind == "entries":
        Y[rng.random(Y.shape) < 0.3] = np.nan
    return Y
