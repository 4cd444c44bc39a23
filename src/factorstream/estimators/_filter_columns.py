"""What a run of the filter knows of its columns beside the dictionary: their units, their noise, and some rows.

The filter's own state says nothing about single columns but their loadings. A few rows say the rest at a small price,
however long the stream is: ``_kept_rows`` chooses them, ``_column_units`` reads units from them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..core.filter.column_noise import ColumnNoise, column_noise
from ..core.filter.model import FilterModel
from ..core.filter.state import FilterState
from ..core.filter.units import noise_left_by
from ..core.linalg import Array
from ..tall.columns import column_variances, residual_sums

FIRST = 4
"""First values of a column that starts late from which its unit is learned. Not tuned: their variance, with three
degrees of freedom, is known to a factor of three; and the filter hardly listens to a column of which it knows less."""


class Columns(NamedTuple):
    """What a run knows of its columns beside the dictionary."""

    unit: Array | None
    """Their units (m); None where they are those of the data."""
    noise: ColumnNoise | None
    """Their noise beside the common one; None where it is not known."""
    recent: Array | None
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


def new_columns(unit: Array | None, wanted: bool, n_features: int, dtype: np.dtype[Any]) -> Columns:
    """Before the first row; ``wanted`` says whether rows are kept."""
    return Columns(unit, None, np.empty((0, n_features), dtype) if wanted else None, None)


def with_noise(columns: Columns, state: FilterState, model: FilterModel) -> Columns:
    """With the noise of the columns in the kept rows. Where one V is shared, the noise is as well."""
    if columns.recent is None or not model.step.doubts:
        return columns
    sums = residual_sums(state, model, columns.recent, columns.unit)
    if columns.unit is None:
        return columns._replace(noise=column_noise(sums))
    expected, unsure, moved = np.zeros_like(sums.own), np.zeros_like(sums.own), sums.squares > 0.0
    if moved.any():  # of other columns nothing is known, and they say nothing of these
        unit = columns.unit[moved].astype(np.float64)
        expected[moved], unsure[moved] = noise_left_by(unit, column_variances(state)[moved] * unit**2)
    return columns._replace(noise=column_noise(sums, expected, unsure))
