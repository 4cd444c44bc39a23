"""Rows that need not fit into memory, at the door of ``fit``: which arguments they are, and one pass over them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..core.absurd import Seen, seen_in
from ..core.absurd_rows import absurd_beside, absurd_entries
from ..core.entries import Entries, together, without
from ..core.linalg import Array, is_sparse
from ..core.memory import FORGETFUL, Memory
from ..core.variational.blockwise import add_moments, no_moments
from ..core.variational.noise.law import ColumnMoments
from ..sources.columns import use_names
from ..sources.rows.opening import is_path, is_several, open_rows
from ..sources.rows.source import Block, Source, others_of
from ..tall.places import place_of
from ..tall.rows import Rows, ever_observed, with_data
from ..text import left_out_counting, without_numbers
from ._absurd import check_size, judged, warn_of
from ._checkpoint import NOTHING, FitMemory
from ._chosen_rows import Chosen, chosen_rows, with_more
from ._infinity import refuse_infinity
from ._observing import observe
from ._validation import warn_caller

SOME_VALUES = 2**21
"""Values of the rows that a fit to a source begins with: 16 MiB, of which a fit holds about ten arrays. Rows of no more
values than that are fitted all at once. Not tuned: enough for 100 components of 1000 features, and the sweeps over all
rows go on from there."""

SOME_ROWS = 200
"""The same in rows, at least, however wide they are. Not tuned: a fit with as many components as asked for needs more
rows than components."""

MAPPED = 2**27
"""Bytes up to which a memory map is taken as the array that it stands for: 128 MiB. Not tuned: memory has room for the
ten arrays of that size that a fit makes."""

BY_SLICES = ("dask", "dask_expr", "h5py", "zarr", "pyarrow")
"""Libraries whose arrays and tables are read by slices, because they may lie in a file. Derived: those that
``open_rows`` knows beside NumPy's memory maps."""


def source_of(X: Any) -> Source | None:
    """X as a source where it is one by its kind: a path, a source, a large memory map, rows that some code makes, or a
    list of paths or blocks.

    None for arrays, tables and lists of rows, which are in memory already.
    """
    if isinstance(X, np.memmap) and X.nbytes <= MAPPED:
        return None
    kind = type(X)
    made = hasattr(X, "__next__") or (callable(X) and not hasattr(X, "shape"))
    by_slices = kind.__module__.partition(".")[0] in BY_SLICES or kind.__name__ == "LazyFrame"
    if made or by_slices or isinstance(X, Source | np.memmap) or is_path(X) or is_several(X):
        return open_rows(X)
    return None


def take_columns_of(estimator: Any, source: Source) -> None:
    """Remember the number and the names of the source's columns, as scikit-learn does for tables."""
    estimator.n_features_in_ = source.n_columns
    vars(estimator).pop("feature_names_in_", None)
    if source.names is not None:
        use_names(estimator, source.names)


def warn_of_others(source: Source) -> None:
    """Say which columns of a table have no part in a fit, and why; nothing where its columns were chosen."""
    from ..sources.text_remarks import not_written_plainly, one_stray  # when it is needed: it takes time

    others = others_of(source)
    for sentence in getattr(source, "assumed", ()):
        warn_caller(sentence)
    for stray in others.strays:
        warn_caller(one_stray(stray, lambda texts: f"missing={list(texts)!r} to open_rows"))
    for one in others.unread:
        warn_caller(not_written_plainly(one))
    if others.counting:
        warn_caller(f"{left_out_counting(others.counting)} {TO_TAKE_THEM}")
    if others.texts:
        warn_caller(f"{without_numbers(others.texts)} They are carried along when the rows are filled.")


TO_TAKE_THEM = "Name all columns in open_rows(..., columns=...) to take them in."
"""What to do where columns of numbers were left out."""


def without_values(state: Any) -> Array:
    """Which features a model has seen no value of (boolean), by its ``state_``."""
    if state.seen is not None:
        low, high = (np.asarray(place_of(part).get(part, 0)) for part in (state.seen.low, state.seen.high))
        return np.asarray(low > high)
    rows = state.warm_rows if hasattr(state, "warm_rows") else state.pending  # all rows: a stream is starting
    return np.asarray(~ever_observed(rows))


def refuse_single_pass(source: Source, needs: str) -> None:
    """Refuse a source that cannot be read again, for work that ``needs`` it."""
    if not source.rewinds:
        raise ValueError(
            f"These rows can be read only once, and {needs} reads them several times; give a file, or a function that "
            "returns their blocks, or begin them again for DictionaryFilter, which needs one pass: the first block has "
            "been read."
        )


