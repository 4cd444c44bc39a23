"""The kinds of columns: how values become numbers of a model, and numbers values again.

A number is one column of the model. A category with K classes is K columns of zeros and ones, one where K = 2. Labels
that are seen seldom share a class. Everything else is carried through.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple, Protocol

import numpy as np

from ...core.linalg import Array
from ...core.tables.categories import indicators
from .cells import DAY, DAY_SECONDS, DURATION, FLOAT, LABELS, NUMBERS, PLAIN, TEXT, TIME, WHOLE, Cells, Frame, plain

LEAST_SEEN = 3
"""How often a label is seen that is a class of its own. Derived: fewer fill no leaf of a tree."""

MOST_CLASSES = 20
"""Labels at most that are classes of their own, the most frequent. Not tuned: the work grows with the square of all
classes, and the others of a column with more labels are seldom the most probable one."""

OFTEN = 5.0
"""How often the labels of a column of text are seen, on average, for it to be a category. Derived: the share of a label
that is seen less often is known to half of itself at best (1/√5 = 0.45). Names and free text are seen once."""

UNITS = (DAY_SECONDS, 3600.0, 60.0, 1.0)
"""What times can be whole numbers of: days, hours, minutes and seconds."""

IN_A_SET = 1e-6
"""Probability that a class of a set is written with at least. Derived: above rounding, and below what matters."""

IDENTIFIER, CONSTANT, EMPTY, UNKNOWN = (
    "seldom the same value twice",
    "one value only",
    "no value",
    "values of no kind that is filled",
)
"""Why a column is carried through."""


class Column(Protocol):
    """One column of a table, in the eyes of a model."""

    @property
    def width(self) -> int:
        """Columns of numbers that it is for the model."""

    def filled(self, frame: Frame, j: int, Z: Array, gaps: Array) -> Any:
        """Column j of a table with its gaps (n,) filled from the model's numbers (n, width)."""

    def bound(self, frame: Frame, j: int, Z: Array, gaps: Array, upper: bool) -> Any:
        """The same with a bound in the gaps; of a category with sets everywhere."""

    def drawn(self, frame: Frame, j: int, Z: Array, gaps: Array, rng: np.random.Generator) -> Any:
        """The same with a draw in the gaps."""

    def doubt(self, deviation: Array, Z: Array, missing: Array) -> Array:
        """How unsure the fills are (n,), given the standard deviations (n, width) of the model's numbers."""


class NumberColumn(NamedTuple):
    """Numbers, whole numbers, times or durations."""

    held: str
    origin: float
    """What is taken off: times have no zero of their own."""
    unit: float = 0.0
    """All values are whole numbers of it from the origin on, and so are fills and bounds; 0 if there is none."""
    form: str = ""
    """How a text had written times or dates in the fit."""

    @property
    def width(self) -> int:
        """One column."""
        return 1

    def encode(self, cells: Cells) -> Array:
        """Values as numbers (n, 1); NaN in gaps."""
        if cells.numbers is None:
            return np.full((len(cells.missing), 1), np.nan)
        return cells.numbers[:, None] - self.origin

    def filled(self, frame: Frame, j: int, Z: Array, gaps: Array) -> Any:
        """Column j with its gaps filled."""
        if not gaps.any():
            return frame.column(j)
        z = np.round(Z[:, 0] / self.unit) * self.unit if self.unit else Z[:, 0]
        return frame.with_numbers(j, gaps, z + self.origin, self.held)

    def bound(self, frame: Frame, j: int, Z: Array, gaps: Array, upper: bool) -> Any:
        """Column j with bounds in its gaps. Those of whole numbers and days are rounded outwards; none is a gap."""
        z = Z[:, 0].copy()
        if self.held != FLOAT:
            z[np.isinf(z)] = np.nan
        if self.unit:
            z = (np.ceil if upper else np.floor)(z / self.unit) * self.unit
        return self.filled(frame, j, z[:, None], gaps)

    def drawn(self, frame: Frame, j: int, Z: Array, gaps: Array, rng: np.random.Generator) -> Any:
        """Column j with draws in its gaps."""
        return self.filled(frame, j, Z, gaps)

    def doubt(self, deviation: Array, Z: Array, missing: Array) -> Array:
        """Standard deviations, of times and durations in seconds."""
        out: Array = deviation[:, 0]
        return out


