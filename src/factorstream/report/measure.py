"""How good fills and intervals are: some observed entries are hidden, and a model that never saw them is asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from ..core.variational.conformal import CalibrationError
from ..estimators.low_rank_imputer import LowRankImputer
from ..masks import Seed
from ..plot._answers import bounds_by, filled_by, in_all_columns
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
    refitted: bool
    """Whether a copy of the model was asked, fitted without the hidden entries, because the model has seen them."""

    @property
    def n(self) -> int:
        """How many entries were hidden."""
        return len(self.column)

    @property
    def varies(self) -> Array:
        """Which of them are in columns that vary (k,): only their intervals can fail."""
        return np.asarray(self.scale[self.column] > 0)

    def held(self, level: float) -> float:
        """The share of entries of columns that vary that lie in their intervals; NaN without any."""
        inside = self.inside[level][self.varies]
        return float(inside.mean()) if len(inside) else float("nan")


class NotMeasuredError(ValueError):
    """The data are too few to hide some of them; the message says so."""


class _Said(NamedTuple):
    """What a model says of a table with hidden entries."""

    filled: Array
    bounds: dict[float, tuple[Array, Array]]
    """By level."""


def measure(found: Given, level: float, fraction: float, length: int | None, rng: Seed) -> Measured:
    """Hide entries, and ask for them a model that has not seen them.

    That is the model itself where it was fitted to other rows. Where it was fitted to this table, it is a copy with the
    same settings, fitted to what is left.
    """
    used = np.asarray(~found.gap.all(axis=0))
    length = typical_run(found.gap[:, used], fraction) if length is None and found.in_time else length or 1
    values, hidden = found.panel.values, np.zeros_like(found.gap)
    refitted = found.is_fitted_to_it
    levels = sorted({*LEVELS, level})
    try:
        hidden[:, used] = hidden_entries(values[:, used], fraction, length, rng)
        with told():
            said = _by_a_copy(found, hidden, used, levels) if refitted else _by_itself(found, hidden, levels)
    except (ValueError, np.linalg.LinAlgError) as problem:
        raise NotMeasuredError(str(problem)) from problem
    hidden &= ~np.isnan(said.filled)  # an imputer drops columns that were empty when it was fitted
    if not hidden.any():
        raise NotMeasuredError("The model was fitted to none of the columns with values.")
    left = np.where(hidden, np.nan, values)
    place, truth = np.nonzero(hidden)[1], values[hidden]
    mean, scale = np.full((2, len(used)), np.nan)
    mean[used], scale[used] = np.nanmean(left[:, used], axis=0), np.nanstd(left[:, used], axis=0)
    errors = Errors(
        said.filled[hidden] - truth,
        mean[place] - truth,
        straight_lines(left, _positions(found))[hidden] - truth if found.in_time or length > 1 else None,
    )
    inside = {
        one: np.asarray((low[hidden] <= truth) & (truth <= high[hidden])) for one, (low, high) in said.bounds.items()
    }
    return Measured(place, errors, scale, inside, length, fraction, refitted)


def _by_itself(found: Given, hidden: Array, levels: Sequence[float]) -> _Said:
    asked = found.asked_without(hidden)
    return _Said(filled_by(found.model, asked), _bounds(found.model, asked, levels))


def _by_a_copy(found: Given, hidden: Array, used: Array, levels: Sequence[float]) -> _Said:
    """By a copy that is fitted to the columns with values; NaN in the others."""
    left = np.where(hidden, np.nan, found.panel.values)[:, used]
    judge = same_settings(found.model).fit(left)
    bounds = _bounds(judge, left, levels)
    return _Said(
        in_all_columns(filled_by(judge, left), used),
        {one: (in_all_columns(low, used), in_all_columns(high, used)) for one, (low, high) in bounds.items()},
    )


def same_settings(model: Any) -> Any:
    """An unfitted copy with the parameters that the model was fitted with, whatever was set since."""
    other = clone(model)
    other.set_params(**getattr(model.state_, "parameters", {}), verbose=0)
    return other.set_params(missing_values=np.nan) if isinstance(other, LowRankImputer) else other


def _bounds(judge: Any, left: Any, levels: Sequence[float]) -> dict[float, tuple[Array, Array]]:
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
    """Every column with its gaps filled by linear interpolation.

    Before its first known value and after the last one, that value is repeated.

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
