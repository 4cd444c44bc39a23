"""The recursion over complete samples with least squares, in a dozen BLAS calls per sample.

It gives what ``recursion.absorb`` gives one sample after another, which stays as its slow twin. G, T and x̄
are not needed to go on, so they are brought up to date once, at the end, each by one product.

Least squares and the filter do not depend on the basis of C. A run works in one where C̃ᵀC̃ = I at its start:

    G = LLᵀ,   C̃ = C L⁻ᵀ,   x̃ = Lᵀx,   g̃ = L⁻¹g,   S̃ = L⁻¹S        (a mean, the last column, is left as it is)

There the inverse P of the Gram matrix starts as I and each sample changes it by rank one, which is accurate
for as long as the Gram matrix has not grown much; then a new run begins.

Where C is doubted (``coefficients.expected_least_squares``) P is the inverse of M = C̃ᵀC̃ + mṼ instead, and a run works
where M = I at its start. Then C̃ᵀe = m Vx̃ = m s g is no longer zero, but everything still moves along g:

    CᵀC ← CᵀC + (‖e‖² + 2ms) g gᵀ,    V ← V − s g gᵀ,    M ← M + (‖e‖² + ms) g gᵀ,    s = λ_k + xᵀVx

The loop over the samples is there twice: in NumPy, and compiled (``compiled_whitened``), two to five times as fast, at
64 to 20 components.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple, Protocol

import numpy as np
from scipy.linalg.blas import dger

from ...cores import compiling
from ..linalg import Array, cholesky, triangular_solve
from .model import FilterModel
from .state import EPS, SmallState, noise_information, sample_noise, sample_weight

GROWTH = 1e3
"""Trace of C̃ᵀC̃ − I at which a run ends.

Derived: rounding in P is magnified by no more than this, so that thirteen of sixteen digits remain. Results do not
depend on it beyond rounding (``test_a_new_basis_may_be_chosen_at_any_time``)."""

MIN_RCOND = 1e-10
"""Gram matrices with a smaller reciprocal condition number are left to the slow twin.

Derived: the inverse of one at the limit keeps six of sixteen digits. Results do not depend on it beyond rounding."""


LOOPS = "factorstream.core.filter.compiled_whitened"
"""Where the compiled loop is."""


class Records(NamedTuple):
    """What the samples of a block did, filled in as they come."""

    x: Array
    """Coefficients, a mean's 1 included (B × q)."""
    g: Array
    """Gains (B × q)."""
    ee: Array
    """‖e‖² (B)."""
    share: Array
    """xᵀVx / (λ + xᵀVx) (B)."""
    weight: Array
    """λ/λ_k, what each sample counts (B)."""
    growth: Array
    """CᵀC grows by this times g gᵀ, sample by sample (B)."""

    @classmethod
    def of(cls, B: int, q: int) -> Records:
        """Room for B samples."""
        return cls(np.ones((B, q)), np.empty((B, q)), *np.empty((4, B)))


class Loop(Protocol):
    """The loop over samples: :func:`in_numpy` or :func:`in_loops`."""

    def __call__(
        self,
        state: SmallState,
        model: FilterModel,
        M: Array,
        KN: Array,
        m: int,
        first: int,
        done: Records,
        C_mu: Array | None,
    ) -> tuple[SmallState, int]:
        """See :func:`in_numpy`."""


def applies(model: FilterModel, m: int) -> bool:
    """Whether complete samples of m features may take this way."""
    return model.step.whitened and model.gain.facts.whitened and model.drift is None and m >= model.min_observed


