"""The units of columns, from the variances of their values.

Columns in other units have variances that differ by orders of magnitude, and the filter would see only the largest.
Columns in one unit differ a little too, and are best left as they are.
"""

from __future__ import annotations

import numpy as np
from scipy.special import digamma, ndtri, polygamma

from ..linalg import Array

OTHER_UNIT = 3.0
"""How far a column's log-variance is from the middle where half of the distance counts as a matter of its unit: values
larger or smaller by a factor of 4.5.

Not tuned: pixels of face images are at 0.3, columns with normal loadings at 0.5 to 1.2, those of tables in mixed units
at 2 to 10. Errors on four public tables move by at most 3% between 1 and 3 (``benchmarks/rare_columns.py``)."""


NORMAL_QUARTILE = float(ndtri(0.75))
"""Derived: the median distance of a normal variable from its mean, in standard deviations."""


def units(variances: Array, freedom: Array) -> Array:
    """The unit of each column (m), 1 in the middle; columns without a variance have 1 too.

    Given its variance σ_i², the log of a column's sample variance with d degrees of freedom has the mean
    log σ_i² + ψ(d/2) − log(d/2) and the variance ψ₁(d/2). Let δ_i be the distance of a column's log-variance from the
    median of all columns, made smaller where few values were seen. The unit is exp(½ κ δ_i) with κ = δ_i²/(δ_i² + c²):
    near columns keep the unit 1, far ones are divided by their deviation. c is OTHER_UNIT where most columns are alike.
    Where their log-variances have a standard deviation τ above 1, most columns have units of their own, and c is
    OTHER_UNIT/τ. τ comes from the median distance, which a few columns in other units do not change.
    """
    unit, known = np.ones(len(variances)), (freedom >= 1.0) & (variances > 0.0)
    if np.count_nonzero(known) < 2:
        return unit
    d, alike = np.unique(0.5 * freedom[known], return_inverse=True)  # mostly few: counts of rows
    logs, uncertain = np.log(variances[known]) + (np.log(d) - digamma(d))[alike], polygamma(1, d)[alike]
    distance = logs - np.median(logs)
    spread = (np.median(np.abs(distance)) / NORMAL_QUARTILE) ** 2 - uncertain.mean()
    own = np.maximum(distance**2 - uncertain, 0.0)
    distance *= own / (own + uncertain)
    unit[known] = np.exp(0.5 * distance * _share(distance, float(spread)))
    return unit


def noise_left_by(unit: Array, variances: Array) -> tuple[Array, Array]:
    """Mean and variance of the logarithm of each column's noise variance in its unit (m each), as the units say it.

    A column whose log-variance is δ_i from the middle is taken to have a unit of its own with the probability
    κ = δ_i²/(δ_i² + c²). Its noise is then larger by the factor e^ρ that its unit leaves of its variance; otherwise
    its noise is that of the others. Factors below 1 are not taken: of two noises the larger one is safe.
    """
    own, logs = 2.0 * np.log(unit), np.log(np.maximum(variances, np.finfo(float).tiny))
    distance, left = logs - np.median(logs), logs - own
    left = np.maximum(left - np.median(left), 0.0)
    share = _share(distance, float((np.median(np.abs(distance)) / NORMAL_QUARTILE) ** 2))
    return share * left, share * (1.0 - share) * left**2


def _share(distance: Array, spread: float) -> Array:
    """κ: how much of a distance between log-variances is a matter of the unit."""
    return np.asarray(distance**2 / (distance**2 + OTHER_UNIT**2 / max(spread, 1.0)))
