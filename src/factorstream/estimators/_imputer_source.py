"""The columns of a source for an imputer: their centres and scales, and a look at them in units of these."""

from __future__ import annotations

import numpy as np

from ..core.linalg import Array
from ..core.variational.noise.law import ColumnMoments
from ..tall.rows import with_data
from ._columns import robust_moments
from ._imputer_state import ImputerState
from ._source_rows import Look


def moments_in(found: Look, *, robust: bool) -> tuple[Array, Array, Array]:
    """Number, mean and deviation of each column's values, as ``_columns.moments``; medians are of some rows."""
    count, mean, square = found.moments
    scale = np.sqrt(square / np.maximum(count, 1.0))
    constant = found.seen.low >= found.seen.high  # also where nothing is observed
    mean = np.where(constant & (count > 0), found.seen.low, mean)
    scale = np.where(constant | (scale < np.finfo(np.float64).tiny), 0.0, scale)
    if robust:
        mean, scale = robust_moments(found.some, mean, scale)
    return count.astype(np.int64), mean, scale


def standardised_look(state: ImputerState, found: Look) -> Look:
    """The same look at the standardised features that vary."""
    varies = state.varies
    middle, unit = state.statistics[varies], state.scale[varies]
    count, mean, square = (part[varies] for part in found.moments)
    low, high, known, strikes, last = (part[varies] for part in found.seen[:5])
    low, high, last = ((part - middle) / unit for part in (low, high, last))
    return found._replace(
        some=with_data(state.standardised(found.some)),
        moments=ColumnMoments(count, (mean - middle) / unit, square / unit**2),
        seen=found.seen._replace(low=low, high=high, known=known, strikes=strikes, last=last),
    )
