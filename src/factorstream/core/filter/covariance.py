"""The dictionary's covariance in square-root form: conditioned on a sample, and grown by a drift.

Carrying S with V = SSᵀ instead of V makes loss of symmetry or definiteness impossible: whatever
rounding does to S, SSᵀ is symmetric and positive semi-definite.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from ..linalg import Array, matrix_root, rank_one, triangular_inverse
from .coefficients import covariance_root
from .state import SmallState


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


def unit_drift(state: SmallState, drift: Array) -> Array:
    """Q_V of the loadings, given that of loadings whose coefficients have unit variance.

    The scale of the coefficients is free, and here their covariance is T = LLᵀ: Q_V = L⁻ᵀ (drift) L⁻¹. The mean's
    coefficient is 1, and its part stays as it is.
    """
    r = len(state.T)
    basis = np.eye(len(drift))
    basis[:r, :r] = triangular_inverse(covariance_root(state.T))
    Q: Array = basis.T @ drift @ basis
    return Q


def add_drift(state: SmallState, Q: Array) -> None:
    """V_{k|k−1} = V_{k−1} + Q_V in place: the paper's variation, before everything else that a sample does.

    Q is in the data's units while V is carried relative to λ, so Q is rescaled by λ/σ²; with a given
    noise variance the two are equal and Q is added as it is.
    """
    state.S[...] = predict(state.S, Q * (state.lam / state.noise))
