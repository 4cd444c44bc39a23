"""Units that change while a stream goes on: those of columns that vary more than at first, or that start late."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from ..arrays import beside, dtype_of, to_host
from ..core.filter.model import FilterModel
from ..core.filter.state import EQUAL_SHARE, FilterState
from ..core.filter.units import units
from ..core.linalg import Array, is_sparse
from ..tall.places import place_of
from ..tall.rows import Rows, few_columns
from ._filter_columns import FIRST, Columns, with_noise
from ._kept_rows import FIRST_LOOK

GROWN = 2.0
"""How far a new unit has to be from the old one to be taken, as a factor. Not tuned: smaller changes do little good."""

TAIL = 0.1
"""Share of a column's values at either end that its spread leaves out, so that glitches do not make a unit larger. Not
tuned: a tenth is more than glitches are, and less than the time in which most sensors move."""


# ------------------------------------------------------------------ columns that vary more than at first


def looked(columns: Columns, state: FilterState, model: FilterModel) -> tuple[Columns, FilterState]:
    """What the kept rows say: units that have grown, and then the noise of the columns."""
    if columns.recent is None:
        return columns, state
    larger, state = _in_larger_units(columns, state, model)
    return larger if larger is not columns else with_noise(columns, state, model), state


def _in_larger_units(columns: Columns, state: FilterState, model: FilterModel) -> tuple[Columns, FilterState]:
    """With larger units for columns that vary far more than when theirs was measured; smaller ones are never taken.

    A column that rests for a while would otherwise be magnified, and would drown the others when it moves again.
    """
    if columns.recent is None or columns.unit is None:
        return columns, state
    variances, freedom = spreads(to_host(columns.recent), model.has_mean)
    new, unit = units(variances, freedom), to_host(columns.unit)
    grown = (variances > 0.0) & (freedom >= FIRST - 1.0) & (new > GROWN * unit)
    return _with_units(columns, state, model, np.where(grown, new, unit))


def _with_units(columns: Columns, state: FilterState, model: FilterModel, new: Array) -> tuple[Columns, FilterState]:
    """With other units (m, here). The noise is measured again, because columns in wrong units have been part of it."""
    from ..tall.columns import rescaled, residual_sums  # only fits need it

    recent, unit = columns.recent, to_host(columns.unit)
    if recent is None or unit is None or (new == unit).all():
        return columns, state
    state = rescaled(state, unit / new.astype(unit.dtype))
    new = beside(new.astype(unit.dtype), recent)
    sums = residual_sums(state, model, recent, new)
    small, free = state.small, float(np.sum(sums.own + sums.others))
    if free > 0.0:  # the variance is known as well as the kept rows say, and what comes now counts accordingly
        dof = min(small.noise_dof, free / (EQUAL_SHARE * max(small.k, 1)))
        small = small._replace(noise_sum=dof * float(sums.squares.sum()) / free, noise_dof=dof)
    state = state._replace(small=small)
    return with_noise(columns._replace(unit=new), state, model), state


def spreads(rows: Array, has_mean: bool) -> tuple[Array, Array]:
    """The variance of each column, from the distance between two quantiles, and its degrees of freedom.

    Where the model has no mean, values vary around zero.
    """
    n = np.count_nonzero(~np.isnan(rows), axis=0)
    if not has_mean:
        rows = np.concatenate([rows, -rows])
    ordered = np.sort(rows.astype(np.float64, copy=False), axis=0)  # NaN last
    last, column = np.maximum((n if has_mean else 2 * n) - 1, 0), np.arange(rows.shape[1])
    low = ordered[np.floor(TAIL * last).astype(int), column]
    high = ordered[np.ceil((1.0 - TAIL) * last).astype(int), column]
    variances = ((high - low) / (2.0 * ndtri(1.0 - TAIL))) ** 2
    return np.where(last > 0, variances, 0.0), np.maximum(n - float(has_mean), 0.0)


# ------------------------------------------------------------------ columns that start late


def with_few_values(columns: Columns, rows: Rows, counts: Array) -> Columns:
    """Before all ``rows`` are taken in at once: columns with fewer than FIRST values in them are like late ones.

    ``counts`` are the numbers of their values (m). Nothing is done where the rows themselves are few, or sparse.
    """
    few = np.flatnonzero((counts > 0) & (counts < FIRST))
    if columns.recent is None or columns.unit is None or is_sparse(rows) or rows.shape[0] < FIRST_LOOK or len(few) == 0:
        return columns
    first = np.full((FIRST, rows.shape[1]), np.nan, dtype_of(columns.recent))
    for j, values in zip(few, few_columns(rows, few).T, strict=True):
        first[: int(counts[j]), j] = values[~np.isnan(values)]
    return columns._replace(first=first)


def first_values(columns: Columns, state: FilterState, X: Rows) -> tuple[Columns, Rows]:
    """X up to the row in which a column that starts late has its FIRST-th value; such values are added to ``first``.

    The unit of that column is learned from them. Nothing is done for sparse rows, whose columns have few values each
    and mostly one unit.
    """
    first = columns.first
    if columns.recent is None or columns.unit is None or is_sparse(X) or (first is None and state.unseen is None):
        return columns, X
    if first is None:
        first = np.full((FIRST, X.shape[1]), np.nan, dtype_of(columns.recent))
    n_first = np.count_nonzero(~np.isnan(first), axis=0)
    begun = (n_first > 0) & (n_first < FIRST)
    if state.unseen is not None:
        begun |= place_of(state.C).get(state.unseen, 0)
    late = np.flatnonzero(begun)
    values = few_columns(X, late)
    observed = ~np.isnan(values)
    if not observed.any():
        return columns, X
    total = n_first[late] + np.cumsum(observed, axis=0)
    full = np.flatnonzero((total == FIRST).any(axis=1))
    n = int(full[0]) + 1 if len(full) else int(X.shape[0])
    row, position = np.nonzero(observed[:n])
    first, column = first.copy(), late[position]
    first[total[row, position] - 1, column] = values[row, position]
    return columns._replace(first=first), X[:n, :]


def with_late_units(
    columns: Columns, before: Columns, state: FilterState, model: FilterModel
) -> tuple[Columns, FilterState]:
    """With units for the late columns whose first values are complete, and were not ``before``."""
    first = columns.first
    if first is before.first or first is None or columns.recent is None or columns.unit is None:
        return columns, state
    full = ~np.isnan(first).any(axis=0)
    if before.first is not None:
        full &= np.isnan(before.first).any(axis=0)
    if not full.any():
        return columns, state
    recent, unit = to_host(columns.recent), to_host(columns.unit)
    variances, freedom = spreads(recent, model.has_mean)
    values, free = first[:, full].astype(np.float64), FIRST - float(model.has_mean)
    if model.has_mean:
        values = values - values.mean(axis=0)
    variances[full], freedom[full] = np.sum(values**2, axis=0) / free, free
    new = units(variances, freedom)
    return _with_units(columns, state, model, np.where(full & (np.abs(np.log(new / unit)) > np.log(GROWN)), new, unit))
