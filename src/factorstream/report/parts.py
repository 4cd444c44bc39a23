"""The sections of a model's report that are drawings or tables, one function for each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import charts, words
from .given import Answers, Given
from .measure import Measured
from .page import Block, Charts, Part, Words
from .tables import Cell, Column, Shown, Table
from .words import by_column, decimals, many, number

Array = NDArray[Any]

MOST_COLUMNS = 300
"""Rows of the tables that have one for each column; more make a page slow. By eye."""
DRAWN = 6
"""Columns that are drawn before and after, those with most gaps: two screens of a phone."""
COMPARED = 25
"""Columns of the drawing of errors. By eye."""


def before_and_after(found: Given, said: Answers, level: float) -> Part:
    """The columns with most gaps as drawings, and all of them as a table."""
    counts = found.gap.sum(axis=0)
    usable = (counts > 0) & (counts < len(found.gap)) & ~np.isnan(said.filled).all(axis=0)
    order = np.argsort(-counts, kind="stable")
    drawn = [int(j) for j in order if usable[j]][:DRAWN]
    blocks: list[Block] = []
    if drawn and found.in_time:
        band = f", with {100 * level:g}% intervals" if said.lower is not None else ""
        caption = f"Grey: observed. Blue: filled{band}. The rows around most gaps, of the columns with most gaps."
        blocks.append(Charts(charts.excerpts(found, said, drawn), caption))
    elif drawn:
        caption = (
            "How values are distributed, in the columns with most gaps. Grey line: observed. Blue: filled. Fills are "
            "best guesses, and so they vary less than values do."
        )
        blocks.append(Charts(charts.distributions(found, said.filled, drawn), caption))
    blocks.append(_columns_table(found, said.filled, order))
    return Part("Before and after", blocks)


def _columns_table(found: Given, filled: Array, order: Array) -> Table:
    shown, note = _shown_columns(order)
    rows: list[dict[str, Cell]] = []
    for j in shown:
        gap = found.gap[:, j]
        before, after = found.panel.values[~gap, j], filled[~np.isnan(filled[:, j]), j]
        digits = decimals(float(before.std())) if len(before) else 2
        row: dict[str, Cell] = {"column": _name(found, j), "observed": int((~gap).sum()), "gaps": int(gap.sum())}
        for when, values in (("before", before), ("after", after)):
            row[f"mean {when}"] = _shown(values.mean(), digits) if len(values) else None
            row[f"sd {when}"] = _shown(values.std(), digits) if len(values) else None
        rows.append(row)
    columns = [
        Column("column", "column", numeric=False),
        Column("observed", "observed"),
        Column("gaps", "gaps"),
        Column("mean before", "mean before"),
        Column("mean after", "mean after"),
        Column("sd before", "deviation before"),
        Column("sd after", "deviation after"),
    ]
    title = "Every column before and after: means and standard deviations"
    return Table(title, columns, rows, notes=note, sorts=True)


def quality(
    found: Given, measured: Measured | str, level: float, heading: str = "How good the fills are", note: str = ""
) -> list[Part]:
    """How good fills are, and whether intervals hold; or the sentence that says why this was not measured."""
    if isinstance(measured, str):
        return [Part(heading, [Words([f"This could not be measured on this table: {measured}"])])]
    by = {"this model": by_column(measured, measured.errors.model), "mean": by_column(measured, measured.errors.mean)}
    if measured.errors.line is not None:
        by["straight lines"] = by_column(measured, measured.errors.line)
    hidden = np.bincount(measured.column, minlength=len(measured.scale))
    order = np.argsort(-hidden, kind="stable")
    blocks: list[Block] = [Words([*([note] if note else []), *words.how_measured(found, measured)])]
    varying = [int(j) for j in order if hidden[j] and measured.scale[j] > 0]
    if varying:
        drawn = sorted(varying[:COMPARED])
        chart = charts.accuracy(
            [found.names[j] for j in drawn],
            {name: one[drawn] / measured.scale[drawn] for name, one in by.items()},
        )
        few = len(drawn) < len(varying)
        caption = f"The {len(drawn)} columns with most hidden values; the table has the others." if few else ""
        blocks.append(Charts([chart], caption))
    blocks.append(_accuracy_table(found, measured, by, level))
    return [Part(heading, blocks), *_calibration(found, measured, level)]


def _calibration(found: Given, measured: Measured, level: float) -> list[Part]:
    if not measured.inside or not measured.varies.any():
        return []
    levels = sorted(measured.inside)
    held = [measured.held(one) for one in levels]
    chart = charts.calibration(levels, held, int(measured.varies.sum()), type(found.model).__name__)
    caption = (
        "Below the dashed line intervals are too narrow, above it too wide. Grey: where chance alone would put perfect "
        "ones."
    )
    return [Part("Do the intervals hold", [Words(words.how_calibrated(measured, level)), Charts([chart], caption)])]


def _accuracy_table(found: Given, measured: Measured, by: dict[str, Array], level: float) -> Table:
    m = len(measured.scale)
    hidden = np.bincount(measured.column, minlength=m)
    inside = measured.inside.get(level)
    held = None if inside is None else np.bincount(measured.column, inside, minlength=m)
    shown, note = _shown_columns(np.argsort(-hidden, kind="stable"))
    rows: list[dict[str, Cell]] = []
    for j in (j for j in shown if hidden[j]):
        digits = decimals(float(measured.scale[j]))
        row: dict[str, Cell] = {"column": _name(found, j), "hidden": int(hidden[j])}
        row |= {name: _shown(one[j], digits) for name, one in by.items()}
        row["share"] = _percent(by["this model"][j], by["mean"][j])
        row["held"] = None if held is None else _percent(held[j], hidden[j])
        rows.append(row)
    columns = [
        Column("column", "column", numeric=False),
        Column("hidden", "hidden values"),
        *(Column(name, name) for name in by),
        Column("share", "model ÷ mean"),
        Column("held", f"in {100 * level:g}% intervals"),
    ]
    title = "Errors on hidden values (root mean square, in the units of the columns)"
    return Table(title, columns, rows, notes=note, sorts=True)


def fills(found: Given, said: Answers, level: float, most: int) -> Part:
    """What fills the gaps, with intervals; of very many the least certain."""
    row, column = np.nonzero(found.gap & ~np.isnan(said.filled))
    heading, total = "What fills the gaps", len(row)
    if not total:
        return Part(heading, [Words(["There is no gap to fill."])])
    scale = np.array([np.nanstd(one) if not np.isnan(one).all() else 0.0 for one in found.panel.values.T])
    texts = []
    unsure = np.zeros(total)
    if said.lower is None or said.upper is None:
        texts.append("The table is too small to calibrate intervals of this level: fills are listed without.")
    else:
        unsure = (said.upper - said.lower)[row, column] / np.where(scale > 0, scale, 1.0)[column]
    if total > most:
        chosen = np.sort(np.argsort(-unsure, kind="stable")[:most])
        row, column = row[chosen], column[chosen]
        texts.append(
            f"These are the {most:,} least certain of {total:,} fills: their intervals are the widest, in standard "
            "deviations of their columns. The filled table has them all."
        )
    label, word, rows = found.label, found.row_word, []
    for i, j in zip(row.tolist(), column.tolist(), strict=True):
        cells: dict[str, Cell] = {"row": Shown(i, label(i)), "column": _name(found, j)}
        for key, values in (("fill", said.filled), ("lower", said.lower), ("upper", said.upper)):
            cells[key] = None if values is None else _shown(values[i, j], decimals(scale[j]))
        rows.append(cells)
    columns = [Column("row", word, numeric=False), Column("column", "column", numeric=False), Column("fill", "fill")]
    if said.lower is not None:
        columns += [Column("lower", f"{100 * level:g}% from"), Column("upper", "to")]
    count = "; rows are counted from 0" if not found.has_labels else ""
    return Part(heading, [Words(texts), Table(f"A click on a title sorts the table{count}", columns, rows, sorts=True)])


def _shown(value: float, digits: int) -> Shown:
    return Shown(float(value), number(float(value), digits))


def _percent(part: float, whole: float) -> Shown | None:
    return Shown(float(part / whole), f"{part / whole:.0%}") if whole > 0 else None


def _shown_columns(order: Array) -> tuple[list[int], list[str]]:
    """The columns that a table has rows for, in their own order, and a sentence where that is not all of them."""
    shown = sorted(int(j) for j in order[:MOST_COLUMNS])
    rest = len(order) - len(shown)
    return shown, [f"{many(rest, 'more column')} with no more gaps than these are not listed."] if rest else []


def _name(found: Given, column: int) -> Cell:
    """A column in a table; those without names are sorted by their numbers."""
    name = found.names[column]
    return name if found.panel.named else Shown(column, name)
