"""The units of columns, from the variances of their values.

Columns in different units have variances that differ by orders of magnitude, and the filter would see only the largest.
Columns in one unit differ a little too, and are best left as they are. How much of the differences is a matter of units
is seen from their spread: log-variances of columns in one unit have a variance of about ``OF_ONE_UNIT``.
"""

from __future__ import annotations

import numpy as np
from scipy.special import digamma, polygamma

from ..linalg import Array

OF_ONE_UNIT = 1.0
"""Variance of the log-variances of columns that share a unit.

Not tuned: the pixels of face images have 0.1. Between 0.3 and 10 restored faces move by 0.002 dB (0.04 dB less at 0),
and errors on a hundred public tables by 1 in 1000 between 0 and 1; single ones by up to 2.8%
(``benchmarks/rare_columns.py``)."""


def units(variances: Array, freedom: Array) -> Array | None:
    """The unit of each column (m), 1 in the middle; None where all share one.

    Given its variance σ_i², the log of a column's sample variance with d degrees of freedom has the mean
    log σ_i² + ψ(d/2) − log(d/2) and the variance ψ₁(d/2). What is left of the spread is τ², that of log σ_i², towards
    whose mean every column is drawn by as little as it is known. Of the rest, τ²/(τ² + 1) is due to the units. Columns
    without a variance have the unit 1.
    """
    known = (freedom >= 1.0) & (variances > 0.0)
    if np.count_nonzero(known) < 2:
        return None
    d = 0.5 * freedom[known]
    logs, uncertain = np.log(variances[known]) - digamma(d) + np.log(d), polygamma(1, d)
    spread = float(np.var(logs, ddof=1) - uncertain.mean())
    if spread <= 0.0:
        return None
    kept = spread / (spread + uncertain) * (spread / (spread + OF_ONE_UNIT))
    unit = np.ones(len(variances))
    unit[known] = np.exp(0.5 * kept * (logs - logs.mean()))
    return unit
