"""Where the filter starts: the data's scale, and the prior that follows from it.

A few rows say how large the data are. Everything that is "auto" is a fixed multiple of that scale,
so multiplying the data by a constant changes nothing but the units.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..arrays import dtype_of
from ..core.filter.groups import one_group
from ..core.filter.state import Count, FilterState, SmallState
from ..core.filter.units import units
from ..core.linalg import Array, gram, matrix_root
from ..core.place import HERE, Place, Tall
from .places import place_to_start
from .products import still_unseen
from .rows import Rows
from .starting_products import (
    Sums,
    added,
    added_squares,
    converted,
    is_positive,
    means,
    squares_between,
    values_and_gaps,
    without_one,
)

NOISE_SHARE = 0.1
"""λ of the recursion as a share of the data's variance; σ² itself is learned.

Measured by ``benchmarks/defaults.py``: only V0/λ matters to the dictionary, and the error on held-out entries is flat
in it over a decade."""

COUNTED_NOISE_SHARE = 0.002
"""λ, as a share of the data's variance, for ``covariance="counted"``. A sample counts in full only once what is not
known of C makes up less of its variance than λ does.

Measured by ``benchmarks/rare_columns.py``: the less, the better for a rarely seen column of ten components (1.01, 1.03
and 1.22 times the error of the variational fit at 0.0005, 0.002 and 0.01); held-out entries of small tables are best
around 0.002, and move by at most 3.4% between these."""

COUNTED_FIRST_NOISE = 0.01
"""Where σ² starts, as a share of the data's variance, for ``covariance="counted"``: as if one degree of freedom said
so. It matters where rows leave no residuals to learn σ² from, with as many components as features: of a table of 8
columns, rank 2 and 30 rows, 95% intervals of ten components hold 0.56 from 0.002, 0.95 from 0.01 and 1.00 from 0.1."""

START_SHARE = 0.25
"""Size of the random start as a share of the prior's deviation: small, so that it is soon outweighed.

Measured by ``benchmarks/defaults.py``."""


MIN_WARM_UP = 10
"""Rows that set the scale, at least. Not tuned: a round number."""

ROUNDING = 8.0
"""Deviations up to this many units of the data's rounding count as none, and beside them what a sum in double precision
may be off by: a unit for every value.

