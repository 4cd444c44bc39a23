"""Fill a text row by row as it arrives, in constant memory: each row with what the rows so far have taught."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..estimators._absurd import AbsurdValueWarning
from ..estimators.dictionary_filter import DictionaryFilter
from ..sources.cells import LEAST_WHOLE
from ..sources.columns import take_names
from ..sources.number_form import Asked, guessed_form, said_of_form
from ..sources.points import points_of
from ..sources.rows.counting import CountingSoFar
from ..sources.strays import OddCells
from ..sources.stream import Row, TextStream
from ..sources.table import Array, Bounds, TableError, Unread, rounded
from ..text import clause, column_names, named_column
from .choice import Choice, chosen_positions
from .filling import n_beyond
from .suspects import Extremes, Suspect

__all__ = ["Counts", "OnlineFilling", "settle_form"]

COMPONENTS = 10
"""Unless their number is given: the default of `DictionaryFilter`."""

LOOKED_AT = 32
"""Rows that are kept to look for marks of gaps in them. Not tuned: what is found does not depend on it."""
NO_CHOICE = Choice()


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
    counting: int = 0
    """Gaps left in columns that had counted rows until then."""


def settle_form(stream: TextStream, asked: Asked) -> str:
    """Find out from the first row how numbers are written in a stream; a sentence where commas were taken as decimal.

    Raises
    ------
    TableError
        Where the first row has a decimal comma, and it is in doubt what other marks mean.
    """
    cells, unread = stream.cells, []
    for name, cell in zip(stream.names, stream.first.cells, strict=True):
        if cells.value(cell) is None:
            odd = OddCells(0, points=False)
            odd.add(cell, stream.first.line, cells)
            said = odd.said(name)
            unread += [said] if isinstance(said, Unread) else []
    numbers = [j for j, cell in enumerate(stream.first.cells) if cells.number(cell) is not None]
    points = points_of([stream.first.cells], numbers, stream.names, cells)
    form = guessed_form(unread, points, stream.delimiter, asked)
    sure = [one for one in unread if one.sure_comma and asked.decimal is None]
    if form is None and sure:
        raise TableError(
            f"its first row has a decimal comma ({sure[0].text}), and whether all commas and points are to be read so "
            "shows in later rows only; pass --decimal comma or --decimal point"
        )
    if form is None:
        return ""
    stream.use_form(form)
    return said_of_form(form, unread, asked)


class OnlineFilling:
    """The rows of a stream with their gaps filled. Iterate over `lines`; ``counts`` and ``model`` follow.

    Columns are those of the model or, without one, those whose first cell is a number or a gap. A row is learned from
    first and then filled. A gap of a column of which no value has come yet is left as it is.
    """

    def __init__(
        self,
        stream: TextStream,
        *,
        level: float | None,
        components: int | None,
        seed: int,
        model: Any = None,
        choice: Choice = NO_CHOICE,
    ) -> None:
        self._stream, self._level = stream, level
        self.counts = Counts()
        wanted, without, call = chosen_positions(choice, stream.names)
        aside = without if wanted is None else [j for j in range(stream.width) if j not in (*wanted, call)]
        self.set_aside = [stream.names[j] for j in aside]
        """Columns that were left out because the user has said so."""
        for j in wanted or ():
            if not self._may_be_number(stream.first.cells[j]):
                name, text = named_column(stream.names[j]), stream.cells.text(stream.first.cells[j])
                raise TableError(f"{name} holds no numbers (line {stream.first.line} has {text!r:.50})")
        if model is None:
            self._columns = [
                j for j, cell in enumerate(stream.first.cells) if self._may_be_number(cell) and j not in (*aside, call)
            ]
            model = DictionaryFilter(components or COMPONENTS, random_state=seed)
        else:
            self._columns = self._of(model)
        if not self._columns:
            why = f" ({clause(stream.first_line)})" if stream.first_line else ""
            raise TableError(f"the first row has neither a number nor a gap{why}")
        self._extremes = Extremes(len(self._columns))
        self._last_rows, self._n_last = np.empty((LOOKED_AT, len(self._columns))), 0
        self._n_whole = np.zeros(len(self._columns))  # numbers so far, if all are written as whole ones
        self.rounded: set[str] = set()
        """Columns of whole numbers, so far, whose fills were rounded."""
        self.model = model
        self._known = self._known_to(model)
        self._fitted_before = bool(self._known.any())
        n = len(self._columns)
        self._low, self._high = np.full(n, np.inf), np.full(n, -np.inf)
        self._counting = CountingSoFar(n)
        asked_for = np.array([self._fitted_before or j in (wanted or ()) for j in self._columns])
        self._may_count = ~asked_for  # columns that a model knows or the user names are filled, whatever they count
        self.first_text = ""
        """The first text among numbers, and where it is, in words; empty where there is none."""
        self.first_mark = ""
        """What this text is."""

    @property
    def names(self) -> list[str]:
        """Of the columns that the model knows."""
        return [self._stream.names[j] for j in self._columns]

    @property
    def suspects(self) -> list[Suspect]:
        """Numbers that probably stand for missing values, so far."""
        self._extremes.add(self._last_rows[: self._n_last])
        self._n_last = 0
        return self._extremes.suspects(self.names)

    @property
    def counting(self) -> list[str]:
        """Columns that have gone up by equal steps so far: they count rows, and are known only afterwards."""
        return [self.names[at] for at in np.flatnonzero(self._counting.found)]

    def lines(self) -> Iterator[bytes]:
        """The text with its gaps filled, line by line."""
        stream = self._stream
        if stream.header is not None:
            header = self._beside(
                stream.header.cells, lambda j: [self._bound_name(j, side) for side in ("lower", "upper")]
            )
            yield stream.encoded([stream.mark + header[0], *header[1:]], stream.header.end)
        for row in stream.rows():
            yield stream.encoded(row.cells if stream.is_blank(row) else self._filled(row), row.end)

    # ---------------------------------------------------------------- one row

    def _filled(self, row: Row) -> list[str]:
        values, gaps, counting = self._read(row)
        no_numbers = np.isnan(values[0]) & ~np.array(gaps)
        texts = int(np.count_nonzero(no_numbers))
        if texts and not self.first_text:
            at = int(np.argmax(no_numbers))
            text = self._stream.cells.text(row.cells[self._columns[at]])
            self.first_mark = text
            self.first_text = f"{text!r:.50} in line {row.line} of {named_column(self.names[at])}"
        with warnings.catch_warnings(record=True) as warned:  # one sentence for each absurd value would not end
            warnings.simplefilter("always", UserWarning)
            self.model.partial_fit(values)
            self._known |= ~np.isnan(values[0])
            open_gaps = np.array(gaps) & self._known & ~counting
            answer, lower, upper = self._answer(values, open_gaps)
        absurd = any(issubclass(one.category, AbsurdValueWarning) for one in warned)
        for one in warned:
            if not issubclass(one.category, AbsurdValueWarning):
                warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
        cells = list(row.cells)
        self._look_whole(row, values[0])
        at_whole = np.flatnonzero((self._n_whole >= LEAST_WHOLE) & open_gaps).tolist()
        self.rounded |= {self.names[at] for at in at_whole}
        found, sides = rounded(answer[None], Bounds(lower[None], upper[None]), at_whole)
        answer, (lower, upper) = found[0], (side[0] for side in sides or ())
        for at in np.flatnonzero(open_gaps).tolist():
            cells[self._columns[at]] = self._cell(answer[at])
        n_counting = int(np.count_nonzero(counting & np.array(gaps)))
        filled = int(open_gaps.sum())
        left = int(np.count_nonzero(gaps)) - filled - n_counting
        old = self.counts
        self._follow(values[0])
        below, above = (0, 0) if self._fitted_before else n_beyond(answer, open_gaps, self._low, self._high)
        new = Counts(1, filled, left, texts, absurd, below, above, n_counting)
        self.counts = Counts(*(one + more for one, more in zip(old, new, strict=True)))
        if self._level is None:
            return cells
        places = {j: at for at, j in enumerate(self._columns)}

        def bounds(j: int) -> list[str]:
            at = places[j]
            if not gaps[at]:
                return [row.cells[j]] * 2 if not np.isnan(values[0, at]) else ["", ""]
            return [self._cell(side[at]) if open_gaps[at] else "" for side in (lower, upper)]

        return self._beside(cells, bounds)

    def _read(self, row: Row) -> tuple[Array, list[bool], Array]:
        """The numbers of a row, which cells are gaps, and which columns have counted rows until now.

        A mark of gaps that is the next number of a column that counts is this number.
        """
        values, gaps = self._stream.numbers(row, self._columns)
        coming = np.where(self._may_count, self._counting.next(), np.nan)
        for at in np.flatnonzero(np.array(gaps) & ~np.isnan(coming)).tolist():
            if self._stream.cells.as_written(row.cells[self._columns[at]]) == coming[at]:
                values[0, at], gaps[at] = coming[at], False
        return values, gaps, ~np.isnan(coming)

    def _cell(self, value: float) -> str:
        return self._stream.cells.written(value, self._stream.delimiter)

    def _look_whole(self, row: Row, values: Array) -> None:
        """Remember which columns have had nothing but whole numbers."""
        for at in np.flatnonzero(~np.isnan(values) & (self._n_whole > -np.inf)).tolist():
            whole = self._stream.cells.is_whole(row.cells[self._columns[at]])
            self._n_whole[at] = self._n_whole[at] + 1 if whole else -np.inf

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
        self._last_rows[self._n_last] = values
        self._n_last += 1
        if self._n_last == LOOKED_AT:
            self._extremes.add(self._last_rows)
            self._n_last = 0
        self._low, self._high = np.fmin(self._low, values), np.fmax(self._high, values)
        self._counting.add(values)

    # ---------------------------------------------------------------- columns

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
