"""Where the filter starts: the data's scale, and the prior that follows from it.

A few rows say how large the data are. Everything that is "auto" is a fixed multiple of that scale,
so multiplying the data by a constant changes nothing but the units.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..core.filter.covariance import matrix_root
from ..core.linalg import Array, gram
from ..core.filter.state import FilterState, SmallState
from .local import clear_gaps, square_sum
from .rows import Rows, dense


NOISE_SHARE = 0.1
"""λ of the recursion as a share of the data's variance; σ² itself is learned. To the dictionary only V0/λ
matters, and the error on held-out entries is flat in it over a decade (``benchmarks/defaults.py``)."""

START_SHARE = 0.25
"""Size of the random start as a share of the prior's deviation: small, so that it is soon outweighed."""


BLOCK = 2**18
"""Entries looked at together when the scale is measured."""


class Scale(NamedTuple):
    """How large the data are."""

    origin: Array
    """Feature means (m), or zeros when no mean is fitted."""
    variance: float
    """Variance of the observed entries around the origin."""
    per_feature: float
    """Observed entries per feature that went into it."""
    seen: Array
    """Features of which something was observed (m, boolean); all of them when no mean is fitted."""


def warm_up(n_components: int) -> int:
    """How many rows set the scale."""
    return max(n_components, 10)


def measure(rows: Rows, fit_mean: bool) -> Scale:
    """The scale of some rows (NaN = missing, or sparse); cruder measures stand in where they say too little.

    Two passes in blocks of rows, so that no temporary is as large as the data.
    """
    m = rows.shape[1]
    count, total, square, largest = np.zeros(m), np.zeros(m), 0.0, 0.0
    for values, missing in _blocks(rows):
        count += len(values) - missing.sum(axis=0)
        total += values.sum(axis=0)
        largest = max(largest, float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
        check_range(largest, rows.dtype)
        square += square_sum(values)
    n = float(count.sum())
    if n == 0:
        return Scale(np.zeros(m), 1.0, 1.0, np.full(m, not fit_mean))
    square /= n
    if not fit_mean:
        return Scale(np.zeros(m), square or 1.0, n / m, np.ones(m, dtype=bool))
    overall = float(total.sum()) / n
    origin = np.where(count > 0, total / np.maximum(count, 1.0), overall)
    free = n - np.count_nonzero(count)
    within = 0.0
    for values, _ in _blocks(rows, origin):
        within += square_sum(values)
    around = within + float(count @ (origin - overall) ** 2)
    rounding = (8.0 * np.finfo(rows.dtype).eps) ** 2 * square
    choices = (within / free if free > 0 else 0.0, around / n, square)  # one row, or constant features
    variance = next((v for v in choices if v > rounding), 1.0)
    return Scale(origin, variance, n / m, count > 0)


def _blocks(rows: Rows, origin: Array | float = 0.0) -> Iterator[tuple[Array, Array]]:
    """Values less the origin (zero where missing) and mask of the missing entries, a few rows at a time."""
    step = max(1, BLOCK // rows.shape[1])
    for first in range(0, rows.shape[0], step):
        values = np.subtract(dense(rows[first : first + step]), origin, dtype=np.float64, order="C")
        yield values, clear_gaps(values)


def check_range(largest: float, dtype: np.dtype[Any]) -> None:
    """Refuse data whose fourth powers leave the floating-point range: nothing after would mean anything."""
    limits = np.finfo(dtype)
    if largest and not float(limits.tiny) ** 0.25 < largest < float(limits.max) ** 0.25:
        remedy = "multiply the data by a constant" + (", or pass float64." if dtype == np.float32 else ".")
        raise ValueError(f"X has values of size {largest:.3g}, which {dtype} arithmetic cannot square safely; {remedy}")


def start(
    scale: Scale,
    *,
    r: int,
    fit_mean: bool,
    noise_variance: float | None,
    prior_covariance: Array | None,
    init: str | Array,
    seed: int,
    dtype: np.dtype[Any],
) -> FilterState:
    """The state before the first sample.

    The random start is a draw from the prior, C0 ~ N(0, V0 ⊗ I), made smaller by START_SHARE where V0 is
    automatic; "uniform" is the paper's, in [0, 1). The mean starts at the origin, a mean of ``per_feature``
    values, and with the variance that such a mean has.
    """
    m = len(scale.origin)
    lam = NOISE_SHARE * scale.variance if noise_variance is None else noise_variance
    auto = prior_covariance is None
    V0 = scale.variance / r * np.eye(r) if prior_covariance is None else prior_covariance
    rng = np.random.default_rng(seed)
    if not isinstance(init, str):
        C = init.T
    elif init == "uniform":
        C = rng.random((m, r))
    else:
        C = (START_SHARE if auto else 1.0) * rng.standard_normal((m, r)) @ np.linalg.cholesky(V0).T
    if fit_mean:
        C = np.column_stack([C, np.zeros(m)])
        mean_variance = scale.variance / max(scale.per_feature, 1.0)
        V0 = np.block([[V0, np.zeros((r, 1))], [np.zeros((1, r)), mean_variance]])
    C = np.array(C, dtype=dtype, order="C")
    small = SmallState(
        G=np.asfortranarray(gram(C)),
        S=matrix_root(V0),
        T=np.eye(r, order="F"),
        xbar=np.zeros(r),
        lam=lam,
        noise_sum=lam,
        noise_dof=1.0,
        k=0,
        age=0,
    )
    unseen = None if scale.seen.all() else ~scale.seen
    return FilterState(C, scale.origin.astype(dtype), unseen, small)