class CategoryColumn(NamedTuple):
    """Labels, of which some share a class."""

    held: str
    levels: list[Any]
    """Labels that were seen, in the order of the column's type, or else in their own."""
    classes: Array
    """The class of each."""
    within: Array
    """Its share of the entries of its class."""
    spoken: bool
    """Labels are not kept themselves, but what they are written as."""
    form: str = ""
    """How a text had written true in the fit, in a column of true and false."""

    @property
    def n_classes(self) -> int:
        """Classes."""
        return int(self.classes.max()) + 1

    @property
    def width(self) -> int:
        """A column for each class; one for two."""
        return 1 if self.n_classes == 2 else self.n_classes

    def encode(self, cells: Cells) -> Array:
        """Zeros and ones (n, width); NaN in gaps and for labels that are not known."""
        at = self._at(cells)
        found = np.where(at < 0, -1, self.classes[at])
        one: Array = (found[:, None] == np.arange(self.n_classes)).astype(np.float64)
        one[found < 0] = np.nan
        return one[:, 1:] if self.width == 1 else one

    def probabilities(self, Z: Array) -> Array:
        """Probabilities of the labels (n, levels) from those of the classes, as the model's columns have them."""
        out: Array = np.clip(indicators(Z), 0.0, 1.0)[:, self.classes] * self.within
        return out

    def filled(self, frame: Frame, j: int, Z: Array, gaps: Array) -> Any:
        """Column j with the most probable label in its gaps."""
        return self._with(frame, j, gaps, self.probabilities(Z).argmax(axis=1)) if gaps.any() else frame.column(j)

    def bound(self, frame: Frame, j: int, Z: Array, gaps: Array, upper: bool) -> Any:
        """Sets of labels, the most probable one first; of an observed entry its own."""
        P, cells = self.probabilities(Z), frame.cells(j)
        own, order = self._own(cells), np.argsort(-P, axis=1, kind="stable")
        alone = [(level,) for level in cells.levels]
        codes = [] if cells.codes is None else cells.codes.tolist()
        inside = np.maximum(indicators(Z), 0.0)[:, self.classes] > 0.5 * IN_A_SET
        sets: list[tuple[Any, ...]] = []
        for row, gap in enumerate(gaps.tolist()):
            sets.append(tuple(own[k] for k in order[row].tolist() if inside[row, k]) if gap else alone[codes[row]])
        return frame.of_sets(j, sets)

    def drawn(self, frame: Frame, j: int, Z: Array, gaps: Array, rng: np.random.Generator) -> Any:
        """Column j with a label in each gap, of the class that was drawn."""
        if not gaps.any():
            return frame.column(j)
        up_to = np.cumsum(self.probabilities(Z), axis=1)
        u = rng.random(len(Z)) * up_to[:, -1]
        chosen = (u[:, None] >= up_to).sum(axis=1)
        return self._with(frame, j, gaps, np.minimum(chosen, len(self.levels) - 1))

    def doubt(self, deviation: Array, Z: Array, missing: Array) -> Array:
        """The probability that a fill is wrong."""
        return np.where(missing, 1.0 - self.probabilities(Z).max(axis=1), 0.0)

    def table(self, frame: Frame, j: int, Z: Array) -> Any:
        """Probabilities of all labels as a table; 1 for an observed one."""
        cells = frame.cells(j)
        P, at = self.probabilities(Z), self._at(cells)
        P[~cells.missing] = 0.0
        P[np.flatnonzero(at >= 0), at[at >= 0]] = 1.0
        return frame.table(self.levels, [frame.of_numbers(column) for column in P.T])

    def _at(self, cells: Cells) -> Array:
        """The number of every entry's label among ``levels`` (n,); -1 for gaps and labels that are not known."""
        if cells.codes is None:
            return np.full(len(cells.missing), -1)
        number = {level: k for k, level in enumerate(self.levels)}
        known = np.array([*(number.get(plain(level), -1) for level in cells.levels), -1], dtype=np.int64)
        found: Array = known[cells.codes]  # the last one for -1
        return found

    def _own(self, cells: Cells) -> list[Any]:
        """The labels as the table has them; None where one of another type is not in it."""
        if not self.spoken:
            return self.levels
        there = {plain(level): level for level in cells.levels}
        return [there.get(level) for level in self.levels]

    def _with(self, frame: Frame, j: int, gaps: Array, chosen: Array) -> Any:
        return frame.with_labels(j, gaps, chosen, self._own(frame.cells(j)))


