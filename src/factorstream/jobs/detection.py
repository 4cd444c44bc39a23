"""Find the strange rows of a table in a file, and the columns that make them so. Writes nothing and prints nothing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..estimators._sequence_answers import Alarms
from ..estimators.dictionary_filter import DictionaryFilter
from ..estimators.sequence import SequenceFilter
from ..report.given import is_fitted_to
from ..sources.table import Array, NewColumn, TableError
from ..sources.timeline import refuse_newest_first
from .filling import quietly
from .places import Places, places_of
from .reading import FITTING, MOST_STATES, Given, Reading, Steps, named, read_given

__all__ = ["Detection", "DetectionSettings", "Strange", "detect_file", "ranking_of", "table_of"]

COMPONENTS = 5
"""Most components of a model of rows, unless given, and never more than half the columns. Not tuned, and not the best
for every table: ``benchmarks/strange_rows.py`` finds malignant rows among benign ones of the breast cancer data with an
area under the curve of 0.894 (1 component), 0.909 (5) and 0.932 (10), where single draws differ by 0.08."""
BLAMED = 3
"""Columns named for each row. Not tuned: what fits in a line."""
LEAST_AWAY = 2.0
"""Standard deviations from which on a column is named: one entry in twenty of an ordinary row lies as far off."""
HIDDEN_ALONE = 200
"""Most entries of a row that are hidden one by one; of wider rows several are hidden together. Not tuned: it bounds
time and memory, and the entries that stay say what is needed."""


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
    score: float
    """How strange it is. Of rows: minus their log-density per known value. Of time steps: the normal score of how far
    the row is from its forecast, under the model about N(0, 1); infinite where a value is out of all proportion."""
    alarm: bool
    """Of time steps: whether an alarm was raised here."""
    blame: list[tuple[str, float]]
    """The columns furthest from what is expected of them, and by how many standard deviations."""


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
            found = _time_steps(model, X, at) if in_time else _rows(model, X, settings.top)
    except ValueError as problem:
        raise TableError(f"{named(path)} cannot be used: {str(problem).rstrip('.')}.") from None
    places = places_of(given.table)
    cells = given.table.cells(given.when.column) if given.when is not None else None

    def strange(row: int) -> Strange:
        when = "" if cells is None else str(cells[row])
        blame = _blamed(found.away[row], given.names)
        return Strange(row, places.numbers[row], when, float(found.score[row]), bool(found.alarm[row]), blame)

    alarms = [strange(row) for row in np.flatnonzero(found.alarm).tolist()]
    rows = [strange(row) for row in found.order[: settings.top].tolist()]
    return Detection(rows, alarms, found.order, found.score, places, model, given, X, at, found.sums, seen)


def table_of(detection: Detection) -> list[NewColumn]:
    """The strange rows as a table: place, time, score, alarms of time steps, and columns to blame."""
    return _table(detection, detection.rows)


def ranking_of(detection: Detection) -> list[NewColumn]:
    """All rows as such a table, the strangest first and those without data last.

    Columns to blame are named for the rows of `table_of` and for alarms.
    """
    known = {one.row: one for one in (*detection.alarms, *detection.rows)}
    given = detection.given
    cells = given.table.cells(given.when.column) if given.when is not None else [""] * detection.n_rows
    without_data = np.flatnonzero(np.isneginf(detection.score))
    every = [
        known.get(row) or Strange(row, detection.places.numbers[row], str(cells[row]), detection.score[row], False, [])
        for row in np.append(detection.ranking, without_data).tolist()
    ]
    return _table(detection, every)


def _table(detection: Detection, rows: list[Strange]) -> list[NewColumn]:
    columns = [NewColumn(detection.places.word, [float(one.place) for one in rows])]
    if detection.given.when is not None:
        name = detection.given.table.names[detection.given.when.column]
        columns.append(NewColumn(name, [one.when for one in rows]))
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
    away: Mapping[int, Array]
    """Of strange rows and alarms, by how many deviations every column is off; 0 where it is missing."""
    sums: Alarms | None = None


def _new(X: Array, settings: DetectionSettings) -> Any:
    if settings.sequence:
        return SequenceFilter(
            settings.components or min(MOST_STATES, len(X)), robust=settings.robust, verbose=settings.verbose
        )
    half = max(1, min(COMPONENTS, X.shape[1] // 2))
    return DictionaryFilter(settings.components or half, random_state=settings.seed, verbose=settings.verbose)


def _rows(model: Any, X: Array, top: int) -> _Found:
    n_known = np.count_nonzero(~np.isnan(X), axis=1)
    density = model.score_samples(X) / np.maximum(n_known, 1)
    score = np.where(n_known > 0, -density, -np.inf)
    order = _strangest(score, density)
    away = {row: _away(model, X[row]) for row in order[:top].tolist()}
    return _Found(score, np.zeros(len(X), dtype=bool), order, away)


def _time_steps(model: SequenceFilter, X: Array, at: Array) -> _Found:
    alarms = model.alarms(X)
    n_known = np.maximum(np.count_nonzero(~np.isnan(X), axis=1), 1)
    density = (model.score_samples(X) / n_known)[at]
    score = np.where(np.isnan(alarms.score), -np.inf, alarms.score)[at]
    away = dict(enumerate(np.asarray(model.deviations(X))[at]))
    return _Found(score, np.asarray(alarms.fired)[at], _strangest(score, density), away, alarms)


def _strangest(score: Array, density: Array) -> Array:
    """The rows with data by their scores, the highest first; of equal ones the least likely first."""
    order = np.lexsort((density, -score))
    return np.asarray(order[~np.isneginf(score[order])])


def _away(model: Any, row: Array) -> Array:
    """How far every entry of a row is from what the others say of it, in standard deviations; 0 where it is missing."""
    known = np.flatnonzero(~np.isnan(row))
    groups = np.arange(len(known)) % min(len(known), HIDDEN_ALONE)
    asked = np.tile(row, (int(groups.max()) + 1, 1))
    asked[groups, known] = np.nan
    filled, std = model.impute(asked, return_std=True)
    away = np.zeros(len(row))
    with np.errstate(divide="ignore", invalid="ignore"):
        away[known] = (row[known] - filled[groups, known]) / std[groups, known]
    return np.nan_to_num(away, nan=0.0)


def _blamed(away: Array, names: list[str]) -> list[tuple[str, float]]:
    far = [int(j) for j in np.argsort(-np.abs(away), kind="stable")[:BLAMED] if abs(away[j]) >= LEAST_AWAY]
    return [(names[j], float(away[j])) for j in far]
