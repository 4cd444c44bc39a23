"""The report on a fitted model and a table: what fills the gaps, how sure and how good that is, how to do it again."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..arrays import to_host
from ..core.variational.conformal import check_level
from ..estimators._validation import check_count
from ..extras import require
from ..files import check_writable
from ..masks import Seed
from ..persist import here
from ..progress import Step, say_nothing
from . import charts, words
from .document import PACKAGES, versions
from .given import Answers, Given, answers, given
from .lines import python_lines, settings_of, written
from .measure import Measured, NotMeasuredError, measure
from .page import Charts, Code, Number, Page, Part, Words, plain, write_page
from .parts import before_and_after, fills, quality
from .tables import Cell, Column, Table
from .words import many, percent, pooled

__all__ = ["Told", "write_report"]


class Job(NamedTuple):
    """What was done, where it is not filling gaps: a forecast, a search for strange rows, components."""

    title: str
    """In which ``{source}`` stands for where the table comes from."""
    lead: str
    numbers: Sequence[Number]
    """The large ones at the top, before those about hidden values."""
    parts: Sequence[Part]
    """What was found; it stands after what was done."""
    note: str
    """How far errors on hidden values tell about this job."""
    what: str
    """What the model says something of: a forecast, an entry."""
    lines: Sequence[str]
    """Of Python, that do the job, given ``model``, ``X`` and what `read_given` gave."""
    done: Sequence[str] = ()
    """Sentences about what was done, after those about the model."""


class Told(NamedTuple):
    """What a caller knows that neither the model nor the table says; texts may have ``**bold**`` and `` `code` ``."""

    source: str = ""
    """Where the table comes from, such as the name of its file."""
    columns: Sequence[str] = ()
    """Names of the columns, where the table is an array that has none."""
    done: Sequence[str] = ()
    """Sentences about what was done, before those about the model."""
    left_out: Sequence[str] = ()
    """Sentences about what was left out and why, such as columns that are no numbers."""
    settings: Mapping[str, object] = {}
    """Settings besides the model's, such as the options of a command."""
    code: str | None = None
    """The lines that do it all again; None: those that fit the model and fill the table."""
    job: Job | None = None
    """What was done; None: gaps were filled."""
    columns_used: Table | None = None
    """What became of every column of a file."""


NOTHING_MORE = Told()

LEAD = (
    "What was missing, what stands there now, how sure that is, and how good such fills are on values that were hidden "
    "on purpose."
)

STEPS = 4
"""Of the work that `write_report` tells its progress of; measuring is two of them."""


def write_report(
    path: str | os.PathLike[str],
    model: Any,
    X: Any,
    *,
    level: float = 0.95,
    fraction: float = 0.1,
    length: int | None = None,
    max_fills: int = 1000,
    rng: Seed = 0,
    told: Told = NOTHING_MORE,
    step: Step = say_nothing,
) -> Path:
    """Write a report on a fitted model and a table as one HTML file; what the method ``report`` of the models calls.

    That method says what the parameters mean; ``told`` is what else the report should say, and ``step`` is called with
    how far it is, of STEPS.
    """
    _check(level, fraction, length, max_fills)
    require("jinja2", "matplotlib")
    check_writable(Path(path))
    step(0, "asking the model")
    model, X = here(model), to_host(X)
    found = given(model, X, told.columns)
    said = answers(found, level)
    step(1, "measuring on hidden values")
    measured: Measured | str
    try:
        measured = measure(found, level, fraction, length, rng)
    except NotMeasuredError as problem:
        measured = str(problem)
    step(3, "drawing")
    asked_for = {"level": level, "fraction": fraction, "length": length, "max_fills": max_fills, "rng": rng}
    code = told.code
    if code is None:
        code = python_lines(model, asked_for, found.panel.values.shape, found.is_fitted_to_it)
    if told.job is None:
        parts = _filled(found, said, measured, told, level, max_fills)
    else:
        parts = _found(found, measured, told.job, told, level)
    parts += [
        _left_out(found, said, told),
        _settings(found, told),
        Part("Do it again", [Words(words.repeatable(model)), Code(code)]),
    ]
    return write_page(Path(path), _page(found, said, measured, level, told, parts))


