"""`factorstream info`: what a saved model or a table holds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..text import column_names, counted, without_components
from ._command import STANDARD, BadInputError, Words, command
from ._options import FILE, text_options

if TYPE_CHECKING:
    from ..jobs.reading import Reading

__all__ = ["COMMAND"]

COLUMNS_SHOWN = 50
"""Columns of a table that are listed; --json has all. Not tuned: a screen."""


@command("info", "say what a saved model or a table holds")
@click.argument("path", type=FILE, metavar="FILE")
@text_options
def COMMAND(words: Words, path: Path, reading: Reading) -> None:
    """Say what FILE holds: the class, settings and features of a saved model, or the columns and gaps of a table."""
    from ..jobs.inspection import inspect_model, inspect_table, is_model

    if path != STANDARD and not path.exists():
        raise BadInputError(f"{path} does not exist.")
    if is_model(path):
        facts = inspect_model(path)
        words.fact(file=str(path), kind="model", **facts)
        words.show(_model_text(path, facts))
    else:
        facts = inspect_table(path, reading)
        words.fact(file=str(path), kind="table", **facts)
        words.show(_table_text(path, facts))
        for remark in facts["remarks"]:
            words.caveat(remark)


def _model_text(path: Path, facts: dict[str, Any]) -> str:
    settings = ", ".join(f"{name}={value!r}" for name, value in facts["settings"].items())
    lines = [f"{path}: a saved {facts['class']}, {_size(facts['bytes'])}", f"settings: {settings}"]
    if not facts["fitted"]:
        return "\n".join([*lines, "not fitted"])
    names = f": {column_names(facts['feature_names'], most=12)}" if facts["feature_names"] else ", without names"
    lines.append(counted(facts["features"], "feature") + names)
    for key, thing in (
        ("components", "component"),
        ("rows_seen", "row"),
        ("passes", "pass"),
        ("sweeps", "sweep"),
        ("alarms", "alarm"),
    ):
        if key in facts:
            many = f"{facts[key]} passes" if thing == "pass" and facts[key] != 1 else counted(facts[key], thing)
            last = f", the last at {facts['last_row']}" if "last_row" in facts else ""
            lines.append(many + (f" taken in{last}" if key == "rows_seen" else ""))
    if facts.get("components") == 0:
        lines.append(without_components(facts["class"], "entry", robust=bool(facts["settings"].get("robust"))))
    if "noise_deviation" in facts:
        lines.append(f"noise of an entry: ± {facts['noise_deviation']:.4g}")
    commands = ", ".join(f"factorstream {name}" for name in facts["good_for"])
    return "\n".join([*lines, f"for --model of: {commands}"])


def _table_text(path: Path, facts: dict[str, Any]) -> str:
    lines = [
        f"{'standard input' if path == STANDARD else path}: {counted(facts['rows'], 'row')}, "
        f"{counted(facts['columns'], 'column')}, {facts['format']}, {_size(facts['bytes'])}",
        f"{counted(facts['gaps'], 'gap')} in {counted(facts['columns_of_numbers'], 'column')} of numbers "
        f"({facts['share_missing']:.1%}); {counted(facts['rows_without_gaps'], 'row')} without any",
    ]
    if facts["time"]:
        time = facts["time"]
        left_out = f", {counted(time['steps_left_out'], 'step')} left out" if time["steps_left_out"] else ""
        lines.append(f"time in column {time['column']}: {time['first']} to {time['last']}{left_out}")
    width = max(len("column"), *(len(one["name"]) for one in facts["column_facts"][:COLUMNS_SHOWN]))
    lines.append(f"{'column':<{width}}  kind    gaps  least, median, greatest")
    for one in facts["column_facts"][:COLUMNS_SHOWN]:
        numbers = "" if one["least"] is None else f"{one['least']:.6g}, {one['middle']:.6g}, {one['greatest']:.6g}"
        lines.append(f"{one['name']:<{width}}  {one['kind']:<6}{one['gaps']:>6}  {numbers}".rstrip())
    if len(facts["column_facts"]) > COLUMNS_SHOWN:
        lines.append(f"and {len(facts['column_facts']) - COLUMNS_SHOWN} more columns")
    return "\n".join(lines)


def _size(n: int) -> str:
    """A number of bytes for people.

    >>> _size(812), _size(20_480)
    ('812 bytes', '20.5 kB')
    """
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n >= size:
            return f"{n / size:.3g} {unit}"
    return counted(n, "byte")
