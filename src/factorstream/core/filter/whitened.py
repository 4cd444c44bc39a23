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
from typing import Protocol

import numpy as np
from scipy.linalg.blas import dger

from ...cores import compiling
from ..linalg import Array, cholesky, solve_with_ones, triangular_solve
from .block_work import Records, Whitened, Work
from .model import FilterModel
from .state import EPS, SmallState, noise_information, sample_noise, sample_weight

GROWTH = 1e3
"""Trace of C̃ᵀC̃ − I at which a run ends.

Derived: rounding in P is magnified by no more than this, so that thirteen of sixteen digits remain. Results do not
depend on it beyond rounding (``test_a_new_basis_may_be_chosen_at_any_time``)."""

MIN_RCOND = 1e-10
"""Gram matrices with a smaller reciprocal condition number are left to the slow twin.

Derived: the inverse of one at the limit keeps six of sixteen digits. Results do not depend on it beyond rounding."""

INNER = 64
"""Samples that a loop takes, or up to twice as many at the end, before the others of the block are moved, by products.

Measured for 64 components and blocks of 256: 16 and 256 take 6% longer than 32 and 64. Speed and rounding only."""

LOOPS = "factorstream.core.filter.compiled_whitened"
"""Where the compiled loop is."""


class Loop(Protocol):
    """The loop over samples: :func:`in_numpy` or :func:`in_loops`."""

    def __call__(
        self,
        state: SmallState,
        model: FilterModel,
        work: Work,
        run: Whitened,
        m: int,
        new: slice,
        done: Records,
    ) -> tuple[SmallState, int]:
        """See :func:`in_numpy`."""


def applies(model: FilterModel, m: int) -> bool:
    """Whether complete samples of m features may take this way."""
    return model.step.whitened and model.gain.facts.whitened and model.drift is None and m >= model.min_observed


def run(
    state: SmallState, model: FilterModel, work: Work, m: int, first: int, done: Records, loop: Loop
) -> tuple[SmallState, int]:
    """Take in samples from ``first`` on, for as long as it is accurate; return which one is next.

    ``work`` and ``done`` are those of ``recursion.run_block``, and are changed in place; ``state`` is replaced but for
    its S.
    """
    r, q, B = model.r, model.q, len(work.N)
    doubted = m if model.step.doubts else 0
    root, H = work.root, work.H
    start = state.G[:r, :r] + doubted * (root[:, :r].T @ root[:, :r]) if doubted else state.G[:r, :r]
    L = cholesky(start, MIN_RCOND)
    if L is None:
        return state, first
    R = np.eye(q, order="F")
    R[:r, :r] = L
    for rows in (root, H[first:]):
        rows[:] = triangular_solve(R, rows.T).T
    C_mu = triangular_solve(L, state.G[:r, r]) if model.has_mean else np.empty(0)
    whitened, at = Whitened(np.eye(r), C_mu, np.zeros(1)), first
    while at < B and whitened.grown[0] < GROWTH:
        stop = at + INNER if B - at >= 2 * INNER else B
        state, last = loop(state, model, work, whitened, m, slice(at, stop), done)
        new = slice(at, last)
        work.U[new, first:last] = done.x[new] @ done.g[first:last].T  # in any basis the same
        _move_others(work, done, new, stop)
        at = last
    new, X, g = slice(first, at), done.x[first:at], done.g[first:at]
    if first:
        work.U[new, :first] = X @ triangular_solve(R, done.g[:first].T)
    root[:] = root @ R.T
    if at < B:
        H[at:] = H[at:] @ R.T
    X[:, :r] = triangular_solve(L, X[:, :r].T, trans=True).T
    g[:] = g @ R.T
    state = _moments(state, model, X[:, :r])
    state.G[:r, :r] += (g[:, :r] * done.growth[new, None]).T @ g[:, :r]  # the rank-one changes of CᵀC, summed
    if model.has_mean:
        state.G[:r, r] = state.G[r, :r] = L @ C_mu
    return state, at


