"""The dictionary's covariance in square-root form, and the three ways to turn it into a gain.

Carrying S with V = SSᵀ instead of V makes loss of symmetry or definiteness impossible: whatever
rounding does to S, SSᵀ is symmetric and positive semi-definite.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import NamedTuple

import numpy as np

from ..linalg import Array, cholesky, rank_one
from .state import Gain, SmallState


def potter_update(S: Array, x: Array, lam: float) -> tuple[Array, float]:
    """Condition V = SSᵀ on one sample with coefficients x, in place; return (g, xᵀVx).

    Density      p(y | c) = N(Cx, λI) with prior c ~ N(·, V ⊗ I)
    Update       g = Vx / (λ + xᵀVx),  V ← V − (Vx) gᵀ             (Props. 1 and 2)
    As computed  f = Sᵀx,  s = λ + fᵀf,  S ← S − (Sf) fᵀ / (s + √(λs))     (Potter's form)
    Shapes       S (q × q) column-major, x (q), g (q). Cost O(q²).
    """
    f = x.dot(S)
    Vx = S.dot(f)
    xVx = float(f.dot(f))
    s = lam + xVx
    rank_one(S, Vx, f, -1.0 / (s + sqrt(lam) * sqrt(s)))
    return Vx / s, xVx


def predict(S: Array, Q: Array) -> Array:
    """Square root of V + Q, the covariance after one step of a drifting dictionary. Cost O(q³)."""
    return np.asfortranarray(matrix_root(S @ S.T + Q))


def matrix_root(V: Array) -> Array:
    """A square root S of V = SSᵀ for symmetric positive semi-definite V, triangular where V is definite."""
    L = cholesky(V, 0.0)
    if L is None:
        values, vectors = np.linalg.eigh(V)
        L = vectors * np.sqrt(np.maximum(values, 0.0))
    return np.asfortranarray(L)


def drift(state: SmallState, Q: Array) -> None:
    """V_{k|k−1} = V_{k−1} + Q_V in place: the paper's variation, before everything else that a sample does.

    Q is in the data's units while V is carried relative to λ, so Q is rescaled by λ/σ²; with a given
    noise variance the two are equal and Q is added as it is.
    """
    state.S[...] = predict(state.S, Q * (state.lam / state.noise))


def kalman_gain(state: SmallState, S: Array, x: Array) -> tuple[Array, float]:
    """Algorithm 1's gain."""
    return potter_update(S, x, state.lam)


def broyden_gain(state: SmallState, S: Array, x: Array) -> tuple[Array, float]:
    """Broyden's rule: the same gain with a V = SSᵀ that never changes (V = I in the paper)."""
    f = x @ S
    return (S @ f) / (state.lam + float(f @ f)), 0.0


class SGDGain(NamedTuple):
    """Stochastic gradient: g = γ x with γ = step_size / k**decay, k counting samples from 1.

    ``step_size`` "auto" stands for 1 / E‖x‖², the running mean; a function gives γ itself from (k, ‖x‖²), and
    1/(λ + ‖x‖²) is Broyden's rule with V = I.
    """

    step_size: str | float | Callable[[int, float], float]
    decay: float

    def __call__(self, state: SmallState, S: Array, x: Array) -> tuple[Array, float]:
        """(g, 0)."""
        k, xx = state.k + 1, float(x @ x)
        if callable(self.step_size):
            return float(self.step_size(k, xx)) * x, 0.0
        if isinstance(self.step_size, str):
            typical = float(np.trace(state.T) + state.xbar @ state.xbar)
            typical += len(x) - len(state.T)  # a mean's coefficient is always 1
            return float(1.0 / typical / k**self.decay) * x, 0.0
        return float(self.step_size / k**self.decay) * x, 0.0
