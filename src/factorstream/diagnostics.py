"""Does being missing depend on what is observed? A test for every column of a table."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr
from scipy.stats import rankdata

from .arrays import to_host
from .text import counted, listed

__all__ = ["Missingness", "missingness"]

Array = NDArray[Any]

MIN_GROUP = 8
"""Least rows with and without a gap that are compared: from 8 on the rank sum is nearly normal (Mann and Whitney,
1947)."""


class Missingness(NamedTuple):
    """What ``missingness`` has found, one entry per column."""

    columns: tuple[object, ...]
    """Names, or positions where there are none."""
    n_missing: Array
    """Gaps."""
    p_values: Array
    """Corrected p-values; NaN for columns that cannot be tested, with fewer than 8 gaps or 8 values beside others."""
    related: tuple[object, ...]
    """The column whose values differ most between rows with and without a gap here; None where nothing was tested."""
    higher: Array
    """Whether those values are higher where there is a gap."""
    level: float

    @property
    def depends(self) -> Array:
        """Columns whose gaps depend on what is observed, at this level."""
        return np.asarray(self.p_values <= self.level)  # NaN is not

    def __str__(self) -> str:
        found, tested = np.flatnonzero(self.depends), int(np.count_nonzero(~np.isnan(self.p_values)))
        if not tested:
            return "No column has enough gaps and values to be tested."
        if not found.size:
            return (
                f"Nothing observed says where the gaps are ({counted(tested, 'column')} tested). "
                "Whether they depend on the missing values themselves cannot be seen."
            )
        order = found[np.argsort(self.p_values[found], kind="stable")]
        parts = [
            f"{self.columns[i]} (where {self.related[i]} is {'high' if self.higher[i] else 'low'}, "
            f"p = {self.p_values[i]:.2g})"
            for i in order
        ]
        return (
            f"Gaps depend on what is observed in {len(found)} of {counted(tested, 'tested column')}: {listed(parts)}. "
            "They may depend on the missing values as well: intervals there may hold less than they say."
        )


def missingness(X: Any, level: float = 0.05) -> Missingness:
    """Test, for every column, whether its gaps depend on the observed values of the other columns.

    Rows with a gap in the column are compared with the others by the ranks of every other column's values (Wilcoxon,
    Mann and Whitney), so that only order counts, whatever the units or outliers. The smallest p-value of a column is
    multiplied by the number of its comparisons (Bonferroni), then the columns are corrected for one another (Benjamini
    and Hochberg). If nothing depends on anything, the chance that any column is named is at most ``level``.

    It sees gaps that become more, or fewer, along with another column's values. It does not see gaps that depend on the
    missing value alone, where no observed column is related to it; gaps at both ends of another column; or gaps that
    depend on combinations of columns. Dependence that it finds does not spoil intervals if the column it names is among
    the data of the fit and explains all of it; it is a reason to ask how the gaps came about. Cost O(n m²).

    Parameters
    ----------
    X : array or data frame (n_samples, n_features)
        NaN marks a missing entry.
    level : float, default=0.05
        Most chance of naming any column where all gaps are at random.

    Examples
    --------
    >>> import numpy as np
    >>> from factorstream import missingness
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 3))
    >>> X[rng.random(300) < 0.3, 1] = np.nan  # at random
    >>> X[X[:, 2] > 0.8, 0] = np.nan  # a sensor that fails when it is hot
    >>> found = missingness(X)
    >>> found.depends
    array([ True, False, False])
    >>> found.related[0], bool(found.higher[0])  # missing where column 2 is high
    (2, True)
    >>> str(found).split(":")[0]
    'Gaps depend on what is observed in 1 of 2 tested columns'
    """
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must lie strictly between 0 and 1; got {level!r}.")
    X = to_host(X)
    values = _numbers(X)
    columns = tuple(getattr(X, "columns", range(values.shape[1])))
    gaps = np.isnan(values)
    z, tested = _scores(values, gaps)
    strongest = np.argmax(np.where(tested, np.abs(z), -1.0), axis=1)
    comparisons = tested.sum(axis=1)
    best = z[np.arange(len(z)), strongest]
    p = np.where(comparisons > 0, np.minimum(2.0 * ndtr(-np.abs(best)) * comparisons, 1.0), np.nan)
    return Missingness(
        columns,
        gaps.sum(axis=0),
        _corrected(p),
        tuple(columns[j] if some else None for j, some in zip(strongest, comparisons, strict=True)),
        best > 0,
        float(level),
    )


def _numbers(X: Any) -> Array:
    """X as a table of finite numbers and NaN; what is neither is refused, by its row and column."""
    try:
        if isinstance(X, np.ma.MaskedArray):
            values = np.ma.filled(X.astype(float), np.nan)
        else:
            values = np.asarray(X, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(_first_text(X)) from None
    if values.ndim != 2 or 0 in values.shape:
        raise ValueError(f"X must be a table of rows and columns; got shape {values.shape}.")
    if np.isinf(values).any():
        row, column = np.argwhere(np.isinf(values))[0]
        name = repr(X.columns[column]) if hasattr(X, "columns") else column
        raise ValueError(
            f"X contains infinity at row {row}, column {name}; "
            "replace it by NaN to mark the entry as missing, or by a finite number."
        )
    return values


def _first_text(X: Any) -> str:
    """The sentence about the first entry of X that is no number."""
    try:
        entries = np.asarray(X, dtype=object)
    except ValueError:  # NumPy has no array for lists whose parts have shapes that do not fit together
        entries = np.zeros(0)
    if entries.ndim != 2:
        return "X must be a table of rows and columns, all rows of one length."
    names = list(getattr(X, "columns", range(entries.shape[1])))
    for (row, column), entry in np.ndenumerate(entries):
        try:
            float(entry)
        except (TypeError, ValueError):
            return (
                f"Column {names[column]!r} of X has {str(entry)!r:.50} in row {row}, which is no number; drop the "
                "column, or put NaN where a value is missing."
            )
    return "X must be a table of numbers."


def _scores(values: Array, gaps: Array) -> tuple[Array, Array]:
    """Normal scores (m, m) of the rank sums: entry (i, j) compares column j between rows with and without a gap in i.

    Also whether the two have enough rows to be compared.
    """
    m = values.shape[1]
    z, tested = np.zeros((m, m)), np.zeros((m, m), dtype=bool)
    for j in range(m):
        there = ~gaps[:, j]
        x, missing = values[there, j], gaps[there].astype(float)
        n, n1 = float(len(x)), missing.sum(axis=0)
        _, ties = np.unique(x, return_counts=True)
        spread = (n + 1.0) - float(np.sum(ties.astype(float) ** 3 - ties)) / max(n * (n - 1.0), 1.0)
        tested[:, j] = (n1 >= MIN_GROUP) & (n - n1 >= MIN_GROUP) & (spread > 1e-9 * n)  # a constant has no ranks
        away = missing.T @ rankdata(x) - 0.5 * n1 * (n + 1.0)
        away = np.sign(away) * np.maximum(np.abs(away) - 0.5, 0.0)  # rank sums are whole: correction for continuity
        variance = np.where(tested[:, j], n1 * (n - n1) * spread / 12.0, np.inf)
        z[:, j] = away / np.sqrt(variance)
    return z, tested


def _corrected(p: Array) -> Array:
    """p-values adjusted for the number of tests, so that the share of false findings is bounded; NaN stays NaN.

    The method is that of Benjamini and Hochberg (1995).
    """
    out = p.copy()
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known])][::-1]  # largest first
    if order.size:
        out[order] = np.minimum.accumulate(p[order] * order.size / np.arange(order.size, 0, -1))
    return out
