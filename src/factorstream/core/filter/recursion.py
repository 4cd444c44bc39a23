"""The exact recursion. Nothing in this file has length m.

One sample reaches it as its normal equations; :func:`absorb` turns them into coefficients and a gain
and moves the small state. :func:`run_block` does so for a block of complete samples whose dictionary
is known only through inner products, and hands back how the dictionary has changed as C₀A + YᵀD.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..linalg import Array, rank_one, solve_with_ones
from . import whitened
from .block_work import Records, Work
from .coefficients import Belief, Coefficients, Sample
from .covariance import add_drift, unit_drift
from .model import FilterModel
from .state import EPS, FilterRecord, SmallState, copy_arrays, noise_information, sample_noise, sample_weight
from .whitened import Loop, in_numpy


class Absorbed(NamedTuple):
    """What one sample did."""

    x: Array
    """Its coefficients, a mean's 1 included (q)."""
    g: Array
    """The gain: C ← C + e gᵀ (q)."""
    ee: float
    """‖e‖² over the observed entries."""
    share: float
    """xᵀVx / (λ + xᵀVx)."""
    weight: float
    """λ/λ_k, what the sample counts; 1 unless C is doubted."""


def belief(state: SmallState, model: FilterModel, S: Array | None = None) -> Belief:
    """What the state says before a sample arrives, in the units of the learned noise; with another S where given."""
    noise = state.noise
    scale = noise / state.lam if model.gain.facts.posterior else 0.0
    return Belief(noise, state.xbar, state.T, state.S if S is None else S, scale, model.min_observed, model.rcond)


def normal_equations(model: FilterModel, G: Array, b: Array, yy: float, n: int) -> Sample:
    """The sample as a coefficient step sees it: a mean, the last column, is subtracted from y."""
    if not model.has_mean:
        return Sample(G, b, yy, n)
    r = model.r
    return Sample(G[:r, :r], b[:r] - G[:r, r], yy - 2.0 * b[r] + G[r, r], n)


def with_mean(model: FilterModel, x: Array) -> Array:
    """x as a coefficient of all q columns of C."""
    if not model.has_mean:
        return x
    z = np.empty(model.q)
    z[:-1], z[-1] = x, 1.0
    return z


def absorb(state: SmallState, model: FilterModel, G: Array, b: Array, yy: float, n: int) -> tuple[SmallState, Absorbed]:
    """Take in one sample, given G = C_ΩᵀC_Ω, b = C_Ωᵀy_Ω, yy = ‖y_Ω‖² and n = |Ω|.

    Updates the matrices of ``state`` in place (see ``state.copy_arrays``). The change of the FULL Gram
    matrix is known without m, because Cᵀe = C_Ωᵀe_Ω = h = b − Gx (zero for least squares):

        CᵀC ← CᵀC + h gᵀ + g hᵀ + ‖e‖² g gᵀ

    Cost O(r³) for the coefficients, O(q²) for the rest.
    """
    if model.drift is not None:
        add_drift(state, unit_drift(state, model.drift) if model.step.doubts else model.drift)
    found = model.step.find(normal_equations(model, G, b, yy, n), belief(state, model))
    x = with_mean(model, found.x)
    h = b - G.dot(x)
    ee = max(yy - float(x.dot(b + h)), 0.0)
    noisy, weight = state, 1.0
    if model.step.doubts:
        f = x.dot(state.S)
        noisy = state._replace(lam=sample_noise(state.lam, found.fitted, n, float(f.dot(f))))
        weight = state.lam / noisy.lam
    g, xVx = model.gain(noisy, x)
    move_gram(state.G, h, ee, g)
    absorbed = Absorbed(x, g, ee, xVx / (state.lam + xVx), weight)
    doubt = xVx / state.lam
    says = noise_information(doubt) if model.step.doubts else 1.0
    return learn(state, model, found, says * ee / (1.0 + doubt), says * (n - found.fitted)), absorbed


def move_gram(G: Array, h: Array, ee: float, g: Array) -> None:
    """G = CᵀC in place, as it is after C ← C + e gᵀ with h = Cᵀe and ee = ‖e‖²."""
    u = h + (0.5 * ee) * g
    rank_one(G, u, g)
    rank_one(G, g, u)


