"""Continue the series of a table in a file: the time steps to come, with bounds. Writes nothing and prints nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..estimators.sequence import SequenceFilter
from ..sources.columns import take_names
from ..sources.delimited import write_delimited
from ..sources.table import Array, NewColumn, TableError
from ..sources.timeline import Timeline, counted_on, refuse_newest_first
from .clock import rows_between, take_times
from .places import time_texts
from .quiet import quietly
from .reading import FITTING, MOST_STATES, Given, Reading, Steps, named, read_given

__all__ = ["Forecast", "ForecastSettings", "forecast_file", "forecast_model"]


class ForecastSettings(NamedTuple):
    """What to forecast, and how."""

    steps: int
    level: float = 0.95
    """Probability of the bounds."""
    components: int | None = None
    robust: bool = False
    reading: Reading = Reading()
    verbose: int = 0
    """Whether a fit shows how far it is."""


class Forecast(NamedTuple):
    """The rows to come, and what there is to say about them."""

    content: bytes
    """A file of the same format as the one that was read."""
    names: list[str]
    """The columns that were forecast."""
    mean: Array
    lower: Array
    upper: Array
    """(steps, columns) in the data's units; NaN where nothing is known of a column."""
    model: SequenceFilter
    """With all rows taken in."""
    given: Given | None
    """What was read; None where a model went on alone."""
    X: Array | None
    """The rows that were read, with rows of NaN where a time step is left out."""
    columns: list[NewColumn]
    """What ``content`` has, before it is encoded."""
    when: Timeline | None
    """When the rows of the file are or, where a model went on alone, its last rows; None where nothing says it."""
    between: int | None = 0
    """Time steps without a row between the rows of the model and those of the file; None where nothing says it."""


def forecast_file(
    path: Path, settings: ForecastSettings, tell: Steps = lambda what: None, model: SequenceFilter | None = None
) -> Forecast:
    """Fit the rows of a file, which are time steps in order, and go on after the last one.

    A model that was fitted before takes the rows of the file as those that come after its own. If both have dates,
    steps between them count as rows without data, and rows that the model has seen are refused.

    Raises
    ------
    TableError
        When the file cannot be read or continued; the message says why in one sentence.
    """
    tell("reading")
    given = read_given(path, settings.reading, model)
    refuse_newest_first(given.table, named(path))
    known = None if model is None else take_times(model)
    X = given.X if given.when is None else given.when.spread(given.X)
    between: int | None = 0
    tell(FITTING)
    try:
        with quietly():
            if model is None:
                model = SequenceFilter(
                    settings.components or min(MOST_STATES, len(X)),
                    robust=settings.robust or "auto",
                    verbose=settings.verbose,
                ).fit(X)
                model.verbose = 0
            else:
                between = rows_between(model, X, known, given.when)
                model = model.partial_fit(np.vstack([np.full((between or 0, X.shape[1]), np.nan), X]))
            tell("forecasting")
            answer = _answer(model, settings)
    except ValueError as problem:
        raise TableError(f"{named(path)} cannot be used: {str(problem).rstrip('.')}.") from None
    columns = list(_columns(given, settings, *answer))
    return Forecast(
        given.table.encode_new(columns), given.names, *answer, model, given, X, columns, given.when, between
    )


def forecast_model(model: SequenceFilter, settings: ForecastSettings) -> Forecast:
    """Go on after the last row that a model has taken in; as comma-separated text."""
    names, when = take_names(model), take_times(model)
    answer = _answer(model, settings)
    names = names or [f"column {j + 1}" for j in range(model.n_features_in_)]
    columns = [] if when is None else [NewColumn(when.name, _later(when, settings.steps))]
    for j, name in enumerate(names):
        columns += _with_bounds(name, None, *(part[:, j] for part in answer))
    return Forecast(write_delimited(columns), names, *answer, model, None, None, columns, when)


def _later(when: Timeline, steps: int) -> list[Any]:
    """The dates to come as the model's file had them or, if that had no texts, as texts."""
    return when.after(steps) if when.form else time_texts(when.later(steps))


def _answer(model: SequenceFilter, settings: ForecastSettings) -> tuple[Array, Array, Array]:
    """Means and bounds of the rows to come."""
    mean = model.forecast(settings.steps)
    lower, upper = model.forecast_interval(settings.steps, settings.level)
    return mean, *(np.where(np.isfinite(bound), bound, np.nan) for bound in (lower, upper))


def _columns(given: Given, settings: ForecastSettings, mean: Array, lower: Array, upper: Array) -> list[NewColumn]:
    """The columns of the file, each continued; texts that say nothing about the future are left out."""
    table, out = given.table, []
    for j, name in enumerate(table.names):
        if given.when is not None and j == given.when.column:
            out.append(NewColumn(name, given.when.after(settings.steps), j))
        elif j in table.numeric:
            at = table.numeric.index(j)
            out += _with_bounds(name, j, mean[:, at], lower[:, at], upper[:, at])
        elif name in given.counting:
            out.append(NewColumn(name, counted_on(table.cells(j), settings.steps), j))
    return out


def _with_bounds(name: str, like: int | None, mean: Array, lower: Array, upper: Array) -> list[NewColumn]:
    return [
        NewColumn(name, mean.tolist(), like),
        NewColumn(f"{name}_lower", lower.tolist()),
        NewColumn(f"{name}_upper", upper.tolist()),
    ]
