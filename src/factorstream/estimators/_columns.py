"""The columns of a table: what they hold, and how messages name them."""

from __future__ import annotations

import sys
from numbers import Real
from typing import Any

import numpy as np

from ..arrays import as_type, beside, counted, is_here, namespace, positions, to_host
from ..core.entries import Columns
from ..core.linalg import Array
from ..core.place import Tall
from ..core.robust_scale import median_and_scale
from ..text import listed
from ._elsewhere import like

ENOUGH = 500
"""Values of a column, for each column of a table, from which on more rows are not learned from. Derived: the squared
error of a linear prediction by m columns, learned from 500 m rows, is 1/500 above the least, its root 0.1%."""

ENOUGH_AT_LEAST = 10_000
"""Values of a column up to which all are learned from. Not tuned: tables of few columns take little time."""

MOST_LOTS = 4
"""Lots of so many rows that are learned from at most: a column has that many values if it is seen in a quarter of the
rows. Not tuned: the time of a fit grows with it."""

AT_LEAST = 50
"""Values that a column has at least, if there are so many, wherever some rows are drawn. Derived: some more than a
table of corrections needs of each column (30), and too few to change what other columns are like: 1 row in 40, if all
columns are so rare."""

MANY = 2**21
"""Entries that moments are taken of at once: 16 MiB. Memory only."""


def moments(X: Tall) -> tuple[Tall, Tall, Tall]:
    """Number, mean and deviation of each column's observed values; mean and deviation 0 where there are none.

    Taken in units of a power of two, so that neither squares nor sums overflow; a column of equal values has
    exactly that mean and the deviation 0, whatever the rounding.
    """
    if is_here(X) and X.size > MANY and X.shape[1] > 1:  # by halves: on the way five times the room is needed
        half = X.shape[1] // 2
        halves = zip(moments(X[:, :half]), moments(X[:, half:]), strict=True)
        count, mean, scale = (np.concatenate(both) for both in halves)
        return count, mean, scale
    xp = namespace(X)
    seen = ~xp.isnan(X)
    count = counted(seen, axis=0)
    values = as_type(xp.where(seen, X, 0.0), np.float64)
    unit = np.frexp(to_host(xp.max(xp.abs(values), axis=0)))[1]
    values = _times_power_of_two(values, -unit)
    share = 1.0 / as_type(xp.where(count > 1, count, 1), np.float64)
    mean = xp.sum(values, axis=0) * share
    mean += xp.sum(xp.where(seen, values - mean, 0.0), axis=0) * share  # what rounding left of a large offset
    scale = xp.sqrt(xp.sum(xp.square(xp.where(seen, values - mean, 0.0)), axis=0) * share)
    least = xp.min(xp.where(seen, values, np.inf), axis=0)
    constant = least >= xp.max(xp.where(seen, values, -np.inf), axis=0)  # also where nothing is observed
    mean = xp.where(constant & (count > 0), least, mean)
    scale = _times_power_of_two(xp.where(constant, 0.0, scale), unit)
    tiny = float(np.finfo(np.float64).tiny)
    return count, _times_power_of_two(mean, unit), xp.where(scale < tiny, 0.0, scale)


def _times_power_of_two(values: Any, power: Array) -> Any:
    """Values (… × m) times 2^power, for each column its own."""
    if is_here(values):
        return np.ldexp(values, power)
    half = power // 2  # a power of two may be no number where its square root is one
    return values * beside(np.ldexp(1.0, half), values) * beside(np.ldexp(1.0, power - half), values)


def robust_moments(X: Tall, mean: Tall, scale: Tall) -> tuple[Tall, Tall]:
    """Median and scaled median absolute deviation of each column, or what is given where that deviation is zero."""
    means, scales, varies = np.array(to_host(mean)), np.array(to_host(scale)), positions(scale > 0)
    by_column = Columns(X, varies)
    for j in varies.tolist():
        middle, spread = median_and_scale(by_column(j)[1].astype(np.float64))
        if spread > 0:
            means[j], scales[j] = middle, spread
    return beside(means, X), beside(scales, X)


def enough_rows(X: Tall) -> Tall:
    """X (n, m), or so many of its rows, drawn at random, that every column has ENOUGH values for each column, and no
    fewer than ENOUGH_AT_LEAST, or all of them.

    Rows are drawn in lots, whatever their gaps: where gaps depend on values that are seen, rows chosen by their gaps
    would be other rows than those that are asked about. After MOST_LOTS of them columns that are rarely seen have fewer
    values than that. Only a column with fewer than AT_LEAST gets so many from rows in which it is seen.
    """
    if not is_here(X):
        return X
    n, m = X.shape
    lot = max(ENOUGH * m, ENOUGH_AT_LEAST)
    order, count = np.random.default_rng(0).permutation(n), np.zeros(m, dtype=np.int64)
    for last in range(lot, min(n, MOST_LOTS * lot + 1), lot):
        count += np.count_nonzero(~np.isnan(X[order[last - lot : last]]), axis=0)
        if (count >= lot).all():
            break
    else:
        last = min(n, MOST_LOTS * lot)
    return X if last == n else X[first_rows_and_rare(X, order, last)]


def first_rows_and_rare(X: Array, order: Array, n: int) -> Array:
    """Numbers of the first n rows of X (…, m) in this order, going up, and of some further ones for rare columns.

    A column with fewer than AT_LEAST values among the first n gets so many from rows in which it is seen, and one whose
    values are all equal there a row with another value, if there are such.
    """
    if n >= len(order):
        return np.sort(order)
    some, rest = X[order[:n]], order[n:]
    seen = ~np.isnan(some)
    count = np.count_nonzero(seen, axis=0)
    least, greatest = np.min(some, 0, where=seen, initial=np.inf), np.max(some, 0, where=seen, initial=-np.inf)
    chosen = [order[:n]]
    for j in np.flatnonzero((count < AT_LEAST) | (least >= greatest)):
        x = X[rest, j]
        there = np.flatnonzero(~np.isnan(x))
        rare = there[: max(AT_LEAST - count[j], 0)]
        value = least[j] if count[j] else x[there[:1]]
        alike = least[j] >= greatest[j] and not np.any(x[rare] != value)
        others = there[x[there] != value][:1] if alike else there[:0]
        chosen += [rest[rare], rest[others]]
    return np.unique(np.concatenate(chosen))


def means_nan(value: Any) -> bool:
    """Whether a marker of missing values is NaN, or pandas.NA, which becomes NaN in an array of floats."""
    pandas = sys.modules.get("pandas")
    return value != value if isinstance(value, Real) else pandas is not None and value is pandas.NA


def like_table(values: Tall, X: Any, kept: Tall | None = None) -> Any:
    """The values as a table with the rows and columns of X, where X is a table of pandas or polars; else as they are.

    Where X is an array, they are one of its library, on its device. ``kept``: which columns of X they are, where some
    were dropped (boolean).
    """
    values = like(values, X)
    if type(X) is np.ndarray:
        return values
    kept = to_host(kept)
    pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
    if pandas is not None and isinstance(X, pandas.DataFrame):
        return pandas.DataFrame(values, index=X.index, columns=X.columns if kept is None else X.columns[kept])
    if polars is not None and isinstance(X, polars.DataFrame):
        names = [name for k, name in enumerate(X.columns) if kept is None or kept[k]]
        return polars.DataFrame(values, schema=names, orient="row")
    return values


def marked(which: Tall, names: Array | None = None) -> str:
    """The first few of the features marked, by name where there are names, for a message."""
    columns = positions(which)
    return listed(columns if names is None else names[columns])