def learn(state: SmallState, model: FilterModel, found: Coefficients, due_to_noise: float, free: float) -> SmallState:
    """Running noise variance and coefficient moments, weighted as ``state.sample_weight`` says.

    The innovation obeys E‖e‖² = (|Ω| − fitted)(σ² + xᵀVx σ²/λ): ``due_to_noise`` is ‖e‖² / (1 + xᵀVx/λ) and ``free``
    is |Ω| − fitted, both times ``state.noise_information`` where C is doubted.
    """
    weight = sample_weight(state.k)
    noise_sum, noise_dof = state.noise_sum, state.noise_dof
    if model.learn_noise and free > 0:
        noise_sum += weight * (due_to_noise - noise_sum)
        noise_dof += weight * (free - noise_dof)
    if model.step.learns_prior:
        T, xbar = state.T, state.xbar
        d = found.x - xbar
        if model.has_mean:  # without a mean in the model x is spread around zero
            xbar += weight * d
            rank_one(T, d, d, weight)
            T *= 1.0 - weight
        else:
            T *= 1.0 - weight
            rank_one(T, d, d, weight)
        if found.from_prior:  # a shrunken x alone would make the prior shrink further each time
            F = found.root()
            T += weight * F.dot(F.T)
    lam = max(noise_sum / noise_dof, EPS * state.lam) if model.track_noise else state.lam
    return SmallState(state.G, state.S, state.T, state.xbar, lam, noise_sum, noise_dof, state.k + 1, state.age + 1)


class Block(NamedTuple):
    """What a block of complete samples did to the dictionary: C = C₀A + YᵀD."""

    A: Array
    """(q × q)."""
    D: Array
    """(B × q)."""
    record: FilterRecord
    weight: float
    """What the samples count together: Σ λ/λ_k."""


def run_block(
    state: SmallState, model: FilterModel, K: Array, N: Array, m: int, loop: Loop = in_numpy
) -> tuple[SmallState, Block]:
    """Algorithm 1 over a block of B complete samples, exactly, from inner products alone.

    Given      G = C₀ᵀC₀ in ``state``, K = C₀ᵀYᵀ (q × B), N = YYᵀ (B × B); samples are rows y_j of Y (B × m)
    Invariant  C_k = C₀ + Σ_{j<k} e_j g_jᵀ, and row i ≥ k of H (B × q) is C_kᵀy_i: at first H = Kᵀ
    Update     e_kᵀy_i = N[k, i] − x_kᵀH[i],   H[i] ← H[i] + (e_kᵀy_i) g_k,   G as in :func:`absorb`
    At the end e_j = y_j − C₀x_j − Σ_{i<j} (x_jᵀg_i) e_i. With the rows of X and Γ the x and g of all samples, and U
               (B × B) the x_jᵀg_i below its diagonal, C = C₀A + YᵀD where (I + U)ᵀD = Γ and A = I − XᵀD
    Cost       O(B (r³ + (q + B) q)); the only quantity that depends on the features is their number m.

    Least squares takes the faster way of ``whitened`` where G allows it, by one of its loops; the one here is the slow
    twin of both.
    """
    B, q = len(N), model.q
    state = copy_arrays(state)
    work = Work.of(state.S, K, N)
    state = state._replace(S=work.root.T)
    done = Records.of(B, q)
    fast = whitened.applies(model, m)
    k = 0
    while k < B:
        if fast:
            state, k = whitened.run(state, model, work, m, k, done, loop)
        if k < B:
            state = _one(state, model, work, m, k, done)
            k += 1
    D = solve_with_ones(work.U, done.g, trans=True)
    state = state._replace(S=np.array(work.root.T, order="F"))
    record = FilterRecord(done.ee, np.full(B, float(m)), done.share)
    A = np.eye(q)
    A -= done.x.T.dot(D)
    return state, Block(A, D, record, float(done.weight.sum()))


def _one(state: SmallState, model: FilterModel, work: Work, m: int, k: int, done: Records) -> SmallState:
    """Sample k of a block by :func:`absorb`."""
    state, step = absorb(state, model, state.G, work.H[k], float(work.N[k, k]), m)
    rest = work.H[k + 1 :]
    rest += np.outer(work.N[k, k + 1 :] - rest @ step.x, step.g)
    work.U[k, :k] = done.g[:k] @ step.x
    done.x[k], done.g[k] = step.x, step.g
    done.ee[k], done.share[k], done.weight[k] = step.ee, step.share, step.weight
    return state
