"""Features of a stream that start late, or are somewhere else: their units, and whether they take part yet."""

from __future__ import annotations

import numpy as np

from ..linalg import Array
from .few import FEWEST_ROWS
from .model import Emission, Levels, with_R
from .noise import NoiseSpec
from .pieces import SETTLED_VALUES
from .scale import MIN_SCALE_VALUES, standards
from .stream import Candidate, Stream

MIN_VALUES = 8
"""Values after which a feature that starts late is learned; learned again at every doubling. Not tuned: between 4 and
16 the errors in such features move by at most 1.5%; with levels, intervals are 3% wider at 4
(``benchmarks/sequence_defaults.py``)."""
OUTLIER_WEIGHT = 0.1
"""Weight below which an entry is an outlier: at nu = 4, from seven standard deviations on. Not tuned: errors move by at
most 0.06% between 0.05 and 0.2 (``benchmarks/sequence_defaults.py``)."""


def unseen(stream: Stream) -> Array:
    """Features of which nothing had been seen when the last window began or, in the warm-up, by the last fit. (m,)
    bool."""
    if stream.learning is None:
        return np.asarray(known_values(stream) == 0)
    return np.asarray(stream.learning.past.N == 0)


def in_unknown_units(stream: Stream) -> Array:
    """Features of which the last fit of the warm-up had too few values for units of their own, where others had enough.

    A value in the units of others may be out of all proportion, and would decide which candidate answers. (m,) bool.
    """
    few = known_values(stream) < MIN_SCALE_VALUES
    return np.asarray(few & ~few.all())


def scored(stream: Stream) -> bool:
    """Whether what candidates say of a row counts: not while all that they know is from too few rows to compare them.

    Before, what a row is measured by is so uncertain that one of the first may weigh more than all that follow.
    """
    return stream.rows > FEWEST_ROWS and bool((known_values(stream) >= MIN_SCALE_VALUES).any())


def known_values(stream: Stream) -> Array:
    """Values of each feature that the last fit of the warm-up learned from; otherwise infinite. (m,)"""
    if not stream.bank or stream.learning is not None:
        return np.full(len(stream.shift), np.inf)
    return np.asarray(np.isfinite(stream.window[: stream.known]).sum(0))


def needs_refresh(stream: Stream) -> bool:
    """Whether a feature with few values so far has doubled their number since the last refresh. O(window)."""
    if stream.learning is None:
        return False
    N = stream.learning.past.N
    few = (N > 0) & (N < SETTLED_VALUES)
    return bool(few.any() and (np.isfinite(stream.window[:, few]).sum(0) >= N[few]).any())


def init_new(stream: Stream, new: Array, noise: NoiseSpec) -> Stream:
    """Measure new features by their values so far; noise and level are the median ones of the others.

    They take no part in the filter until their loadings have been learned.
    """
    shift, scale = standards(stream.window[:, new], noise)
    count = np.isfinite(stream.window[:, new]).sum(0)
    a, b = stream.shift.copy(), stream.scale.copy()
    a[new], b[new] = np.where(count > 0, shift, a[new]), np.where(count >= MIN_SCALE_VALUES, scale, b[new])
    known = ~unseen(stream)
    known = known if known.any() else new
    return stream._replace(shift=a, scale=b, bank=tuple(_with_blank(c, new, known) for c in stream.bank))


def _with_blank(c: Candidate, new: Array, known: Array) -> Candidate:
    """The candidate that takes the new features for ones without loadings, usual beside the known ones."""

    def usual(part: Array) -> Array:
        return np.where(new, np.median(part[known]), part)

    def blank(emission: Emission) -> Emission:
        return emission._replace(mean=np.where(new, 0.0, emission.mean), C=np.where(new[:, None], 0.0, emission.C))

    model, _, _, followed = c.fitted
    levels = None if model.levels is None else Levels(*map(usual, model.levels))
    model = with_R(model, usual(model.noise.R))._replace(emission=blank(model.emission), levels=levels)
    fitted = c.fitted._replace(model=model, followed=None if followed is None else blank(followed))
    return c._replace(fitted=fitted)


def relocated(w: Array, Z: Array) -> Array:
    """Features most of whose entries in a window were outliers: they are somewhere else now. (m,) bool."""
    seen = np.isfinite(Z)
    outliers = (seen & (w < OUTLIER_WEIGHT)).sum(0)
    return np.asarray((seen.sum(0) >= MIN_VALUES) & (2 * outliers > seen.sum(0)))
