"""Stacks of packed symmetric matrices inverted by one kernel on a GPU: the twin of ``packed.invert``.

One program has one matrix in registers, in up to three by three blocks of 16 rows; only those on the diagonal and above
are kept. Blocks on the diagonal are inverted one after another, each after what the ones before have explained was
taken out, and the others follow by products of blocks:

    K₁ = A₁₁⁻¹         B₁ⱼ = K₁A₁ⱼ        Aᵢⱼ ← Aᵢⱼ − A₁ᵢᵀB₁ⱼ     and the same with A₂₂, if there are three
    Z₂₂ = A₂₂⁻¹        Z₁₂ = −B₁₂Z₂₂      Z₁₁ = K₁ − Z₁₂B₁₂ᵀ      for two blocks; Z = A⁻¹

A matrix that does not fill its blocks is continued by a diagonal of ones.
"""

import torch
import triton
import triton.language as tl

from ...arrays import Array

B = tl.constexpr(16)
"""Rows of a block: the fewest that a GPU multiplies at once."""

WARPS = 1
"""Of 32 threads, for one matrix. Measured on an H200: 20,000 of 41 rows in 0.77 ms, with two or four warps in 1.1 and
1.9; by the operations of PyTorch in 3.5. Speed only."""


def invert(a: Array, b: Array, position: Array, solution: Array, logdet: Array) -> None:
    """A_n (N × p, packed, q ≤ 48) replaced by its inverse; A_n⁻¹ b_n and log det A_n⁻¹ into the last two.

    All three are NaN where A_n is not positive definite.
    """
    N, q = b.shape
    with torch.cuda.device_of(a):
        _invert[(N,)](a, b, position, solution, logdet, a.shape[1], q, triton.cdiv(q, B.value), num_warps=WARPS)


@triton.jit(do_not_specialize=["p", "q"])  # one compilation for all sizes that have as many blocks
def _invert(a, b, position, solution, logdet, p, q, BLOCKS: tl.constexpr):  # type: ignore[no-untyped-def]
    n = tl.program_id(0).to(tl.int64)
    a, b, solution = a + n * p, b + n * q, solution + n * q
    Z11, log = _inverse(_block(a, position, 0, 0, q))
    if BLOCKS > 1:
        A12 = _block(a, position, 0, B, q)
        B12 = _product(Z11, A12)
        Z22, more = _inverse(_block(a, position, B, B, q) - _product(A12.T, B12))
        log += more
    if BLOCKS > 2:
        A13 = _block(a, position, 0, 2 * B, q)
        B13 = _product(Z11, A13)
        A23 = _block(a, position, B, 2 * B, q) - _product(A12.T, B13)
        B23 = _product(Z22, A23)
        Z33, more = _inverse(_block(a, position, 2 * B, 2 * B, q) - _product(A13.T, B13) - _product(A23.T, B23))
        log += more
        Z23 = -_product(B23, Z33)
        Z22 -= _product(Z23, B23.T)
        Z13 = -_product(B12, Z23) - _product(B13, Z33)
        Z11 -= _product(Z13, B13.T)
    if BLOCKS > 1:
        Z12 = -_product(B12, Z22)
        if BLOCKS > 2:
            Z12 -= _product(B13, Z23.T)
        Z11 -= _product(Z12, B12.T)
    tl.store(logdet + n, log)
    u = _part(b, 0, q)
    x = tl.sum(Z11 * u[None, :], 1)
    if BLOCKS > 1:
        v = _part(b, B, q)
        x += tl.sum(Z12 * v[None, :], 1)
        y = tl.sum(Z12 * u[:, None], 0) + tl.sum(Z22 * v[:, None], 0)
    if BLOCKS > 2:
        w = _part(b, 2 * B, q)
        x += tl.sum(Z13 * w[None, :], 1)
        y += tl.sum(Z23 * w[None, :], 1)
        z = tl.sum(Z13 * u[:, None], 0) + tl.sum(Z23 * v[:, None], 0) + tl.sum(Z33 * w[:, None], 0)
        _store_part(solution, 2 * B, q, z)
    if BLOCKS > 1:
        _store_part(solution, B, q, y)
    _store_part(solution, 0, q, x)
    tl.debug_barrier()  # every thread has read its numbers
    _store_block(a, position, 0, 0, q, Z11)
    if BLOCKS > 1:
        _store_block(a, position, 0, B, q, Z12)
        _store_block(a, position, B, B, q, Z22)
    if BLOCKS > 2:
        _store_block(a, position, 0, 2 * B, q, Z13)
        _store_block(a, position, B, 2 * B, q, Z23)
        _store_block(a, position, 2 * B, 2 * B, q, Z33)


@triton.jit
def _inverse(A):  # type: ignore[no-untyped-def]
    """The inverse of a block, and the log-determinant of the inverse; NaN where it is not positive definite.

    The block is swept on each of its diagonal entries d = a_kk in turn, after which it is −A⁻¹:

        a_ij ← a_ij − a_ik a_kj / d      a_ik ← a_ik / d      a_kj ← a_kj / d      a_kk ← −1 / d
    """
    i = tl.arange(0, B)
    pivots = tl.full([B], 1.0, tl.float64)
    for k in range(0, B):
        at = i == k
        column = tl.sum(tl.where(at[None, :], A, 0.0), 1)
        d = tl.sum(tl.where(at, column, 0.0), 0)
        d = tl.where(d > 0.0, d, float("nan"))
        pivots = tl.where(at, d, pivots)
        column = tl.where(at, -1.0, column)  # its products are then what the sweep writes into row and column k
        A = tl.where(at[:, None] | at[None, :], 0.0, A) - column[:, None] * (column * (1.0 / d))[None, :]
    return -A, -tl.sum(tl.log(pivots), 0)


@triton.jit
def _product(A, B):  # type: ignore[no-untyped-def]
    return tl.dot(A, B, out_dtype=tl.float64)


@triton.jit
def _block(a, position, first, second, q):  # type: ignore[no-untyped-def]
    """A block of a packed matrix, from one row and one column on; beyond the matrix a diagonal of ones."""
    rows, columns = tl.arange(0, B)[:, None] + first, tl.arange(0, B)[None, :] + second
    inside = (rows < q) & (columns < q)
    where = tl.load(position + rows * q + columns, mask=inside, other=0)
    return tl.where(inside, tl.load(a + where, mask=inside, other=0.0), tl.where(rows == columns, 1.0, 0.0))


@triton.jit
def _store_block(a, position, first, second, q, block):  # type: ignore[no-untyped-def]
    """A block into a packed matrix: what is on the matrix's diagonal or above."""
    rows, columns = tl.arange(0, B)[:, None] + first, tl.arange(0, B)[None, :] + second
    inside = (rows <= columns) & (columns < q)
    where = tl.load(position + columns * q + rows, mask=inside, other=0)  # symmetric: in the order of memory
    tl.store(a + where, block, mask=inside)


@triton.jit
def _part(b, first, q):  # type: ignore[no-untyped-def]
    i = tl.arange(0, B) + first
    return tl.load(b + i, mask=i < q, other=0.0)


@triton.jit
def _store_part(b, first, q, values):  # type: ignore[no-untyped-def]
    i = tl.arange(0, B) + first
    tl.store(b + i, values, mask=i < q)
