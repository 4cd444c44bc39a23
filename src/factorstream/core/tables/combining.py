"""How much of each prediction goes into the fill, and how wide its bounds are: both by entries left out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri, stdtrit

from ..linalg import Array
from ..variational.conformal import CalibrationError

STEPS = np.linspace(0.0, 1.0, 5)
"""Shares to choose from. Not tuned: quarters."""

PREFERENCE = 0.02
"""Equal shares are kept unless others lower the squared error by about this part of it. Not tuned: fills of the real
tables move by less than 0.3% between 0 and 0.05."""

OWN_SCORES = 100.0
"""Entries of a column whose quantile counts as much as that of all columns together. Not tuned: a round number; with 0
the coverage of single columns is noisier, with 1000 that of columns with laws of their own is off."""


LEAST_SIZE = 0.05
"""Part of the mean square below which a squared distance is as good as that: one entry that is hit by chance says
nothing about its neighbours. Not tuned: a round number."""

MOST_SIZE = 3.0
"""Logarithms of predicted squares, at most: a standard deviation is moved by a factor of 4.5 at most. Not tuned: hardly
ever reached."""

JUDGED_AT = 0.95
"""Level of the intervals whose width decides. Derived: that which intervals have by default."""


class LeftOut(NamedTuple):
    """Corrections of entries that were left out of what they come from (n,), and the noise in them."""

    kernel: Array
    trees: Array
    noise: float  # variance of ``trees`` that goes away in the mean over all trees, of which each row has only some


def shares(error: Array, found: LeftOut) -> Array:
    """Shares (2,) of both corrections, at most 1 together, that leave the least of ``error`` (n,); zero where none
    helps."""
    K, E = found.kernel, found.trees
    EE = max(float(E @ E) - len(E) * found.noise, 0.0)
    best, chosen = np.inf, (0.0, 0.0)
    for i, a in enumerate(STEPS):
        for b in STEPS[: len(STEPS) - i]:
            left = (
                error @ error
                - 2.0 * (a * (K @ error) + b * (E @ error))
                + a * a * (K @ K)
                + 2 * a * b * (K @ E)
                + b * b * EE
            )
            left *= 1.0 + PREFERENCE * (abs(a - 0.5) + abs(b - 0.5))
            if left < best:
                best, chosen = left, (a, b)
    return np.array(chosen)


def share_of_second(truth: Array, first: Array, second: Array) -> float:
    """Share of the second of two predictions in the mean of both that comes nearest to the truth."""
    errors = [np.mean((truth - first - a * (second - first)) ** 2) * (1.0 + PREFERENCE * abs(a - 0.5)) for a in STEPS]
    return float(STEPS[int(np.argmin(errors))])


def log_sizes(away: Array) -> Array:
    """How large distances (n,) are: logarithms of their squares, whose mean is 0; tiny ones are no farther off."""
    size: Array = np.log(away**2 + LEAST_SIZE * np.mean(away**2))
    size -= size.mean()
    return size


def factors(said: Array, share: float) -> Array:
    """What standard deviations are to be multiplied by where ``said`` (n,) is predicted of `log_sizes`."""
    found: Array = np.exp(0.5 * share * np.clip(said, -MOST_SIZE, MOST_SIZE))
    return found


def share_of_sizes(away: Array, std: Array, said: Array) -> float:
    """How much of what is predicted of `log_sizes` makes intervals narrowest, by distances (n,) of left-out entries in
    their standard deviations (n,), and by what was predicted without them (n,)."""
    widths = []
    for share in STEPS:
        factor = factors(said, float(share))
        low, high = _ends(np.sort(away / factor), JUDGED_AT)
        widths.append((high - low) * float(np.mean(factor * std)) * (1.0 + PREFERENCE * share))
    return float(STEPS[int(np.argmin(widths))])


def tails(away: Array, all_away: Array, level: float) -> tuple[float, float]:
    """How far below and above a prediction the value may lie, in standard deviations, with probability ``level``.

    ``away`` are the signed scores of a column's left-out entries, in order; ``all_away`` those of all columns, each
    in units of its own spread. Quantiles of the column and of all are mixed by how many entries the column has. Those
    of all are widened as those of a normal law are for a spread that is known from n entries (Student's t).
    """
    n = len(away)
    spread = float(np.sqrt(np.mean(away**2))) * float(stdtrit(n - 1.0, 0.5 + 0.5 * level) / ndtri(0.5 + 0.5 * level))
    own = n / (n + OWN_SCORES)
    low, high = (
        own * a + (1.0 - own) * spread * b for a, b in zip(_ends(away, level), _ends(all_away, level), strict=True)
    )
    return low, high


def check_enough(n_scores: int, level: float) -> None:
    """Refuse a level that so many left-out entries cannot tell."""
    if int(np.ceil((n_scores + 1) * level)) > n_scores:
        need = int(np.ceil(level / (1.0 - level) - 1e-9))
        raise CalibrationError(
            f"{n_scores} observed entries are too few to calibrate level {level}, which needs at least {need}; "
            "ask for a lower level, or fit with calibrate=False."
        )


def _ends(away: Array, level: float) -> tuple[float, float]:
    """The quantiles of sorted scores that leave out (1 - level) / 2 on either side, counted as conformal ones are."""
    n, tail = len(away), 0.5 * (1.0 - level)
    rank = int(np.ceil((n + 1) * (1.0 - tail)))
    over = 1.0 if rank <= n else (n + 1) * (1.0 - tail) / n  # beyond the last one: a little farther out
    rank = min(rank, n)
    return min(float(away[n - rank]) * over, 0.0), max(float(away[rank - 1]) * over, 0.0)
