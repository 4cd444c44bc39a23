"""Work in pieces, which the threads take one after another.

The pieces follow from the sizes of the arrays alone, and sums are taken in their order: the same bits come out whatever
the number of threads. Only a large matrix product has others on one thread (:func:`product`).
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .limit import n_threads
from .pool import run

Array = NDArray[Any]

PASS, MULTIPLICATION = 1.0, 1 / 32
"""What a number costs that is read, changed and written, and what a multiplication in a matrix product costs: some
nanoseconds of one core. Rough; speed and rounding only."""

PIECE = 2.0**18
"""Cost of a piece at least, a quarter of a millisecond: waking all threads takes a fifth of that. Not tuned; speed and
rounding only."""

MOST = 64
"""Pieces of one dimension at most. Not tuned: as many as large machines have cores; speed and rounding only."""

WIDEST, LOWEST, STRIPS = 1024, 64, 32
"""Tiles of a matrix product: columns at most, rows at least, and how many of them one below the other at most. BLAS
copies its factors into another order first, which wide and high tiles pay for: 64 × 861 has three quarters of the speed
of the whole, 128 × 861 nine tenths, 64 × 144 half (846 × 4096 × 861, one core). Speed and rounding only."""

FEW, SHORT = 16, 2**16
"""Where there are fewer tiles than FEW, and the result has at most SHORT entries, the sums are divided instead. Not
tuned; speed and rounding only."""


def pieces(n: int, cost: float) -> list[slice]:
    """range(n) in equal parts, as many as all of it costs pieces."""
    parts = max(1, min(int(cost / PIECE), MOST, n))
    return [slice(i * n // parts, (i + 1) * n // parts) for i in range(parts)]


def each_piece(function: Callable[[slice], Any], n: int, cost: float) -> list[Any]:
    """What ``function`` returns for every part of range(n), whose cost together is given."""
    return each_of(function, pieces(n, cost))


def sum_of_pieces(function: Callable[[slice], Any], n: int, cost: float) -> Any:
    """The sum over all parts of range(n) of what ``function`` returns for each: an array, a number, or a tuple."""
    return sum_of(function, pieces(n, cost))


def sum_of(function: Callable[[Any], Any], parts: list[Any]) -> Any:
    """The same over parts that are given, and may be anything."""
    first, *others = each_of(function, parts)
    if not others:
        return first
    if isinstance(first, tuple):
        return tuple(_added(part[0], part[1:]) for part in zip(first, *others, strict=True))
    return _added(first, others)


def _added(total: Any, others: Any) -> Any:
    for other in others:
        total += other
    return total


def each_of(function: Callable[[Any], Any], parts: list[Any]) -> list[Any]:
    """What ``function`` returns for each of these parts, which may be anything."""
    return run(lambda i: function(parts[i]), len(parts), n_threads())


def product(A: Array, B: Array, out: Array | None = None, add: bool = False) -> Array:
    """The matrix product AB; into ``out``, or added to what is there.

    One thread leaves it to BLAS as it is, several make a part of the result each: the bits may differ by rounding.
    """
    n, k, m = len(A), B.shape[0], B.shape[1]
    cost = MULTIPLICATION * n * k * m
    if cost < 2 * PIECE or n_threads() == 1:
        if add:
            assert out is not None  # for the type checker
            step = max(n // STRIPS, 2 * LOWEST)  # a product of all rows would be another array as large as the result
            for start in range(0, n, step):
                out[start : start + step] += A[start : start + step] @ B
            return out
        return A @ B if out is None else np.matmul(A, B, out=out)
    result = np.empty((n, m), np.result_type(A, B)) if out is None else out
    tiles = _tiles(n, m, MULTIPLICATION * k)
    if len(tiles) < FEW and n * m <= SHORT:
        total = sum_of_pieces(lambda some: A[:, some] @ B[some], k, cost)
        return np.add(result, total, out=result) if add else np.asarray(total)

    def make(tile: tuple[slice, slice]) -> None:
        rows, columns = tile
        if add:
            result[rows, columns] += A[rows] @ B[:, columns]
        else:
            np.matmul(A[rows], B[:, columns], out=result[rows, columns])

    each_of(make, tiles)
    return result


def _tiles(n: int, m: int, cost: float) -> list[tuple[slice, slice]]:
    """The rows and columns of tiles of an n × m result, each entry of which costs so much."""
    width = ceil(m / ceil(m / WIDEST))
    height = max(LOWEST, ceil(n / STRIPS), ceil(PIECE / (width * cost)))
    return [
        (slice(a, min(a + height, n)), slice(b, min(b + width, m)))
        for a in range(0, n, height)
        for b in range(0, m, width)
    ]
