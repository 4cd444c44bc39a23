"""Find the strange rows of a table in a file, and the columns that make them so. Writes nothing and prints nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..estimators._sequence_answers import Alarms
from ..estimators.dictionary_filter import DictionaryFilter
from ..estimators.sequence import SequenceFilter
from ..report.given import is_fitted_to
from ..sources.table import Array, NewColumn, TableError
from ..sources.timeline import refuse_newest_first
from .places import Places, places_of
from .quiet import quietly
from .reading import FITTING, MOST_STATES, Given, Reading, Steps, named, read_given
from .strangeness import Blame, blamed_for_alarm, blamed_in_row, blamed_in_step, row_scores

__all__ = ["Detection", "DetectionSettings", "Strange", "detect_file", "ranking_of", "table_of", "table_with_alarms"]

COMPONENTS = 5
"""Most components of a model of rows, unless given, and never more than half the columns. Not tuned, and not the best
for every table: ``benchmarks/strange_rows.py`` finds malignant rows among benign ones of the breast cancer data with an
area under the curve of 0.894 (1 component), 0.909 (5) and 0.932 (10), where single draws differ by 0.08."""


class DetectionSettings(NamedTuple):
    """What to look for, and how."""

    top: int = 10
    """How many rows are named."""
    sequence: bool = False
    """Whether rows are time steps in order."""
    components: int | None = None
    robust: bool = False
    """Of sequences: whether single outliers shall not count."""
    seed: int = 0
    reading: Reading = Reading()
    verbose: int = 0
    """Whether a fit shows how far it is."""


class Strange(NamedTuple):
    """One strange row."""

    row: int
    """Its number in the table, counted from 0."""
    place: int
    """Where it is in the file: the number of a line or row, see `Detection.places`."""
    when: str
    """What the column of time says; empty where there is none."""
    called: str
    """What the file calls the row, see `Detection.call`; empty where no column does."""
    score: float
    """How strange it is: the normal score of how far the row is from what is expected of it, by its columns and, of
    time steps, by the rows before it. About N(0, 1) for ordinary rows, whatever their gaps; infinite where a value of a
    time step is out of all proportion."""
    alarm: bool
    """Of time steps: whether an alarm was raised here."""
    blame: list[tuple[str, float]]
    """The columns furthest from what is expected of them, and by how many standard deviations; of alarms those of the
    rows that have led to it."""


class Detection(NamedTuple):
    """The strange rows, the strangest first."""

    rows: list[Strange]
    """As many as were asked for."""
    alarms: list[Strange]
    """All time steps with an alarm, whether they are among ``rows`` or not, in order."""
    ranking: Array
    """All rows that have data, from the strangest on."""
    score: Array
    """Of every row; -inf without data."""
    places: Places
    call: int | None
    """The column that says what rows are called, so that people find them: the one that was named, the first one of
    texts that are all different, or else one that counts the rows; None where there is none."""
    model: Any
    given: Given
    X: Array
    """What the model was asked about: ``given.X``, with empty rows where a time step is left out."""
    at: Array
    """Which rows of X those of the file are."""
    sums: Alarms | None
    """Of time steps: what raised the alarms, for the rows of X."""
    seen: bool
    """Whether a model that was given has been fitted to these very rows."""

    @property
    def n_rows(self) -> int:
        """Of the file."""
        return len(self.score)


def detect_file(
    path: Path, settings: DetectionSettings, tell: Steps = lambda what: None, model: Any = None
) -> Detection:
    """Score every row of a file, by a model that was fitted before or by one that is fitted to these rows.

    Raises
    ------
    TableError
        When the file cannot be read or scored; the message says why in one sentence.
    """
    tell("reading")
    given = read_given(path, settings.reading, model)
    in_time = settings.sequence if model is None else isinstance(model, SequenceFilter)
    if in_time:
        refuse_newest_first(given.table, named(path))
    X = given.when.spread(given.X) if in_time and given.when is not None else given.X
    at = given.when.steps if in_time and given.when is not None else np.arange(len(X))
    seen = model is not None and is_fitted_to(model, X)
    try:
        with quietly():
            if model is None:
                tell(FITTING)
                model = _new(X, settings).fit(X)
                model.verbose = 0
            tell("scoring")
            found = _time_steps(model, X, at) if in_time else _rows(model, X)
            named_rows = [*np.flatnonzero(found.alarm).tolist(), *found.order[: settings.top].tolist()]
            blame = {row: found.blame(row) for row in named_rows}
    except ValueError as problem:
        raise TableError(f"{named(path)} cannot be used: {str(problem).rstrip('.')}.") from None
    call = _calling_column(given)
    whole = Detection(
        [], [], found.order, found.score, places_of(given.table), call, model, given, X, at, found.sums, seen
    )
    strange = {
        row: one._replace(alarm=bool(found.alarm[row]), blame=[(given.names[j], away) for j, away in blame[row]])
        for row, one in zip(blame, _plain(whole, list(blame)), strict=True)
    }
    rows = [strange[row] for row in found.order[: settings.top].tolist()]
    return whole._replace(rows=rows, alarms=[one for _, one in sorted(strange.items()) if one.alarm])


def _calling_column(given: Given) -> int | None:
    """Where `Detection.call` is."""
    if given.call is not None:
        return given.call
    table, when = given.table, None if given.when is None else given.when.column
    for j in range(len(table.names)):
        if j not in table.numeric and j != when and table.names[j] not in (*given.counting, *given.unknown):
            cells = table.cells(j)
            if all(isinstance(cell, str) for cell in cells) and len(set(cells)) == len(cells):
                return j
    counting = [j for j, name in enumerate(table.names) if name in given.counting and j != when]
    return counting[0] if counting else None


def _plain(found: Detection, rows: list[int]) -> list[Strange]:
    """Rows with all that is known without a look at their columns, and without alarms."""
    given = found.given
    when, called = (
        None if column is None else given.table.cells(column)
        for column in (None if given.when is None else given.when.column, found.call)
    )
    return [
        Strange(
            row,
            found.places.numbers[row],
            "" if when is None else str(when[row]),
            "" if called is None else str(called[row]),
            float(found.score[row]),
            alarm=False,
            blame=[],
        )
        for row in rows
    ]


def table_of(detection: Detection) -> list[NewColumn]:
    """The strange rows as a table: place, time, name, score, alarms of time steps, and columns to blame."""
    return _table(detection, detection.rows)


def table_with_alarms(detection: Detection) -> list[NewColumn]:
    """The strange rows as such a table, and after them the other rows with an alarm."""
    rows = {one.row: one for one in (*detection.rows, *detection.alarms)}
    return _table(detection, list(rows.values()))


def ranking_of(detection: Detection) -> list[NewColumn]:
    """All rows as such a table, the strangest first and those without data last.

    Columns to blame are named for the rows of `table_of` and for alarms.
    """
    known = {one.row: one for one in (*detection.alarms, *detection.rows)}
    without_data = np.flatnonzero(np.isneginf(detection.score))
    every = np.append(detection.ranking, without_data).tolist()
    return _table(detection, [known.get(one.row, one) for one in _plain(detection, every)])


def _table(detection: Detection, rows: list[Strange]) -> list[NewColumn]:
    columns = [NewColumn(detection.places.word, [float(one.place) for one in rows])]
    names = detection.given.table.names
    if detection.given.when is not None:
        columns.append(NewColumn(names[detection.given.when.column], [one.when for one in rows]))
    if detection.call is not None:
        columns.append(NewColumn(names[detection.call] or "name", [one.called for one in rows]))
    columns.append(NewColumn("score", [_shown(one.score) for one in rows]))
    if isinstance(detection.model, SequenceFilter):
        columns.append(NewColumn("alarm", ["yes" if one.alarm else "" for one in rows]))
    return [*columns, NewColumn("columns", [blame_text(one) for one in rows])]


def _shown(score: float) -> float:
    """A score as tables have it: nothing where there is none."""
    return float("nan") if score == -np.inf else round(float(score), 3)


def blame_text(one: Strange) -> str:
    """The columns to blame in a cell: names, and by how many deviations above or below."""
    return "; ".join(f"{name} ({away:+.1f})" for name, away in one.blame)


class _Found(NamedTuple):
    score: Array
    """Of every row that was read; -inf of a row without data."""
    alarm: Array
    order: Array
    """Rows with data, the strangest first."""
    blame: Callable[[int], Blame]
    """Given the number of a row: the columns that make it strange, or that raised the alarm in it."""
    sums: Alarms | None = None


def _new(X: Array, settings: DetectionSettings) -> Any:
    if settings.sequence:
        return SequenceFilter(
            settings.components or min(MOST_STATES, len(X)), robust=settings.robust or "auto", verbose=settings.verbose
        )
    half = max(1, min(COMPONENTS, X.shape[1] // 2))
    return DictionaryFilter(settings.components or half, random_state=settings.seed, verbose=settings.verbose)


def _rows(model: Any, X: Array) -> _Found:
    score = row_scores(model, X)
    none = np.zeros(len(X), dtype=bool)
    return _Found(score, none, _strangest(score, -score), lambda row: blamed_in_row(model, X[row]))


def _time_steps(model: SequenceFilter, X: Array, at: Array) -> _Found:
    alarms = model.alarms(X)
    n_known = np.maximum(np.count_nonzero(~np.isnan(X), axis=1), 1)
    density = (model.score_samples(X) / n_known)[at]
    score = np.where(np.isnan(alarms.score), -np.inf, alarms.score)[at]
    away, fired = np.asarray(model.deviations(X)), np.asarray(alarms.fired)

    def blame(row: int) -> Blame:
        step = int(at[row])
        return blamed_for_alarm(alarms, away, step) if fired[step] else blamed_in_step(away[step])

    return _Found(score, fired[at], _strangest(score, density), blame, alarms)


def _strangest(score: Array, density: Array) -> Array:
    """The rows with data by their scores, the highest first; of equal ones the least likely first."""
    order = np.lexsort((density, -score))
    return np.asarray(order[~np.isneginf(score[order])])
