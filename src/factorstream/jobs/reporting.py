"""What reports say of a forecast, of strange rows and of components: words, pictures, tables, and lines of Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..plot._components import loadings_height
from ..report import charts
from ..report.model_report import Job
from ..report.page import Block, Charts, Number, Part, Words
from ..report.tables import Column, Table
from ..report.words import many, percent
from ..sources.table import NewColumn
from .detection import Detection, table_with_alarms
from .factors import Factors
from .forecasting import Forecast
from .happenings import events_table, happened
from .pictures import draw_detection, draw_factors, draw_rows_to_come, drawn_levels

__all__ = ["detection_told", "factors_told", "forecast_told"]

DRAWN = 4
"""Columns of a forecast that are drawn: two screens of a phone. The table has them all. By eye."""


def forecast_told(found: Forecast, level: float, *, loaded: bool) -> Job:
    """A forecast: a fan for the first columns, and all rows to come; ``loaded``: by a model that was given."""
    steps, n = len(found.mean), len(found.names)
    drawn = found.names[:DRAWN]
    chart = charts.panels(
        lambda axes: draw_rows_to_come(found, level, list(range(len(drawn))), axes),
        len(drawn),
        1.7,
        "fan",
        "Rows to come",
    )
    few = f" The first {len(drawn)} of {n} columns; the table has all." if n > len(drawn) else ""
    shown = ", ".join(f"{100 * one:g}%" for one in drawn_levels(level))
    caption = f"Grey: the last rows of the file. Blue: the forecast, with intervals of {shown}.{few}"
    rows = many(steps, "row")
    return Job(
        title=f"{rows} to come after {{source}}",
        lead="What comes after the last row, how sure that is, and how well the model knows the table.",
        numbers=[Number(f"{steps:,}", "rows to come"), Number(f"{n:,}", "columns continued")],
        parts=[Part("The rows to come", [Charts([chart], caption), _table(found.columns)])],
        note="Values inside the table were hidden to measure this. A forecast has rows on one side only: it is further "
        "off than a fill, and the more so the further ahead it is.",
        what="forecast",
        lines=[
            *(_taken_in(found) if loaded else []),
            f"mean = model.forecast({steps})",
            f"lower, upper = model.forecast_interval({steps}, level={level!r})",
        ],
        done=[
            f"The next {rows} were forecast, with bounds that should hold the value to come in {100 * level:g} of 100 "
            "cases. Levels and what the columns share were continued; trend and season are not modelled as such."
        ],
    )


def _taken_in(found: Forecast) -> list[str]:
    """The lines by which a model that was given takes in the rows of X."""
    empty = f"X = np.vstack([np.full(({found.between}, X.shape[1]), np.nan), X])  # steps without a row"
    return ["take_times(model)  # X is an array", *([empty] if found.between else []), "model.partial_fit(X)"]


def detection_told(found: Detection) -> Job:
    """Strange rows: the scores of all, the strangest and, of time steps, alarms."""
    in_time, n = found.sums is not None, len(found.rows)
    chart = charts.panels(
        lambda axes: draw_detection(found, axes), 2 if in_time else 1, 2.0, "scores", "Scores of all rows"
    )
    caption = f"Line: the score of every row. Red dots: the {n} strangest."
    numbers = [Number(f"{found.n_rows:,}", "rows scored")]
    done = (
        "Every row has a score: how far its values are from what goes together, about N(0, 1) for ordinary rows, "
        "whatever their gaps. The higher, the stranger."
    )
    lines = ["score = row_scores(model, X)"]
    alarms = ""
    if in_time:
        alarms = " Rows with an alarm are all in the table, with the columns of the rows that have led to it."
        caption += " Below: two sums of scores, which raise an alarm (red triangles) where one exceeds the threshold."
        numbers.append(Number(f"{len(found.alarms):,}", "alarm" if len(found.alarms) == 1 else "alarms"))
        done = (
            "Every row was compared with what the rows before it let expect. Its score is about N(0, 1) while nothing "
            "changes; alarms are raised where scores stay too high or too low."
        )
        lines = ["alarms = model.alarms(X)", "score, fired = alarms.score, alarms.fired", "away = model.deviations(X)"]
    blocks: list[Block] = [
        Charts([chart], caption),
        Words([f"Rows are counted by the {found.places.word}s of the file, from 1.{alarms}"]),
    ]
    parts = [Part("Strange rows", [*blocks, _table(table_with_alarms(found))])]
    if in_time and happened(found):
        words = Words(
            [
                "Shifts stay, outliers came and went, and where the spread changed no column moved. Sizes are in "
                "the units of the file."
            ]
        )
        parts.insert(0, Part("What happened", [words, _table(events_table(found))]))
    return Job(
        title=f"{many(n, 'strange row')} of {found.n_rows:,} in {{source}}",
        lead="Which rows are unlike the others, which columns make them so, and how well the model knows the table.",
        numbers=numbers,
        parts=parts,
        note="Values were hidden to measure this. Where the model knows little of a column, few values of it are "
        "strange.",
        what="entry",
        lines=lines,
        done=[done],
    )


def factors_told(found: Factors) -> Job:
    """Components: a map of their loadings, and the loadings."""
    k, explained = len(found.components), float(np.sum(found.explained))
    blocks: list[Block] = []
    if k:
        height = loadings_height(len(found.given.names)) - charts.MARGIN
        chart = charts.panels(lambda axes: draw_factors(found, axes), 1, height, "components", "Map of the components")
        caption = (
            "How much each column changes with one more standard deviation of each component. Red: it goes up; blue: "
            "down."
        )
        blocks = [Charts([chart], caption), _table(found.table())]
    return Job(
        title=f"{many(k, 'component')} of {{source}}",
        lead="What the columns have in common, how much of it each component explains, and how well the model knows "
        "the table.",
        numbers=[
            Number(f"{k:,}", "component" if k == 1 else "components"),
            Number(percent(explained), "of the variance of the columns, each in its own deviations, is explained"),
        ],
        parts=[Part("Components", blocks or [Words(["There are none."])])],
        note="Values were hidden, and what the components say of them was compared with what was hidden.",
        what="entry",
        lines=["axes = principal_axes(model, X)", "components, variance = axes.components, axes.explained_variance"],
        done=["Components are along their principal axes, the one that explains most first."],
    )


def _table(columns: Sequence[NewColumn]) -> Table:
    """Columns as a table that readers can sort."""
    shown = [
        Column(str(j), column.name, digits=3, numeric=not any(isinstance(value, str) for value in column.values))
        for j, column in enumerate(columns)
    ]
    rows = [
        {str(j): _cell(value) for j, value in enumerate(cells)}
        for cells in zip(*(column.values for column in columns), strict=True)
    ]
    return Table("", shown, rows, sorts=True)


def _cell(value: Any) -> Any:
    """A value as tables of reports have it: whole numbers without decimals, NaN as nothing."""
    if isinstance(value, float):
        return None if value != value else int(value) if value.is_integer() else value
    return value if isinstance(value, int | str) or value is None else str(value)