class CarriedColumn(NamedTuple):
    """A column that is returned as it is."""

    why: str

    @property
    def width(self) -> int:
        """The model does not know it."""
        return 0

    def filled(self, frame: Frame, j: int, Z: Array, gaps: Array) -> Any:
        """Column j as it is."""
        return frame.column(j)

    def bound(self, frame: Frame, j: int, Z: Array, gaps: Array, upper: bool) -> Any:
        """Column j as it is."""
        return frame.column(j)

    def drawn(self, frame: Frame, j: int, Z: Array, gaps: Array, rng: np.random.Generator) -> Any:
        """Column j as it is."""
        return frame.column(j)

    def doubt(self, deviation: Array, Z: Array, missing: Array) -> Array:
        """Nothing is known of gaps."""
        return np.where(missing, np.nan, 0.0)


def kind_of(cells: Cells) -> NumberColumn | CategoryColumn | CarriedColumn:
    """What a column is, by its values."""
    if cells.held in PLAIN:
        return NumberColumn(cells.held, 0.0, float(cells.held == WHOLE))
    if cells.missing.all():
        return CarriedColumn(EMPTY)
    if cells.held in NUMBERS and cells.numbers is not None:
        x = cells.numbers[~np.isnan(cells.numbers)]
        middle = float(np.partition(x, len(x) // 2)[len(x) // 2]) if cells.held in (TIME, DAY) else 0.0
        unit = next((unit for unit in UNITS if not ((x - middle) % unit).any()), 0.0)
        return NumberColumn(cells.held, middle, unit, cells.form)
    if cells.held not in LABELS or cells.codes is None:
        return CarriedColumn(UNKNOWN)
    found = _category(cells.held, cells.codes, cells.levels, cells.in_order)
    return found._replace(form=cells.form) if isinstance(found, CategoryColumn) else found


def _category(held: str, codes: Array, labels: tuple[Any, ...], in_order: bool) -> CategoryColumn | CarriedColumn:
    counts: Counter[Any] = Counter()
    for label, n in zip(labels, np.bincount(codes[codes >= 0], minlength=len(labels)).tolist(), strict=True):
        if n:
            counts[plain(label)] += n
    if len(counts) < 2:
        return CarriedColumn(CONSTANT)
    often = [level for level, count in counts.most_common(MOST_CLASSES) if count >= LEAST_SEEN]
    if not often or (held == TEXT and counts.total() < OFTEN * len(counts)):
        return CarriedColumn(IDENTIFIER)
    levels = list(counts) if in_order else sorted(counts, key=lambda level: (isinstance(level, str), level))
    own = {level: k for k, level in enumerate(level for level in levels if level in set(often))}
    classes = np.array([own.get(level, len(own)) for level in levels], dtype=np.int64)
    seen = np.array([counts[level] for level in levels], dtype=np.float64)
    within = seen / np.bincount(classes, weights=seen)[classes]
    spoken = any(type(plain(label)) is str and not isinstance(label, str) for label in labels)
    return CategoryColumn(held, levels, classes, within, spoken)


SAME = (PLAIN, (TIME, DAY), (DURATION,), LABELS)
"""What may stand for each other in a fit and in a question."""


def like_in_fit(column: NumberColumn | CategoryColumn, held: str) -> bool:
    """Whether a column that holds this can be taken for one of a fit."""
    return any(held in some and column.held in some for some in SAME)


KINDS = (NumberColumn, CategoryColumn, CarriedColumn)
"""Every kind. Derived."""
