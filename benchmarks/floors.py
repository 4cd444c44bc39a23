"""The floor beside a figure: the work that its algorithm cannot do without, over the measured rates of this machine.

n samples, m features, r components, q columns of C (r, or r + 1 with a mean). A product with its own transpose counts
half. What is small beside the rest (the solves of the filter, with nothing of length m) is left out. A floor holds for
the algorithm as it is arranged here: a masked sample reads C three times because its change of C is made at once, and
keeping changes back for several samples, which gives the same numbers, would read it less often.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .textbook import Array
from .timing import Machine

DOUBLE = 8.0
"""Bytes of a number."""


class Work(NamedTuple):
    """Operations and bytes. The steps of an algorithm follow one another, so the times of the three add up."""

    flops: float = 0.0
    """Operations in matrix products, at the rate of a large one."""
    cached: float = 0.0
    """Bytes read by matrix-vector products and rank-one updates, at the rate of an array of C's size."""
    streamed: float = 0.0
    """Bytes read once, at the rate of the main memory."""

    def seconds(self, machine: Machine) -> float:
        """The floor."""
        return self.flops / machine.flops + self.cached / machine.cache + self.streamed / machine.bandwidth


def complete_stream(n: int, m: int, q: int, B: int) -> Work:
    """The tall products of blocks of B samples: CᵀYᵀ, YYᵀ, C₀A and YᵀD."""
    return Work(flops=n * m * (2.0 * q + B + 2.0 * q * q / B + 2.0 * q))


def filter_loop(n: int, m: int, r: int) -> Work:
    """CᵀC for every sample; Cᵀy, Cx and C + e gᵀ read C once each."""
    return Work(flops=n * m * float(r * r), cached=3.0 * n * m * r * DOUBLE)


def masked_stream(n: int, m: int, q: int, missing: float) -> Work:
    """The Gram matrix of the missing rows, or of the observed ones where they are fewer; Cᵀy, Cx and C + e gᵀ."""
    gram = n * min(missing, 1.0 - missing) * m * float(q * q)
    return Work(flops=gram, cached=3.0 * n * m * q * DOUBLE, streamed=n * m * DOUBLE)


def filling(n: int, m: int, q: int, missing: float) -> Work:
    """The same Gram matrices; C stands still, so Cᵀy and Cx are products over all samples."""
    gram = n * min(missing, 1.0 - missing) * m * float(q * q)
    return Work(flops=gram + 4.0 * n * m * q, streamed=2.0 * n * m * DOUBLE)


def both(first: Work, second: Work) -> Work:
    """One after the other."""
    return Work(*(a + b for a, b in zip(first, second, strict=True)))


def variational_sweep(n: int, m: int, q: int) -> Work:
    """Second moments into one precision matrix per sample and one per feature, and their inverses."""
    return Work(flops=2.0 * n * m * q * (q + 1) + (n + m) * float(q**3))


def als_sweep(seen: Array, r: int) -> Work:
    """One Gram matrix per row and one per column over the observed entries (n × m boolean), and their solves."""
    return Work(flops=2.0 * float(seen.sum()) * r * (r + 1) + sum(seen.shape) * r**3 / 3.0)


def em_sweep(seen: Array, r: int) -> Work:
    """CᵀR⁻¹C at every time and second moments for every feature, over the observed entries; filter and smoother."""
    return Work(flops=2.0 * float(seen.sum()) * r * (r + 1) + len(seen) * 14.0 * r**3)


def textbook_em_sweep(seen: Array, r: int) -> Work:
    """The same with the innovation's covariance (p × p for p observed entries) made and solved at every time."""
    p = seen.sum(axis=1).astype(np.float64)
    innovations = float(np.sum(2.0 * p**3 / 3.0 + 4.0 * p**2 * r))
    return Work(flops=innovations + float(seen.sum()) * r * (r + 1) + len(seen) * 14.0 * r**3)