def _move_others(work: Work, done: Records, new: slice, stop: int) -> None:
    """H of the samples from ``stop`` on, as it is after the ``new`` samples; the loop has moved those before ``stop``.

    The e_jᵀy_i of the new samples j solve (I + U) W = N − X Hᵀ, U as in ``recursion.run_block``; then H ← H + WᵀΓ.
    """
    others = work.H[stop:]
    if len(others) == 0:
        return
    X, g = done.x[new], done.g[new]
    W = solve_with_ones(work.U[new, new], work.N[new, stop:] - X @ others.T)
    others += W.T @ g


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
    state: SmallState, model: FilterModel, work: Work, run: Whitened, m: int, new: slice, done: Records
) -> tuple[SmallState, int]:
    """The loop over ``new`` samples. The matrices of ``work`` and ``run`` change in place, and so does ‖μ‖² in G.

    P ← P − ‖e‖² (Pg)(Pg)ᵀ / (1 + ‖e‖² gᵀPg) is the inverse of C̃ᵀC̃ ← C̃ᵀC̃ + ‖e‖² g gᵀ. Potter's update of
    S (see ``covariance``) subtracts from Sᵀ a multiple of f gᵀ.

    Where C is doubted, V = [[Ṽ, v], [vᵀ, v₀]], and C̃ᵀμ and mv are needed as their sum alone: C_mu is that sum in the
    loop, and what each would give by itself follows from Vx = s g, whose last entry says that vᵀx̃ = s g₀ − v₀.
    """
    r, first, stop = model.r, new.start, new.stop
    noise, has_mean = _Noise(state, model, m), model.has_mean
    N, P, C_mu = work.N[new, new], run.P, run.C_mu
    M = np.concatenate([work.H[new], work.root])  # what one product with x, and one rank-one update, is for
    root, n = M[stop - first :], stop - first
    squares = N.diagonal().tolist()  # ‖y‖²
    grown, at = float(run.grown[0]), first
    mu_mu = float(state.G[r, r]) if has_mean else 0.0  # ‖μ‖²
    doubted, v_mean, along = m if model.step.doubts else 0, 0.0, 0.0
    if doubted and has_mean:
        V_mean = root[:, r] @ root  # v and v₀
        C_mu += doubted * V_mean[:r]
        v_mean = float(V_mean[r])
    shares, squared = [], []
    while at < stop and grown < GROWTH:
        j = at - first
        x, g, b, live = done.x[at], done.g[at], M[j], M[j + 1 :]  # b = C̃ᵀy
        x_free, g_free = (x[:r], g[:r]) if has_mean else (x, g)
        ee, b_mean, b_free = squares[j], 0.0, b
        if has_mean:
            b_mean, b_free = float(b[r]), b[:r] - C_mu
            ee += mu_mu - 2.0 * b_mean  # ‖y − μ‖²
        P.dot(b_free, out=x_free)
        ee -= float(x_free.dot(b_free))

        lam = noise.lam
        u = live.dot(x)  # Hx, Sᵀx
        f = u[n - j - 1 :]
        xVx = float(f.dot(f))
        shares.append(xVx / (lam + xVx))
        if doubted:
            lam = sample_noise(lam, r, m, xVx)
        s = lam + xVx
        f.dot(root, out=g)
        g *= 1.0 / s  # g = Vx / s
        f *= s / (s + sqrt(lam) * sqrt(s))
        u[: n - j - 1] -= N[j, j + 1 :]  # −eᵀy of the samples to come
        dger(-1.0, g, u, 1, 1, live.T, 0, 0, 1)

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
        if has_mean:
            g_mean, mu_e = float(g[r]), b_mean - mu_mu - float(C_mu.dot(x_free))  # μᵀe, but for what V adds
            if doubted:
                mu_e += along * g_mean - doubted * v_mean
                v_mean -= s * g_mean * g_mean
            C_mu += (mu_e + ee * g_mean) * g_free
            mu_mu += (2.0 * mu_e + ee * g_mean) * g_mean

        squared.append(ee)
        noise.update(ee, xVx)
        at += 1
    work.root[:], work.H[at:stop] = root, M[at - first : n]
    done.ee[first:at], done.share[first:at] = squared, shares
    run.grown[0] = grown
    if not doubted:
        done.weight[first:at], done.growth[first:at] = 1.0, squared
    if has_mean:
        state.G[r, r] = mu_mu
        if doubted:
            C_mu -= doubted * (root[:, r] @ root[:, :r])
    return noise.written_to(state), at


def in_loops(
    state: SmallState, model: FilterModel, work: Work, run: Whitened, m: int, new: slice, done: Records
) -> tuple[SmallState, int]:
    """The same in compiled loops; by :func:`in_numpy` where they cannot be compiled."""
    from . import compiled_whitened

    noise = _Noise(state, model, m)
    mu_mu = float(state.G[model.r, model.r]) if model.has_mean else 0.0
    numbers = np.array([noise.lam, noise.total, noise.dof, mu_mu])
    rules = model.r, m, noise.doubts, noise.learned, noise.tracked, new.start, new.stop, noise.k, EPS, GROWTH
    last = compiling.call(compiled_whitened.samples, work.root, work.H, work.N, *run, numbers, rules, *done)
    if last == 0:  # nothing was compiled, and nothing has changed
        return in_numpy(state, model, work, run, m, new, done)
    noise.lam, noise.total, noise.dof, mu_mu = numbers.tolist()
    noise.k += last - new.start
    if model.has_mean:
        state.G[model.r, model.r] = mu_mu
    return noise.written_to(state), last


def _moments(state: SmallState, model: FilterModel, X: Array) -> SmallState:
    """x̄ and T after the samples X (n × r), the last of which has number ``state.k``.

    The weights of ``state.sample_weight`` are those of sums: with s_k = (k + 1)(k + 2)/2, x̄ and T are the mean and the
    covariance of samples that count k + 2 each. So the new ones have a mean and a covariance of their own, and

        s x̄ = s₀ x̄₀ + s₁ x̄₁,     s T = s₀ T₀ + s₁ T₁ + (s₀ s₁ / s) (x̄₁ − x̄₀)(x̄₁ − x̄₀)ᵀ,     s = s₀ + s₁
    """
    if not model.step.learns_prior or len(X) == 0:
        return state
    k, last = state.k - len(X), state.k
    before, after = 0.5 * (k + 1.0) * (k + 2.0), 0.5 * (last + 1.0) * (last + 2.0)
    new, weights = after - before, np.arange(k + 2.0, last + 2.0)
    if not model.has_mean:  # without a mean in the model x is spread around zero
        T = (before * state.T + (X.T * weights).dot(X)) / after
        return state._replace(T=np.asfortranarray(T))
    mean = weights.dot(X) / new
    d, off = X - mean, mean - state.xbar
    T = (before * state.T + (d.T * weights).dot(d)) / after
    T += np.outer((before * new / after**2) * off, off)
    return state._replace(T=np.asfortranarray(T), xbar=state.xbar + (new / after) * off)
