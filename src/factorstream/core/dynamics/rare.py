"""How rare single scores are: as a standard normal's, until those that came say that the tails are longer.

Beyond BEGINS deviations a score's surprise x = -log P(|N(0, 1)| > |z|) is exponential with mean 1 if the normal law
holds. Where its mean is clearly larger, the tail is taken as Pareto's, P(|z| > t) ~ t^(-1 / xi), with the xi that these
scores say (Hill 1975): then outliers are what is rare beside the others, and not what a normal law finds rare.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr

from ..linalg import Array

BEGINS = 2.0
"""Deviations where the tail begins: a twentieth of normal scores are beyond."""
MOST_EXCESS = 6.0
"""What one score beyond says at most, so that one outlier alone makes no tail long: under the normal law one in 400 is
further."""
CLAIM = 20.0
"""Scores of the normal law that the tail counts as when it begins; a thousand scores then have 45 beyond."""
MEMORY = 400.0
"""Scores beyond that are remembered."""
CLEARLY = 2.0
"""Standard errors by which the normal law must be refuted."""
NORMAL_SHARE = 2.0 * float(np.exp(log_ndtr(-BEGINS)))
NORMAL_HILL = 0.16198511788810052
"""E log(|z| / 2) of a standard normal beyond 2 deviations. Derived: by integration."""


class Rare(NamedTuple):
    """What is remembered of the scores beyond BEGINS."""

    beyond: float = CLAIM
    n: float = CLAIM / NORMAL_SHARE  # scores among which they were
    excess: float = CLAIM  # sum of their surprises less that at BEGINS
    hill: float = CLAIM * NORMAL_HILL  # sum of log(|z| / BEGINS)


def surprise(z: Array) -> Array:
    """-log P(|N(0, 1)| > |z|), entrywise."""
    return np.asarray(-np.log(2.0) - log_ndtr(-np.abs(z)))


def add_tail(r: Rare, z: Array) -> Rare:
    """After a row with scores z (m,), NaN where missing. O(m)."""
    size = np.abs(z[np.isfinite(z)])
    far = size[size > BEGINS]
    keep = 1.0 if r.beyond < MEMORY else 1.0 - len(far) / r.beyond
    excess = np.minimum(surprise(far) - surprise(np.array(BEGINS)), MOST_EXCESS)
    logs = np.minimum(np.log(far / BEGINS), MOST_EXCESS)
    return Rare(
        keep * r.beyond + len(far), keep * r.n + len(size), keep * r.excess + float(excess.sum()),
        keep * r.hill + float(logs.sum()),
    )  # fmt: skip


def rarity(r: Rare, z: Array) -> Array:
    """-log of the chance of a score as large as z (m,) under the law that scores so far suggest; 0 where missing."""
    size = np.abs(np.where(np.isfinite(z), z, 0.0))
    x = surprise(size)
    often = np.log(max(r.beyond / r.n / NORMAL_SHARE, 1.0))
    if r.excess / r.beyond < 1.0 + CLEARLY / np.sqrt(r.beyond):
        return np.asarray(x - np.where(size > BEGINS, often, 0.0))
    pareto = -np.log(NORMAL_SHARE) - often + np.log(np.maximum(size, BEGINS) / BEGINS) / (r.hill / r.beyond)
    return np.asarray(np.where(size > BEGINS, np.minimum(pareto, x), x))