class Numbered(NamedTuple):
    """Some rows of a source."""

    first: int
    """The number of the first of them."""
    rows: Rows


Read = Callable[[], Iterator[Numbered]]
"""All rows in blocks, from the first one on with every call, or from where a pass goes on that was stopped."""


def as_they_are(rows: Rows) -> Rows:
    """Rows to which nothing is done."""
    return rows


def reading(source: Source, prepared: Callable[[Rows], Rows] = as_they_are, memory: FitMemory = NOTHING) -> Read:
    """The checked rows of a source, after what ``prepared`` does to them; those that the ``memory`` does not have."""
    return lambda: (Numbered(block.first, prepared(checked(block))) for block in memory.blocks(source))


def checked(block: Block) -> Rows:
    """The rows of a block without infinities; sparse ones store what is observed."""
    values, first = block.values, block.first
    if not is_sparse(values):
        refuse_infinity(values, lambda at: (at[0] + first, at[1]))
        return np.ascontiguousarray(values)
    entries = values.tocoo()
    refuse_infinity(entries.data, lambda at: (int(entries.row[at[0]]) + first, int(entries.col[at[0]])))
    keep = ~np.isnan(entries.data)
    return sparse.csr_array((entries.data[keep], (entries.row[keep], entries.col[keep])), shape=values.shape)


class Look(NamedTuple):
    """What one pass over all rows has found."""

    some: Rows
    """A random choice of the rows with data, in their order, without absurd values."""
    whole: Rows | None
    """All rows as they came, where they are few enough to be fitted at once."""
    moments: ColumnMoments
    """Of all rows."""
    seen: Seen
    """What tells absurd values."""
    n_rows: int
    """How many there are."""


def observed_counts(found: Look) -> Array:
    """How many values each feature has, in this process."""
    return place_of(found.moments.count).get(found.moments.count, 0)


class Looked(NamedTuple):
    """What the rows so far have shown."""

    some: Chosen
    moments: ColumnMoments
    seen: Seen | None
    n_rows: int
    absurd: tuple[Entries, ...]


def room_for(m: int) -> int:
    """How many rows of m features a fit begins with."""
    return max(SOME_VALUES // m, SOME_ROWS)


LOOK_TYPES: tuple[type, ...] = (Look, Looked, Chosen, Entries)
"""Every NamedTuple that a look finds, besides those that states have. Derived."""


def look(read: Read, m: int, dtype: np.dtype[Any], memory: Memory = FORGETFUL) -> Look:
    """Go once over all rows. Absurd values are judged as in a stream, those of the first block together.

    The rows that are chosen are always the same ones of a source.
    """

    def add(found: Looked, part: Numbered) -> Looked:
        first, rows = part
        some, seen, absurd = with_more(found.some, rows, found.n_rows), found.seen, found.absurd
        if seen is None:
            entries = absurd_entries(rows)
            seen = seen_in(without(rows, entries))
            check_size(seen, dtype)
        else:
            seen, entries = judged(seen, rows, dtype)
        if len(entries.row):
            absurd = (*absurd, Entries(entries.row + first, entries.column, entries.value))
        data, moments = with_data(without(rows, entries)), found.moments
        if data.shape[0]:
            moments = add_moments(moments, observe(data))
        return Looked(some, moments, seen, found.n_rows + int(rows.shape[0]), absurd)

    nothing = Looked(Chosen(room_for(m)), no_moments(m), None, 0, ())
    found = memory.over("look", read, add, nothing)
    if found.seen is None:
        raise ValueError("There are no rows to fit; give a source that has some.")
    rows = chosen_rows(found.some)
    if found.some.all:
        return Look(rows, rows, found.moments, found.seen, found.n_rows)
    warn_of(together(list(found.absurd)), found.n_rows)
    return Look(with_data(clean(rows, found.seen)), None, found.moments, found.seen, found.n_rows)


def clean(rows: Rows, seen: Seen) -> Rows:
    """Rows with their absurd values missing: the same whenever they are read, given what was ``seen``."""
    return without(rows, absurd_beside(seen, rows))


def clean_rows(read: Read, seen: Seen, prepared: Callable[[Rows], Rows] = as_they_are) -> Iterator[Rows]:
    """All rows with data after what ``prepared`` does to them, block by block."""
    for _, rows in read():
        rows = with_data(prepared(clean(rows, seen)))
        if rows.shape[0]:
            yield rows