def _check(level: float, fraction: float, length: int | None, max_fills: int) -> None:
    """Refuse what cannot be asked for, before the work."""
    check_level(level)
    if not 0.0 < fraction < 1.0:
        raise ValueError(f"fraction must lie strictly between 0 and 1; got {fraction!r}.")
    check_count("max_fills", max_fills)
    if length is not None:
        check_count("length", length)


def _filled(
    found: Given, said: Answers, measured: Measured | str, told: Told, level: float, max_fills: int
) -> list[Part]:
    """The parts about gaps that were filled."""
    return [
        Part("What was done", [Words([*told.done, *words.what_was_done(found, level, said.lower is not None)])]),
        Part("Where values are missing", [Charts([charts.gap_map(found, said.filled)]), Words(words.why_gaps(found))]),
        before_and_after(found, said, level),
        *quality(found, measured, level),
        fills(found, said, level, max_fills),
    ]


def _found(found: Given, measured: Measured | str, job: Job, told: Told, level: float) -> list[Part]:
    """The parts about another job."""
    return [
        Part("What was done", [Words([*told.done, *words.the_model(found, job.what), *job.done])]),
        *job.parts,
        Part("Where values are missing", [Charts([charts.gap_map(found, None)]), Words(words.why_gaps(found))]),
        *quality(found, measured, level, "How well the model knows this table", job.note),
    ]


def _page(
    found: Given, said: Answers, measured: Measured | str, level: float, told: Told, parts: Sequence[Part]
) -> Page:
    gap, job = found.gap, told.job
    filled = int((gap & ~np.isnan(said.filled)).sum())
    columns = many(int(gap.any(axis=0).sum()), "column")
    numbers = (
        list(job.numbers)
        if job
        else [
            Number(percent(1.0 - float(gap.mean())), "of the entries are observed"),
            Number(f"{filled:,}", f"{'gap' if filled == 1 else 'gaps'} filled in {columns}"),
        ]
    )
    if isinstance(measured, Measured):
        ours, mean = pooled(measured, measured.errors.model), pooled(measured, measured.errors.mean)
        numbers.append(
            Number(f"{ours:.2f}", f"standard deviations is the error on hidden values (of the column mean: {mean:.2f})")
        )
        if level in measured.inside and measured.varies.any():
            share = 100 * measured.held(level)
            numbers.append(Number(f"{share:.1f}%", f"of hidden values lie in their {100 * level:g}% intervals"))
    gaps = f"{many(filled, 'gap')} filled" if filled else "No gap"
    where = f" in {plain(told.source)}" if told.source else ""
    return Page(
        title=job.title.format(source=plain(told.source)) if job else f"{gaps}{where}",
        lead=job.lead if job else LEAD,
        parts=parts,
        footer=f"Written by factorstream on {datetime.now(UTC).date().isoformat()} (UTC). This file needs nothing else "
        "and loads nothing.",
        above="factorstream report",
        numbers=numbers,
    )


def _left_out(found: Given, said: Answers, told: Told) -> Part:
    texts = Words(words.left_out(found, said, told.left_out))
    if told.columns_used is None:
        return Part("What was left out, and why", [texts])
    return Part("What was used, what was left out, and why", [texts, told.columns_used])


def _settings(found: Given, told: Told) -> Part:
    model = found.model
    settings = {name: str(value) for name, value in told.settings.items()}
    settings |= {name: _short(value) for name, value in settings_of(model).items()}
    library = [found.table.library] if found.table.library else []
    used = ", ".join(f"{name} {number}" for name, number in versions([*PACKAGES, *library]).items())
    return Part(
        "Settings and versions",
        [
            _pairs(f"Settings of {type(model).__name__}", settings),
            _pairs("What was learned", model._facts()),
            Words([f"{used}."]),
        ],
    )


def _pairs(title: str, values: Mapping[str, str]) -> Table:
    rows: list[dict[str, Cell]] = [{"name": name, "value": value} for name, value in values.items()]
    return Table(title, [Column("name", "", numeric=False), Column("value", "", numeric=False)], rows)


def _short(value: Any) -> str:
    if isinstance(value, float) and np.isnan(value):
        return "NaN"
    text = written(value)
    if text is not None:
        return text
    return f"an array of shape {np.shape(value)}" if np.ndim(value) else f"{value!r:.60}"
