"""Runs of observed entries that are hidden from seasons, and what these leave of the rows then."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...linalg import Array
from ...telling import Tell, silent
from ..choose import TRIAL_SWEEPS, HiddenRuns, held_out
from ..drift import with_drift
from ..fit import Kind, fit, smoothed
from ..model import Answer, Smoothed
from ..scale import LEAST_KNOWN, standards, student_factor
from ..stream import StreamOptions
from .layers import Plan, learn, season_before
from .season import Season

RUN, APART = 2, 5
"""A hidden run is one part in RUN of the shortest period, and one entry in APART is hidden. Not tuned: half a period is
where a season begins to tell more than the rows beside a gap; a fifth is hidden as elsewhere in `dynamics`."""


EXACT = 1e-3
"""Standard deviation of a combination of standardised features, with coefficients whose squares sum to one, below which
it is taken as constant. Not tuned: sums of values that were rounded to a thousandth of their spread are exact."""
LINKED = 0.01
"""Least product of two features' shares in such combinations from which on they determine each other. Not tuned."""


class Left(NamedTuple):
    """What seasons leave that were learned without the hidden runs, standardised. Hidden entries are in it."""

    Z: Array  # (T, m)
    scale: Array  # (m,)
    runs: HiddenRuns

    def last(self, rows: int) -> Left:
        """Its last rows."""
        hide, run, beside = self.runs
        number = np.zeros(hide.shape, dtype=int)
        number[hide] = run
        hide, number = hide[-rows:], number[-rows:]
        return self._replace(Z=self.Z[-rows:], runs=HiddenRuns(hide, number[hide], np.asarray(beside)[-rows:]))


class Trial(NamedTuple):
    """How one kind of model fills the hidden entries of what is left."""

    off: Array  # errors, in units of the data
    size: Array  # the same as `normal_size` of the noise has them, Student's law included


def hidden_runs(Y: Array, shortest: int, fold: int = 0, like: Array | None = None) -> HiddenRuns:
    """The runs to hide where the shortest period is this long. APART folds hide every entry at least once.

    How far runs are apart shares no divisor with the period, so that no place in it is hidden more often than others.
    `like`: see `held_out`.
    """
    length = max(shortest // RUN, 1)
    apart = APART * length
    while np.gcd(apart, shortest) > 1:
        apart += 1
    before = np.full((fold * length, Y.shape[1]), np.nan)
    hide, run = held_out(np.vstack([before, Y]), length, apart, like)
    return HiddenRuns(hide[len(before) :], run)


def bound_together(Y: Array) -> Array:
    """For each feature of raw rows Y (T, m) the number of the first one of those that determine each other exactly.

    That is its own number where nothing does. A total and its parts, or the same thing in two units, are found in the
    rows in which all features are observed, if these are twice as many as the features. O(T m²).
    """
    m = Y.shape[1]
    out = np.arange(m)
    rows = Y[np.isfinite(Y).all(1)]
    if len(rows) < 2 * m:
        return out
    shift, scale = standards(rows)
    z = (rows - shift) / scale
    moving = np.flatnonzero(z.std(0) > EXACT)  # constants are not determined by others
    values, vectors = np.linalg.eigh(z[:, moving].T @ z[:, moving] / len(z))
    none = vectors[:, values < EXACT**2]
    linked = np.abs(none @ none.T) > LINKED
    for i, one in enumerate(moving):
        first = out[moving[linked[i]]].min(initial=out[one])
        out[np.isin(out, out[moving[linked[i]]])] = first
    return out


def left_by(Y: Array, season: Season, runs: HiddenRuns, opt: StreamOptions) -> Left:
    """What this season leaves of raw rows Y (T, m)."""
    rest = Y - season.signal
    shift, scale = standards(np.where(runs.hide, np.nan, rest), opt.noise)
    return Left((rest - shift) / scale, scale, runs._replace(beside=season.var / scale**2))


def left_by_plan(
    Y: Array, plan: Plan, runs: HiddenRuns, opt: StreamOptions, *, before: bool, tell: Tell = silent
) -> Left:
    """What the layers of the plan leave, learned without the hidden runs; `before`: as the rows before each one say."""
    Z = np.where(runs.hide, np.nan, Y)
    layers, season = learn(Z, plan, opt.r, opt.noise, TRIAL_SWEEPS, tell=tell)
    return left_by(Y, season_before(layers, Z, known=plan.known) if before else season, runs, opt)


def tried(left: Left, kind: Kind, opt: StreamOptions, answers: Any = smoothed, tell: Tell = silent) -> Trial:
    """Fit this kind of model to what is left but for the hidden entries, and fill them. One fit."""
    hide, _, beside = left.runs
    Z = np.where(hide, np.nan, left.Z)
    f = fit(Z, opt.r, kind, dynamics=opt.dynamics, noise=opt.noise, sweeps=TRIAL_SWEEPS, tell=tell)
    answer: Answer | Smoothed = f.smoothed
    if opt.drift is not None or answers is not smoothed:
        answer = answers(with_drift(f.model, opt.drift), Z)
    off = np.abs(answer.signal - left.Z)[hide]
    R, N, scale = (
        np.broadcast_to(part, Z.shape)[hide] for part in (f.model.noise.R, np.isfinite(Z).sum(0), left.scale)
    )
    size = f.model.noise.normal_size(off, (answer.var + beside)[hide], R) / student_factor(N)
    return Trial(off * scale, size[N >= LEAST_KNOWN])
