"""Products of sparse rows with dense matrices: what a sweep over sparse rows spends nearly all of its time on.

Where loops are compiled (``compiled_sparse``) they are divided among threads, and visit memory in an order that a
processor's cache likes. The second moments of 59,000 columns with 22 numbers each take 119 MB, 2 kB for every stored
entry: in the order of the rows nearly each of them comes from main memory. So the columns are taken in lots that fit
into the cache, and all rows of a block add what they have of one lot before the next. The sums over rows, WᵀZ, are the
same of the transposed block, whose entries are put into the order of columns first; Z then fits into the cache.

Measured for 1.25 million entries in 8100 rows of 59,000 columns, 253 numbers each, on one of two cores that were
shared with others, in nanoseconds of the processor for each entry: WM 318 by SciPy, 220 by a loop in the order of the
rows, 140 with four entries at once, 120 with eight, 73 with four and lots of columns; 25 where only 100 columns were
visited, which stay in the core's own cache. WᵀZ 343 by SciPy, 214 by a loop in the order of the
rows, 67 transposed, and 9 to transpose.

SciPy stays as the way without compiled loops. All of it is for weights and values in double precision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ...cores import MOST, PASS, compiling, each_of, each_piece, pieces
from ..linalg import with_values
from .packed import DONE, MANY, Array

LOOPS = "factorstream.core.variational.compiled_sparse"
"""Where the compiled loops are."""

LOT = 2**20
"""Numbers of the dense matrix whose rows are visited together: 8 MiB, which leaves as much of a processor's last cache
to the result. Chosen from 2 to 60 MiB in the measurement above, once: 7 and 15 MiB took 74 and 73 ns, 4 MiB 105, 30 MiB
97. Speed and rounding only."""

ENTRIES = 2**21
"""Stored entries that NumPy works on at once: 16 MiB in each temporary. Memory and speed only."""

FEW_PARTS = 8
"""Parts of the rows whose entries are ordered by column at once: each counts the entries of all columns. Speed only."""

Term = tuple[Array, Array, Array]
"""A sum (m, p), the value of each stored entry, and a dense matrix (n, p)."""


def times(W: Any, M: Array) -> Array:
    """W M: sparse (n, m), dense (m, p)."""
    if _worth(W, M.shape[1]):
        out, entries = np.zeros((W.shape[0], M.shape[1])), _entries(W)
        if _add_rows(entries, W.data, M, out):
            return out
    return np.asarray(W @ M)


def add_transposed(W: Any, *terms: Term) -> None:
    """Σ_k v_ki z_k of every column i, over the stored entries of W with other values v, added to the sums IN PLACE.

    All terms have the entries of W in common; they are put into the order of columns once.
    """
    if not _worth(W, sum(Z.shape[1] for _, _, Z in terms)) or not _add_by_column(W, terms):
        for total, values, Z in terms:
            total += with_values(W, values).T @ Z


def add_products(W: Any, Y: Any, S: Array, Z: Array, H: Array, X: Array) -> None:
    """S += WᵀZ and H += YᵀX IN PLACE, for sparse W and Y: (m, p), (n, p), (m, q), (n, q)."""
    if same_entries(W, Y):
        add_transposed(W, (S, W.data, Z), (H, Y.data, X))
    else:
        add_transposed(W, (S, W.data, Z))
        add_transposed(Y, (H, Y.data, X))


def same_entries(W: Any, Y: Any) -> bool:
    """Whether both have the same stored entries, in the same order."""
    pairs = ((W.indices, Y.indices), (W.indptr, Y.indptr))
    return all(_same_memory(a, b) or np.array_equal(a, b) for a, b in pairs)


def _same_memory(a: Array, b: Array) -> bool:
    return a.size == b.size and a.dtype == b.dtype and bool(a.ctypes.data == b.ctypes.data)


def weighted(W: Any, Y: Any) -> Any:
    """w y of every stored entry."""
    return with_values(W, W.data * Y.data) if same_entries(W, Y) else (W * Y).tocsr()


def entry_products(W: Any, X: Array, C: Array) -> Array:
    """x_kᵀc_i of every stored entry (k, i) of W, in their order: (n, q), (m, q) -> (entries,)."""
    out = np.empty(W.indices.size)
    if _worth(W, X.shape[1]):
        entries = _entries(W)
        if _divided(_loops().entry_products, entries, X.shape[1], entries.indptr, entries.indices, *_plain(X, C), out):
            return out
    for row, some in _some_entries(W):
        np.einsum("eq,eq->e", X[row], C[W.indices[some]], out=out[some])
    return out


def asked_by_loops(n: int, width: int, *arguments: Array) -> bool:
    """Let the loop ``compiled_sparse.asked_entries`` do n entries of that width; False where NumPy has to do it."""
    if not compiling.applies(n * width >= MANY, LOOPS):
        return False
    arguments = tuple(compiling.plain(some) for some in arguments)
    if not _call(_loops().asked_entries, slice(0, 0), *arguments):  # compiled before any thread has begun
        return False
    each_piece(lambda some: _call(_loops().asked_entries, some, *arguments), n, PASS * n * width)
    return True


def column_sums(W: Any, values: Callable[[slice], Array]) -> Array:
    """The sum over the stored entries of each column (m) of what a function makes of some of these, a slice."""
    total = np.zeros(W.shape[1])
    for first in range(0, W.indices.size, ENTRIES):
        some = slice(first, min(first + ENTRIES, W.indices.size))
        total += np.bincount(W.indices[some], weights=values(some), minlength=W.shape[1])
    return total


def column_squares(F: Any) -> Array:
    """The sum of the squares of each column (m)."""
    return column_sums(F, lambda some: F.data[some] ** 2)


def column_counts(W: Any) -> Array:
    """The number of stored entries of each column (m)."""
    return column_sums(W, lambda some: np.ones(some.stop - some.start))


def less_means(F: Any, of_column: Array, of_row: Array | None = None) -> Any:
    """The same entries, each less the number of its column and, if rows have one, of its row."""
    out = np.empty(F.indices.size)
    for row, some in _some_entries(F):
        np.subtract(F.data[some], of_column[F.indices[some]], out=out[some])
        if of_row is not None:
            out[some] -= of_row[row]
    return with_values(F, out)


def _some_entries(W: Any) -> Iterator[tuple[Array, slice]]:
    """The stored entries in slices of at most ENTRIES, and the row of each."""
    for first in range(0, W.indices.size, ENTRIES):
        some = slice(first, min(first + ENTRIES, W.indices.size))
        low, high = np.searchsorted(W.indptr, [some.start, some.stop - 1], side="right") - 1
        ends = np.clip(W.indptr[low : high + 2], some.start, some.stop)
        yield np.repeat(np.arange(low, high + 1), np.diff(ends)), some


# ------------------------------------------------------------------ compiled loops


class _Entries(NamedTuple):
    """The columns of all stored entries, row by row: those of row k are indices[indptr[k] : indptr[k + 1]]."""

    indptr: Array  # (n + 1,)
    indices: Array
    m: int  # columns
    ordered: bool  # those of a row ascend


def _worth(W: Any, width: int) -> bool:
    return W.format == "csr" and compiling.applies(W.indices.size * width >= MANY, LOOPS)


def _entries(W: Any) -> _Entries:
    indptr = compiling.plain(W.indptr.astype(np.intp, copy=False))
    return _Entries(indptr, compiling.plain(W.indices), W.shape[1], bool(W.has_sorted_indices))


def _plain(*arrays: Array) -> list[Array]:
    """Arrays as the loops are compiled for them."""
    return [compiling.plain(np.asarray(some, dtype=np.float64)) for some in arrays]


def _parts(indptr: Array, cost: float, most: int = MOST) -> list[slice]:
    """The rows in parts with about as many stored entries each: they follow from the entries alone."""
    n = len(indptr) - 1
    parts = min(len(pieces(n, cost)), most)
    wanted = indptr[0] + (indptr[-1] - indptr[0]) * np.arange(1, parts) // parts
    ends = [0, *np.searchsorted(indptr, wanted).tolist(), n]
    return [slice(a, b) for a, b in pairwise(ends) if a < b]


def _loops() -> Any:
    from . import compiled_sparse

    return compiled_sparse


def _call(loop: Any, rows: slice, *arguments: Any) -> bool:
    return compiling.call(loop, rows.start, rows.stop, *arguments) == DONE


def _divided(loop: Any, entries: _Entries, width: int, *arguments: Any) -> bool:
    """Let threads do a loop over all rows; False, and nothing done, where it cannot be compiled."""
    if not _call(loop, slice(0, 0), *arguments):  # compiled before any thread has begun
        return False
    each_of(lambda some: _call(loop, some, *arguments), _parts(entries.indptr, PASS * width * entries.indices.size))
    return True


def _add_rows(entries: _Entries, values: Array, M: Array, out: Array) -> bool:
    """Σ v_ki M_i of every row k added to its row of ``out``, in lots of columns; False where SciPy has to do it."""
    (m, width), (values, M) = M.shape, _plain(values, M)
    lot = max(1, LOT // max(width, 1)) if entries.ordered else m
    at, ends = entries.indptr[:-1].copy(), entries.indptr[1:]
    return all(
        _divided(_loops().add_rows, entries, width, at, ends, min(first + lot, m), entries.indices, values, M, out)
        for first in range(0, m, lot)
    )


def _add_by_column(W: Any, terms: tuple[Term, ...]) -> bool:
    """``add_transposed`` by compiled loops."""
    entries, values = _entries(W), np.empty((len(terms), W.indices.size))
    for row, (_, given, _) in zip(values, terms, strict=True):
        row[:] = given
    found = _by_column(entries, values)
    if found is None:
        return False
    columns, ordered = found
    return all(_add_rows(columns, some, Z, total) for some, (total, _, Z) in zip(ordered, terms, strict=True))


def _by_column(entries: _Entries, values: Array) -> tuple[_Entries, Array] | None:
    """The entries and their values in the order of columns, and for each column in that of rows.

    Every part of the rows counts its entries of all columns, and so knows where to put them.
    """
    parts = _parts(entries.indptr, 2 * PASS * entries.indices.size, FEW_PARTS)
    counts = np.zeros((max(len(parts), 1), entries.m), dtype=np.intp)
    rows, ordered = np.empty(entries.indices.size, dtype=np.int32), np.empty_like(values)

    def count(rows_of_part: slice, j: int) -> bool:
        return _call(_loops().count_columns, rows_of_part, entries.indptr, entries.indices, counts[j])

    def put(rows_of_part: slice, j: int) -> bool:
        where = (entries.indptr, entries.indices, values, counts[j], rows, ordered)
        return _call(_loops().place_entries, rows_of_part, *where)

    if not (count(slice(0, 0), 0) and put(slice(0, 0), 0)):  # compiled before any thread has begun
        return None
    each_of(lambda j: count(parts[j], j), list(range(len(parts))))
    indptr = np.concatenate([[0], np.cumsum(counts.sum(axis=0))])
    counts[:] = np.cumsum(np.concatenate([indptr[None, :-1], counts[:-1]]), axis=0)  # where each part begins
    each_of(lambda j: put(parts[j], j), list(range(len(parts))))
    return _Entries(indptr, rows, len(entries.indptr) - 1, True), ordered
