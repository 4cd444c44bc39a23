"""Whether the noise of a sequence needs heavy tails: by what was foretold and then seen.

Under Gaussian noise no entry is FAR deviations from its forecast. Where some are, either the noise has heavy tails, and
the next entry is back where it was to be expected, or something really moved, and the next entry is there too. Only
the former is for Student-t noise to explain. Deviations are counted in units of the median error, which outliers hardly
move. Outliers on one side of their feature alone are no noise of Student's law either: the feature is skewed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..linalg import Array
from ..robust_scale import MAD_TO_STD
from .spikes import SPIKE

MODERATE = 2.0
"""Deviations from which on an error is moderate. Not tuned: 5% of Gaussian ones are at least so large."""
LEAN = 2.0
"""By how much more than by chance the moderate errors of skewed features are on one side, in deviations. Not tuned."""
SHARE = 0.01
"""Share of the entries that must be outliers. Not tuned: of Student's law with 2 degrees of freedom 2.6% are,
with 3 1.1%, with 4 0.5%."""
LEAST_FAR = 3
"""Outliers that there must have been: one or two may be accidents."""
RETURNED = 0.75
"""Share of the outliers after which the next entry must have been back. Not tuned: between what chance would do where
something moves as often as it returns, and all."""
SETTLED = 20
"""Entries of a feature from which on its median error is known well enough to count by."""
QUICKEST, SLOWEST = 1.0, 100.0
"""Entries over which the median error is followed, at first and in the end."""
LEAST_START = 0.1
"""Part of a feature's claimed deviation from which on its median error is looked for: the first one may be any."""
REMEMBERED = 1024.0
"""Entries that are remembered, so that a sensor that was repaired is forgiven."""


class Tails(NamedTuple):
    """What is remembered of the errors of m features; all (m,)."""

    usual: Array  # median of |error|; NaN before the first one
    n: Array  # entries counted
    far: Array  # outliers among them
    above: Array  # how many more of these were above than below what was expected
    moderate: Array  # errors of MODERATE to SPIKE deviations
    leaning: Array  # how many more of these were above than below
    judged: Array  # outliers whose next row had an entry
    back: Array  # of these, those after which it was back
    off: Array  # error of the last row where it was an outlier; NaN elsewhere
    mean: Array  # what the last row was expected to be


def begin_tails(m: int) -> Tails:
    """Before the first row."""
    none, nan = np.zeros(m), np.full(m, np.nan)
    return Tails(nan, none, none, none, none, none, none, none, nan, nan)


def add_errors(t: Tails, y: Array, mean: Array, std: Array) -> Tails:
    """After a row y (m,), NaN where missing, that was expected to have this mean and standard deviation. O(m)."""
    seen = np.isfinite(y)
    e = np.where(seen, y - mean, np.nan)
    known = np.isfinite(t.usual)
    usual = np.where(seen & ~known, np.clip(np.abs(e), LEAST_START * std, std), t.usual)
    asked = seen & np.isfinite(t.off)  # the row before had an outlier, and this row has an entry
    with np.errstate(invalid="ignore", divide="ignore"):
        returned = asked & ((y - t.mean) / t.off < 0.5)
        far = seen & (t.n >= SETTLED) & (np.abs(e) > SPIKE * MAD_TO_STD * usual) & ~asked
        moderate = seen & (t.n >= SETTLED) & ~far & (np.abs(e) > MODERATE * MAD_TO_STD * usual)
        more = np.abs(e) > usual
    step = 2.0 / np.clip(t.n, QUICKEST, SLOWEST)  # on a scale of logarithms
    usual = np.where(seen, usual * np.exp(step * (more - 0.5)), usual)
    keep = np.where(seen & (t.n >= REMEMBERED), 1.0 - 1.0 / REMEMBERED, 1.0)
    sign = np.where(seen, np.sign(e), 0.0)
    return Tails(
        usual, keep * t.n + seen, keep * t.far + far, keep * t.above + far * sign, keep * t.moderate + moderate,
        keep * t.leaning + moderate * sign, keep * t.judged + asked, keep * t.back + returned,
        np.where(far, e, np.nan), mean,
    )  # fmt: skip


def heavy(t: Tails) -> bool:
    """Whether the features together have outliers, and so often that the noise, one law for all, is to have tails."""
    n, far, judged, back = (float(part.sum()) for part in (t.n, t.far, t.judged, t.back))
    many = far >= LEAST_FAR and far >= SHARE * n and judged > 0 and back >= RETURNED * judged
    return many and not _skewed(t)


def _skewed(t: Tails) -> bool:
    """Whether outliers are nearer to being on one side of each feature than to falling on both by chance, and moderate
    errors lean to that side.

    The squares of how many more outliers of a feature are above than below add up to about the number of all of them by
    chance, and to the squares of the features' numbers where each feature has its own on one side. After an outlier
    that was believed, errors are on the other side.
    """
    by_chance, all_on_one = float(t.far.sum()), float(t.far @ t.far)
    one_sided = float(t.above @ t.above) > (by_chance + all_on_one) / 2
    return one_sided and float(t.leaning @ np.sign(t.above)) > LEAN * np.sqrt(float(t.moderate.sum()))
