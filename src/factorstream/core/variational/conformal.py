"""Calibration on entries that were observed and then hidden: split conformal intervals that respect the gaps.

Hiding single entries at random is optimistic when real gaps are contiguous: a hidden pixel is then surrounded by
seen ones. ``borrowed_gaps`` hides, in some samples, the entries that ANOTHER sample misses: whatever shape the
gaps have (single entries, squares, dead sensors), the hidden ones have it too, and no geometry need be known.
"""

from __future__ import annotations

from numbers import Real
from typing import NamedTuple

import numpy as np

from ...arrays import at_least, namespace, to_host, total
from ..place import HERE, Place, Tall
from .factors import Factors, normal_variance
from .freedom import student_half_width
from .observed import Observations, known_weights, take_rows, together
from .packed import Array, Mask
from .posterior import CoefficientPosterior, Posterior, coefficients, second_moment
from .predictive import predict, predict_variance

MOST_OF_ONE = 0.5
"""Largest share of what is observed of a row, or of a feature, that is hidden: the rest has to stand for it. Not
tuned: the error of filled entries falls by up to 3.6% at 0.3, and stays at 0.7; the coverage of 95% intervals moves by
0.4% (``benchmarks/variational_defaults.py``)."""

ENOUGH_GAPS = 0.5
"""Where borrowed gaps hide less than this share of what is wanted, entries are hidden at random instead. Not
tuned: nothing changes between 0.2 and 0.8 (``benchmarks/variational_defaults.py``)."""

TEMPERS = (1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01)
"""Powers of the likelihood to choose from: none discounted to a hundredth of the evidence, in steps of about two.
Not tuned: the error of filled entries moves by at most 1% with 1, 0.1 and 0.01 only, and not at all with steps of √2
(``benchmarks/variational_defaults.py``)."""

MIN_TEMPER_GAIN = 0.98
"""A power below 1 must lower the hidden entries' squared error by 2%: the standard error of a mean of 2000 squares of
normal residuals is √(2/2000) = 3% (derived). Both errors are of the same entries, so their difference is known better
than either. Not tuned: the error of filled entries moves by at most 1% between 0.95 and 1
(``benchmarks/variational_defaults.py``)."""

ENOUGH_SCORES = 1000
"""From so many hidden entries on, their quantile is taken as it is. With fewer it may only widen the model's own
interval: hiding entries of a small table makes the fit, and so the standard deviations, of the calibration run visibly
larger than those of the final one. Not tuned: between 300 and never the width of 95% intervals moves by 3%,
their coverage by 0.4% (``benchmarks/variational_defaults.py``)."""


class CalibrationError(ValueError):
    """Too few entries were hidden to calibrate an interval of the level asked for."""


class Scores(NamedTuple):
    """How far off the hidden entries were, the nearest first."""

    away: Array  # |y - mean| / std
    freedom: Array  # degrees of freedom of the Student-t law that predicted the entry
    trust: Array | None = None  # how much each counts: less than once with a known error; None: all of them once


class Calibration(NamedTuple):
    """What the hidden entries taught."""

    temper: float  # power of the likelihood in the coefficient step, 1 unless gaps break the noise model
    scores: Scores
    error: float  # mean absolute error on the hidden entries


def random_entries(seen: Mask, fraction: float, rng: np.random.Generator) -> Mask:
    """Hide each observed entry with probability ``fraction``."""
    return _sparing(seen, np.asarray(seen & (rng.random(seen.shape) < fraction)), rng)


def _sparing(seen: Mask, hidden: Mask, rng: np.random.Generator) -> Mask:
    """Hide at most MOST_OF_ONE of what is observed of a feature: with nothing left its fit would say nothing."""
    most = (MOST_OF_ONE * seen.sum(axis=0)).astype(int)
    for i in np.flatnonzero(hidden.sum(axis=0) > most):
        rows = np.flatnonzero(hidden[:, i])
        hidden[rng.permutation(rows)[most[i] :], i] = False
    return hidden


def borrowed_gaps(seen: Mask, fraction: float, rng: np.random.Generator) -> Mask:
    """Entries (n, m) to hide, about ``fraction`` of the observed ones, in the shape of other samples' gaps.

    Rows in random order take the gap of a random donor until enough is hidden; a row keeps at least half of
    what it had. With hardly any gaps to borrow, entries are hidden at random.
    """
    n = seen.shape[0]
    want = fraction * float(np.count_nonzero(seen))
    gaps = np.flatnonzero(~seen.all(axis=1) & seen.any(axis=1))
    hidden = np.zeros_like(seen)
    done = 0.0
    for k in rng.permutation(n):
        if gaps.size == 0 or done >= want:
            break
        take = seen[k] & ~seen[gaps[rng.integers(gaps.size)]]
        taken = np.count_nonzero(take)
        if 0 < taken <= MOST_OF_ONE * np.count_nonzero(seen[k]):
            hidden[k] = take
            done += taken
    return _sparing(seen, hidden, rng) if done >= ENOUGH_GAPS * want else random_entries(seen, fraction, rng)


def tempered(
    data: Observations, factors: Factors, temper: float, M: Tall | None = None, place: Place = HERE
) -> CoefficientPosterior:
    """Coefficients under the likelihood to the power ``temper``.

    Neighbouring residuals of a misfit move together, so 3000 pixels do not say 3000 independent things about
    x_k: a power below 1 discounts them, widens Σ_k and shrinks x_k. C, learned across samples, is untouched.
    """
    discounted = data._replace(W=place.each(_scaled, data.W, temper), plain=False)
    return coefficients(discounted, factors.post, factors.s2, factors.prior, M, place)


def _scaled(W: Array, temper: float) -> Array:
    return W if temper == 1.0 else W * temper


