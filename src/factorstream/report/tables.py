"""One table for every format: terminal (rich), Markdown, CSV, plain data for JSON, and the cells of a page's table."""

from __future__ import annotations

import csv
import io
import math
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from rich.console import Console

__all__ = [
    "Column",
    "Estimate",
    "Shown",
    "Table",
    "cell_text",
    "cell_value",
    "marked_best",
    "print_table",
    "seeds_in_words",
    "to_csv",
    "to_data",
    "to_markdown",
]


class Estimate(NamedTuple):
    """Mean and standard deviation of a number over repetitions (``sd`` is None for one repetition)."""

    mean: float
    sd: float | None = None

    @classmethod
    def of(cls, values: Iterable[float]) -> Estimate:
        """Mean and sample standard deviation.

        >>> Estimate.of([1.0, 3.0])
        Estimate(mean=2.0, sd=1.4142135623730951)
        """
        numbers = list(values)
        sd = statistics.stdev(numbers) if len(numbers) > 1 else None
        return cls(statistics.fmean(numbers), sd)


def seeds_in_words(seeds: Sequence[int]) -> str:
    """What a table of `Estimate` shows, for its title.

    >>> seeds_in_words([0]), seeds_in_words([0, 1, 2])
    ('one seed', 'mean ± sd over 3 seeds')
    """
    return f"mean ± sd over {len(seeds)} seeds" if len(seeds) > 1 else "one seed"


class Shown(NamedTuple):
    """A number, such as that of a row, and the text that is shown for it; by the number a table is sorted."""

    value: float
    text: str


Cell = Estimate | Shown | float | int | str | None


@dataclass(frozen=True)
class Column:
    """A column: its key in the rows, its title, and how its numbers are written."""

    key: str
    title: str
    digits: int = 2
    numeric: bool = True
    mark_best: bool = False  # the largest number of each group is set in bold
    aside: bool = False  # too wide for a terminal: its entries are listed below the table there
    wraps: bool = False  # on a terminal its words may go to a second line; without it they are cut off


