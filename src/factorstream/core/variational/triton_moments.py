"""x xᵀ + Σ of many rows, packed, in one pass over memory on a GPU: the twin of functions of ``packed_moments``."""

import torch
import triton
import triton.language as tl

from ...arrays import Array

BLOCK, WARPS = 1024, 4
"""Entries of a row that one program makes, and its warps of 32 threads. Not tuned; speed only."""


def moments(X: Array, V: Array, scale: Array | None, i: Array, j: Array, positions: Array, out: Array) -> None:
    """scale_b (x_b x_bᵀ + V_b) into ``out`` (N × p); i, j (p) are the row and column of each entry of it.

    ``positions`` (p) is where a row of V has that entry; beyond its end stands for zero. No scale is a scale of one.
    """
    (N, q), p = X.shape, out.shape[1]
    with torch.cuda.device_of(X):
        _moments[(N, triton.cdiv(p, BLOCK))](
            X, V, scale, i, j, positions, out, p, q, V.shape[1], BLOCK, num_warps=WARPS
        )


@triton.jit(do_not_specialize=["p", "q", "width"])
def _moments(X, V, scale, i, j, positions, out, p, q, width, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    b, e = tl.program_id(0).to(tl.int64), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = e < p
    left = tl.load(X + b * q + tl.load(i + e, mask=inside, other=0))
    right = tl.load(X + b * q + tl.load(j + e, mask=inside, other=0))
    at = tl.load(positions + e, mask=inside, other=0)
    moment = left * right + tl.load(V + b * width + at, mask=inside & (at < width), other=0.0)
    if scale is not None:
        moment = moment * tl.load(scale + b)
    tl.store(out + b * p + e, moment, mask=inside)
