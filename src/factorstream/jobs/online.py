"""Fill a text row by row as it arrives, in constant memory: each row with what the rows so far have taught."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..estimators._absurd import AbsurdValueWarning
from ..estimators.dictionary_filter import DictionaryFilter
from ..sources.cells import has_decimal_comma, rewritten
from ..sources.columns import take_names
from ..sources.stream import Row, TextStream
from ..sources.table import Array, TableError
from ..sources.timeline import EVEN, LEAST_ROWS
from ..text import clause, column_names, named_column
from .filling import n_beyond

__all__ = ["Counts", "OnlineFilling"]

COMPONENTS = 10
"""Unless their number is given: the default of `DictionaryFilter`."""


class Counts(NamedTuple):
    """What has been done so far."""

    rows: int = 0
    filled: int = 0
    left: int = 0
    """Gaps left empty, because nothing was known of their columns."""
    texts: int = 0
    """Cells that are no numbers in columns of numbers; they stay as they are."""
    absurd: int = 0
    """Rows with values out of all proportion, which the model took as missing."""
    below: int = 0
    """Fills that are lower than every value that their column had until then."""
    above: int = 0
    """Fills that are greater than every such value."""


class OnlineFilling:
    """The rows of a stream with their gaps filled. Iterate over `lines`; ``counts`` and ``model`` follow.

    Columns are those of the model or, without one, those whose first cell is a number or a gap. A row is learned from
    first and then filled. A gap of a column of which no value has come yet is left as it is.
    """

    def __init__(
        self, stream: TextStream, *, level: float | None, components: int | None, seed: int, model: Any = None
    ) -> None:
        self._stream, self._level = stream, level
        self.counts = Counts()
        if model is None:
            self._columns = [j for j, cell in enumerate(stream.first.cells) if self._may_be_number(cell)]
            model = DictionaryFilter(components or COMPONENTS, random_state=seed)
        else:
            self._columns = self._of(model)
        if not self._columns:
            why = f" ({clause(stream.first_line)})" if stream.first_line else ""
            raise TableError(f"the first row has neither a number nor a gap{why}")
        self._refuse_decimal_commas()
        self.model = model
        self._known = self._known_to(model)
        self._fitted_before = bool(self._known.any())
        n = len(self._columns)
        self._low, self._high = np.full(n, np.inf), np.full(n, -np.inf)
        self._step, self._last = np.full(n, np.nan), np.full(n, np.nan)
        self._goes_up = np.ones(n, dtype=bool)
        self.first_text = ""
        """The first text among numbers, and its column, in words; empty where there is none."""

    @property
    def names(self) -> list[str]:
        """Of the columns that the model knows."""
        return [self._stream.names[j] for j in self._columns]

    @property
    def counting(self) -> list[str]:
        """Columns that have gone up by equal steps so far: they count rows, and are known only afterwards."""
        up = self._goes_up & (self._step > 0.0) if self.counts.rows >= LEAST_ROWS else ()
        return [self.names[at] for at in np.flatnonzero(up)]

    def lines(self) -> Iterator[bytes]:
        """The text with its gaps filled, line by line."""
        stream = self._stream
        if stream.header is not None:
            header = self._beside(
                stream.header.cells, lambda j: [self._bound_name(j, side) for side in ("lower", "upper")]
            )
            yield stream.mark.encode() + stream.encoded(header, stream.header.end)
        for row in stream.rows():
            yield stream.encoded(row.cells if stream.is_blank(row) else self._filled(row), row.end)

    # ---------------------------------------------------------------- one row

    def _filled(self, row: Row) -> list[str]:
        values, gaps = self._stream.numbers(row, self._columns)
        no_numbers = np.isnan(values[0]) & ~np.array(gaps)
        texts = int(np.count_nonzero(no_numbers))
        if texts and not self.first_text:
            at = int(np.argmax(no_numbers))
            text = self._stream.cells.text(row.cells[self._columns[at]])
            self.first_text = f"{text!r:.50} in line {row.line} of {named_column(self.names[at])}"
        with warnings.catch_warnings(record=True) as warned:  # one sentence for each absurd value would not end
            warnings.simplefilter("always", UserWarning)
            self.model.partial_fit(values)
            self._known |= ~np.isnan(values[0])
            open_gaps = np.array(gaps) & self._known
            answer, lower, upper = self._answer(values, open_gaps)
        absurd = any(issubclass(one.category, AbsurdValueWarning) for one in warned)
        for one in warned:
            if not issubclass(one.category, AbsurdValueWarning):
                warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
        cells = list(row.cells)
        for at in np.flatnonzero(open_gaps).tolist():
            cells[self._columns[at]] = self._stream.cells.written(answer[at])
        filled, left = int(open_gaps.sum()), int(np.count_nonzero(gaps)) - int(open_gaps.sum())
        old = self.counts
        self._follow(values[0])
        below, above = (0, 0) if self._fitted_before else n_beyond(answer, open_gaps, self._low, self._high)
        new = Counts(1, filled, left, texts, absurd, below, above)
        self.counts = Counts(*(one + more for one, more in zip(old, new, strict=True)))
        if self._level is None:
            return cells
        places = {j: at for at, j in enumerate(self._columns)}

        def bounds(j: int) -> list[str]:
            at = places[j]
            if not gaps[at]:
                return [row.cells[j]] * 2 if not np.isnan(values[0, at]) else ["", ""]
            return [self._stream.cells.written(side[at]) if open_gaps[at] else "" for side in (lower, upper)]

        return self._beside(cells, bounds)

    def _answer(self, values: Array, open_gaps: Array) -> tuple[Array, Array, Array]:
        """The row filled, and its bounds where they are wanted."""
        if not open_gaps.any():
            return values[0], values[0], values[0]
        filled = self.model.impute(values)[0]
        if self._level is None:
            return filled, filled, filled
        lower, upper = self.model.predict_interval(values, self._level)
        return filled, lower[0], upper[0]

    def _follow(self, values: Array) -> None:
        """Remember what the columns have been like so far."""
        self._low, self._high = np.fmin(self._low, values), np.fmax(self._high, values)
        if self.counts.rows == 1:
            self._step = values - self._last  # the first step
        elif self.counts.rows > 1:
            self._goes_up &= np.abs(values - self._last - self._step) <= EVEN * self._step
        self._goes_up &= ~np.isnan(values)
        self._last = values

    # ---------------------------------------------------------------- columns

    def _refuse_decimal_commas(self) -> None:
        """Refuse a first row with 3,14 in it: where commas are decimal, 1.200 in another column means 1200.

        Whether they are decimal shows in later rows only, which a stream does not have yet.
        """
        for text in map(self._stream.cells.text, self._stream.first.cells):
            if has_decimal_comma(text):
                raise TableError(
                    f"its first row has a decimal comma ({text}); write {rewritten(text)}, or leave out --online "
                    "if it is a list"
                )

    def _beside(self, cells: list[str], bounds: Any) -> list[str]:
        """Cells with two more after each column that may be filled, where bounds are wanted."""
        if self._level is None:
            return cells
        return [one for j, cell in enumerate(cells) for one in (cell, *(bounds(j) if j in self._columns else ()))]

    def _bound_name(self, j: int, side: str) -> str:
        return self._stream.cells.named(f"{self._stream.names[j]}_{side}", self._stream.delimiter)

    def _may_be_number(self, cell: str) -> bool:
        cells = self._stream.cells
        return cells.is_gap(cell) or cells.number(cell) is not None

    def _of(self, model: Any) -> list[int]:
        """The columns of a model, by name where it has names."""
        names = take_names(model)
        if names is None:
            columns = [j for j, cell in enumerate(self._stream.first.cells) if self._may_be_number(cell)]
            if len(columns) != model.n_features_in_:
                raise TableError(
                    f"its first row has {len(columns)} numbers or gaps, and the model {model.n_features_in_} features "
                    "without names"
                )
            return columns
        absent = [name for name in names if name not in self._stream.names]
        if absent:
            raise TableError(f"it lacks columns that the model knows: {column_names(absent)}")
        return [self._stream.names.index(name) for name in names]

    def _known_to(self, model: Any) -> Array:
        """Whether the model has seen a value of each column: an unseen one has no finite bounds."""
        if not hasattr(model, "state_"):
            return np.zeros(len(self._columns), dtype=bool)
        lower, _ = model.predict_interval(np.full((1, len(self._columns)), np.nan), 0.5)
        return np.asarray(np.isfinite(lower[0]))