@dataclass(frozen=True)
class Table:
    """Rows of named cells; rows with the same value of ``group`` stand together under one heading."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Mapping[str, Cell]]
    group: str | None = None
    notes: Sequence[str] = field(default_factory=tuple)
    sorts: bool = False
    """Whether the reader of a page can sort it; only without groups."""

    def grouped(self) -> Iterator[tuple[str, list[Mapping[str, Cell]]]]:
        """Headings with their rows, in order of first appearance; one empty heading without groups."""
        groups: dict[str, list[Mapping[str, Cell]]] = {}
        for row in self.rows:
            groups.setdefault(str(row[self.group]) if self.group else "", []).append(row)
        yield from groups.items()


def to_markdown(table: Table) -> str:
    """Render as Markdown, one pipe table per group.

    >>> print(to_markdown(Table("T", [Column("m", "method", numeric=False), Column("v", "dB")],
    ...                         [{"m": "one", "v": Estimate(1.0, 0.5)}])))
    | method | dB |
    |---|---:|
    | one | 1.00 ± 0.50 |
    <BLANKLINE>
    """
    parts = []
    for heading, rows in table.grouped():
        if heading:
            parts.append(f"**{heading}**\n\n")
        parts.append("| " + " | ".join(column.title for column in table.columns) + " |\n")
        parts.append("|" + "|".join("---:" if column.numeric else "---" for column in table.columns) + "|\n")
        best = marked_best(table.columns, rows)
        for row in rows:
            cells = [_bold(cell_text(row[c.key], c.digits), row is best.get(c.key), "**") for c in table.columns]
            parts.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n")
        parts.append("\n")
    parts.extend(f"{note}\n\n" for note in table.notes)
    return "".join(parts).rstrip("\n") + "\n"


def print_table(table: Table, console: Console) -> None:
    """Print on a terminal, one table per group; needs rich."""
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text  # rich takes brackets in a plain str as markup

    columns = [column for column in table.columns if not column.aside]
    console.print(Text(f"\n{table.title}"))
    for heading, rows in table.grouped():
        rendered = RichTable(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True)
        for column in columns:
            justify: Literal["left", "right"] = "right" if column.numeric else "left"
            rendered.add_column(Text(column.title), justify=justify, no_wrap=not column.wraps)
        best = marked_best(columns, rows)
        for row in rows:
            texts = [(cell_text(row[c.key], c.digits, "±"), row is best.get(c.key)) for c in columns]
            rendered.add_row(*(Text(text, "bold green" if top else "") for text, top in texts))
        console.print(Text(f"\n{heading}", "bold cyan"))
        console.print(rendered)
        for column in table.columns:
            entries = [f"{row[columns[0].key]}: {row[column.key]}" for row in rows if row[column.key]]
            if column.aside and entries:
                console.print(Text(f"{column.title}: {'; '.join(entries)}", "dim"))


def to_csv(table: Table) -> str:
    """Render as CSV: an `Estimate` becomes the columns ``key_mean`` and ``key_sd``; the group comes first."""
    records = [_flat(row, table) for row in table.rows]
    names = list(dict.fromkeys(name for record in records for name in record))
    stream = io.StringIO()
    writer = csv.DictWriter(stream, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return stream.getvalue()


def to_data(table: Table) -> list[dict[str, object]]:
    """Plain dictionaries for JSON: an `Estimate` becomes ``{"mean": ..., "sd": ...}``."""
    return [{key: _plain(row[key]) for key in _keys(table)} for row in table.rows]


def _plain(value: Cell) -> object:
    if isinstance(value, Shown):
        return value.value
    return value._asdict() if isinstance(value, Estimate) else value


def _keys(table: Table) -> list[str]:
    return list(dict.fromkeys([*([table.group] if table.group else []), *(c.key for c in table.columns)]))


def _flat(row: Mapping[str, Cell], table: Table) -> dict[str, Cell]:
    record: dict[str, Cell] = {}
    for key in _keys(table):
        value = row[key]
        if isinstance(value, Estimate):
            record[f"{key}_mean"], record[f"{key}_sd"] = value.mean, value.sd
        elif isinstance(value, Shown):
            record[key] = value.value
        else:
            record[key] = value
    return record


def marked_best(columns: Sequence[Column], rows: Sequence[Mapping[str, Cell]]) -> dict[str, Mapping[str, Cell]]:
    """For every column that marks its best, the row that holds it."""
    best = {}
    for column in columns:
        if column.mark_best and len(rows) > 1:
            best[column.key] = max(rows, key=lambda row: _number(row[column.key]))
    return best


def _number(value: Cell) -> float:
    if isinstance(value, Estimate):
        return value.mean
    return float(value) if isinstance(value, float | int) else -math.inf


def cell_value(value: Cell, column: Column) -> float | str | None:
    """What a cell is sorted by: a number, "" where there is none, or None for its text."""
    if isinstance(value, Shown):
        return value.value
    if isinstance(value, Estimate):
        return value.mean
    if isinstance(value, float | int):
        return "" if math.isnan(value) else value
    return "" if column.numeric or value is None else None


def cell_text(value: Cell, digits: int, plus_minus: str = " ± ") -> str:
    """What is written in a cell.

    >>> cell_text(None, 2), cell_text(1.234, 2), cell_text(Estimate(1.0, 0.5), 1)
    ('–', '1.23', '1.0 ± 0.5')
    """
    if value is None:
        return "–"
    if isinstance(value, Shown):
        return value.text
    if isinstance(value, Estimate):
        spread = "" if value.sd is None else f"{plus_minus}{value.sd:.{digits}f}"
        return f"{value.mean:.{digits}f}{spread}"
    return f"{value:.{digits}f}" if isinstance(value, float) else str(value)


def _bold(text: str, bold: bool, mark: str) -> str:
    return f"{mark}{text}{mark}" if bold else text
