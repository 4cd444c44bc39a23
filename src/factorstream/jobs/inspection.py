"""What a file holds: a saved model, or a table with gaps. Writes nothing and prints nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..estimators._mixed.encoding import other_columns
from ..estimators.sequence import SequenceFilter
from ..persist import load
from ..persist.content import START
from ..sources.columns import take_names
from ..sources.tables import format_of, read_table
from ..sources.timeline import timeline
from .clock import take_times
from .places import time_texts
from .reading import Reading
from .remarks import remarks

__all__ = ["ColumnFacts", "inspect_model", "inspect_table", "is_model"]


class ColumnFacts(NamedTuple):
    """What there is to say of a column."""

    name: str
    kind: str
    """number, text, or time."""
    gaps: int
    least: float | None
    middle: float | None
    """The median."""
    greatest: float | None


def is_model(path: Path) -> bool:
    """Whether a file begins as those that ``save`` writes, after the eight bytes of a length."""
    if str(path) == "-" or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(8 + len(START))[8:] == START


def inspect_model(path: Path) -> dict[str, Any]:
    """Class, settings, features and what was learned, by the names that people read."""
    model = load(path)
    names = take_names(model)
    facts: dict[str, Any] = {
        "class": type(model).__name__,
        "bytes": path.stat().st_size,
        "settings": {key: _shown(value) for key, value in sorted(model.get_params(deep=False).items())},
        "fitted": hasattr(model, "state_"),
    }
    if not facts["fitted"]:
        return facts
    facts |= {"features": int(model.n_features_in_), "feature_names": names}
    for key, attribute in (
        ("components", "n_components_"),
        ("rows_seen", "n_samples_seen_"),
        ("passes", "n_passes_"),
        ("sweeps", "n_iter_"),
        ("alarms", "alarms_"),
    ):
        if hasattr(model, attribute):
            value = getattr(model, attribute)
            facts[key] = len(value) if isinstance(value, list) else int(value)
    if isinstance(model, SequenceFilter) and (when := take_times(model)) is not None:
        (facts["last_row"],) = time_texts([when.last])
    if hasattr(model, "noise_variance_"):
        facts["noise_deviation"] = float(np.sqrt(np.mean(model.noise_variance_)))
    facts["good_for"] = ["impute"] if other_columns(model) else _good_for(type(model).__name__)
    return facts


def inspect_table(path: Path, reading: Reading) -> dict[str, Any]:
    """Format, size, time and every column of a table."""
    table = read_table(path, **reading.how)
    when = timeline(table)
    columns = [_column(table, j, None if when is None else when.column) for j in range(len(table.names))]
    n_rows = len(table.numbers)
    gaps = int(np.isnan(table.numbers).sum())
    facts: dict[str, Any] = {
        "format": format_of(path).name,
        "bytes": len(table.raw),
        "rows": n_rows,
        "columns": len(columns),
        "columns_of_numbers": len(table.numeric),
        "gaps": gaps,
        "share_missing": gaps / table.numbers.size if table.numbers.size else 0.0,
        "rows_without_gaps": int((~np.isnan(table.numbers).any(axis=1)).sum()) if table.numeric else 0,
        "time": None,
        "column_facts": [column._asdict() for column in columns],
        "remarks": remarks(table),
    }
    if when is not None:
        cells = table.cells(when.column)
        facts["time"] = {
            "column": table.names[when.column],
            "first": str(cells[0]),
            "last": str(cells[-1]),
            "steps_left_out": when.n_left_out,
        }
    return facts


def _column(table: Any, j: int, time: int | None) -> ColumnFacts:
    name = table.names[j]
    if j not in table.numeric:
        return ColumnFacts(name, "time" if j == time else "text", table.gaps(j), None, None, None)
    values = np.asarray(table.numbers[:, table.numeric.index(j)], dtype=np.float64)
    known = values[~np.isnan(values)]
    return ColumnFacts(
        name,
        "time" if j == time else "number",
        len(values) - len(known),
        float(known.min()),
        float(np.median(known)),
        float(known.max()),
    )


def _shown(value: Any) -> Any:
    """A setting as JSON has it."""
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _good_for(name: str) -> list[str]:
    """The commands that take a model of this class."""
    return {
        "SequenceFilter": ["forecast", "detect", "impute", "factorize"],
        "DictionaryFilter": ["impute", "detect", "factorize"],
        "BayesianFactorization": ["impute", "detect", "factorize"],
        "LowRankImputer": ["impute", "factorize"],
    }.get(name, ["factorize"])
