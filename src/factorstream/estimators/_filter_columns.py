"""What a run of the filter knows of its columns beside the dictionary: their units, their noise, and some rows.

The filter's own state says nothing about single columns but their loadings. A few rows say the rest at a small price,
however long the stream is: ``_kept_rows`` chooses them, ``_column_units`` reads units from them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import beside, dtype_of, to_host
from ..core.filter.column_noise import ColumnNoise, column_noise
from ..core.filter.model import FilterModel
from ..core.filter.state import FilterState
from ..core.filter.units import noise_left_by
from ..core.linalg import Array
from ..core.place import Tall
from ..tall.rows import Rows

FIRST = 4
"""First values of a column that starts late from which its unit is learned. Not tuned: their variance, with three
degrees of freedom, is known to a factor of three; and the filter hardly listens to a column of which it knows less."""


class Columns(NamedTuple):
    """What a run knows of its columns beside the dictionary."""

    unit: Tall | None
    """Their units (m); None where they are those of the data."""
    noise: ColumnNoise | None
    """Their noise beside the common one; None where it is not known."""
    recent: Rows | None
    """Rows kept, in the data's units (n × m); None where none are wanted."""
    first: Array | None
    """The first values of columns that started late (FIRST × m, NaN = none); None before there is one."""

    @property
    def in_unknown_units(self) -> Array | None:
        """The columns that have started late and have too few values to tell their unit (m, boolean); None: none."""
        if self.first is None:
            return None
        few: Array = ~np.isnan(self.first[0]) & np.isnan(self.first[-1])
        return few if few.any() else None


def new_columns(unit: Array | None, wanted: bool, rows: Rows) -> Columns:
    """Before the first of these rows; ``wanted`` says whether some are kept."""
    recent = beside(np.empty((0, rows.shape[1]), dtype_of(rows)), rows) if wanted else None
    return Columns(None if unit is None else beside(unit, rows), None, recent, None)


def with_noise(columns: Columns, state: FilterState, model: FilterModel) -> Columns:
    """With the noise of the columns in the kept rows. Where one V is shared, the noise is as well."""
    from ..tall.columns import column_variances, residual_sums  # only fits need it

    if columns.recent is None or not model.step.doubts:
        return columns
    sums = residual_sums(state, model, columns.recent, columns.unit)
    if columns.unit is None:
        return columns._replace(noise=column_noise(sums))
    expected, unsure, moved = np.zeros_like(sums.own), np.zeros_like(sums.own), sums.squares > 0.0
    if moved.any():  # of other columns nothing is known, and they say nothing of these
        unit = to_host(columns.unit)[moved].astype(np.float64)
        expected[moved], unsure[moved] = noise_left_by(unit, column_variances(state)[moved] * unit**2)
    return columns._replace(noise=column_noise(sums, expected, unsure))
