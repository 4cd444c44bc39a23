"""Where the filter starts: the data's scale, and the prior that follows from it.

A few rows say how large the data are. Everything that is "auto" is a fixed multiple of that scale,
so multiplying the data by a constant changes nothing but the units.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..core.covariance import matrix_root
from ..core.linalg import Array
from ..core.masked import gram
from ..core.state import FilterState, SmallState
from ._validation import as_covariance, check_init

NOISE_SHARE = 0.1
"""λ of the recursion as a share of the data's variance; σ² itself is learned. To the dictionary only V0/λ
matters, and the error on held-out entries is flat in it over a decade (``benchmarks/defaults.py``)."""

START_SHARE = 0.25
"""Size of the random start as a share of the prior's deviation: small, so that it is soon outweighed."""


class Scale(NamedTuple):
    """How large the data are."""

    origin: Array
    """Feature means (m), or zeros when no mean is fitted."""
    variance: float
    """Variance of the observed entries around the origin."""
    per_feature: float
    """Observed entries per feature that went into it."""


def warm_up(n_components: int) -> int:
    """How many rows set the scale."""
    return max(n_components, 10)


def measure(rows: Array, fit_mean: bool) -> Scale:
    """The scale of a few rows (NaN = missing); falls back to cruder measures where they say too little."""
    seen = ~np.isnan(rows)
    values = np.where(seen, rows, 0.0).astype(np.float64, copy=False)
    n, m = int(seen.sum()), rows.shape[1]
    if n == 0:
        return Scale(np.zeros(m), 1.0, 1.0)
    mean_square = float(np.sum(values**2)) / n
    if not fit_mean:
        return Scale(np.zeros(m), mean_square or 1.0, n / m)
    count = seen.sum(axis=0)
    overall = float(values.sum()) / n
    origin = np.where(count > 0, values.sum(axis=0) / np.maximum(count, 1), overall)
    free = n - int(np.count_nonzero(count))
    around = np.where(seen, values - origin, 0.0)
    variance = float(np.sum(around**2)) / free if free > 0 else 0.0
    if variance <= (8.0 * np.finfo(rows.dtype).eps) ** 2 * mean_square:  # one row, or constant features
        variance = float(np.sum(np.where(seen, values - overall, 0.0) ** 2)) / n
    if variance <= (8.0 * np.finfo(rows.dtype).eps) ** 2 * mean_square:
        variance = mean_square
    return Scale(origin, variance or 1.0, n / m)


def start(
    scale: Scale,
    *,
    r: int,
    fit_mean: bool,
    noise_variance: Any,
    prior_covariance: Any,
    init: Any,
    seed: int,
    dtype: np.dtype[Any],
) -> FilterState:
    """The state before the first sample.

    The random start is a draw from the prior, C0 ~ N(0, V0 ⊗ I), made smaller by START_SHARE; "uniform"
    is the paper's, in [0, 1). The mean starts at the origin, a mean of ``per_feature`` values, and with the
    variance that such a mean has.
    """
    m = len(scale.origin)
    learned = isinstance(noise_variance, str)
    lam = NOISE_SHARE * scale.variance if learned else float(noise_variance)
    auto = isinstance(prior_covariance, str)
    V0 = as_covariance(scale.variance / r if auto else prior_covariance, r, "prior_covariance", definite=True)
    rng = np.random.default_rng(seed)
    if not isinstance(init, str):
        C = check_init(init, r, m)
    elif init == "uniform":
        C = rng.random((m, r))
    else:
        C = START_SHARE * rng.standard_normal((m, r)) @ np.linalg.cholesky(V0).T
    if fit_mean:
        C = np.column_stack([C, np.zeros(m)])
        mean_variance = scale.variance / max(scale.per_feature, 1.0)
        V0 = np.block([[V0, np.zeros((r, 1))], [np.zeros((1, r)), mean_variance]])
    C = np.array(C, dtype=dtype, order="C")
    small = SmallState(
        G=np.asfortranarray(gram(C)),
        S=matrix_root(V0),
        T=np.eye(r, order="F"),
        lam=lam,
        noise_sum=lam,
        noise_dof=1.0,
        k=0,
        age=0,
    )
    return FilterState(C, scale.origin.astype(dtype), small)
