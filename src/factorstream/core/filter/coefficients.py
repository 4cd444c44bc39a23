"""The coefficient steps: from one sample to its x.

A step sees a sample only through its normal equations, so the same code serves a block of complete
samples, a masked one, and any place where the data may live. With a mean, C̃ is C without its last
column and y has that column subtracted; the mean's own coefficient is 1 and is not solved for.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Literal, NamedTuple

import numpy as np
from scipy.optimize import brentq

from ..linalg import Array, cholesky, cholesky_solve, lifted_cholesky, triangular_inverse, triangular_solve


class Sample(NamedTuple):
    """One sample's normal equations over its observed entries Ω."""

    G: Array
    """C̃_ΩᵀC̃_Ω (r × r)."""
    b: Array
    """C̃_Ωᵀy_Ω (r)."""
    yy: float
    """‖y_Ω‖²."""
    n: int
    """|Ω|."""


class Belief(NamedTuple):
    """What is known before the sample arrives."""

    noise: float
    """σ²."""
    mean: Array
    """Prior mean of x (r)."""
    T: Array
    """Prior covariance of x (r × r)."""
    S: Array
    """Square root of the dictionary's relative covariance, V = SSᵀ (q × any number of columns), a mean last."""
    dictionary_scale: float
    """V = dictionary_scale · SSᵀ; zero where V is no posterior covariance."""
    min_observed: int
    """Observed entries from which on a step can do without the prior."""
    rcond: float
    """Gram matrices with a smaller reciprocal condition number are treated as singular."""


class Coefficients(NamedTuple):
    """x and, in factored form, its covariance Σ = scale · B (LLᵀ)⁻¹ Bᵀ."""

    x: Array
    """The coefficients (r)."""
    L: Array
    """Lower Cholesky factor (r × r)."""
    scale: float
    """Multiplies the covariance."""
    B: Array | None
    """Basis (r × r) in which L lives; None for the identity."""
    fitted: float
    """Degrees of freedom that x took from the sample."""
    from_prior: bool
    """Whether the learned prior had to be used."""
    inverse: Array | None = None
    """L⁻¹, where it was needed already."""

    def root(self) -> Array:
        """F (r × r) with Σ = FFᵀ."""
        inverse = triangular_inverse(self.L) if self.inverse is None else self.inverse
        F: Array = sqrt(self.scale) * inverse.T
        return F if self.B is None else self.B.dot(F)


CompiledStep = Literal["least_squares", "ridge"]
"""The steps that the compiled loops have; "ridge" is x ~ N(0, I)."""


class CoefficientStep(NamedTuple):
    """A way to find x, and all that the rest of the package has to know of it."""

    name: str
    """Its public name, also in a saved model."""
    find: Callable[[Sample, Belief], Coefficients]
    """From one sample to its coefficients."""
    learns_prior: bool = True
    """Whether x̄ and T, the prior of a sample that says too little, follow the coefficients; else x ~ N(0, I)."""
    whitened: bool = False
    """Whether ``whitened`` gives what ``find`` gives for complete samples."""
    compiled: CompiledStep | None = None
    """What the compiled loops call it; None if they don't have it."""
    doubts: bool = False
    """Whether x is found for all that C may be, not for its mean alone: the steps of ``counted``."""


def least_squares(sample: Sample, belief: Belief) -> Coefficients:
    """x = (C_ΩᵀC_Ω)⁻¹ C_Ωᵀy_Ω: the paper's step, with Σ = σ² (C_ΩᵀC_Ω)⁻¹. Cost O(r³).

    With fewer than ``min_observed`` entries, or a singular Gram matrix, the learned prior takes over: see
    :func:`from_learned_prior`.
    """
    r = len(sample.b)
    if sample.n >= belief.min_observed:
        L = cholesky(sample.G, belief.rcond)
        if L is not None:
            return Coefficients(cholesky_solve(L, sample.b), L, belief.noise, None, r, False)
    return from_learned_prior(sample, belief)


