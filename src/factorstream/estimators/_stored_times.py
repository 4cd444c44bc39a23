"""Columns and time stamps of a table as plain data, so that a model's state can be written to a file, and back."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, NamedTuple

import numpy as np

from ..core.linalg import Array
from ._stored_zones import zone, zone_text
from ._times import Label, Table, Times, library_of

PandasIndex = Any
"""A pandas.Index."""


class StoredStamp(NamedTuple):
    """A date or time that was an object of Python or pandas."""

    kind: str  # "date", "datetime" or "timestamp"
    text: str  # ISO 8601
    zone: str | None = None  # see `zone_text`


Cell = Any
"""A label: None, a bool, number or string, a StoredStamp, or a tuple of these."""


class StoredOffset(NamedTuple):
    """A frequency of pandas that its short name does not tell in full, as business days with holidays."""

    name: str  # of the class in pandas.offsets
    n: int
    normalize: bool
    keywords: dict[str, Cell]


class StoredIndex(NamedTuple):
    """The labels of rows or columns."""

    kind: str  # "datetime", "timedelta", "period", "range", "number", "object", "multi" or "polars"
    values: Array | tuple[Cell, ...]  # ticks since 1970 or numbers as an array; else labels, or the levels of "multi"
    name: Cell = None
    dtype: str = ""  # the unit of datetimes and timedeltas, the dtype of objects
    zone: str | None = None
    freq: str | StoredOffset | None = None


class StoredTable(NamedTuple):
    """What the tables of a stream were besides their numbers, for the last rows: `Table` as plain data."""

    library: str | None = None
    labels: StoredIndex | None = None  # of the rows; None too where the time stamps are the index
    columns: StoredIndex | None = None
    column: Cell = None
    place: int = 0
    times: StoredIndex | None = None
    form: str | None = None  # of the time stamps in the file that they came from, if it was a text


def store_table(table: Table) -> StoredTable:
    """A table as plain data. Labels that are none of numbers, strings, dates and times are dropped."""
    if table.library is None:
        return StoredTable()
    polars = table.library == "polars"
    columns = _store_objects(table.columns, "object", None) if polars else store_index(table.columns)
    if columns is None:
        columns = _store_objects(map(str, table.columns), "object", None)
    times = None if table.times is None else _store_polars(table.times) if polars else store_times(table.times)
    indexed = times is not None and table.column is None
    labels = None if table.labels is None or indexed else store_index(table.labels)
    return StoredTable(table.library, labels, columns, store_label(table.column), table.place, times)


def restore_table(stored: StoredTable) -> Table:
    """The table that `store_table` was given, up to the labels that it dropped."""
    if stored.library is None:
        return Table()
    label = restore_label(stored.column)
    if stored.library == "polars":
        times = None if stored.times is None else _restore_polars(stored.times)
        names = () if stored.columns is None else tuple(stored.columns.values)
        return Table("polars", None, names, label, stored.place, times)
    labels, columns, times = (
        None if part is None else restore_index(part) for part in (stored.labels, stored.columns, stored.times)
    )
    if times is not None and label is None:
        labels = times
    return Table("pandas", labels, () if columns is None else columns, label, stored.place, times)


# ---------------------------------------------------------------- one label


def store_label(value: Label) -> Cell:
    """A label as plain data; TypeError where it is none of those that can be."""
    if isinstance(value, np.generic) and not isinstance(value, np.datetime64 | np.timedelta64):
        value = value.item()
    if value is None or type(value) in (str, bool, int, float):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, tuple):
        return tuple(store_label(part) for part in value)
    if isinstance(value, datetime):
        kind = "timestamp" if hasattr(value, "nanosecond") else "datetime"
        return StoredStamp(kind, value.replace(tzinfo=None).isoformat(), zone_text(value.tzinfo))
    if type(value) is date:
        return StoredStamp("date", value.isoformat())
    raise TypeError(f"Labels of type {type(value).__name__} cannot be stored.")


def restore_label(cell: Cell) -> Label:
    """The label that `store_label` was given."""
    if isinstance(cell, StoredStamp):
        if cell.kind == "date":
            return date.fromisoformat(cell.text)
        if cell.kind == "datetime":
            return datetime.fromisoformat(cell.text).replace(tzinfo=zone(cell.zone))
        return library_of("pandas").Timestamp(cell.text).tz_localize(zone(cell.zone))
    return tuple(map(restore_label, cell)) if isinstance(cell, tuple) else cell


# ---------------------------------------------------------------- an index of pandas


def store_index(index: PandasIndex) -> StoredIndex | None:
    """An index as plain data; None where its labels cannot be."""
    try:
        return _plain_index(index)
    except TypeError:
        return None


def store_times(times: PandasIndex) -> StoredIndex:
    """Time stamps as plain data; ValueError where they cannot be, for the next row must come after them."""
    try:
        return _plain_index(times)
    except TypeError as problem:
        raise ValueError(
            "The time stamps of X cannot be kept for the rows to come, because their time zone or name is not plain "
            "data; convert them, as X.tz_convert('UTC') does, name them by a string, or drop them."
        ) from problem


def _plain_index(index: PandasIndex) -> StoredIndex:
    """An index as plain data; TypeError where its labels cannot be."""
    pandas = library_of("pandas")
    if isinstance(index, pandas.MultiIndex):
        return StoredIndex("multi", tuple(_plain_index(index.get_level_values(k)) for k in range(index.nlevels)))
    name = store_label(index.name)
    if isinstance(index, pandas.RangeIndex):
        return StoredIndex("range", (index.start, index.stop, index.step), name)
    if isinstance(index, pandas.DatetimeIndex):
        return StoredIndex(
            "datetime", index.asi8.copy(), name, index.unit, zone_text(index.tz), store_frequency(index.freq)
        )
    if isinstance(index, pandas.TimedeltaIndex):
        return StoredIndex("timedelta", index.asi8.copy(), name, index.unit, None, store_frequency(index.freq))
    if isinstance(index, pandas.PeriodIndex):
        return StoredIndex("period", index.asi8.copy(), name, freq=index.freqstr)
    if isinstance(index.dtype, np.dtype) and index.dtype.kind in "biufc":
        return StoredIndex("number", index.to_numpy().copy(), name)
    return _store_objects(index, str(index.dtype), name)


def _store_objects(labels: Any, dtype: str, name: Cell) -> StoredIndex:
    return StoredIndex("object", tuple(map(store_label, labels)), name, dtype)


def restore_index(stored: StoredIndex) -> PandasIndex:
    """The index that `store_index` was given."""
    pandas = library_of("pandas")
    name, values = restore_label(stored.name), stored.values
    if stored.kind == "multi":
        return pandas.MultiIndex.from_arrays(list(map(restore_index, values)))
    if stored.kind == "range":
        return pandas.RangeIndex(*values, name=name)
    if stored.kind == "number":
        return pandas.Index(values, name=name)
    if stored.kind == "object":
        return pandas.Index(list(map(restore_label, values)), dtype=stored.dtype, name=name, tupleize_cols=False)
    ticks = np.asarray(values)
    if stored.kind == "period":
        dtype = pandas.PeriodDtype(stored.freq)
        return pandas.PeriodIndex(pandas.arrays.PeriodArray(ticks, dtype=dtype), name=name)
    if stored.kind == "timedelta":
        index = pandas.TimedeltaIndex(ticks.view(f"m8[{stored.dtype}]"), name=name)
    else:
        index = pandas.DatetimeIndex(ticks.view(f"M8[{stored.dtype}]"), name=name)
        if stored.zone is not None:
            index = index.tz_localize("UTC").tz_convert(zone(stored.zone))
    if stored.freq is not None:
        index.freq = restore_frequency(stored.freq)
    return index


def store_frequency(freq: Any) -> str | StoredOffset | None:
    """An offset of pandas as plain data; None where it cannot be, so that the step is inferred again."""
    if freq is None:
        return None
    try:
        if library_of("pandas").tseries.frequencies.to_offset(freq.freqstr) == freq:
            return str(freq.freqstr)
    except ValueError:  # a name that tells less than the whole
        pass
    try:
        keywords = {key: _store_keyword(value) for key, value in freq.kwds.items() if key not in ("calendar", "offset")}
        stored = StoredOffset(type(freq).__name__, int(freq.n), bool(freq.normalize), keywords)
        return stored if restore_frequency(stored) == freq else None
    except (TypeError, ValueError, AttributeError):
        return None


def _store_keyword(value: Any) -> Cell:
    """Of an offset: holidays are days, opening hours are times of the day."""
    if isinstance(value, tuple):
        return tuple(map(_store_keyword, value))
    if isinstance(value, np.datetime64):
        return str(value)
    return value.strftime("%H:%M") if hasattr(value, "strftime") else store_label(value)


def restore_frequency(stored: str | StoredOffset) -> Any:
    """The offset that `store_frequency` was given."""
    pandas = library_of("pandas")
    if isinstance(stored, str):
        return pandas.tseries.frequencies.to_offset(stored)
    keywords = {key: list(value) if key == "holidays" else value for key, value in stored.keywords.items()}
    kind = getattr(pandas.offsets, stored.name, None)
    if not (isinstance(kind, type) and issubclass(kind, pandas.offsets.BaseOffset)):
        raise ValueError(f"{stored.name} is not a frequency of the pandas that is installed; drop the time stamps.")
    return kind(stored.n, stored.normalize, **keywords)


# ---------------------------------------------------------------- a series of polars


def _store_polars(times: Times) -> StoredIndex:
    unit = getattr(times.dtype, "time_unit", None)
    return StoredIndex(
        "polars",
        times.to_physical().to_numpy().astype(np.int64),
        times.name,
        "date" if unit is None else unit,
        getattr(times.dtype, "time_zone", None),
    )


def _restore_polars(stored: StoredIndex) -> Times:
    polars = library_of("polars")
    numbers = polars.Series(stored.name, np.asarray(stored.values))
    if stored.dtype == "date":
        return numbers.cast(polars.Int32).cast(polars.Date)
    return numbers.cast(polars.Datetime(stored.dtype, stored.zone))
