"""Other values of constants, for as long as something is measured with them."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

CORE = "factorstream.core.dynamics."


class Default(NamedTuple):
    """An argument whose default was bound when its function was defined."""

    function: Any
    argument: str


class Change(NamedTuple):
    """Another value of a constant."""

    name: str
    value: Any
    module: str | None  # where the constant is defined; None: it is a default and nothing else
    defaults: tuple[Default, ...]

    @property
    def label(self) -> str:
        """Name and value, for a line of the table."""
        values = self.value if isinstance(self.value, tuple | np.ndarray) else (self.value,)
        many = len(values) > 3
        return f"{self.name}=" + (f"{values[0]:g}..{values[-1]:g}" if many else "/".join(f"{v:g}" for v in values))

    @property
    def modules(self) -> list[str]:
        """Every module in which the constant is looked up: where it is defined, and those that have imported it."""
        if self.module is None:
            return []
        before = vars(sys.modules[CORE + self.module])[self.name]
        ours = [(name, module) for name, module in sys.modules.items() if name.startswith("factorstream.")]
        return [name for name, module in ours if vars(module).get(self.name) is before]


def other(name: str, *values: Any, module: str | None = None, defaults: Iterable[Default] = ()) -> tuple[Change, ...]:
    """Other values of a constant, or of a default."""
    return tuple(Change(name, value, module, tuple(defaults)) for value in values)


def _bound(function: Any, argument: str, value: object) -> AbstractContextManager[object]:
    """Another default of this argument."""
    kinds = inspect.signature(function).parameters
    if kinds[argument].kind is inspect.Parameter.KEYWORD_ONLY:
        return patch.dict(function.__kwdefaults__, {argument: value})
    given = [
        one.name for one in kinds.values() if one.kind is one.POSITIONAL_OR_KEYWORD and one.default is not one.empty
    ]
    defaults = dict(zip(given, function.__defaults__, strict=True))
    return patch.object(function, "__defaults__", tuple((defaults | {argument: value}).values()))


@contextmanager
def made(change: Change) -> Iterator[None]:
    """The change is made while this is open."""
    with ExitStack() as stack:
        for name in change.modules:
            stack.enter_context(patch(f"{name}.{change.name}", change.value))
        for function, argument in change.defaults:
            stack.enter_context(_bound(function, argument, change.value))
        yield