def run(
    state: SmallState, model: FilterModel, M: Array, KN: Array, m: int, first: int, done: Records, loop: Loop
) -> tuple[SmallState, int]:
    """Take in samples from ``first`` on, for as long as it is accurate; return which one is next.

    M = [Sᵀ; A; D] (2q + B rows, C = C₀A + YᵀD) and KN = [K; N]ᵀ (B × q + B) are those of
    ``recursion.run_block``. M and ``done`` are filled in place, ``state`` is replaced but for its S.
    """
    r, q = model.r, model.q
    doubted = m if model.step.doubts else 0
    S = M[:q].T
    start = state.G[:r, :r] + doubted * (S[:r] @ S[:r].T) if doubted else state.G[:r, :r]
    L = cholesky(start, MIN_RCOND)
    if L is None:
        return state, first
    R = np.eye(q, order="F")
    R[:r, :r] = L
    M[: 2 * q + first] = triangular_solve(R, M[: 2 * q + first].T).T
    C_mu = triangular_solve(L, state.G[:r, r]) if model.has_mean else None
    state, last = loop(state, model, M, KN, m, first, done, C_mu)
    M[: 2 * q + last] = M[: 2 * q + last] @ R.T
    new = slice(first, last)
    done.x[new, :r] = triangular_solve(L, done.x[new, :r].T, trans=True).T
    done.g[new] = done.g[new] @ R.T
    state = _moments(state, model, done.x[new, :r])
    weighted = done.g[new, :r] * done.growth[new, None]
    state.G[:r, :r] += weighted.T @ done.g[new, :r]  # the rank-one changes of CᵀC, summed
    if C_mu is not None:
        state.G[:r, r] = state.G[r, :r] = L @ C_mu
    return state, last


class _Noise:
    """λ and the running noise variance, learned as in ``recursion.absorb`` but in plain numbers."""

    def __init__(self, state: SmallState, model: FilterModel, m: int) -> None:
        self.lam, self.total, self.dof, self.k = state.lam, state.noise_sum, state.noise_dof, state.k
        self.free, self.doubts = m - model.r, model.step.doubts
        self.learned, self.tracked = model.learn_noise and self.free > 0, model.track_noise

    def update(self, ee: float, xVx: float) -> None:
        """Learn from one sample with ‖e‖² = ee."""
        if self.learned:
            weight = sample_weight(self.k)
            doubt = xVx / self.lam
            says = noise_information(doubt) if self.doubts else 1.0
            self.total += weight * (says * ee / (1.0 + doubt) - self.total)
            self.dof += weight * (says * self.free - self.dof)
            if self.tracked:
                self.lam = max(self.total / self.dof, EPS * self.lam)
        self.k += 1

    def written_to(self, state: SmallState) -> SmallState:
        """The state with the numbers as they are now."""
        age = state.age + self.k - state.k
        return state._replace(lam=self.lam, noise_sum=self.total, noise_dof=self.dof, k=self.k, age=age)


def in_numpy(
    state: SmallState, model: FilterModel, M: Array, KN: Array, m: int, first: int, done: Records, C_mu: Array | None
) -> tuple[SmallState, int]:
    """The loop. ``C_mu`` is C̃ᵀμ (r), μ the mean column; it is brought up to date in place, and so is ‖μ‖² in G.

    P ← P − ‖e‖² (Pg)(Pg)ᵀ / (1 + ‖e‖² gᵀPg) is the inverse of C̃ᵀC̃ ← C̃ᵀC̃ + ‖e‖² g gᵀ. Potter's update of
    S (see ``covariance``) subtracts from Sᵀ a multiple of f gᵀ, so Sᵀ, A and D change in one rank-one update.

    Where C is doubted, V = [[Ṽ, v], [vᵀ, v₀]], and C̃ᵀμ and mv are needed as their sum alone: C_mu is that sum in the
    loop, and what each would give by itself follows from Vx = s g, whose last entry says that vᵀx̃ = s g₀ − v₀.
    """
    r, q = model.r, model.q
    noise = _Noise(state, model, m)
    squares = KN[:, q:].diagonal().tolist()  # ‖y‖²
    P, grown, at = np.eye(r), 0.0, first
    mu_mu = 0.0 if C_mu is None else float(state.G[r, r])  # ‖μ‖²
    doubted, v_mean, along = m if model.step.doubts else 0, 0.0, 0.0
    if doubted and C_mu is not None:
        V_mean = M[:q, r] @ M[:q]  # v and v₀
        C_mu += doubted * V_mean[:r]
        v_mean = float(V_mean[r])
    root, shares, squared = M[:q], [], []
    while at < len(KN) and grown < GROWTH:
        rows = 2 * q + at
        live, x, g = M[:rows], done.x[at], done.g[at]
        x_free, g_free = (x, g) if C_mu is None else (x[:r], g[:r])
        b = KN[at, : q + at].dot(live[q:])  # C̃ᵀy
        ee, b_mean, b_free = squares[at], 0.0, b
        if C_mu is not None:
            b_mean, b_free = float(b[r]), b[:r] - C_mu
            ee += mu_mu - 2.0 * b_mean  # ‖y − μ‖²
        P.dot(b_free, out=x_free)
        ee -= float(x_free.dot(b_free))

        lam = noise.lam
        u = live.dot(x)  # Sᵀx, Ax, Dx
        f = u[:q]
        xVx = float(f.dot(f))
        shares.append(xVx / (lam + xVx))
        if doubted:
            lam = sample_noise(lam, r, m, xVx)
        s = lam + xVx
        f.dot(root, out=g)
        g *= 1.0 / s  # g = Vx / s
        f *= s / (s + sqrt(lam) * sqrt(s))
        dger(-1.0, g, u, 1, 1, live.T, 0, 0, 1)
        M[rows] = g

        p = P.dot(g_free)
        if not doubted:
            ee = more = max(ee, 0.0)
        else:
            along = doubted * s  # C̃ᵀe = along · g
            ee = max(ee - doubted * (xVx - v_mean), 0.0)
            more = ee + along
            done.weight[at], done.growth[at] = noise.lam / lam, more + along
        dger(-more / (1.0 + more * float(p.dot(g_free))), p, p, 1, 1, P.T, 0, 0, 1)
        grown += more * float(g_free.dot(g_free))
        if C_mu is not None:
            g_mean, mu_e = float(g[r]), b_mean - mu_mu - float(C_mu.dot(x_free))  # μᵀe, but for what V adds
            if doubted:
                mu_e += along * g_mean - doubted * v_mean
                v_mean -= s * g_mean * g_mean
            C_mu += (mu_e + ee * g_mean) * g_free
            mu_mu += (2.0 * mu_e + ee * g_mean) * g_mean

        squared.append(ee)
        noise.update(ee, xVx)
        at += 1
    done.ee[first:at], done.share[first:at] = squared, shares
    if not doubted:
        done.weight[first:at], done.growth[first:at] = 1.0, squared
    if C_mu is not None:
        state.G[r, r] = mu_mu
        if doubted:
            C_mu -= doubted * (M[:q, r] @ M[:q, :r])
    return noise.written_to(state), at