def calibrate(
    data: Observations,
    hidden: Mask,
    factors: Factors,
    freedom: Tall,
    tempers: tuple[float, ...] = TEMPERS,
    place: Place = HERE,
) -> Calibration:
    """Choose the power and collect the scores. W must be 0 on hidden entries, the factors fitted without them.

    ``hidden`` (n, m) is a mask of this process, ``freedom`` (m,) how well the noise variances of the factors are known.
    Where the law of the noise expects outliers, hidden entries that are far off do not count: in contaminated data they
    are contaminated too.
    Only samples with hidden entries are touched. Cost (len(tempers) + 2) 2 n' m p for those n' samples.
    """
    rows = np.flatnonzero(hidden.any(axis=1))
    data, hidden_there = take_rows(data, rows, place), place.put(hidden[rows], 1)
    post, r, variance, trust = factors.post, factors.r, normal_variance(factors, place), None
    if data.known is not None:  # an entry with a large known error says little about what is predicted
        trust = known_weights(hidden[rows], data.known.v, factors.s2) * data.known.times[:, None]
        variance = variance + data.known.v
    M = place.each(second_moment, post, factors.s2)
    limit = factors.noise.outlier_score()
    if limit is not None:
        plain = tempered(data, factors, 1.0, M, place)
        hidden_there = place.each(_plausible, hidden_there, data.Y, plain, post, r, variance, limit)
    best, temper = np.inf, 1.0
    for power in sorted(tempers, reverse=True):
        coef = tempered(data, factors, power, M, place)
        square, _, count = _numbers(place.total(_errors, data.Y, hidden_there, coef, post, trust))
        error = square / max(count, 1.0)
        if error > best:
            break  # the error is taken to have one minimum along the powers
        if error < best * (MIN_TEMPER_GAIN if temper == 1.0 and power != 1.0 else 1.0):
            best, temper = error, power
    coef = tempered(data, factors, temper, M, place)
    _, away, count = _numbers(place.total(_errors, data.Y, hidden_there, coef, post, trust))
    scores = place.each(_scores, data.Y, coef, post, r, variance)
    found = to_host(together(scores, 1, place)[together(hidden_there, 1, place)])  # quantiles need all of them
    columns = np.nonzero(place.get(hidden_there, 1))[1]
    order = np.argsort(found, kind="stable")
    counted = None if trust is None else trust[hidden[rows]][order]
    scores_in_order = Scores(found[order], place.get(freedom, 0)[columns][order], counted)
    return Calibration(temper, scores_in_order, away / count if count else 0.0)


def _scores(Y: Array, coef: CoefficientPosterior, post: Posterior, r: int, variance: Array) -> Array:
    """|y - mean| / std of every entry; rounding may leave a variance of the mean below zero."""
    xp = namespace(Y)
    std = xp.sqrt(at_least(predict_variance(coef, post, r), 0.0) + variance)
    return xp.abs(Y - predict(coef, post)) / std


def _plausible(
    hidden: Mask, Y: Array, coef: CoefficientPosterior, post: Posterior, r: int, variance: Array, limit: float
) -> Mask:
    return hidden & (_scores(Y, coef, post, r, variance) <= limit)


def _errors(
    Y: Array, hidden: Mask, coef: CoefficientPosterior, post: Posterior, trust: Array | None = None
) -> tuple[Array, Array, float]:
    """Sums over the hidden entries: of squared errors, of absolute errors, of ones; each times its trust."""
    D = (Y - predict(coef, post))[hidden]
    if trust is not None:
        t = trust[hidden]
        return t @ (D * D), t @ np.abs(D), float(t.sum())
    return D @ D, total(namespace(D).abs(D)), float(D.shape[0])


def _numbers(sums: tuple[Array, Array, float]) -> tuple[float, float, float]:
    return float(sums[0]), float(sums[1]), float(sums[2])


def check_level(level: float) -> None:
    """Refuse a level that is no probability strictly between 0 and 1."""
    if not isinstance(level, Real) or not 0.0 < level < 1.0:
        raise ValueError(f"level must lie strictly between 0 and 1; got {level!r}.")


def half_width(scores: Scores, freedom: Array, level: float) -> Array:
    """Multiples (m,) of the predictive std whose interval is meant to hold a new entry with probability ``level``.

    Split conformal: the half-widths of the Student-t laws with ``freedom`` (m,) degrees are multiplied by the
    ⌈(N+1) level⌉-th smallest of N such factors that the hidden entries would have needed, each counted by its trust,
    with fewer than ENOUGH_SCORES of them by at least 1. No finite-sample guarantee: the scores come from the fit
    without the hidden entries, and the power of the likelihood was chosen on the same ones.
    """
    model = model_half_width(freedom, level)
    factors = scores.away / student_half_width(scores.freedom, level)
    order = np.argsort(factors, kind="stable")
    reached = np.cumsum(np.ones(factors.size) if scores.trust is None else scores.trust[order])
    N = float(reached[-1]) if factors.size else 0.0
    if (N + 1) * level > N:
        if (factors.size + 1) * level <= factors.size:  # enough, but for known errors, which hide what is wrong with
            return model  # the model: it is believed
        need = int(np.ceil(level / (1.0 - level) - 1e-9))
        raise CalibrationError(
            f"{N:.0f} hidden entries are too few to calibrate level {level}, which needs at least {need}; "
            "lower the level, or fit with calibrate=False."
        )
    needed = factors[order[int(np.searchsorted(reached, (N + 1) * level))]]
    return model * max(float(needed), 1.0 if N < ENOUGH_SCORES else 0.0)


def model_half_width(freedom: Array, level: float) -> Array:
    """The same without calibration (m,): quantiles of the Student-t laws."""
    check_level(level)
    return student_half_width(freedom, level)
