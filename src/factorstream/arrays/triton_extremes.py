"""The least and the greatest entry of every column in one pass over memory on a GPU: for ``extremes``."""

import torch
import triton
import triton.language as tl

from .where import Array

COLUMNS, ROWS, WARPS = 512, 8, 4
"""Columns of one program, rows that it reads together, and its warps of 32 threads: 16 bytes of a row of float32 for
every thread. Not tuned; speed only."""

PROGRAMS = 2048
"""So many programs at least, where there are rows enough: several for every processor of a large GPU. Speed only."""


def extremes(X: Array, found: list[Array]) -> None:
    """Two arrays (m) into ``found``: the least and the greatest of what is not NaN in the columns of X (n × m)."""
    n, m = X.shape
    blocks = triton.cdiv(m, COLUMNS)
    parts = max(1, min(triton.cdiv(PROGRAMS, blocks), n // (4 * ROWS)))  # the rows are divided where columns are few
    low, high = (torch.empty((parts, m), dtype=X.dtype, device=X.device) for _ in range(2))
    with torch.cuda.device_of(X):
        _extremes[(blocks, parts)](X, low, high, n, m, triton.cdiv(n, parts), COLUMNS, ROWS, num_warps=WARPS)
    found += [low[0], high[0]] if parts == 1 else [low.amin(0), high.amax(0)]


@triton.jit(do_not_specialize=["n", "length"])
def _extremes(X, low, high, n, m, length, COLUMNS: tl.constexpr, ROWS: tl.constexpr):  # type: ignore[no-untyped-def]
    columns = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    part, inside, infinite = tl.program_id(1), columns < m, float("inf")
    dtype = X.dtype.element_ty
    least, greatest = tl.full((ROWS, COLUMNS), infinite, dtype), tl.full((ROWS, COLUMNS), -infinite, dtype)
    last = tl.minimum(n, (part + 1) * length)
    for first in range(part * length, last, ROWS):
        rows = first + tl.arange(0, ROWS)
        at = rows[:, None].to(tl.int64) * m + columns[None, :]
        x = tl.load(X + at, mask=(rows < last)[:, None] & inside[None, :], other=float("nan"))
        here = x == x
        least = tl.where(here & (x < least), x, least)
        greatest = tl.where(here & (x > greatest), x, greatest)
    to = part.to(tl.int64) * m + columns
    tl.store(low + to, tl.min(least, axis=0), mask=inside)
    tl.store(high + to, tl.max(greatest, axis=0), mask=inside)