def from_learned_prior(sample: Sample, belief: Belief) -> Coefficients:
    """x ~ N(x̄, T), the running mean and covariance of the coefficients seen so far.

    Posterior    Σ⁻¹ = C_ΩᵀC_Ω/σ² + T⁻¹,  x = x̄ + Σ C_Ωᵀ(y_Ω − C_Ωx̄)/σ²
    As computed  T = BBᵀ,  M = BᵀGB + σ²I = LLᵀ,  Σ = σ² B M⁻¹ Bᵀ  (no inverse of T). Cost O(r³).
    """
    r = len(sample.b)
    B = covariance_root(belief.T)
    M = B.T.dot(sample.G).dot(B)
    M.reshape(-1)[:: r + 1] += belief.noise
    L = cholesky(M, 0.0)
    if L is None:
        L = lifted_cholesky(M, r)
    x = belief.mean + B.dot(cholesky_solve(L, B.T.dot(sample.b - sample.G.dot(belief.mean))))
    inverse = triangular_inverse(L)
    entries = sqrt(belief.noise) * inverse.ravel(order="K")  # their squares alone may overflow
    fitted = r - float(entries.dot(entries))
    return Coefficients(x, L, belief.noise, B, fitted, True, inverse)


def covariance_root(T: Array) -> Array:
    """A lower factor of a covariance that is positive definite but for rounding.

    The first lift, ten units of rounding per row, is not tuned: T has been through many updates, and
    :func:`lifted_cholesky` goes on to larger ones where it is too small.
    """
    L = cholesky(T, 0.0)
    return lifted_cholesky(T, 10.0 * len(T)) if L is None else L


def expected_least_squares(sample: Sample, belief: Belief) -> Coefficients:
    """The least squares expected over all that C may be: (C_ΩᵀC_Ω + |Ω|Ṽ) x = C_Ωᵀy_Ω − |Ω|v, V = [[Ṽ, v], [vᵀ, v₀]].

    V is the mean covariance of the observed features' loadings. What C cannot carry yet is not asked of it: while V is
    large x is small. Where a sample says too little the learned prior is added, as in :func:`least_squares`.
    """
    expected = with_doubt(sample, belief)
    if sample.n >= belief.min_observed:
        L = cholesky(expected.G, belief.rcond)
        if L is not None:
            return Coefficients(cholesky_solve(L, expected.b), L, belief.noise, None, len(L), False)
    return from_learned_prior(expected, belief)


def with_doubt(sample: Sample, belief: Belief) -> Sample:
    """The normal equations of the expected squares E‖y_Ω − C_Ωz‖², with V as the recursion carries it.

    That is relative to λ and not to the learned σ², which is too large as long as little is known of C: x would then be
    too small, C would learn nothing from it, and σ² would stay as it is.
    """
    r = len(sample.b)
    D = sample.n * belief.S.dot(belief.S.T)
    b = sample.b - D[:r, r] if len(D) > r else sample.b
    return Sample(sample.G + D[:r, :r], b, sample.yy, sample.n)


def expected_maximum_a_posteriori(sample: Sample, belief: Belief) -> Coefficients:
    """The same under x ~ N(0, I)."""
    return maximum_a_posteriori(with_doubt(sample, belief), belief)


def maximum_a_posteriori(sample: Sample, belief: Belief) -> Coefficients:
    """x = (C_ΩᵀC_Ω/σ² + I)⁻¹ C_Ωᵀy_Ω/σ² under x ~ N(0, I), with Σ the inverse itself. Cost O(r³)."""
    r = len(sample.b)
    return from_learned_prior(sample, belief._replace(mean=np.zeros(r), T=np.eye(r)))


def marginal_likelihood(sample: Sample, belief: Belief) -> Coefficients:
    """The maximiser of p(y_k | y_{1:k−1}, x) with the dictionary integrated out.

    Density      y_Ω ~ N(C_Ω x, s(x) I),  s(x) = σ² + zᵀVz,  z = x or (x, 1) with a mean
    Stationary   (G + αṼ) x = b − αv,  α = |Ω| − ‖e‖²/s(x),  V = [[Ṽ, v], [vᵀ, v₀]]
    As computed  one generalised eigendecomposition of (Ṽ, G) makes x(α) explicit; the roots α of the
                 scalar equation on (−1/d_max, |Ω|] are bracketed on a grid and polished, and the one
                 with the largest density is taken. Cost O(r³).
    Covariance   Σ = s (G + αṼ)⁻¹, a Gaussian approximation at the maximum.
    """
    r, n = len(sample.b), sample.n
    L = cholesky(sample.G, belief.rcond) if n >= belief.min_observed else None
    if L is None:
        return from_learned_prior(sample, belief)
    V = belief.dictionary_scale * (belief.S @ belief.S.T)
    path, U = _path(sample, belief, L, V)
    candidates = _stationary(path, n, sample.yy / belief.noise)
    z, s, ee = path.at(candidates)
    best = int(np.argmin(n * np.log(s) + ee / s))
    alpha = float(candidates[best])
    x = triangular_solve(L, U @ z[:, best], trans=True)
    precision = cholesky(sample.G + alpha * V[:r, :r], 0.0)
    factor = L if precision is None else precision
    fitted = float(np.sum(1.0 / (1.0 + max(alpha, 0.0) * path.d)))
    return Coefficients(x, factor, float(s[best]), None, fitted, False)


