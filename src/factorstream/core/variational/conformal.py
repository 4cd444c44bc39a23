"""Calibration on entries that were observed and then hidden: split conformal intervals that respect the gaps.

Hiding single entries at random is optimistic when real gaps are contiguous: a hidden pixel is then surrounded by
seen ones. ``borrowed_gaps`` hides, in some samples, the entries that ANOTHER sample misses: whatever shape the
gaps have (single entries, squares, dead sensors), the hidden ones have it too, and no geometry need be known.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from .packed import Array, Mask
from .posterior import Coefficients, Posterior, Prior, coefficients, second_moment
from .predictive import predict, predict_variance

TEMPERS = (1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01)
OUTLIER = 5.0  # scores above it are outliers of a robust fit, not evidence about its intervals
WORTH = 0.98  # a setting that is not the plain one must lower the hidden entries' squared error by 2%


class Calibration(NamedTuple):
    """What the hidden entries taught."""

    temper: float  # power of the likelihood in the coefficient step, 1 unless gaps break the noise model
    scores: Array  # sorted |y - mean| / std of the hidden entries
    error: float  # mean absolute error on the hidden entries


def random_entries(seen: Mask, fraction: float, rng: np.random.Generator) -> Mask:
    """Hide each observed entry with probability ``fraction``."""
    return _sparing(seen, np.asarray(seen & (rng.random(seen.shape) < fraction)), rng)


def _sparing(seen: Mask, hidden: Mask, rng: np.random.Generator) -> Mask:
    """Hide at most half of what is observed of a feature: without any of it, its fit says nothing of the rest."""
    most = seen.sum(axis=0) // 2
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
        if 0 < taken <= 0.5 * np.count_nonzero(seen[k]):
            hidden[k] = take
            done += taken
    return _sparing(seen, hidden, rng) if done >= 0.5 * want else random_entries(seen, fraction, rng)


def tempered(
    Y: Array, W: Array, post: Posterior, s2: Array, prior: Prior, temper: float, M: Array | None = None
) -> Coefficients:
    """Coefficients under the likelihood to the power ``temper``.

    Neighbouring residuals of a misfit move together, so 3000 pixels do not say 3000 independent things about
    x_k: a power below 1 discounts them, widens Sigma_k and shrinks x_k. C, learned across samples, is untouched.
    """
    return coefficients(Y, W * temper, post, s2, prior, M)


def calibrate(
    Y: Array,
    W: Array,
    hidden: Mask,
    post: Posterior,
    s2: Array,
    prior: Prior,
    noise: Array | None = None,
    trim: bool = False,
    tempers: tuple[float, ...] = TEMPERS,
) -> Calibration:
    """Choose the power and collect the scores. W must be 0 on hidden entries, the model fitted without them.

    ``noise`` (m,) is the noise variance for the intervals if it is not s2 (Student-t noise). ``trim`` leaves out
    scores above OUTLIER: in contaminated data the hidden entries are contaminated too.
    Only samples with hidden entries are touched. Cost (len(tempers) + 2) 2 n' m p for those n' samples.
    """
    rows = np.flatnonzero(hidden.any(axis=1))
    Y, W, hidden = Y[rows], W[rows], hidden[rows]
    M = second_moment(post, 1.0 / s2)
    noise = s2 if noise is None else noise
    if trim:
        plain = tempered(Y, W, post, s2, prior, 1.0, M)
        hidden = hidden & (_scores(Y, plain, post, prior, noise) <= OUTLIER)
    best, temper = np.inf, 1.0
    for power in sorted(tempers, reverse=True):
        error = _error(Y, hidden, predict(tempered(Y, W, post, s2, prior, power, M), post))
        if error > best:
            break  # the error is taken to have one minimum along the powers
        if error < best * (WORTH if temper == 1.0 and power != 1.0 else 1.0):
            best, temper = error, power
    coef = tempered(Y, W, post, s2, prior, temper, M)
    score = _scores(Y, coef, post, prior, noise)[hidden]
    away = np.abs(Y - predict(coef, post))[hidden]
    return Calibration(temper, np.sort(score), float(away.mean()) if away.size else 0.0)


def _scores(Y: Array, coef: Coefficients, post: Posterior, prior: Prior, noise: Array) -> Array:
    """|y - mean| / std of every entry."""
    std = np.sqrt(predict_variance(coef, post, prior.mu.size) + noise)
    return np.asarray(np.abs(Y - predict(coef, post)) / std)


def _error(Y: Array, hidden: Mask, mean: Array) -> float:
    D = (Y - mean)[hidden]
    return float(D @ D) / max(D.size, 1)


def half_width(scores: Array, level: float) -> float:
    """Multiple of the predictive std whose interval is meant to hold a new entry with probability ``level``.

    Split conformal: the ceil((N+1) level)-th smallest of N sorted scores. With fewer than 1000 scores (small
    tables) it may only widen the model's own interval: hiding entries there makes the fit, and so the std, of
    the calibration run visibly larger than those of the final one. No finite-sample guarantee: the scores come
    from the fit without the hidden entries, and the power of the likelihood was chosen on the same ones.
    """
    normal, N = gaussian_half_width(level), scores.size
    rank = int(np.ceil((N + 1) * level))
    if rank > N:
        need = int(np.ceil(level / (1.0 - level) - 1e-9))
        raise ValueError(f"{N} hidden entries are too few to calibrate level {level}: at least {need} are needed")
    return max(float(scores[rank - 1]), normal if N < 1000 else 0.0)


def gaussian_half_width(level: float) -> float:
    """The same without calibration: the normal quantile."""
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must lie strictly between 0 and 1, got {level}")
    return float(ndtri(0.5 + 0.5 * level))
