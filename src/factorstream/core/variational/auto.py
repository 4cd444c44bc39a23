"""Automatic settings from entries hidden on purpose; nothing is tuned by hand or on what is really missing."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...arrays import is_here, namespace
from ..place import HERE, Place
from ..telling import Tell, silent
from .conformal import Calibration, borrowed_gaps, calibrate
from .factors import Factors
from .fit import FitOptions, VariationalFit, fit
from .observed import Observations, entry_counts, is_seen, total_count
from .packed import Array, Mask
from .relevance import LearnedPrior
from .start import long_rank

MIN_GROWTH = 1.4
"""The second reading is tried if it starts from this many times the components of the first: with hardly more it would
find the same, at the cost of another fit. Not tuned: nothing changes between 1.2 and 1.4; at 2 a long
tail of weak components is missed, up to 31% more error (``benchmarks/variational_defaults.py``)."""

MIN_GAIN = 0.99
"""More components must lower the hidden entries' mean absolute error by 1%, or the reading with fewer stays.
Not tuned: nothing changes between 0.97 and 0.99; at 1 the error of filled entries falls by 3.6% on one data set of five
(``benchmarks/variational_defaults.py``)."""

HIDDEN, LEAST_HIDDEN, MOST_HIDDEN = 2000.0, 0.04, 0.15
"""Entries to hide: with 2000 the coverage of a 95% interval is known to √(0.95·0.05/2000) = 0.5% (derived); between 4%
and 15% of what is observed, so that large data are calibrated better and small ones keep most. Not tuned."""

REFIT_SWEEPS = 6
"""Most sweeps after the hidden entries came back: the model is nearly converged then. Not tuned: the error of
filled entries moves by at most 0.3% between 3 and 20
(``benchmarks/variational_defaults.py``)."""


class AutoFit(NamedTuple):
    """A fit to all observed entries, and the calibration found on the hidden ones."""

    fit: VariationalFit
    calibration: Calibration
    options: FitOptions  # the reading of the data that was chosen


class _Trial(NamedTuple):
    factors: Factors
    calibration: Calibration
    options: FitOptions


def hide_share(n_observed: float) -> float:
    """Share of the observed entries to hide."""
    return float(np.clip(HIDDEN / max(n_observed, 1.0), LEAST_HIDDEN, MOST_HIDDEN))


def candidates(options: FitOptions) -> tuple[FitOptions, ...]:
    """Two readings of the data: relevance left free (few strong components and noise: unneeded ones switch off),
    and relevance held near equal (a long tail of weak components, where free relevance prunes too much)."""
    free = options._replace(spare=False)
    if isinstance(options.prior, LearnedPrior):
        free = free._replace(prior=LearnedPrior(kappa=0.0))
    return (free, options)


def fit_auto(
    data: Observations,
    rng: np.random.Generator,
    options: FitOptions | None = None,
    place: Place = HERE,
    tell: Tell = silent,
) -> AutoFit:
    """Hide, fit each candidate without, keep the better one, calibrate on the hidden, then give them back.

    With ``options.r`` given there is one candidate. The hidden entries return through warm sweeps. Judged by the mean
    ABSOLUTE error: a few rare values (a pixel that is almost always 0) would decide the squared one. Cost: the
    candidates' fits and 2 to REFIT_SWEEPS sweeps.
    """
    options = FitOptions() if options is None else options
    seen = place.get(place.each(is_seen, data.W), 1)  # one stream of random numbers chooses among all features
    hidden = borrowed_gaps(seen, hide_share(float(np.count_nonzero(seen))), rng)
    data = data._replace(Y=place.each(_blank, data.Y, data.W))
    kept = data._replace(W=place.each(_without, data.W, place.put(hidden, 1)))
    N, counts = float(place.total(total_count, kept.W)), entry_counts(kept, place)
    best: _Trial | None = None
    for choice in candidates(options) if options.r is None else (options,):
        trial = fit(kept, choice, place=place, tell=tell)
        freedom = choice.variance.freedom(counts, trial.spent, place)
        found = calibrate(kept._replace(W=trial.weights), hidden, trial.factors, freedom, place=place)
        if best is None or found.error < best.calibration.error * MIN_GAIN:
            best = _Trial(trial.factors, found, choice)
        start = trial.history[0].n_components - options.row_mean if trial.history else 0
        if long_rank(data.n, data.m, N, start) < MIN_GROWTH * start:
            break  # the other reading would start from hardly more components
    assert best is not None  # for the type checker: there is at least one candidate
    chosen, found, start_from = best.options, best.calibration, [best.factors]
    del best, trial, kept  # what the last fit does not need: every posterior may be as large as all else
    last = chosen._replace(max_sweeps=min(REFIT_SWEEPS, chosen.max_sweeps))
    return AutoFit(fit(data, last, start_from.pop(), place, tell), found, chosen)


def _blank(Y: Array, W: Array) -> Array:
    """Values, zero where nothing is observed; Y itself where they are so already, which most callers have seen to."""
    if is_here(Y) and not np.any(Y, where=~(W > 0)):
        return Y
    return namespace(Y).where(W > 0, Y, 0.0)


def _without(W: Array, hidden: Mask) -> Array:
    return namespace(W).where(hidden, 0.0, W)
