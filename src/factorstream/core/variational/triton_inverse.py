"""Stacks of packed symmetric matrices inverted by one kernel on a GPU: the twin of ``packed.invert``.

One program has one matrix in registers, as two blocks on the diagonal and the one between them, [[P, Q], [Qᵀ, R]]: a
block has a power of two of rows, and 41 rows fill 32 + 16 better than 64. It sweeps the matrix on each of its diagonal
entries d = a_kk in turn,

    a_ij ← a_ij − a_ik a_kj / d      a_ik ← a_ik / d      a_kj ← a_kj / d      a_kk ← −1 / d

after which the matrix is −A⁻¹, and log det A is the sum of log d. Every d is positive where A is positive definite.
"""

import torch
import triton
import triton.language as tl

from ...arrays import Array

TILES = ((16, 16, 1), (32, 16, 1), (32, 32, 2), (64, 16, 4), (64, 32, 4), (64, 64, 8))
"""Rows of P and of R, and warps of 32 threads for them, from the smallest on: at most some 60 numbers for each thread,
which has room for 127. Not tuned; speed only."""


def invert(a: Array, B: Array, position: Array, solution: Array, logdet: Array) -> None:
    """A_b (N × p, packed, q ≤ 128) replaced by its inverse; A_b⁻¹ b_b and log det A_b⁻¹ into the last two.

    All three are NaN where A_b is not positive definite.
    """
    N, q = B.shape
    first, second, warps = next(tile for tile in TILES if q <= tile[0] + tile[1])
    with torch.cuda.device_of(a):
        _invert[(N,)](a, B, position, solution, logdet, a.shape[1], q, first, second, num_warps=warps)


@triton.jit(do_not_specialize=["p", "q"])  # one compilation for all sizes that have the same blocks
def _invert(a, B, position, solution, logdet, p, q, FIRST: tl.constexpr, SECOND: tl.constexpr):  # type: ignore[no-untyped-def]
    b = tl.program_id(0).to(tl.int64)
    i, j = tl.arange(0, FIRST), tl.arange(0, SECOND)
    P = _loaded(a + b * p, position, i, i, q)
    Q = _loaded(a + b * p, position, i, FIRST + j, q)
    R = _loaded(a + b * p, position, FIRST + j, FIRST + j, q)
    P_pivots, R_pivots = tl.full([FIRST], 1.0, tl.float64), tl.full([SECOND], 1.0, tl.float64)
    for k in range(0, tl.minimum(q, FIRST)):
        at = i == k
        row, d = _pivot_row(P, at)
        side = tl.sum(tl.where(at[:, None], Q, 0.0), 0)
        P_pivots = tl.where(at, d, P_pivots)
        P = tl.where(at[:, None] | at[None, :], 0.0, P) - row[:, None] * (row / d)[None, :]
        Q = tl.where(at[:, None], 0.0, Q) - row[:, None] * (side / d)[None, :]
        R = R - side[:, None] * (side / d)[None, :]
    for k in range(0, q - FIRST):
        at = j == k
        row, d = _pivot_row(R, at)
        side = tl.sum(tl.where(at[None, :], Q, 0.0), 1)
        R_pivots = tl.where(at, d, R_pivots)
        R = tl.where(at[:, None] | at[None, :], 0.0, R) - row[:, None] * (row / d)[None, :]
        Q = tl.where(at[None, :], 0.0, Q) - side[:, None] * (row / d)[None, :]
        P = P - side[:, None] * (side / d)[None, :]
    tl.store(logdet + b, -tl.sum(tl.log(P_pivots), 0) - tl.sum(tl.log(R_pivots), 0))
    u = tl.load(B + b * q + i, mask=i < q, other=0.0)
    v = tl.load(B + b * q + FIRST + j, mask=FIRST + j < q, other=0.0)
    x = tl.sum(P * u[None, :], 1) + tl.sum(Q * v[None, :], 1)
    y = tl.sum(Q * u[:, None], 0) + tl.sum(R * v[:, None], 0)
    tl.store(solution + b * q + i, -x, mask=i < q)
    tl.store(solution + b * q + FIRST + j, -y, mask=FIRST + j < q)
    tl.debug_barrier()  # every thread has read its numbers
    _store(a + b * p, position, i, i, q, -P)
    _store(a + b * p, position, i, FIRST + j, q, -Q)
    _store(a + b * p, position, FIRST + j, FIRST + j, q, -R)


@triton.jit
def _pivot_row(A, at):  # type: ignore[no-untyped-def]
    """Row k of a symmetric matrix with −1 for its diagonal entry, so that its products are what the sweep writes into
    that row and column; and the entry, NaN if it is not positive. ``at`` is true at k."""
    row = tl.sum(tl.where(at[:, None], A, 0.0), 0)
    d = tl.sum(tl.where(at, row, 0.0), 0)
    return tl.where(at, -1.0, row), tl.where(d > 0.0, d, float("nan"))


@triton.jit
def _loaded(a, position, rows, columns, q):  # type: ignore[no-untyped-def]
    """A block of one packed matrix, zero beyond its end."""
    inside = (rows < q)[:, None] & (columns < q)[None, :]
    where = tl.load(position + rows[:, None] * q + columns[None, :], mask=inside, other=0)
    return tl.load(a + where, mask=inside, other=0.0)


@triton.jit
def _store(a, position, rows, columns, q, block):  # type: ignore[no-untyped-def]
    """A block into one packed matrix: what is on its diagonal or above."""
    inside = (rows[:, None] <= columns[None, :]) & (columns < q)[None, :]
    where = tl.load(position + columns[None, :] * q + rows[:, None], mask=inside, other=0)  # symmetric, as read before
    tl.store(a + where, block, mask=inside)
