"""Tables with columns of every kind, in every library."""

from __future__ import annotations

import datetime

import numpy as np
import pytest

LIBRARIES = ["pandas", "polars", "arrow"]


def columns(n=160, seed=0):
    """Complete columns as lists of Python's objects, by name; all but the last three tell of each other."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(n)
    g = rng.integers(0, 3, n)
    start = datetime.datetime(2024, 3, 1)
    moments = [start + datetime.timedelta(hours=round(48 * value)) for value in x]
    return {
        "number": (x + 0.1 * rng.standard_normal(n)).tolist(),
        "sum": (2.0 * x + g + 0.1 * rng.standard_normal(n)).tolist(),
        "category": [("red", "green", "blue")[k] for k in g],
        "text": ["high" if value > 0 else "low" for value in x],
        "truth": (x > 0.3).tolist(),
        "whole": [round(10 * value) for value in x],
        "moment": moments,
        "day": [moment.date() for moment in moments],
        "zoned": [moment.replace(tzinfo=datetime.UTC) for moment in moments],
        "lasted": [datetime.timedelta(seconds=round(3600 * float(np.exp(value)))) for value in x],
        "name": [f"person {k}" for k in range(n)],
        "same": ["always"] * n,
    }


def gaps(n, names, seed=1, share=0.2):
    """Which entries are missing, by name of the column."""
    rng = np.random.default_rng(seed)
    return {name: rng.random(n) < share for name in names}


def gappy(complete, missing):
    """The columns with None in their gaps."""
    return {
        name: [None if gap else value for value, gap in zip(values, missing[name], strict=True)]
        for name, values in complete.items()
    }


def table(library, values):
    """A table of a library with a type for every column; only those of ``columns``."""
    if library == "pandas":
        return _of_pandas(values)
    if library == "polars":
        polars = pytest.importorskip("polars")
        kinds = {
            "category": polars.Categorical,
            "whole": polars.Int16,
            "zoned": polars.Datetime("us", "Europe/Madrid"),
            "lasted": polars.Duration("ms"),
        }
        return polars.DataFrame(values, schema_overrides={name: kinds[name] for name in values if name in kinds})
    arrow = pytest.importorskip("pyarrow")
    kinds = {
        "category": arrow.dictionary(arrow.int32(), arrow.string()),
        "whole": arrow.int16(),
        "zoned": arrow.timestamp("us", "Europe/Madrid"),
        "lasted": arrow.duration("ms"),
    }
    return arrow.table({name: arrow.array(column, type=kinds.get(name)) for name, column in values.items()})


def _of_pandas(values):
    pandas = pytest.importorskip("pandas")
    kinds = {
        "category": pandas.CategoricalDtype(["blue", "green", "never", "red"], ordered=True),
        "text": "string[pyarrow]",
        "truth": "boolean",
        "whole": "Int16",
        "moment": "datetime64[ns]",
        "zoned": "datetime64[us, Europe/Madrid]",
        "lasted": "timedelta64[ms]",
    }
    n = len(next(iter(values.values())))
    kinds |= dict.fromkeys(("number", "sum"), "float64")
    made = {name: pandas.Series(column, dtype=kinds.get(name, object)) for name, column in values.items()}
    out = pandas.DataFrame(made)
    out.index = pandas.Index(np.arange(n) * 3 + 7, name="row")
    return out


def as_lists(frame):
    """The columns of a table as lists of Python's objects, gaps None."""
    if hasattr(frame, "to_pydict"):
        return frame.to_pydict()
    if hasattr(frame, "to_dict") and not hasattr(frame, "iloc"):
        return frame.to_dict(as_series=False)
    lists = {}
    for name in frame.columns:
        column = frame[name].astype(object)
        lists[name] = [None if gap else value for value, gap in zip(column, frame[name].isna(), strict=True)]
    return lists


def types_of(frame):
    """The types of the columns, by name."""
    if hasattr(frame, "iloc"):
        return dict(frame.dtypes)
    schema = frame.schema
    return dict(zip(schema.names, schema.types, strict=True)) if hasattr(schema, "types") else dict(schema)
