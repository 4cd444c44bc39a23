"""How good fills and intervals are: some observed entries are hidden, a copy of the model is fitted without them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from ..core.variational.conformal import CalibrationError
from ..estimators.low_rank_imputer import LowRankImputer
from ..masks import Seed
from ..plot._answers import bounds_by, filled_by
from ..plot._calibration import hidden_entries
from .given import Given, told

Array = NDArray[Any]

LEVELS = (0.5, 0.8, 0.9, 0.95)
"""Levels of intervals that are compared with what they hold, besides the one asked for. Not tuned: usual ones, and each
costs one more question to the model."""


class Errors(NamedTuple):
    """Errors on hidden entries (k,), by the model and by the two things anybody would do without one."""

    model: Array
    mean: Array
    line: Array | None
    """None where rows are not known to be in the order of time."""


class Measured(NamedTuple):
    """The outcome on k hidden entries."""

    column: Array
    """Which column each is in (k,)."""
    errors: Errors
    scale: Array
    """Standard deviations of the columns' entries that were left (m,)."""
    inside: dict[float, Array]
    """By level, whether each entry lies in its interval (k,)."""
    length: int
    """Rows hidden in a run."""
    fraction: float

    @property
    def n(self) -> int:
        """How many entries were hidden."""
        return len(self.column)


class NotMeasuredError(ValueError):
    """The data are too few to hide some of them; the message says so."""


def measure(found: Given, level: float, fraction: float, length: int | None, rng: Seed) -> Measured:
    """Hide entries, fit a copy with the same settings to what is left, and ask it for what was hidden."""
    length = typical_run(found.gap, fraction) if length is None and found.in_time else length or 1
    used = np.asarray(~found.gap.all(axis=0))
    values = found.panel.values[:, used]
    try:
        hidden = hidden_entries(values, fraction, length, rng)
        left = np.where(hidden, np.nan, values)
        with told():
            judge = same_settings(found.model).fit(left)
            filled = filled_by(judge, left)
            bounds = _bounds(judge, left, sorted({*LEVELS, level}))
    except (ValueError, np.linalg.LinAlgError) as problem:
        raise NotMeasuredError(str(problem)) from problem
    place = np.nonzero(hidden)[1]
    truth = values[hidden]
    errors = Errors(
        filled[hidden] - truth,
        np.nanmean(left, axis=0)[place] - truth,
        straight_lines(left, _positions(found))[hidden] - truth if found.in_time or length > 1 else None,
    )
    scale = np.full(len(used), np.nan)
    scale[used] = np.nanstd(left, axis=0)
    inside = {one: np.asarray((low[hidden] <= truth) & (truth <= high[hidden])) for one, (low, high) in bounds.items()}
    return Measured(np.flatnonzero(used)[place], errors, scale, inside, length, fraction)


def same_settings(model: Any) -> Any:
    """An unfitted copy with the parameters that the model was fitted with, whatever was set since."""
    other = clone(model)
    other.set_params(**getattr(model.state_, "parameters", {}), verbose=0)
    return other.set_params(missing_values=np.nan) if isinstance(other, LowRankImputer) else other


def _bounds(judge: Any, left: Array, levels: Sequence[float]) -> dict[float, tuple[Array, Array]]:
    """The bounds at each level; levels at which a small table cannot be calibrated are left out."""
    found = {}
    for level in levels:
        try:
            found[level] = bounds_by(judge, left, level)
        except CalibrationError:
            continue
    return found


def typical_run(gap: Array, fraction: float) -> int:
    """How long the gaps of a sequence last: half of the missing entries lie in runs at least so long.

    At most half of the rows that are hidden of a complete column, so that there are two runs or more.

    >>> typical_run(np.array([[0, 1, 1, 1, 0, 1, 0, 0, 0, 0]] * 3).T == 1, 0.8)
    3
    """
    padded = np.zeros((len(gap) + 2, gap.shape[1]), dtype=np.int8)
    padded[1:-1] = gap
    steps = np.diff(padded, axis=0).T
    lengths = np.nonzero(steps == -1)[1] - np.nonzero(steps == 1)[1]
    if not len(lengths):
        return 1
    lengths = np.sort(lengths)[::-1]
    typical = int(lengths[np.searchsorted(np.cumsum(lengths), lengths.sum() / 2.0)])
    return max(1, min(typical, int(fraction * len(gap) / 2)))


def straight_lines(values: Array, x: Array) -> Array:
    """Gaps filled by the straight line between the values on either side; beyond the ends by the nearest value.

    >>> straight_lines(np.array([[0.0], [np.nan], [2.0], [np.nan]]), np.arange(4.0)).ravel()
    array([0., 1., 2., 2.])
    """
    out = values.copy()
    for column in out.T:
        gap = np.isnan(column)
        if gap.any() and not gap.all():
            column[gap] = np.interp(x[gap], x[~gap], column[~gap])
    return out


def _positions(found: Given) -> Array:
    x = found.panel.x
    return (x - x[0]).astype("timedelta64[ns]").astype(np.float64) if found.panel.dated else x
