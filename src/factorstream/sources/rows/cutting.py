"""Cut rows that come in pieces of any size into blocks whose ends do not depend on where reading began."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

__all__ = ["length", "recut", "rows_per_block", "skipped"]


def rows_per_block(block_bytes: int, row_bytes: float) -> int:
    """How many rows of so many bytes make a block: one at least.

    >>> rows_per_block(1000, 80), rows_per_block(1000, 8000)
    (12, 1)
    """
    return max(1, int(block_bytes // max(row_bytes, 1)))


def length(piece: Any) -> int:
    """The rows of a piece: an array, a CSR matrix, a table of Arrow or a list."""
    return len(piece) if isinstance(piece, list) else int(piece.shape[0])


def skipped(pieces: Iterable[Any], n: int) -> Iterator[Any]:
    """The pieces without their first n rows.

    >>> list(skipped([[0, 1], [2, 3, 4]], 3))
    [[3, 4]]
    """
    for piece in pieces:
        if n >= length(piece):
            n -= length(piece)
        else:
            yield piece[n:] if n else piece
            n = 0


def recut(pieces: Iterable[Any], rows: int, start: int, join: Callable[[list[Any]], Any]) -> Iterator[tuple[int, Any]]:
    """Blocks as (number of the first row, piece), each of which ends at a multiple of ``rows``, but for the last.

    ``start`` is the number of the first row of the pieces. Nothing is copied but where a block is joined.

    >>> list(recut([[3], [4, 5, 6, 7, 8]], 4, 3, lambda parts: sum(parts, [])))
    [(3, [3]), (4, [4, 5, 6, 7]), (8, [8])]
    """
    waiting: list[Any] = []
    first = here = start
    for piece in pieces:
        at, n = 0, length(piece)
        while at < n:
            take = min(rows - here % rows, n - at)
            waiting.append(piece if take == n else piece[at : at + take])
            at += take
            here += take
            if here % rows == 0:
                yield first, waiting[0] if len(waiting) == 1 else join(waiting)
                first, waiting = here, []
    if waiting:
        yield first, waiting[0] if len(waiting) == 1 else join(waiting)
