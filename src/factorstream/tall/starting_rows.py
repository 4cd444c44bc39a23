"""Where the filter starts if rows have means: the last component is one whose loadings are known, and for all alike."""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from ..core.filter.groups import one_group
from ..core.filter.state import FilterState, SmallState
from ..core.linalg import Array, gram, matrix_root
from .starting import Scale


class _Shares(NamedTuple):
    noise: float
    components: float
    rows: float
    least_columns: float
    start: float


ROW_MEAN_SHARES = _Shares(noise=0.6, components=0.15, rows=0.16, least_columns=0.01, start=0.1)
"""Where rows have means: λ, the prior variance of what the components explain, that of the rows' means, and the least
one of the columns' means, all as shares of the variance within columns; and START_SHARE there.

Round numbers for ratings, most of which is noise. Chosen among ten settings by the hidden entries of one simulated
table of 943 × 1682 (``benchmarks/ratings.py`` reports others): their error moves by at most 0.4% for λ between 0.6 and
0.8 and by 0.2% for components between 0.08 and 0.2; it falls by up to 0.5% from a start of 0.25 to 0.1, and is up to
1.7% higher with components 0.3 and a start of 0.5."""

KNOWN = 1e-12
"""Variance of a known loading as a share of that within columns: a millionth of a deviation. Derived: small enough that
nothing moves it visibly, and large enough to divide by."""


def start_with_row_means(
    scale: Scale,
    *,
    r: int,
    noise_variance: float | None,
    V0: Array | None,
    C0: Array | str,
    seed: int,
    dtype: np.dtype[Any],
) -> FilterState:
    """The state before the first sample; of the r components the last is the mean of the row. See ``starting.start``.

    All columns have one unit and one prior: their means vary around that of all values as those of the rows do that
    were measured, and a column without any value is no exception. x ~ N(0, I), so that the known loading is the
    deviation of the rows' means.
    """
    place, variance = scale.place, scale.variance
    m = place.total(len, scale.origin)
    overall, between = _between_columns(scale)
    lam = ROW_MEAN_SHARES.noise * variance if noise_variance is None else float(noise_variance)
    V0 = ROW_MEAN_SHARES.components * variance / max(r - 1, 1) * np.eye(r - 1) if V0 is None else V0
    rng = np.random.default_rng(seed)
    C = rng.random((m, r - 1)) if C0 == "uniform" else rng.standard_normal((m, r - 1)) @ np.linalg.cholesky(V0).T
    C = ROW_MEAN_SHARES.start * C if isinstance(C0, str) else C0
    C = np.column_stack([C, np.full(m, sqrt(ROW_MEAN_SHARES.rows * variance)), np.zeros(m)])
    V = np.zeros((r + 1, r + 1))
    V[: r - 1, : r - 1], V[r - 1, r - 1], V[r, r] = V0, KNOWN * variance, between
    tall_C, root = place.put(np.array(C, dtype=dtype, order="C"), 0), matrix_root(V)
    G = np.asfortranarray(place.total(gram, tall_C))
    small = SmallState(G, root, np.eye(r, order="F"), np.zeros(r), lam, lam, 1.0, 0, 0)
    groups = one_group(m, root)
    groups = groups._replace(seen=place.put(groups.seen, 0), group=place.put(groups.group, 0))
    return FilterState(tall_C, place.put(np.full(m, overall, dtype), 0), None, small, groups)


def _between_columns(scale: Scale) -> tuple[float, float]:
    """The mean of all values, and the variance of the columns' means around it (analysis of variance)."""
    origin, freedom, seen = (scale.place.get(part, 0) for part in (scale.origin, scale.freedom, scale.seen))
    count = np.where(seen, freedom + 1.0, 0.0)
    n = max(float(count.sum()), 1.0)
    overall = float(count @ origin) / n
    by_chance = max(int(np.count_nonzero(seen)) - 1, 0) * scale.variance
    square = float(count @ (origin - overall) ** 2) - by_chance
    least = ROW_MEAN_SHARES.least_columns * scale.variance
    return overall, max(square / max(n - float(count @ count) / n, 1.0), least)
