"""Absurd values at the door: they are taken as missing, and a warning says so. ``core.absurd`` has the rule."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..core.absurd import FAR, Entries, Seen, judge, without
from ..core.absurd_rows import absurd_entries
from ..core.fill_values import meaning
from ..core.linalg import Rows
from ..tall.rows import stack
from ..tall.starting import check_range
from ._validation import warn_caller


def without_absurd(X: Rows) -> Rows:
    """Rows that are fitted together with their absurd values missing; X itself where there are none."""
    entries = absurd_entries(X)
    warn_of(entries)
    return without(X, entries)


def next_rows(seen: Seen, X: Rows, dtype: np.dtype[Any], first: int = 0, tell: bool = True) -> tuple[Seen, Rows]:
    """The next rows of a stream with their absurd values missing, and what is seen after them.

    Values that are not absurd, but cannot be squared in the stream's ``dtype``, are refused. ``first`` is the number
    of the first of these rows in what the caller was given; without ``tell`` the warning was given already.
    """
    after, entries = judged(seen, X, dtype)
    if not len(entries.row):
        return after, X
    if tell:
        warn_of(entries._replace(row=entries.row + first))
    return after, without(X, entries)


def judged(seen: Seen, X: Rows, dtype: np.dtype[Any]) -> tuple[Seen, Entries]:
    """What is seen after the next rows of a stream, and their absurd entries, which are still to be warned of."""
    after, entries = judge(seen, X)
    if after is not seen:
        check_size(after, dtype)
    return after, entries


def check_size(seen: Seen, dtype: np.dtype[Any]) -> None:
    """Refuse values that cannot be squared in this ``dtype``."""
    some = seen.known > 0
    largest = np.maximum(np.abs(seen.low), np.abs(seen.high))[some].max(initial=0.0)
    check_range(float(largest), dtype, smallest=0.0)


class FirstRows(NamedTuple):
    """The first rows of a stream, which are judged together, and the rest of a call's rows."""

    kept: Rows
    """As they came: with more rows they may be judged otherwise."""
    clean: Rows
    """The same with their absurd values missing."""
    X: Rows
    """The rows of the call with the absurd values of these first rows missing."""


def first_rows(before: Rows, X: Rows, more: Any, dtype: np.dtype[Any]) -> FirstRows:
    """The rows ``before`` this call and those of X that are numbered ``more``, in ``dtype``, judged together."""
    with np.errstate(over="ignore"):
        kept = stack(before, X[more].astype(dtype, copy=False))
    values = kept.data if hasattr(kept, "indptr") else kept
    if np.isinf(values).any():  # X is finite, but may be of a wider type
        check_range(float("inf"), dtype)
    n, entries = before.shape[0], absurd_entries(kept)
    is_new = entries.row >= n
    new = Entries(np.asarray(more)[entries.row[is_new] - n], entries.column[is_new], entries.value[is_new])
    warn_of(new, earlier=int(np.count_nonzero(~is_new)) - len(absurd_entries(before).row))
    return FirstRows(kept, without(kept, entries), without(X, new))


def warn_of(entries: Entries, earlier: int = 0) -> None:
    """Name the first of the entries, or say that ``earlier`` ones of the stream have been shown to be absurd."""
    n = len(entries.row)
    if n:
        value = float(entries.value[0])
        known = meaning(value)
        hint = f" (it is {known})" if known else ""
        others = f", like {n - 1} more" if n > 1 else ""
        warn_caller(
            f"X has an absurd value at row {entries.row[0]}, column {entries.column[0]}, which is taken as "
            f"missing{others}: {value:.6g}{hint} is more than {FAR:.0f} times as far away as the other values of its "
            "feature are from each other; put NaN there or, if it is real, scale the data to one unit, or take "
            "logarithms."
        )
    elif earlier > 0:
        warn_caller(
            "An earlier row of this stream has an absurd value, as the rows since then show, and it is taken as "
            "missing from now on; put NaN in the place of such values."
        )
