"""Which rows a run of the filter keeps: a few of the second half of all rows so far; and when they are read."""

from __future__ import annotations

import numpy as np

from ..arrays import as_type, dtype_of, namespace
from ..core.filter.model import FilterModel
from ..core.linalg import Array
from ..tall.rows import Rows, dense, few_rows
from ._filter_columns import Columns

MOST, LEAST, WORK = 128, 4, 5e6
"""Rows kept: as many as are read with WORK multiplications, m r² each, within the two bounds.

MOST is measured by ``benchmarks/column_noises.py``: of 20 columns with noises of their own, 30% of the entries missing,
the tenth of the columns whose 95% intervals hold least holds .91 with 128 rows; fewer make it lower. The others are
about speed and memory: wide rows have many columns to learn from how far the noises differ."""

FIRST_LOOK = 16
"""Rows after which the kept ones are first read. Not tuned: a variance of so many values is known to one in three."""

LOOKS = 4
"""How often the kept rows are read while the number of rows doubles. Not tuned: what is read is then at most a fifth
older than the stream. Where only LEAST are kept, because rows are so wide that to read them takes as long as to filter
many others, it is done once."""


def kept(columns: Columns, rows: Rows, first: int, model: FilterModel, with_data: Array | None = None) -> Columns:
    """With some of ``rows``, which are numbers ``first``, ``first`` + 1, … of the run.

    ``with_data`` are the indices of those that have data, where it is not all of them. With room for N rows, one in p
    of the rows k ≥ N is kept, where p is the largest power of two in k/N, and the last N of them stay: nearly all lie
    in the second half of the rows so far. They are chosen by a hash of k, so that sensors which report in turn are all
    among them. Under a drift the last N rows are kept: older ones met another dictionary.
    """
    recent = columns.recent
    if recent is None:
        return columns
    n = int(rows.shape[0]) if with_data is None else len(with_data)
    room = _room(rows.shape[1], model.r)
    if model.drift is not None:
        chosen = np.arange(max(n - room, 0), n)
    else:
        chosen = np.flatnonzero(_are_chosen(np.arange(first, first + n, dtype=np.uint64), room))[-room:]
    if len(chosen) == 0:
        return columns
    new = as_type(dense(few_rows(rows, chosen if with_data is None else with_data[chosen])), dtype_of(recent))
    first = max(int(recent.shape[0]) + len(chosen) - room, 0)
    return columns._replace(recent=namespace(recent).concat([recent[first:, :], new]))


def _are_chosen(k: Array, room: int) -> Array:
    """Whether the rows with these numbers are to be kept: one in p of them, the largest power of two in k/room."""
    power = np.floor(np.log2(np.maximum(k // np.uint64(room), np.uint64(1)))).astype(np.uint64)
    return np.asarray((scrambled(k) >> (np.uint64(64) - power) == 0) | (power == 0))


def scrambled(k: Array) -> Array:
    """Numbers below 2⁶⁴ that follow from k as if by chance (SplitMix64, doi:10.1145/2660193.2660195)."""
    k = (k + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    k = (k ^ (k >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    k = (k ^ (k >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(k ^ (k >> np.uint64(31)))


def _room(m: int, r: int) -> int:
    """How many rows of m columns are kept."""
    return min(MOST, max(LEAST, int(WORK / (m * r**2))))


def rows_to_look(columns: Columns, k: int, r: int) -> int | None:
    """How many rows after the k-th the kept ones are read, with r components: see LOOKS. None: never."""
    if columns.recent is None:
        return None
    if k < FIRST_LOOK:
        return FIRST_LOOK - k
    looks = LOOKS if _room(columns.recent.shape[1], r) > LEAST else 1
    step = (1 << (k.bit_length() - 1)) // looks
    return step - k % step
