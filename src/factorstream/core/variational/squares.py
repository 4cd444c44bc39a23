"""Expected squares of what a fit leaves, and sums that give a posterior: all from the sums over samples."""

from __future__ import annotations

from ...arrays import full_like, namespace
from .packed import Array, invert, layout_beside, pack, unpack
from .packed_moments import moment_traces, traces
from .posterior import FactorPrior, Posterior, Statistics, blocks
from .row_mean import cut, invertible, without_row_means


def expected_square(stats: Statistics, post: Posterior) -> Array:
    """Σ_k w_ki E[(y_ki - c_iᵀ x_k)²] per feature, from the sums alone, (m,)."""
    return _square(stats, post, moment_traces(post.C, post.V, stats.S))


def square_by_moments(stats: Statistics, post: Posterior, M: Array, s2: Array) -> Array:
    """``expected_square`` for a caller that has M = ``second_moment(post, s2)``, which takes half of its time."""
    return _square(stats, post, s2 * traces(M, stats.S, post.C.shape[1]))


def _square(stats: Statistics, post: Posterior, fit: Array) -> Array:
    """Expected squares, where ``fit`` is Σ_k w_ki E[(c_iᵀ x_k)²]."""
    return stats.yy - 2.0 * namespace(fit).sum(post.C * stats.H, axis=1) + fit


def square_by_inverse(stats: Statistics, post: Posterior, prior: FactorPrior, s2: Array) -> Array:
    """``expected_square`` (m,) for a caller whose ``post`` is ``posterior(stats, prior, s2)``, in one pass over V.

    S = s2 (V⁻¹ - P0) and V⁻¹ c = P0 c0 + H/s2, so that tr((c cᵀ + V) S) = cᵀH + s2 (q - tr(V P0) - cᵀP0 (c - c0)).
    """
    xp, C = namespace(post.C), post.C
    q = C.shape[1]
    trace = post.V @ (layout_beside(C, q).weight * pack(prior.P0))
    H, yy = without_row_means(stats, prior) if prior.row_mean else (stats.H, stats.yy)
    rest = q - prior.row_mean - trace - xp.sum(C * ((C - prior.c0) @ prior.P0), axis=1)
    return yy - xp.sum(C * H, axis=1) + s2 * rest


def information(post: Posterior, prior: FactorPrior, s2: Array, N: Array) -> Statistics:
    """The sums that would give this posterior: what a finished fit hands on to a stream. Cost m q³.

    Inverts ``posterior``: S = s2 (V⁻¹ - P0), H = s2 (V⁻¹ c - P0 c0), and yy such that the residuals say s2.
    """
    xp, (m, q) = namespace(post.C), post.C.shape
    S, _, _ = invert(invertible(post.V, q, prior.row_mean), post.C)
    H = xp.empty_like(post.C)
    for b in blocks(m, 2 * q * q):
        H[b, :] = (unpack(S[b, :], q) @ post.C[b, :, None])[:, :, 0]
    S -= pack(prior.P0)
    S *= s2[:, None]
    H = (H - prior.c0 @ prior.P0) * s2[:, None]
    if prior.row_mean:  # as if no row had one: the posterior has what they explain taken off already
        cut(S, H)
    stats = Statistics(S, H, full_like(s2, 0.0), N)
    return stats._replace(yy=s2 * N - expected_square(stats, post))
