"""Which kind of model few rows ask for, and how wide answers must be: every observed entry is hidden once.

A fifth of the entries, which is enough for long sequences (see `choose`), is too few here: its errors would say little
about intervals of 95%. Nor may what is hidden have a say in the units, as the mean and the spread of a feature are
themselves uncertain when it has a handful of values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from ..linalg import Array
from ..telling import Tell, silent
from .choose import (
    HIDDEN_PERIOD,
    HIDDEN_RUN,
    HIDDEN_SHIFT,
    MIN_STRETCH,
    PARTS,
    TRIAL_SWEEPS,
    USUAL,
    WIDE,
    Choice,
)
from .drift import with_drift
from .em import LEARNED, DynamicsSpec
from .fit import Kind, fit, smoothed
from .forecasts import by_feature, forecast_sizes
from .model import Answer, SequenceModel, Smoothed
from .noise import GaussianSpec, NoiseSpec
from .scale import LEAST_KNOWN, standards, student_factor

FEW_ROWS = 200
"""Rows up to which widths are found here. Not tuned: four periods of the hidden runs of longer sequences. It matters:
at 100, intervals of 150 rows are 15% narrower and hold 93% instead of 96%. What a larger value would do to sequences of
more than 200 rows is not measured (``benchmarks/sequence_defaults.py``, as all figures of this kind)."""
FEWEST_ROWS = 2 * HIDDEN_RUN
"""Rows from which on kinds of models are compared here: two of the longest hidden runs. With fewer, a run that is
hidden leaves less than half of its feature. Chosen after a look at made-up sequences of 10, 14 and 20 rows: levels
forecast the first two better. At 10, tables of 15 rows have 4% less error in gaps and 1% less in forecasts. It matters
at 40: those of 30 rows have 29% more in gaps, and intervals 5% wider (``benchmarks/sequence_defaults.py``)."""
MIN_ROWS_TO_CHOOSE = 2 * HIDDEN_PERIOD
"""Rows up to which the kind of model is chosen by hiding every entry once, and from which on by some held-out runs: two
periods of these. Not tuned: at 60, tables of 80 rows have 3% less error in gaps and 1% less in forecasts, and intervals
2% wider. It matters at 200: those of 150 rows have 12% more in gaps and 5% more in forecasts, and intervals 3% narrower
that hold 2 points less (``benchmarks/sequence_defaults.py``, as all figures of this kind)."""
FOLDS = 5
"""Parts that the entries are divided into, each hidden once: a fifth is hidden, as in longer sequences. Not tuned: with
3, some tables of 80 rows get another kind of model, 1% more error in gaps and 4% in forecasts, with intervals 2% wider;
with 10, their intervals are 1% wider; those of 150 rows move by at most 0.4% (``benchmarks/sequence_defaults.py``)."""


def usual_gap(Y: Array) -> int:
    """The mean length of the gaps of the features of Y (T, m), at most HIDDEN_RUN; that where there are none.

    Features with fewer than LEAST_KNOWN values are one gap, in which nothing can be hidden, and do not count.
    """
    missing = np.pad(np.isnan(Y[:, np.isfinite(Y).sum(0) >= LEAST_KNOWN]), ((1, 1), (0, 0)))
    begins = (missing[1:] & ~missing[:-1]).sum()
    return int(np.clip(round(missing.sum() / begins), 1, HIDDEN_RUN)) if begins else HIDDEN_RUN


def folds(Y: Array) -> Iterator[Array]:
    """Masks (T, m) of observed entries to hide, every entry in one of them; nothing random.

    Each hides runs as long as the usual gap, one every FOLDS runs, shifted from feature to feature.
    """
    T, m = Y.shape
    run = usual_gap(Y)
    part = (np.arange(T)[:, None] + np.arange(m) * HIDDEN_SHIFT) // run % FOLDS
    for k in range(FOLDS):
        hide = (part == k) & np.isfinite(Y)
        if hide.any() and (np.isfinite(Y) & ~hide).any():
            yield hide


class Hidden(NamedTuple):
    """What the observed entries, each hidden once, say about a kind of model."""

    sizes: Array  # errors (see `normal_size`), Student's law included
    loss: float  # of the errors in the units of Y, by the noise asked for


def hidden_once(
    Y: Array,
    r: int,
    kind: Kind,
    *,
    answers: Callable[[SequenceModel, Array], Answer],
    dynamics: DynamicsSpec = LEARNED,
    noise: NoiseSpec = GaussianSpec(),  # noqa: B008  an immutable tuple
    drift: float | None = None,
    sweeps: int = TRIAL_SWEEPS,
    tell: Tell = silent,
) -> Hidden:
    """The errors of every observed entry of Y as the other folds fill it.

    `answers`: `smoothed` or `filtered`, whichever fills the gaps later. Features that the other folds have fewer than
    LEAST_KNOWN values of are left out. FOLDS fits.
    """
    sizes, loss = [np.zeros(0)], 0.0
    for hide in folds(Y):
        Z = np.where(hide, np.nan, Y)
        shift, scale = standards(Z, noise)
        Z = (Z - shift) / scale
        f = fit(Z, r, kind, dynamics=dynamics, noise=noise, sweeps=sweeps, tell=tell)
        answer: Answer | Smoothed = f.smoothed  # what `smoothed` would find once more, if all entries weigh the same
        if drift is not None or answers is not smoothed or not isinstance(noise, GaussianSpec):
            answer = answers(with_drift(f.model, drift), Z)
        N = np.isfinite(Z).sum(0)
        judged = hide & (N >= LEAST_KNOWN)
        off = np.abs(answer.signal - (Y - shift) / scale)
        R = np.broadcast_to(f.model.noise.R, Y.shape)
        size = f.model.noise.normal_size(off[judged], answer.var[judged], R[judged])
        sizes.append(size / np.broadcast_to(student_factor(N), Y.shape)[judged])
        loss += float(noise.loss((off * scale)[judged]).sum())
    return Hidden(np.concatenate(sizes), loss)


def choose_few(
    Y: Array, r: int, candidates: Sequence[Kind], *, cycles: Array | None = None, **how: Any
) -> tuple[Choice, Hidden | None]:
    """The kind of model whose fills of the hidden entries of Y (T, m) lose less, and what it did; FOLDS fits each.

    The first candidate is compared with the last, which is the most different one, and `cycles` beside the first with
    both. A kind between the two is left out: few rows do not tell it from them, and it would double the cost. `how`: as
    `hidden_once` takes it. One candidate, or too few rows, need no comparison.
    """
    first, last = candidates[0], candidates[-1]
    if len(Y) < FEWEST_ROWS or (first == last and cycles is None):
        return Choice(first), None
    found = {Choice(kind): hidden_once(Y, r, kind, **how) for kind in dict.fromkeys((first, last))}
    if cycles is not None:
        turning = {**how, "dynamics": how.get("dynamics", LEARNED)._replace(cycles=cycles)}
        found[Choice(first, turns=True)] = hidden_once(Y, r, first, **turning)
    return min(found.items(), key=lambda one: one[1].loss)


def ranked(size: Array, held: float) -> float:
    """The size that one more error stays below with probability `held`, whatever the errors' law (split conformal).

    It is the ceil((n + 1) held)-th smallest of n, or the largest where there are too few to say.
    """
    return float(np.sort(size)[min(int(np.ceil((len(size) + 1) * held)), len(size)) - 1])


def ranked_stretch(size: Array, noise: NoiseSpec) -> float:
    """As `stretch`, by `ranked` quantiles, and not drawn towards 1: that there are few errors is no reason to trust."""
    if not len(size):
        return 1.0
    wide, usual = (ranked(size, held) / float(ndtri((1.0 + held) / 2.0)) for held in (WIDE, USUAL))
    return max(noise.width(wide, usual), MIN_STRETCH)


def stretches(
    Y: Array,
    r: int,
    kind: Kind,
    *,
    answers: Callable[[SequenceModel, Array], Answer],
    dynamics: DynamicsSpec = LEARNED,
    noise: NoiseSpec = GaussianSpec(),  # noqa: B008  an immutable tuple
    drift: float | None = None,
    sweeps: int = TRIAL_SWEEPS,
    hidden: Hidden | None = None,
    tell: Tell = silent,
) -> tuple[float, Array]:
    """The factors on the standard deviations of gaps, and of forecasts (m,), of Y (T, m). FOLDS + 1 fits.

    `hidden`: what `hidden_once` says of this kind, where it is known already; it saves FOLDS fits.

    Those of forecasts are at least 1 and that of gaps: a third of few rows holds too few independent errors to say that
    what is not certain between the data is certain beyond them.
    """
    if hidden is None:
        hidden = hidden_once(
            Y, r, kind, answers=answers, dynamics=dynamics, noise=noise, drift=drift, sweeps=sweeps, tell=tell
        )
    factor = ranked_stretch(hidden.sizes, noise)
    begun = Y[: (PARTS - 1) * len(Y) // PARTS]
    if not np.isfinite(begun).any():
        return factor, np.full(Y.shape[1], max(factor, 1.0))
    shift, scale = standards(begun, noise)
    Z = (Y - shift) / scale
    ahead = forecast_sizes(Z, r, kind, dynamics=dynamics, noise=noise, drift=drift, sweeps=sweeps, tell=tell)
    return factor, np.maximum(by_feature(ahead, noise, ranked_stretch), max(factor, 1.0))
