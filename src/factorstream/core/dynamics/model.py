"""The sequence model, and the beliefs about it. What a model does not have is None, not an array of zeros.

    y_ti = mean_i + c_iᵀx_t + l_ti + e_ti       e_ti ~ noise                        features, m
    x_t  = A x_{t-1} + N(0, Q)                  x_1  ~ N(0, P0)                     shared states, r
    l_ti = phi_i l_{t-1,i} + N(0, q_i)          l_1i ~ N(0, p0_i)                   own level, one per feature

NaN marks a missing entry. Without levels a belief about x_t is exact. With levels the exact joint state has r + m
dimensions and costs O((r+m)³) per step; instead a belief keeps the *arrow* form

    x ~ N(x, P),    l_i | x ~ N(l_i + b_iᵀ(x - mean of x), d_i)   independent over i given x,

which a measurement preserves exactly (given x, feature i only sees y_i). Only the time step creates dependence
between levels given the new x; it is dropped, while the marginals of x, of every l_i and all cross covariances
(x, l_i) are kept. Cost O(m r²) per step, as without levels.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from ..linalg import Array
from .noise import Noise

LOG2PI = float(np.log(2 * np.pi))


class Dynamics(NamedTuple):
    """How the shared states move."""

    A: Array  # (r, r)
    Q: Array  # (r, r)
    P0: Array  # (r, r) covariance of the first state, whose mean is 0


class Emission(NamedTuple):
    """How the states show in the features."""

    C: Array  # (m, r) loadings
    mean: Array  # (m,)
    V: Array | None = None  # posterior covariance of each row of C: (m, r, r), or (1, r, r) if shared; None: C is known
    drift: float | None = None  # Q_V, the variance every loading gains per row; None: C stays as it is


class Levels(NamedTuple):
    """The slow level of every feature, all of shape (m,)."""

    phi: Array
    q: Array
    p0: Array


class SequenceModel(NamedTuple):
    """All parameters of a sequence."""

    dynamics: Dynamics
    emission: Emission
    noise: Noise
    levels: Levels | None = None


class LevelBelief(NamedTuple):
    """The levels given x: l_i | x ~ N(mean_i + b_iᵀ(x - mean of x), d_i)."""

    mean: Array  # (m,)
    B: Array  # (m, r)
    d: Array  # (m,)


class Belief(NamedTuple):
    """What is known about the states of one row: x ~ N(x, P), and the levels given x, where there are any."""

    x: Array  # (r,)
    P: Array  # (r, r)
    levels: LevelBelief | None = None


class Innovation(NamedTuple):
    """The innovation of one row: log-density, size, one-step predictions."""

    logp: float  # log p(y_t | y_{1:t-1}), or a lower bound on it
    n_obs: int
    chi2: float  # size eᵀS⁻¹e, chi-squared with n_obs degrees of freedom under the model
    seen: Array  # (m,) bool
    mean: Array  # (m,) one-step predictive mean of every entry
    var: Array  # (m,) one-step predictive variance of every entry, noise included


class Smoothed(NamedTuple):
    """The posterior of all rows given all rows."""

    x: Array  # (T, r)
    P: Array  # (T, r, r)
    lag: Array  # (T-1, r, r), Cov(x_t, x_{t+1})
    signal: Array  # (T, m) mean of every noise-free entry
    var: Array  # (T, m) its variance, the uncertainty of C included
    logp: float  # log-likelihood (or its bound, where C is uncertain)
    end: Belief  # after the last row, where smoother and filter agree


class Answer(NamedTuple):
    """States (T, r), and mean and variance (T, m) of every noise-free entry."""

    x: Array
    signal: Array
    var: Array


def inv(M: Array) -> Array:
    """Inverse, batched, float64."""
    return np.asarray(np.linalg.inv(M), dtype=np.float64) if M.ndim > 2 else solve(M, identity(len(M)))[0]


def solve(M: Array, B: Array) -> tuple[Array, Array]:
    """M⁻¹B for one matrix M (r, r), and pivots (r,): the absolute value of their product is that of det M.

    The LAPACK routine behind NumPy's `solve` and `inv`, called directly. Every row of a sequence needs several, and
    for matrices this small NumPy's preparations take four times as long as the solution.
    """
    if not len(M):
        return B.copy(), np.ones(0)
    LU, _, X, info = lapack.dgesv(M, B)
    if info > 0:
        raise np.linalg.LinAlgError("Singular matrix")
    return X, LU.diagonal()


@cache
def identity(r: int) -> Array:
    """The identity (r, r), read-only."""
    eye = np.eye(r)
    eye.flags.writeable = False
    return eye


def squares(H: Array, P: Array) -> Array:
    """hᵀP h of every row h of H (m, r), for one P (r, r). O(m r²)."""
    return row_sums(H.dot(P) * H)


def row_sums(M: Array) -> Array:
    """The sum of every row of M (m, r): as a product, which for few numbers takes half as long as NumPy's `sum`."""
    return np.asarray(M.dot(_ones(M.shape[1])))


@cache
def _ones(r: int) -> Array:
    return np.ones(r)


def loading_covariance(emission: Emission) -> Array:
    """V as (m, r, r), or (1, r, r) if shared; zeros where C is known."""
    m, r = emission.C.shape
    return np.zeros((m, r, r)) if emission.V is None else emission.V


def mean_state_covariance(dynamics: Dynamics, T: int) -> Array:
    """(1/T) Σ_t Cov(x_t) over t = 1, …, T, where Cov(x_1) = P0 and Cov(x_{t+1}) = A Cov(x_t) Aᵀ + Q.

    k steps at once: Cov(x_{t+k}) = F Cov(x_t) Fᵀ + W with F = Aᵏ and W = Σ_{j<k} AʲQAʲᵀ. The sum over k rows is
    doubled, or gets one row more, along the binary digits of T. Cost O(r³ log T).
    """
    A, Q, P0 = dynamics
    k, F, W, total = 1, A, Q, P0
    for digit in f"{max(T, 1):b}"[1:]:
        total = total + F @ total @ F.T + k * W
        k, W, F = 2 * k, F @ W @ F.T + W, F @ F
        if digit == "1":
            total = P0 + A @ total @ A.T + k * Q
            k, W, F = k + 1, A @ W @ A.T + Q, A @ F
    return np.asarray(total / k)


def with_R(model: SequenceModel, R: Array) -> SequenceModel:
    """The model with other noise variances."""
    return model._replace(noise=model.noise._replace(R=R))
