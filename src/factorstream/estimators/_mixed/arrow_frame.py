"""Tables of Arrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow
import pyarrow.compute

from ...core.linalg import Array
from .cells import (
    CATEGORY,
    DAY,
    DAY_SECONDS,
    DECIMAL,
    DURATION,
    FLOAT,
    LABELS,
    NUMBERS,
    OTHER,
    PER_SECOND,
    TEXT,
    TIME,
    TRUTH,
    WHOLE,
    Cells,
    KeptLabels,
    ends,
    labelled,
    ticks,
    whole,
    with_more,
)

WITHOUT_TYPE = {
    FLOAT: pyarrow.float64(),
    DECIMAL: pyarrow.float64(),
    WHOLE: pyarrow.int64(),
    TIME: pyarrow.timestamp("us"),
    DAY: pyarrow.date32(),
    DURATION: pyarrow.duration("us"),
    TRUTH: pyarrow.bool_(),
}
"""What a column that has nothing but gaps, and no type, becomes; text otherwise."""


class ArrowFrame(KeptLabels):
    """A table of Arrow."""

    def __init__(self, X: Any) -> None:
        super().__init__()
        self.X, self.names, self.mapped = X, list(X.column_names), X.nbytes
        self.is_array = False

    def held(self, j: int) -> str:
        """What column j holds."""
        kind, are = self.X.schema.types[j], pyarrow.types
        if are.is_dictionary(kind):
            return CATEGORY
        by_type = [
            (are.is_boolean, TRUTH),
            (are.is_integer, WHOLE),
            (are.is_floating, FLOAT),
            (are.is_decimal, DECIMAL),
            (are.is_timestamp, TIME),
            (are.is_date, DAY),
            (are.is_duration, DURATION),
            (_is_text, TEXT),
        ]
        return next((held for is_it, held in by_type if is_it(kind)), OTHER)

    def _cells(self, j: int) -> Cells:
        column, held = self.column(j), self.held(j)
        if held in NUMBERS:
            numbers = _numbers(column, held)
            return Cells(held, np.isnan(numbers), numbers=numbers)
        if held not in LABELS:
            return Cells(held, column.is_null().to_numpy())
        coded = column if pyarrow.types.is_dictionary(column.type) else column.dictionary_encode()
        coded = coded.unify_dictionaries().combine_chunks()
        if isinstance(coded, pyarrow.ChunkedArray):  # of no rows
            return labelled(held, np.empty(0), [])
        codes = coded.indices.cast(pyarrow.int64()).fill_null(-1).to_numpy()  # -1 is beyond unsigned types
        return labelled(held, codes, coded.dictionary.to_pylist(), in_order=coded.type.ordered)

    def column(self, j: int) -> Any:
        """Column j as it is."""
        return self.X.column(j)

    def with_numbers(self, j: int, where: Array, numbers: Array, held: str) -> Any:
        """Column j with these numbers (n,) in the rows marked (n,), in its own type; NaN is a gap."""
        column, held = self._typed(j, held)
        kind, numbers = column.type, np.where(where, numbers, np.nan)
        if held in (FLOAT, DECIMAL):
            new = pyarrow.array(numbers, from_pandas=True).cast(kind, safe=False)
        elif held == WHOLE:
            least, greatest = ends(kind.bit_width, pyarrow.types.is_signed_integer(kind))
            new = pyarrow.array(whole(numbers, least, greatest), type=kind)
        elif held == DAY:
            days = pyarrow.array(ticks(numbers, 1.0 / DAY_SECONDS), type=pyarrow.int64())
            new = days.cast(pyarrow.int32()).cast(pyarrow.date32()).cast(kind)
        else:
            new = pyarrow.array(ticks(numbers, PER_SECOND[kind.unit]), type=pyarrow.int64()).cast(kind)
        return pyarrow.compute.if_else(pyarrow.array(where), new, column)

    def with_labels(self, j: int, where: Array, codes: Array, levels: Sequence[Any]) -> Any:
        """Column j with labels in the rows marked (n,), by their numbers (n,) among ``levels``, in its own type; None
        is a gap."""
        column, _ = self._typed(j, TRUTH if any(isinstance(one, bool) for one in levels) else TEXT)
        kind = column.type
        if pyarrow.types.is_dictionary(kind):
            return self._with_codes(j, kind, where, codes, levels)
        if str(kind) == "string_view":  # of which nothing can be taken
            column = column.cast(pyarrow.string())
        new = pyarrow.array(levels, type=column.type).take(pyarrow.array(np.where(where, codes, 0)))
        return pyarrow.compute.if_else(pyarrow.array(where), new, column).cast(kind)

    def _with_codes(self, j: int, kind: Any, where: Array, codes: Array, levels: Sequence[Any]) -> Any:
        """The same of a column whose type has labels of its own, which stay, in their order."""
        cells, needed = self.cells(j), set(codes[where].tolist())
        some = [one for k, one in enumerate(levels) if one is not None and (k in needed or one in cells.levels)]
        every = with_more(cells.levels, some)
        own = np.array([*map(every.index, cells.levels), -1])
        new = np.array([every.index(one) if one in some else -1 for one in levels])
        found = np.where(where, new[np.where(where, codes, 0)], own[cells.codes])
        indices = pyarrow.array(found, mask=found < 0).cast(kind.index_type)
        labels = pyarrow.array(every, type=kind.value_type)
        return pyarrow.DictionaryArray.from_arrays(indices, labels, ordered=kind.ordered)

    def _typed(self, j: int, held: str) -> tuple[Any, str]:
        """Column j, with a type where it has none, and what it holds."""
        column = self.column(j)
        if pyarrow.types.is_null(column.type):
            return column.cast(WITHOUT_TYPE.get(held, pyarrow.string())), held
        return column, self.held(j)

    def of_numbers(self, numbers: Array) -> Any:
        """A column of numbers."""
        return pyarrow.array(numbers)

    def of_truth(self, values: Array) -> Any:
        """A column of true and false."""
        return pyarrow.array(values)

    def of_sets(self, j: int, sets: list[tuple[Any, ...]]) -> Any:
        """A column whose entries are several labels of column j each."""
        return pyarrow.array([list(one) for one in sets])

    def table(self, names: Sequence[Any], columns: Sequence[Any], own: Sequence[int] = ()) -> Any:
        """A table of the library, with the rows of this one. The first columns answer the ``own`` ones, by number, and
        keep what a schema says of these beside their types."""
        fields = [pyarrow.field(str(name), column.type) for name, column in zip(names, columns, strict=True)]
        for k, j in enumerate(own):
            given = self.X.schema.field(j)
            if given.type == fields[k].type:
                fields[k] = given.with_nullable(given.nullable or columns[k].null_count > 0)
        return pyarrow.table(list(columns), schema=pyarrow.schema(fields, self.X.schema.metadata if own else None))


def _is_text(kind: Any) -> bool:
    return str(kind) in ("string", "large_string", "string_view")  # the last is not in every version


def _numbers(column: Any, held: str) -> Array:
    """The numbers of a column; NaN in gaps."""
    if held in (TIME, DURATION):
        column, by = column.cast(pyarrow.int64()), 1.0 / PER_SECOND[column.type.unit]
    elif held == DAY:
        column, by = column.cast(pyarrow.date32()).cast(pyarrow.int32()), DAY_SECONDS
    else:
        by = 1.0
    numbers = column.cast(pyarrow.float64(), safe=False).to_numpy()
    return np.array(numbers, dtype=np.float64) * by