class _Path(NamedTuple):
    """x(α) in the eigenbasis of (Ṽ, G): (p − αw) / (1 + αd), entry by entry."""

    d: Array
    """The eigenvalues, ascending (r)."""
    p: Array
    """x(0), the least-squares solution (r)."""
    w: Array
    """UᵀL⁻¹v, the direction in which the covariance v of components and mean pulls x; zero without a mean (r)."""
    base: Array
    """L⁻ᵀU (r × r), which takes them to x(α) itself."""
    R: Array
    """V = RRᵀ (q × q)."""
    noise: float
    """σ²."""
    least: float
    """‖e‖² of least squares."""

    def at(self, alpha: Array) -> tuple[Array, Array, Array]:
        """x(α), s and ‖e‖² there, for a vector of α; sums of squares, so nothing cancels."""
        z = (self.p[:, None] - alpha * self.w[:, None]) / (1.0 + alpha * self.d[:, None])
        r = len(z)
        root = self.R[:r].T @ (self.base @ z) + self.R[r:].sum(axis=0)[:, None]  # Rᵀ(x, 1)
        return z, self.noise + np.sum(root**2, axis=0), self.least + np.sum((z - self.p[:, None]) ** 2, axis=0)

    def excess(self, alpha: float, n: int) -> float:
        """|Ω| − ‖e‖²/s − α: zero where x(α) is stationary."""
        _, s, ee = self.at(np.array([alpha]))
        return float(n - ee[0] / s[0] - alpha)


def _path(sample: Sample, belief: Belief, L: Array, V: Array) -> tuple[_Path, Array]:
    """x(α), and the eigenvectors U: x = L⁻ᵀ U z."""
    r = len(L)
    v = V[:r, r] if len(V) > r else np.zeros(r)
    half = triangular_solve(L, V[:r, :r])
    d, U = np.linalg.eigh(triangular_solve(L, half.T))
    p = U.T @ triangular_solve(L, sample.b)
    w = U.T @ triangular_solve(L, v)
    base, R = triangular_solve(L, U, trans=True), belief.S * np.sqrt(belief.dictionary_scale)
    least = max(sample.yy - float(p @ p), 0.0)
    return _Path(d, p, w, base, R, belief.noise, least), U


GRID = np.geomspace(1e-12, 0.5, 60)
"""Where roots are looked for, as shares of the interval from either end: they crowd towards both.

Not tuned: from near rounding to the middle, about five per decade. The grid itself takes part in the choice."""


def _stationary(path: _Path, n: int, reach: float) -> Array:
    """Every α at which x(α) may be the maximiser: the roots that were found, and the grid on which they were."""
    low = -1.0 / path.d[-1] if path.d[-1] > 0 else -np.inf
    span = n - low if np.isfinite(low) else 2.0 * n + reach
    grid = n - span * np.concatenate([1.0 - GRID, GRID[-2::-1], [0.0]])
    _, s, ee = path.at(grid)
    gap = n - ee / s - grid
    roots = []
    for j in np.flatnonzero(np.sign(gap[:-1]) * np.sign(gap[1:]) <= 0):
        if path.excess(grid[j], n) * path.excess(grid[j + 1], n) <= 0:  # rounding may have made the sign change up
            roots.append(brentq(path.excess, grid[j], grid[j + 1], (n,), xtol=1e-14 * span, rtol=1e-14))
    return np.append(roots, grid)


COEFFICIENT_STEPS: dict[str, CoefficientStep] = {
    step.name: step
    for step in (
        CoefficientStep("least_squares", least_squares, whitened=True, compiled="least_squares"),
        CoefficientStep("map", maximum_a_posteriori, learns_prior=False, compiled="ridge"),
        CoefficientStep("marginal", marginal_likelihood),
        CoefficientStep(
            "expected_least_squares", expected_least_squares, whitened=True, compiled="least_squares", doubts=True
        ),
        CoefficientStep(
            "expected_map", expected_maximum_a_posteriori, learns_prior=False, compiled="ridge", doubts=True
        ),
        CoefficientStep("doubting_marginal", marginal_likelihood, doubts=True),
    )
}
"""The steps by their names. A new one is a function in this file and a line here."""

DOUBTING = {"least_squares": "expected_least_squares", "map": "expected_map", "marginal": "doubting_marginal"}
"""By the public name of a step: the one that takes its place where every feature has its own doubt."""
