"""Which periods rows have: candidates from their autocorrelation, kept where hidden runs are filled better."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...linalg import Array
from ...telling import Tell, silent
from ..choose import COMPARED_ROWS, MIN_Z, TRIAL_SWEEPS, HiddenRuns, clearly
from ..scale import standards
from ..stream import StreamOptions
from .hidden import hidden_runs, left_by, left_by_plan, tried
from .judge import JUDGED_PERIODS
from .layers import Plan, learn
from .season import no_season

SEEN_PERIODS = 3
"""Periods that must have been seen of one that nobody asked for. Not tuned: one more than of one that was."""
MOST_PERIODS = 3
"""Periods that are looked for where none are given. Not tuned: days, weeks and years."""
NEARLY, CLEAR = 0.95, 0.5
"""Parts of the highest autocorrelation: the first lag that nearly reaches it is the longest period, since its multiples
do so too; of the local maxima that divide it, the highest is another if it clearly stands out. Not tuned."""
ABOVE_CHANCE = 4.0
"""Least autocorrelation that counts, in units of 1/√T, its standard deviation where there is none."""


def candidates_in(Y: Array) -> tuple[int, ...]:
    """At most two periods that the changes of raw rows Y (T, m) may have, shortest first. O(T m log T)."""
    T = len(Y)
    r = autocorrelation(np.diff(Y, axis=0), T // SEEN_PERIODS)
    if len(r) < 4:
        return ()
    peaks = np.flatnonzero((r[2:-1] >= r[1:-2]) & (r[2:-1] >= r[3:]) & (r[2:-1] > ABOVE_CHANCE / np.sqrt(T))) + 2
    if not len(peaks):
        return ()
    high = r[peaks]
    longest = int(peaks[high >= NEARLY * high.max()][0])
    within = (high >= CLEAR * high.max()) & (peaks < longest) & (longest % peaks == 0)
    if not within.any():
        return (longest,)
    return int(peaks[within][np.argmax(high[within])]), longest


def autocorrelation(D: Array, lags: int) -> Array:
    """The mean over the columns of D of their autocorrelations at lags 0 to `lags`, over pairs that are observed."""
    n = 2 * len(D)
    total, known = np.zeros(lags + 1), 0
    for d in D.T:
        seen = np.isfinite(d)
        if seen.sum() < 2 or not (spread := float(np.std(d[seen]))):
            continue
        z = np.where(seen, (d - d[seen].mean()) / spread, 0.0)
        sums, pairs = (np.fft.irfft(np.abs(np.fft.rfft(part, n)) ** 2, n)[: lags + 1] for part in (z, seen * 1.0))
        total += sums / np.maximum(pairs, 1.0)
        known += 1
    return total / max(known, 1)


def found_periods(Y: Array, opt: StreamOptions, candidates: Sequence[int] = (), tell: Tell = silent) -> tuple[int, ...]:
    """Periods of raw rows Y (T, m) that fill hidden runs clearly better, longest first; none where nothing does.

    Those that are tried are the candidates given or, without them, those of the autocorrelation, and then of the
    autocorrelation of what the seasons found so far leave.
    """
    given = bool(len(candidates))
    kept: tuple[int, ...] = ()
    rest = Y
    for _ in range(1 if given else MOST_PERIODS):
        tried_now = [P for P in (candidates if given else candidates_in(rest)) if P not in kept]
        more = _kept(Y, kept, [P for P in sorted(set(tried_now)) if len(Y) >= SEEN_PERIODS * P], opt, tell)
        if more == kept or len(more) >= MOST_PERIODS:
            return more
        kept = more
        rest = Y - learn(Y, Plan(kept, np.arange(0)), opt.r, opt.noise, TRIAL_SWEEPS)[1].signal
    return kept


def _kept(Y: Array, kept: tuple[int, ...], candidates: list[int], opt: StreamOptions, tell: Tell) -> tuple[int, ...]:
    """The periods kept so far, and each candidate that fills hidden runs clearly better beside them. One fit each."""
    if not candidates:
        return kept
    runs = hidden_runs(Y, min(*kept, *candidates) if kept else candidates[0])
    rows = max(COMPARED_ROWS, JUDGED_PERIODS * candidates[-1])
    best = _errors(Y, kept, runs, rows, opt, tell)
    for P in candidates:
        more = tuple(sorted((*kept, P), reverse=True))
        if clearly(best - (now := _errors(Y, more, runs, rows, opt, tell)), MIN_Z):
            kept, best = more, now
    return kept


def _errors(Y: Array, periods: tuple[int, ...], runs: HiddenRuns, rows: int, opt: StreamOptions, tell: Tell) -> Array:
    """The root of the summed losses of every hidden run of the last rows, in deviations of its feature."""
    plan = Plan(periods, np.arange(0))
    left = left_by_plan(Y, plan, runs, opt, before=False) if periods else left_by(Y, no_season(Y), runs, opt)
    left = left.last(rows)
    unit = np.broadcast_to(standards(Y, opt.noise)[1], left.Z.shape)[left.runs.hide]
    loss = opt.noise.loss(tried(left, opt.candidates[0], opt, tell=tell).off / unit)
    return np.sqrt(np.bincount(np.unique(left.runs.run, return_inverse=True)[1], weights=loss))
