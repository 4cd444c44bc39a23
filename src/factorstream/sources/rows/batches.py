"""Tables of Arrow in batches: what Parquet, Arrow's own files, data sets and data frames have in common."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np

from ...text import capitalised, column_names, counted, named_column
from ..parquet import EXACT_DIGITS
from ..table import Array, TableError, marks_of
from .counting import Counting
from .cutting import recut, rows_per_block
from .problems import named
from .source import ONLY_COUNTING, Block, OtherColumns, RowOptions

__all__ = ["SAMPLED", "BatchRows", "Batches", "arrow_problems", "as_floats", "decoded_bytes"]

SAMPLED = 1000
"""Rows whose size in memory tells how many make a block. Not tuned: a block is about as large."""


class Batches(Protocol):
    """Where the batches of a table come from."""

    @property
    def where(self) -> str:
        """Its name in messages."""

    @property
    def schema(self) -> Any:
        """Of Arrow."""

    @property
    def n_rows(self) -> int | None:
        """How many rows there are; None where that is not known."""

    @property
    def row_bytes(self) -> float:
        """About how many bytes of memory a row takes."""

    @property
    def index(self) -> Collection[str]:
        """Columns that name rows."""

    @property
    def without_gaps(self) -> Collection[str]:
        """Columns that are known to have no gaps. Whole numbers in others are written as floats."""

    def tables(self, start: int, rows: int) -> Iterable[Any]:
        """Tables of Arrow with the rows from ``start`` on, about ``rows`` in each."""


class BatchRows:
    """The rows of a table that comes in batches; ``block.kept`` is a table of Arrow."""

    rewinds = True

    def __init__(self, batches: Batches, options: RowOptions) -> None:
        self.batches = batches
        self.schema, self.all_names = batches.schema, list(batches.schema.names)
        """Of all columns, numbers or not."""
        if batches.n_rows == 0:
            raise TableError("it has no rows")
        self.positions = _positions(batches, options.columns)
        """Of the columns of numbers among all."""
        counting = _counting(batches, self.positions) if options.columns is None else []
        self.positions = [j for j in self.positions if j not in counting]
        if not self.positions:
            raise TableError(f"it has no columns of numbers{ONLY_COUNTING if counting else ''}")
        self.others = self._others(counting, chosen=options.columns is not None)
        """The other columns."""
        self.rows_read = batches.n_rows
        """How many rows there are, once they were read to the end."""
        self.names = [self.schema.names[j] for j in self.positions]
        self.n_rows, self.n_columns = batches.n_rows, len(self.positions)
        short = all(str(self.schema.types[j]) in ("float", "halffloat") for j in self.positions)
        self.dtype: np.dtype[Any] = np.dtype(np.float32 if short else np.float64)
        self._marks = marks_of(options.missing, self.dtype)
        self.whole = frozenset(() if self._marks.size else batches.without_gaps)
        """Columns without gaps."""
        row_bytes = max(batches.row_bytes, self.n_columns * self.dtype.itemsize)
        self._rows = rows_per_block(options.block_bytes, row_bytes)

    @property
    def whole_columns(self) -> frozenset[int]:
        """Which columns hold whole numbers, by their types."""
        import pyarrow as pa

        types = [self.schema.types[j] for j in self.positions]
        return frozenset(at for at, kind in enumerate(types) if pa.types.is_integer(kind))

    def blocks(self, start: int = 0) -> Iterator[Block]:
        """The rows from number ``start`` on."""
        import pyarrow as pa

        with named(self.batches.where), arrow_problems("it is damaged or cut off"):
            end = start
            for first, table in recut(self.batches.tables(start, self._rows), self._rows, start, pa.concat_tables):
                end = first + table.num_rows
                yield Block(self._numbers(table), first, table)
            self.rows_read = end

    def texts(self, block: Block, columns: Sequence[int]) -> list[list[str | None]]:
        """What some columns say in the rows of a block, column by column; None in gaps."""
        return [as_texts(block.kept.column(j), self.all_names[j]) for j in columns]

    def gaps_beside(self, block: Block) -> list[int]:
        """How many gaps each of the other columns has in the rows of a block."""
        others = [j for j in range(len(self.all_names)) if j not in self.positions]
        return [block.kept.column(j).null_count for j in others]

    def _others(self, counting: Sequence[int], *, chosen: bool) -> OtherColumns:
        others = [name for j, name in enumerate(self.all_names) if j not in self.positions]
        counted_names = tuple(self.all_names[j] for j in counting)
        if chosen:
            return OtherColumns(tuple(others), chosen=True)
        known = {*counted_names, *self.batches.index}
        return OtherColumns(
            tuple(others), texts=tuple(name for name in others if name not in known), counting=counted_names
        )

    def _numbers(self, table: Any) -> Array:
        values = np.empty((table.num_rows, self.n_columns), dtype=self.dtype)
        for at, j in enumerate(self.positions):
            values[:, at] = as_floats(table.column(j))
        if self._marks.size:
            values[np.isin(values, self._marks)] = np.nan
        return values


@contextmanager
def arrow_problems(sentence: str) -> Iterator[None]:
    """Say this of whatever Arrow cannot read; a lack of memory says nothing of the file."""
    import pyarrow as pa

    try:
        yield
    except MemoryError:  # Arrow's is one of its own problems too
        raise
    except pa.ArrowException:
        raise TableError(sentence) from None


def as_floats(column: Any) -> Array:
    """A column of numbers as floats, NaN in the gaps."""
    import pyarrow as pa

    kind = column.type if column.type in (pa.float32(), pa.float64()) else pa.float64()
    return np.asarray(column.cast(kind, safe=False).to_numpy())


def as_texts(column: Any, name: str) -> list[str | None]:
    """What a column says, as texts; None in gaps. Lists and the like are refused."""
    import pyarrow as pa

    try:
        texts: list[str | None] = column.cast(pa.string()).to_pylist()
    except (pa.ArrowException, UnicodeDecodeError):
        raise TableError(
            f"{capitalised(named_column(name))} holds {column.type}, for which a text has no room; write a .parquet or "
            ".arrow file."
        ) from None
    return texts


def decoded_bytes(batches: Iterable[Any]) -> float:
    """About how many bytes of memory a row takes, by the first batch; 0 where there is none."""
    batch = next(iter(batches), None)
    return 0.0 if batch is None or not batch.num_rows else batch.nbytes / batch.num_rows


def _is_number(kind: Any) -> bool:
    import pyarrow as pa

    if pa.types.is_decimal(kind):
        return bool(kind.precision <= EXACT_DIGITS)  # longer ones name things
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_null(kind))  # null: no value


def _counting(batches: Batches, positions: Sequence[int]) -> list[int]:
    """Positions of the columns that count rows or years. As a rule the first rows show that there are none."""
    import pyarrow as pa

    counting = Counting(len(positions))
    with arrow_problems("it is damaged or cut off"):
        for _, table in recut(batches.tables(0, SAMPLED), SAMPLED, 0, pa.concat_tables):
            values = np.full((table.num_rows, len(positions)), np.nan)
            for k in counting.undecided:
                values[:, k] = as_floats(table.column(positions[k]))
            counting.add(values)
            if not counting.undecided:
                break
    return [positions[k] for k in counting.found().tolist()]


def _positions(batches: Batches, columns: Sequence[str | int] | None) -> list[int]:
    names = list(batches.schema.names)
    if columns is None:
        return [j for j, kind in enumerate(batches.schema.types) if _is_number(kind) and names[j] not in batches.index]
    positions = []
    for column in columns:
        j = column if isinstance(column, int) else names.index(column) if column in names else -1
        if isinstance(column, int) and not 0 <= column < len(names):
            raise TableError(f"it has {counted(len(names), 'column')}, and their positions count from 0")
        if j < 0:
            raise TableError(f"it has no column {column}; it has {column_names(names)}")
        if not _is_number(batches.schema.types[j]):
            raise TableError(f"its column {names[j]} does not hold numbers")
        positions.append(j)
    return positions
