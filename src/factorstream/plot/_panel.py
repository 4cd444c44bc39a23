"""Tables as pictures need them: numbers, names of columns, and where the rows lie on an axis."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from ..arrays import to_host
from ..core.linalg import is_sparse
from ..estimators._refused_columns import refuse_no_numbers
from ..estimators._times import Table, datetimes, split_table
from ..estimators._validation import refuse_no_table
from ..tall.rows import dense
from ..text import listed

Array = NDArray[Any]


class Panel(NamedTuple):
    """The numbers of a table and what is written beside them."""

    values: Array
    """(n, m), NaN where missing."""
    columns: tuple[Any, ...]
    """The column names of the table, or 0, 1, … if it has none."""
    x: Array
    """(n,) time stamps in UTC (datetime64), the numbers of a table's index, or the numbers of the rows."""
    zone: Any = None
    """Time zone in which time stamps are shown; None: that of the data, without a name."""
    named: bool = False
    row_word: str = "row"

    @property
    def dated(self) -> bool:
        """Whether the rows have time stamps."""
        return self.x.dtype.kind == "M"

    @property
    def names(self) -> tuple[str, ...]:
        """What the columns are called in a picture."""
        return tuple(str(name) if self.named else f"column {name}" for name in self.columns)


def read_table(X: Any) -> Panel:
    """X, an array, sparse rows or a table of pandas or polars, as a panel."""
    X = to_host(X)
    if is_sparse(X):
        rows = X.tocsr().astype(np.float64)
        return Panel(dense(rows), tuple(range(rows.shape[1])), np.arange(rows.shape[0], dtype=np.float64))
    refuse_no_table(X)
    if isinstance(X, np.ma.MaskedArray):
        X = np.ma.filled(X.astype(np.float64), np.nan)
    numbers, table = split_table(X)
    refuse_no_numbers(numbers)
    values = check_array(numbers, dtype=np.float64, ensure_all_finite=False)
    named = table.library is not None
    columns = tuple(table.columns) if named else tuple(range(values.shape[1]))
    return Panel(values, columns, *_places(table, len(values)), named=named, row_word=_row_word(table))


def _places(table: Table, n: int) -> tuple[Array, Any]:
    """Where the rows lie, and their time zone."""
    times, labels = table.times, table.labels
    if times is not None and table.library == "polars":
        zone = getattr(times.dtype, "time_zone", None)
        if zone is not None:
            times = times.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return times.to_numpy(), zone
    if times is not None:
        stamps = datetimes(times)
        return stamps.tz_convert(None).to_numpy() if stamps.tz is not None else stamps.to_numpy(), stamps.tz
    if labels is not None and labels.dtype.kind in "iuf":
        numbers = labels.to_numpy(dtype=np.float64)
        if (np.diff(numbers) > 0).all():
            return numbers, None
    return np.arange(n, dtype=np.float64), None


def _row_word(table: Table) -> str:
    """What the axis of the rows is called: by the name of a table's index, if it has one."""
    name = getattr(table.labels, "name", None)
    return "row" if name is None else str(name)


def chosen_columns(panel: Panel, columns: Any, default: Iterable[int]) -> list[int]:
    """The places of the columns that a caller named, by name or by number; the default where none were named."""
    if columns is None:
        return list(default)
    wanted = [columns] if isinstance(columns, str | int | np.integer) else list(columns)
    places = {name: place for place, name in reversed(list(enumerate(panel.columns)))}
    found = []
    for name in wanted:
        if name in places:
            found.append(places[name])
        elif isinstance(name, int | np.integer) and -len(panel.columns) <= name < len(panel.columns):
            found.append(int(name) % len(panel.columns))
        else:
            raise ValueError(f"There is no column {name!r}; the columns are {listed(panel.columns)}.")
    if not found:
        raise ValueError("columns is empty; name at least one column, or leave it out.")
    return found