Not tuned: real data vary by many orders of magnitude more."""

BLOCK = 2**18
"""Entries looked at together when the scale is measured: two megabytes, and as many times that as the place has more
room than this process. Not tuned; memory and speed only."""


class Scale(NamedTuple):
    """How large the data are."""

    place: Place
    """Where the filter will be."""
    origin: Tall
    """Feature means (m), or zeros when no mean is fitted."""
    variance: float
    """Variance of the observed entries around the origin."""
    per_feature: float
    """Observed entries per feature that went into it."""
    seen: Tall
    """Features of which something was observed (m, boolean); all of them when no mean is fitted."""
    squares: Tall
    """Σ of the squared distances from the origin, by feature (m)."""
    freedom: Tall
    """Degrees of freedom of these sums (m)."""
    rests: Tall | None = None
    """Features with several values that are all equal (m, boolean); None where columns have no units of their own."""


def warm_up(n_components: int) -> int:
    """How many rows set the scale."""
    return max(n_components, MIN_WARM_UP)


def measure(rows: Rows, fit_mean: bool, place: Place | None = None) -> Scale:
    """The scale of some rows (NaN = missing, or sparse); cruder measures stand in where they say too little.

    Two passes in blocks of rows, so that no temporary is as large as the data. A filter that has begun already names
    its place; a new one starts where ``places.using`` says.
    """
    place, m = place_to_start(rows) if place is None else place, rows.shape[1]
    zeros = place.put(np.zeros(m), 0)
    sums, squares = Sums(zeros, zeros, zeros), zeros
    for values, missing in _blocks(place, rows, zeros):
        sums = place.each(added, sums, values, missing)
        squares = place.each(added_squares, squares, values)
    check_range(float(place.get(sums.largest, 0).max(initial=0.0)), dtype_of(rows))
    count = sums.count
    n = float(place.total(np.sum, count))
    if n == 0:
        return Scale(place, zeros, 1.0, 1.0, place.put(np.full(m, not fit_mean), 0), zeros, zeros)
    square = float(place.total(np.sum, squares)) / n
    if not fit_mean:
        return Scale(place, zeros, square or 1.0, n / m, place.put(np.ones(m, dtype=bool), 0), squares, count)
    overall = float(place.total(np.sum, sums.total)) / n
    origin = place.each(means, sums, overall)
    free = n - float(place.total(np.count_nonzero, count))
    squares = zeros
    for values, _ in _blocks(place, rows, origin):
        squares = place.each(added_squares, squares, values)
    within = float(place.total(np.sum, squares))
    around = within + float(place.total(squares_between, count, origin, overall))
    rounding = _rounding(dtype_of(rows), float(place.get(count, 0).max())) ** 2 * square
    choices = (within / free if free > 0 else 0.0, around / n, square)  # one row, or constant features
    variance = [*(v for v in choices if v > rounding), 1.0][0]
    freedom = place.each(without_one, count)
    return Scale(place, origin, variance, n / m, place.each(is_positive, count), squares, freedom)


def in_units(scale: Scale, dtype: np.dtype[Any]) -> tuple[Scale, Array]:
    """The scale of the same rows with every column in its own unit, and the units (m)."""
    place = scale.place
    squares, freedom, origin = (place.get(part, 0) for part in (scale.squares, scale.freedom, scale.origin))
    variances = squares / np.maximum(freedom, 1.0)
    varies = variances > _rounding(dtype, freedom + 1.0) ** 2 * (origin**2 + variances)
    unit = units(np.where(varies, variances, 0.0), freedom)
    variance = float(np.sum((np.sqrt(squares) / unit) ** 2) / max(freedom.sum(), 1.0))  # unit² may be too small
    if not (varies.any() and COUNTED_NOISE_SHARE * variance > 0.0):
        variance = scale.variance
    rests = place.put(~varies & (freedom >= 1.0), 0)
    return scale._replace(origin=place.put(origin / unit, 0), variance=variance, rests=rests), unit.astype(dtype)


def _rounding(dtype: np.dtype[Any], n: Count) -> Count:
    """How far values of this type may seem to be from their mean, of n, where all are equal; relative to their size."""
    return ROUNDING * float(np.finfo(dtype).eps) + n * float(np.finfo(np.float64).eps)


def _blocks(place: Place, rows: Rows, origin: Tall) -> Iterator[tuple[Tall, Tall]]:
    """Values less the origin (zero where missing) and mask of the missing entries, a few rows at a time."""
    step = max(1, BLOCK * place.room // (HERE.room * rows.shape[1]))
    for first in range(0, rows.shape[0], step):
        yield place.each(values_and_gaps, place.put(rows[first : min(first + step, rows.shape[0]), :], 1), origin)


def check_range(largest: float, dtype: np.dtype[Any], smallest: float | None = None) -> None:
    """Refuse data whose fourth powers leave the floating-point range: nothing after would mean anything.

    ``smallest`` is a bound from below other than that of the range: a stream has a scale already.
    """
    limits = np.finfo(dtype)
    smallest = float(limits.tiny) ** 0.25 if smallest is None else smallest
    if largest and not smallest < largest < float(limits.max) ** 0.25:
        remedy = "multiply the data by a constant" + (", or pass float64." if dtype == np.float32 else ".")
        raise ValueError(f"X has values of size {largest:.3g}, which {dtype} arithmetic cannot square safely; {remedy}")


def start(
    scale: Scale,
    *,
    r: int,
    fit_mean: bool,
    noise_variance: float | None,
    V0: Array | None,
    C0: Array | str,
    seed: int,
    dtype: np.dtype[Any],
    counted: bool = False,
) -> FilterState:
    """The state before the first sample; ``noise_variance`` and V0 (r × r) follow from the scale where they are None.

    C0 is (m × r), "random" or "uniform". The random start is a draw from the prior, C0 ~ N(0, V0 ⊗ I), made smaller
    by START_SHARE where V0 is None; "uniform" is the paper's, in [0, 1). The mean starts at the origin, a mean of
    ``per_feature`` values, and with the variance that such a mean has. The loadings of a feature that rests start at
    zero, so that it is filled with its one value until it moves; but not where fewer than r features vary, from which
    r components could not be found. With ``counted`` each feature has its own doubt.
    """
    place = scale.place
    m = place.total(len, scale.origin)
    noise_share = COUNTED_NOISE_SHARE if counted else NOISE_SHARE
    lam = noise_share * scale.variance if noise_variance is None else float(noise_variance)
    first_noise = COUNTED_FIRST_NOISE * scale.variance if counted and noise_variance is None else lam
    share = START_SHARE if V0 is None else 1.0
    if V0 is None:
        V0 = scale.variance / r * np.eye(r)
    rng = np.random.default_rng(seed)
    if not isinstance(C0, str):
        C = C0
    elif C0 == "uniform":
        C = rng.random((m, r))
    else:
        C = share * rng.standard_normal((m, r)) @ np.linalg.cholesky(V0).T
        rests = np.zeros(m, dtype=bool) if scale.rests is None or not fit_mean else place.get(scale.rests, 0)
        if np.count_nonzero(~rests) >= r:
            C[rests] = 0.0
    if fit_mean:
        C = np.column_stack([C, np.zeros(m)])
        mean_variance = scale.variance / max(scale.per_feature, 1.0)
        V0 = np.block([[V0, np.zeros((r, 1))], [np.zeros((1, r)), mean_variance]])
    tall_C = place.put(np.array(C, dtype=dtype, order="C"), 0)
    small = SmallState(
        G=np.asfortranarray(place.total(gram, tall_C)),
        S=matrix_root(V0),
        T=np.eye(r, order="F"),
        xbar=np.zeros(r),
        lam=lam,
        noise_sum=first_noise,
        noise_dof=1.0,
        k=0,
        age=0,
    )
    unseen = place.each(np.logical_not, scale.seen)
    origin = place.each(converted, scale.origin, dtype)
    groups = None
    if counted:
        groups = one_group(m, matrix_root(V0))
        groups = groups._replace(seen=place.put(groups.seen, 0), group=place.put(groups.group, 0))
    return FilterState(tall_C, origin, still_unseen(place, unseen), small, groups)
