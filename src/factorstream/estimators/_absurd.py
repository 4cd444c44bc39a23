"""Absurd values at the door: they are taken as missing, and a warning says so. ``core.absurd`` has the rule."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..arrays import as_type, dtype_of, is_here, namespace, taken, within
from ..core.absurd import Seen, extremes, judge, seen_in
from ..core.absurd_limits import FAR
from ..core.absurd_rows import absurd_beside, absurd_entries
from ..core.entries import Entries, without
from ..core.fill_values import is_huge_fill, meaning
from ..core.linalg import Array, Rows, is_sparse
from ..tall.placed_rows import PlacedRows
from ..tall.rows import stack
from ..tall.starting import check_range
from ._infinity import refuse_infinite_extremes
from ._placed_absurd import next_rows_there, seen_here
from ._validation import check_size_of, warn_caller


class AbsurdValueWarning(UserWarning):
    """Values out of all proportion, or without a logarithm that is modelled, are taken as missing."""


def without_absurd(X: Rows) -> Rows:
    """Rows that are fitted together with their absurd values missing; X itself where there are none."""
    entries = absurd_entries(X)
    warn_of(entries, X.shape[0])
    return without(X, entries)


def asked(state: Any, X: Rows) -> Rows:
    """Rows that a model in this ``state`` is asked about with their absurd values missing; X itself without any."""
    seen = known_to(state)
    if seen is None:
        return X
    entries = absurd_beside(seen, X)
    warn_of(entries, X.shape[0])
    return without(X, entries)


def known_to(state: Any) -> Seen | None:
    """What a model knows of its features' values; None where it has no memory of them."""
    seen: Seen | None = getattr(state, "seen", None)
    if seen is None:  # a stream that is starting keeps its rows, absurd values included
        rows = getattr(state, "pending", None)
        rows = getattr(state, "warm_rows", None) if rows is None else rows
        return None if rows is None else seen_in(without(rows, absurd_entries(rows)))
    return seen_here(seen)


def check_answers_fit(state: Any, dtype: np.dtype[Any]) -> None:
    """Refuse rows of a type that cannot hold what a model knows, and so not its answers either."""
    seen = known_to(state) if dtype == np.float32 else None
    if seen is None:
        return
    xp = namespace(seen.low)
    largest = _greatest(xp.where(seen.known > 0, xp.maximum(-seen.low, seen.high), 0.0))
    if largest >= float(np.finfo(dtype).max) ** 0.5:
        raise ValueError(
            f"The model has learned from values of size {largest:.3g}, too large for float32; pass float64."
        )


def next_rows(seen: Seen, X: Rows, dtype: np.dtype[Any], first: int = 0, tell: bool = True) -> tuple[Seen, Rows]:
    """The next rows of a stream with their absurd values missing, and what is seen after them.

    Values that are not absurd, but cannot be squared in the stream's ``dtype``, are refused. ``first`` is the number
    of the first of these rows in what the caller was given; without ``tell`` the warning was given already.
    """
    if isinstance(X, PlacedRows):
        after, entries, clean = next_rows_there(seen, X, dtype, first)
        if tell:
            warn_of(entries, first + X.shape[0])
        return after, clean
    after, entries = judged(seen_here(seen), X, dtype)
    if not len(entries.row):
        return after, X
    if tell:
        warn_of(entries._replace(row=entries.row + first), first + X.shape[0])
    return after, without(X, entries)


def judged(seen: Seen, X: Rows, dtype: np.dtype[Any]) -> tuple[Seen, Entries]:
    """What is seen after the next rows of a stream, and their absurd entries, which are still to be warned of."""
    found = None
    if not is_here(X):  # one look at the extremes is enough for infinities and absurd values
        found = extremes(X)
        refuse_infinite_extremes(*found, X)
    after, entries = judge(seen, X, found)
    if after is not seen:
        check_size(after, dtype)
    return after, entries


def check_size(seen: Seen, dtype: np.dtype[Any]) -> None:
    """Refuse values that cannot be squared in this ``dtype``."""
    check_range(max(_greatest(-seen.low), _greatest(seen.high)), dtype, smallest=0.0)  # -∞ without any value


def _greatest(values: Array) -> float:
    """The greatest of some numbers and zero."""
    return max(float(namespace(values).max(values)), 0.0) if values.shape[0] else 0.0


class FirstRows(NamedTuple):
    """The first rows of a stream, which are judged together, and the rest of a call's rows."""

    kept: Rows
    """As they came: with more rows they may be judged otherwise."""
    clean: Rows
    """The same with their absurd values missing."""
    X: Rows
    """The rows of the call with the absurd values of these first rows missing."""


def first_rows(before: Rows, X: Rows, more: Any, dtype: np.dtype[Any]) -> FirstRows:
    """The rows ``before`` this call and those of X that are numbered ``more``, judged together, and then in ``dtype``.

    X may be of a wider type. What is absurd in it is kept as a number that ``dtype`` has, and what is not is refused.
    """
    both = stack(before, taken(X, more))
    n, entries = before.shape[0], absurd_entries(both)
    if dtype_of(both) != dtype:
        check_size_of(without(both, entries), dtype)
    kept = _as_type(both, dtype)
    is_new = entries.row >= n
    new = Entries(np.asarray(more)[entries.row[is_new] - n], entries.column[is_new], entries.value[is_new])
    warn_of(new, X.shape[0], earlier=int(np.count_nonzero(~is_new)) - len(absurd_entries(before).row))
    return FirstRows(kept, without(kept, entries), without(X, new))


def _as_type(X: Rows, dtype: np.dtype[Any]) -> Rows:
    """X in ``dtype``; values that are too large for it become its largest."""
    most = float(np.finfo(dtype).max)
    if is_sparse(X):
        return type(X)((_as_type(X.data, dtype), X.indices, X.indptr), shape=X.shape)
    return X if dtype_of(X) == dtype else as_type(within(X, most), dtype)


def warn_of(entries: Entries, n_rows: int, earlier: int = 0) -> None:
    """Name the first of the entries, or say that ``earlier`` ones of the stream have been shown to be absurd.

    ``n_rows`` is the number of rows of the call: where it is one, the row's number says nothing.
    """
    n = len(entries.row)
    if n:
        where = f"at row {entries.row[0]}, column" if n_rows > 1 else "in column"
        value = float(entries.value[0])
        known = meaning(value)
        hint = f" (it is {known})" if known else ""
        others = f", like {n - 1} more" if n > 1 else ""
        start = f"X has an absurd value {where} {entries.column[0]}, which is taken as missing{others}: {value:.6g}"
        if is_huge_fill(value):
            warn_caller(f"{start} is {known}; put NaN there.", AbsurdValueWarning)
            return
        warn_caller(
            f"{start}{hint} is more than {FAR:.0f} times as far away as the other values of its "
            "feature are from each other; put NaN there or, if it is real, scale the data to one unit, or take "
            "logarithms.",
            AbsurdValueWarning,
        )
    elif earlier > 0:
        warn_caller(
            "An earlier row of this stream has an absurd value, as the rows since then show, and it is taken as "
            "missing from now on; put NaN in the place of such values.",
            AbsurdValueWarning,
        )
