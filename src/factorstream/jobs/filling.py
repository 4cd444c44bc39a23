"""Fit a model that fills a table, and ask it, whatever its class: by blocks of rows, or a sequence as a whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..estimators._imputer_answers import fill_between as imputed_between
from ..estimators.low_rank_imputer import LowRankImputer
from ..estimators.sequence import SequenceFilter
from ..sources.columns import take_names
from ..sources.table import Array, Bounds
from .quiet import quietly
from .reading import MOST_STATES

__all__ = ["fill", "fill_between", "fitted", "interval", "n_beyond", "n_known"]

CELLS_AT_ONCE, LEAST_AT_ONCE, MOST_AT_ONCE = 1_000_000, 256, 8192
"""Entries filled between two reports of progress, 8 MB of float64, and rows at the least and at the most. Not tuned;
the numbers do not depend on it. What is done once for all features takes a while, and a matrix for each row takes
room."""

Progress = Callable[[str, float], None]


def fitted(
    X: Any,
    components: int | str,
    robust: bool,
    calibrate: bool,
    seed: int,
    *,
    sequence: bool = False,
    verbose: int = 0,
) -> Any:
    """A model of the rows of X, an array or a table of all kinds of columns, or of X as a sequence of time steps."""
    model: Any
    if sequence:
        most = min(MOST_STATES, len(X)) if isinstance(components, str) else components
        model = SequenceFilter(most, robust=robust or "auto", calibrate=calibrate, verbose=verbose)
    else:
        model = LowRankImputer(components, robust=robust, calibrate=calibrate, random_state=seed, verbose=verbose)
    with quietly():
        model.fit(X)
    take_names(model)  # of a table: columns are found by their positions from here on
    model.verbose = 0  # whoever uses it next decides for themselves
    return model


def fill(model: Any, X: Array, progress: Progress = lambda what, share: None) -> Array:
    """X with its gaps filled."""
    answer = model.transform if isinstance(model, LowRankImputer) else model.impute
    (values,) = _by_blocks(model, lambda rows: (answer(rows),), X, progress, "filling", 0.85)
    return _as_wide(values, X)


def _as_wide(values: Array, X: Array) -> Array:
    if values.shape != X.shape:
        raise ValueError("the model adds columns or drops some; fit it without add_indicator to columns with values")
    return values


def interval(model: Any, X: Array, level: float, progress: Progress = lambda what, share: None) -> Bounds:
    """The bounds of every entry."""
    return Bounds(*_by_blocks(model, lambda rows: model.predict_interval(rows, level), X, progress, "bounding", 0.75))


def fill_between(
    model: Any, X: Array, level: float, progress: Progress = lambda what, share: None
) -> tuple[Array, Bounds]:
    """X with its gaps filled, and the bounds of every entry."""
    if not isinstance(model, LowRankImputer):
        bounds = interval(model, X, level, progress)
        return fill(model, X, progress), bounds
    found = _by_blocks(model, lambda rows: imputed_between(model, rows, level), X, progress, "filling", 0.75)
    return _as_wide(found[0], X), Bounds(*found[1:])


def n_known(model: Any) -> Array:
    """How many values of each feature a model was fitted to, as far as it counts them; elsewhere many."""
    if isinstance(model, LowRankImputer):
        return model.n_observed_
    if isinstance(model, SequenceFilter):
        return model.state_.counts
    return np.full(model.n_features_in_, np.inf)


def _by_blocks(
    model: Any, answer: Callable[[Array], Sequence[Array]], X: Array, progress: Progress, what: str, start: float
) -> list[Array]:
    """The arrays that ``answer`` returns for blocks of rows, each joined over the blocks."""
    size = int(np.clip(CELLS_AT_ONCE // X.shape[1], LEAST_AT_ONCE, MOST_AT_ONCE))
    if isinstance(model, SequenceFilter):
        size = len(X)
    found: list[Array] = []
    for first in range(0, len(X), size):
        progress(what, start + 0.1 * first / len(X))
        with quietly():
            parts = answer(X[first : first + size])
        if not found:  # room for all rows, so that no part is kept beside them
            found = [np.empty((len(X), *part.shape[1:]), dtype=part.dtype) for part in parts]
        for whole, part in zip(found, parts, strict=True):
            whole[first : first + size] = part
    return found


def n_beyond(filled: Array, gaps: Array, low: Array, high: Array) -> tuple[int, int]:
    """How many fills are below the lowest known value of their column, and how many above the greatest."""
    slack = np.where(np.isfinite(low), 1e-9 * np.maximum(np.abs(low), np.abs(high)), 0.0)  # fills have ten digits
    return int(np.sum(gaps & (filled < low - slack))), int(np.sum(gaps & (filled > high + slack)))