def in_loops(
    state: SmallState, model: FilterModel, M: Array, KN: Array, m: int, first: int, done: Records, C_mu: Array | None
) -> tuple[SmallState, int]:
    """The same in compiled loops; by :func:`in_numpy` where they cannot be compiled."""
    from . import compiled_whitened

    noise = _Noise(state, model, m)
    mu_mu = 0.0 if C_mu is None else float(state.G[model.r, model.r])
    numbers = np.array([noise.lam, noise.total, noise.dof, mu_mu])
    rules = model.r, m, noise.doubts, noise.learned, noise.tracked, first, noise.k, EPS, GROWTH
    of_mean = np.empty(0) if C_mu is None else C_mu
    last = compiling.call(compiled_whitened.samples, M, KN, of_mean, numbers, rules, *done)
    if last == 0:  # nothing was compiled, and nothing has changed
        return in_numpy(state, model, M, KN, m, first, done, C_mu)
    noise.lam, noise.total, noise.dof, mu_mu = numbers.tolist()
    noise.k += last - first
    if C_mu is not None:
        state.G[model.r, model.r] = mu_mu
    return noise.written_to(state), last


def _moments(state: SmallState, model: FilterModel, X: Array) -> SmallState:
    """x̄ and T after the samples X (n × r), the last of which has number ``state.k``.

    The weights of ``state.sample_weight`` are those of sums: with s_k = (k + 1)(k + 2)/2,

        s_{k+1} x̄_{k+1} = s_k x̄_k + (k + 2) x_k,     s_{k+1} T_{k+1} = s_k (T_k + weight_k d dᵀ),  d = x_k − x̄_k
    """
    if not model.step.learns_prior:
        return state
    k = np.arange(state.k - len(X), state.k + 1.0)
    s = 0.5 * (k + 1.0) * (k + 2.0)
    if not model.has_mean:  # without a mean in the model x is spread around zero
        T = (s[0] * state.T + (X.T * (k[:-1] + 2.0)) @ X) / s[-1]
        return state._replace(T=np.asfortranarray(T))
    sums = np.cumsum(np.vstack([s[0] * state.xbar, (k[:-1, None] + 2.0) * X]), axis=0)
    xbar = sums / s[:, None]
    d = X - xbar[:-1]
    T = (s[0] * state.T + (d.T * (s[:-1] * sample_weight(k[:-1]))) @ d) / s[-1]
    return state._replace(T=np.asfortranarray(T), xbar=xbar[-1].copy())
