"""The Python lines that do the same again."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np

LONGEST = 60
"""Characters of a parameter's value that are written out; longer ones, such as arrays, are left to the reader."""


def settings_of(model: Any) -> dict[str, Any]:
    """The parameters of the fit, whatever was set since; those that a state does not keep are the present ones."""
    return {**model.get_params(deep=False), **getattr(model.state_, "parameters", {})}


def written(value: object) -> str | None:
    """A value as Python writes it; None where that would not make it again.

    >>> written(0.5), written("auto"), written(np.float64(2.0)), written(np.arange(3)), written(float("nan"))
    ('0.5', "'auto'", '2.0', None, "float('nan')")
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return f"float('{value}')"
    if value is None or isinstance(value, bool | int | float | str):
        text = repr(value)
        return text if len(text) <= LONGEST else None
    return None


def python_lines(model: Any, asked_for: Mapping[str, object], shape: tuple[int, int], fitted_to_X: bool = True) -> str:
    """Lines that fit, fill and report again, given X; ``asked_for`` are the report's parameters besides path and X.

    A model that was fitted to other rows has to be given, too.
    """
    own = [name for name, value in settings_of(model).items() if written(value) is None]
    fill = "transform" if hasattr(model, "add_indicator") else "impute"
    options = "".join(f", {part}" for part in _changed(asked_for, inspect.signature(type(model).report).parameters))
    made = [f"# model: {constructed(model)}, fitted to other rows than X"]
    if fitted_to_X:
        made = [f"# {name}: as it was given to the model; it is too long to be written here" for name in own]
        made.append(f"model = {constructed(model)}.fit(X)")
    lines = [
        *([f"from factorstream import {type(model).__name__}", ""] if fitted_to_X else []),
        f"# X: the table of this report, {shape[0]} rows and {shape[1]} columns, NaN where a value is missing",
        *made,
        f"filled = model.{fill}(X)",
        f"lower, upper = model.predict_interval(X, level={asked_for['level']!r})",
        f'model.report("report.html", X{options})',
    ]
    return "\n".join(lines)


def constructed(model: Any) -> str:
    """The call that makes the model: its class and the parameters that are not the default ones."""
    parts = _changed(settings_of(model), inspect.signature(type(model)).parameters)
    return f"{type(model).__name__}({', '.join(parts)})"


def _changed(values: Mapping[str, object], parameters: Mapping[str, inspect.Parameter]) -> list[str]:
    """The arguments of a call that are not the default ones; what cannot be written stands as a name."""
    parts = []
    for name, value in values.items():
        text = written(value)
        if text is None or text != written(parameters[name].default):
            parts.append(f"{name}={name if text is None else text}")
    return parts
