"""Answers about a table of many kinds of columns, as tables of the same library."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from types import MethodType
from typing import Any, NamedTuple

import numpy as np

from ...arrays import to_host
from ...core.linalg import Array
from ...core.place import Tall
from .cells import Frame, frame_of
from .encoding import Encoding, is_number
from .kinds import CarriedColumn, CategoryColumn


class MixedAnswer(NamedTuple):
    """What is needed to make tables of the features that a model returns: those that are kept."""

    frame: Frame
    encoding: Encoding
    kept: Array
    missing: list[Array]  # entries to fill of every column

    @classmethod
    def about(cls, X: Any, values: Tall, encoding: Encoding, kept: Tall) -> MixedAnswer:
        """Answers about the table X, which is ``values`` for the model."""
        frame = frame_of(X)
        assert frame is not None  # ``Encoding.rows`` has seen it
        return cls(frame, encoding, np.asarray(to_host(kept)), encoding.missing(frame, np.asarray(to_host(values))))

    def filled(self, Z: Tall, indicated: Array | None = None) -> Any:
        """The table with its gaps filled; then columns that say where there were some, of the columns indicated."""
        all_of, frame = self._all(Z), self.frame
        more = {}
        for j in [] if indicated is None else indicated.tolist():
            more[f"missingindicator_{frame.names[j]}"] = frame.of_truth(self.missing[j])
        part = self.encoding.part
        return self.encoding.table(
            frame, self.kept, lambda j, one: one.filled(frame, j, part(all_of, j), self.missing[j]), more
        )

    def by_column(self, Z: Tall, upper: bool | None) -> list[Any]:
        """Every column with its gaps filled, or with bounds; columns of numbers as arrays, with infinite bounds."""
        all_of, part, found = self._all(Z), self.encoding.part, []
        for j, one in enumerate(self.encoding.columns):
            about = (self.frame, j, part(all_of, j), self.missing[j])
            if is_number(one):
                found.append(about[2][:, 0])
            else:
                found.append(one.filled(*about) if upper is None else one.bound(*about, upper))
        return found

    def bound(self, Z: Tall, upper: bool) -> Any:
        """The table with bounds in its gaps, and sets of categories."""
        all_of, frame, part = self._all(Z), self.frame, self.encoding.part
        return self.encoding.table(
            frame, self.kept, lambda j, one: one.bound(frame, j, part(all_of, j), self.missing[j], upper)
        )

    def drawn(self, Z: Tall, rng: np.random.Generator) -> Any:
        """The table with draws in its gaps."""
        all_of, frame, part = self._all(Z), self.frame, self.encoding.part
        return self.encoding.table(
            frame, self.kept, lambda j, one: one.drawn(frame, j, part(all_of, j), self.missing[j], rng)
        )

    def doubts(self, deviations: Tall, Z: Tall) -> Any:
        """How unsure fills are: a table of numbers."""
        spread, all_of, frame, part = self._all(deviations), self._all(Z), self.frame, self.encoding.part
        return self.encoding.table(
            frame,
            self.kept,
            lambda j, one: frame.of_numbers(one.doubt(part(spread, j), part(all_of, j), self.missing[j])),
        )

    def probabilities(self, Z: Tall) -> dict[str, Any]:
        """Of every category a table of the probabilities of its labels."""
        all_of, frame = self._all(Z), self.frame
        return {
            frame.names[j]: one.table(frame, j, self.encoding.part(all_of, j))
            for j, one in enumerate(self.encoding.columns)
            if isinstance(one, CategoryColumn)
        }

    def _all(self, Z: Tall) -> Array:
        """Features that are kept as all features (n × m)."""
        out = np.full((Z.shape[0], len(self.kept)), np.nan)
        out[:, self.kept] = to_host(Z)
        return out


class OfCategories:
    """A method that only models with categories have, so that scikit-learn takes no other for a classifier."""

    def __init__(self, method: Callable[..., Any]) -> None:
        self.method = method
        update_wrapper(self, method)  # type: ignore[arg-type]

    def __get__(self, model: Any, owner: type | None = None) -> Any:
        if model is None:
            return self.method
        encoding = model._learned().encoding
        if encoding is None or not encoding.categories:
            raise AttributeError(
                f"This {type(model).__name__} was fitted to a table without categories, and has no probabilities; fit "
                "it to one with categories, text or booleans, or call predict_interval."
            )
        return MethodType(self.method, model)


def names_out(encoding: Encoding, names: Array, kept: Array) -> Array:
    """Names of the columns that are returned."""
    starts = encoding.starts
    some = [isinstance(one, CarriedColumn) or bool(kept[starts[j]]) for j, one in enumerate(encoding.columns)]
    out: Array = names[np.array(some)]
    return out
