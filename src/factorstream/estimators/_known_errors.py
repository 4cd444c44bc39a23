"""What is known of rows beside their values: weights of the rows, and variances of the errors of single entries."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import _check_sample_weight

from ..arrays import is_dask, is_here
from ..core.linalg import Array, is_sparse
from ..core.variational.observed import Known
from ..sources.rows.opening import is_path
from ..sources.rows.source import Source
from ..tall.rows import Rows, rows_with_data
from ._columns import moments
from ._observing import observe

IN_MEMORY = "sample_weight and variances are for dense rows in memory; pass X as an array or a table of this process."
WITHOUT = "Known variances, and weights that are no whole numbers, are for dense rows and normal noise; leave out {}."


def known_of(X: Any, rows: Any, sample_weight: Any, variances: Any) -> Known | None:
    """The weights of the rows and the variances of their entries, checked; None where neither is given.

    ``rows`` are X as floats, with NaN where a value is missing.
    """
    if sample_weight is None and variances is None:
        return None
    refuse_elsewhere(X)
    times = np.ones(len(rows))
    if sample_weight is not None:
        times = checked_weights(sample_weight, rows)
    return Known(np.zeros(rows.shape) if variances is None else checked_variances(variances, rows), times)


def checked_weights(sample_weight: Any, rows: Any) -> Array:
    """One weight for each row."""
    weights: Array = _check_sample_weight(sample_weight, rows, dtype=np.float64, ensure_non_negative=True)
    return weights


def repeated(rows: Any, sample_weight: Any, variances: Any, **beside: Any) -> Any | None:
    """The rows of a fit that cannot weigh them, each as often as it counts; None where the fit can.

    Only whole weights can be met so. ``beside`` are the parameters, by their names, under which rows cannot be weighed,
    where they are set.
    """
    names = [f"{name}={value!r}" for name, value in beside.items() if value] + ["sparse rows"] * is_sparse(rows)
    if not names:
        return None
    weights = None if sample_weight is None else checked_weights(sample_weight, rows)
    if variances is not None or weights is None or (weights != np.floor(weights)).any():
        raise ValueError(WITHOUT.format(names[0]))
    return rows[np.repeat(np.arange(len(weights)), weights.astype(np.intp))]


def refuse_elsewhere(X: Any) -> None:
    """Refuse rows that are not dense in the memory of this process."""
    if is_path(X) or isinstance(X, Source) or is_dask(X) or not is_here(X):
        raise ValueError(IN_MEMORY)


def checked_variances(variances: Any, rows: Array) -> Array:
    """Variances of the errors of rows (n × m), zero where a value is missing."""
    v = np.asarray(variances, dtype=np.float64)
    if v.shape != rows.shape:
        raise ValueError(f"variances has the shape {v.shape} and X {rows.shape}; pass one variance for every entry.")
    v = np.where(np.isnan(rows), 0.0, v)
    if not (np.isfinite(v) & (v >= 0)).all():
        raise ValueError(
            "variances must be finite and not negative where X is observed; set other entries of X to NaN."
        )
    return v


def known_variances(X: Any, rows: Array, variances: Any) -> Array:
    """Those of the rows of a question, checked."""
    refuse_elsewhere(X)
    return checked_variances(variances, rows)


def counted_rows(rows: Array, known: Known) -> tuple[Array, Known]:
    """The rows that have data and count at all, and what is known of them."""
    which = rows_with_data(rows)
    which = which[known.times[which] > 0]
    return rows[which], Known(known.v[which], known.times[which])


def known_moments(rows: Array, known: Known) -> tuple[Array, Array, Array]:
    """Number, mean and deviation of each column's values beyond their known errors, each as often as its row counts."""
    count, mean, scale = moments(rows)
    unit = np.where(scale > 0, scale, 1.0)
    data = observe((rows - mean) / unit)
    from ..core.variational.known_errors import column_law  # only fits need it

    offset, variance = column_law(data, Known(known.v / unit**2, known.times))
    varies = scale > 0
    if (known.times != 1.0).any():
        count = known.times @ ~np.isnan(rows)
    return count, np.where(varies, mean + unit * offset, mean), np.where(varies, unit * np.sqrt(variance), 0.0)


def n_counted(rows: Rows, known: Known | None) -> int:
    """How many rows a fit has taken in: the sum of their weights, rounded."""
    return int(rows.shape[0]) if known is None else round(float(known.times.sum()))
