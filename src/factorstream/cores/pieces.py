"""Work in pieces, which the threads take one after another.

The pieces follow from the sizes of the arrays alone, and sums are taken in their order: the same bits come out whatever
the number of threads. The one exception is a large matrix product on one thread, which may round in another way
(:func:`product`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import ceil
from typing import Any

import numpy as np

from ..arrays import add_product
from .limit import SMALL, n_threads
from .pool import run

Array = Any
"""An array of NumPy; in work that is :func:`undivided`, of any library."""
Tile = tuple[slice, slice]
"""Rows and columns of a matrix."""

PASS, MULTIPLICATION = 1.0, 1 / 32
"""The unit of cost, about a nanosecond of one core: a number that is read, changed and written costs one, and a
multiplication in a matrix product a 32nd. Rough; speed and rounding only."""

PIECE = 2.0**18
"""What a piece costs at least: a quarter of a millisecond, five times as long as it takes to wake all threads. Not
tuned; speed and rounding only."""

TINY = SMALL
"""Entries below which arrays are worked on as a whole, without tiles or pieces: to call their functions takes as long
as the work itself. Not tuned: BLAS is not limited to one thread there either; speed only."""

MOST = 64
"""Pieces of one dimension at most. Not tuned: as many as large machines have cores; speed and rounding only."""

WIDEST, NARROWEST = 1024, 400
LOWEST, HIGH = 64, 128
STRIPS, FEW_STRIPS = 32, 16
"""Tiles of a matrix product. Columns of one: at most WIDEST, at least NARROWEST. Rows of one: about LOWEST at least,
and about HIGH where FEW_STRIPS of them, one below the other, are left (they are made equal, so that some fewer are
possible); STRIPS of them at most, and columns are divided where there are fewer tiles. BLAS copies its factors into
another order first, which wide and high tiles pay for: 128 × 861 has nine tenths of the speed of the whole, 128 × 431
seven eighths, 64 × 861 and 64 × 431 three quarters, 64 × 144 half (1000 × 4096 × 861, one core). Speed and rounding
only."""

FEW, SHORT = 16, 2**16
"""Where there are fewer tiles than FEW, and the result has at most SHORT entries, the sums are divided instead. Not
tuned; speed and rounding only."""


_whole: ContextVar[bool] = ContextVar("work is not divided", default=False)


@contextmanager
def undivided() -> Iterator[None]:
    """Leave all work in one piece: that of a device which divides it itself."""
    token = _whole.set(True)
    try:
        yield
    finally:
        _whole.reset(token)


def pieces(n: int, cost: float) -> list[slice]:
    """range(n) in equal parts: as many as the ``cost`` of all of it allows."""
    if cost < 2 * PIECE or _whole.get():
        return [slice(0, n)]
    parts = max(1, min(int(cost / PIECE), MOST, n))
    return [slice(i * n // parts, (i + 1) * n // parts) for i in range(parts)]


def each_piece(function: Callable[[slice], Any], n: int, cost: float) -> list[Any]:
    """What ``function`` returns for every part of range(n), whose cost together is given."""
    if cost < 2 * PIECE:  # what ``pieces`` would do too, at ten times the time
        return [function(slice(0, n))]
    return each_of(function, pieces(n, cost))


def each_tile(function: Callable[[Tile], Any], shape: tuple[int, ...], cost: float) -> list[Any]:
    """What ``function`` returns for all parts of an n × m matrix: some of its rows or, where there are few, columns."""
    n, m = shape
    if cost < 2 * PIECE or _whole.get():
        return [function((slice(0, n), slice(0, m)))]
    rows, columns = pieces(n, cost), pieces(m, cost)
    if len(rows) >= min(len(columns), MOST // 2):
        return each_of(lambda some: function((some, slice(0, m))), rows)
    return each_of(lambda some: function((slice(0, n), some)), columns)


def sum_of_pieces(function: Callable[[slice], Any], n: int, cost: float) -> Any:
    """The sum over all parts of range(n) of what ``function`` returns for each: an array, a number, or a tuple."""
    return function(slice(0, n)) if cost < 2 * PIECE else sum_of(function, pieces(n, cost))


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
    if len(parts) == 1:
        return [function(parts[0])]
    return run(lambda i: function(parts[i]), len(parts), n_threads())


def product(A: Array, B: Array) -> Array:
    """The matrix product AB.

    One thread leaves it to BLAS as it is, several make a part of the result each: the bits may differ by rounding.
    """
    if _whole.get():
        return A @ B
    n, k, m = len(A), B.shape[0], B.shape[1]
    cost = MULTIPLICATION * n * k * m
    if cost < 2 * PIECE or n_threads() == 1:
        return np.asarray(A @ B)
    parts = tiles(n, m, MULTIPLICATION * k)
    if len(parts) < FEW and n * m <= SHORT:
        return np.asarray(sum_of_pieces(lambda some: A[:, some] @ B[some], k, cost))
    out = np.empty((n, m), np.result_type(A, B))

    def make(tile: Tile) -> None:
        rows, columns = tile
        np.matmul(A[rows], B[:, columns], out=out[rows, columns])

    each_of(make, parts)
    return out


def accumulate(S: Array, A: Array, B: Array) -> None:
    """S += AB in place, tile by tile: a product of all rows would be another array as large as S."""
    if _whole.get():
        add_product(S, A, B)
        return

    def add(tile: Tile) -> None:
        rows, columns = tile
        S[rows, columns] += A[rows] @ B[:, columns]

    n, m = S.shape
    lowest = LOWEST if n_threads() > 1 else 2 * LOWEST  # fewer tiles are quicker where no threads wait for them
    each_of(add, tiles(n, m, MULTIPLICATION * len(B), lowest))


def tiles(n: int, m: int, cost: float, lowest: int = LOWEST) -> list[Tile]:
    """The rows and columns of tiles of an n × m result, each entry of which costs so much."""
    if n == 0 or m == 0:
        return []
    if n * m * max(cost, MULTIPLICATION) < PIECE:
        return [(slice(0, n), slice(0, m))]
    strips, parts = min(STRIPS, ceil(n / lowest)), ceil(m / WIDEST)
    if n < STRIPS * HIGH:
        strips = min(strips, max(FEW_STRIPS, ceil(n / HIGH)))
    if strips * parts < STRIPS:
        parts = max(parts, min(ceil(STRIPS / strips), m // NARROWEST))
    width = ceil(m / parts)
    height = max(ceil(n / strips), ceil(PIECE / (width * max(cost, MULTIPLICATION))))
    return [
        (slice(a, min(a + height, n)), slice(b, min(b + width, m)))
        for a in range(0, n, height)
        for b in range(0, m, width)
    ]
