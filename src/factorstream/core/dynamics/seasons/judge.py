"""What hidden runs say of seasons: which features have shapes, which kind of model what is left needs, and widths."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...linalg import Array
from ...telling import Tell, silent
from ..choose import COMPARED_ROWS, MIN_Z, PARTS, TRIAL_SWEEPS, Choice, choose, clearly
from ..few import FEW_ROWS, ranked_stretch
from ..fit import LEVELS, WALKS, Kind, smoothed
from ..model import Answer, SequenceModel
from ..noise import GaussianSpec
from ..stream import StreamOptions
from .ahead import ORIGINS, sizes_of, tried_ahead, weights_ahead, widths_ahead
from .damping import dampings, judged_steps
from .hidden import APART, Left, bound_together, hidden_runs, left_by, left_by_plan, tried
from .layers import Plan, learn, long_enough
from .shapes import learn_shapes

Answers = Callable[[SequenceModel, Array], Answer]

SHAPED_PERIODS = 8
"""Periods from which on shapes are tried. Not tuned: with fewer, a hidden run leaves too little to learn them from."""
JUDGED_PERIODS = 16
"""Periods of the last rows on which what is left is compared, to bound the cost. Not tuned."""


class Judged(NamedTuple):
    """What to fit, and how much wider than it says errors are in gaps and in forecasts."""

    plan: Plan
    kind: Kind  # for gaps
    kinds: tuple[Kind, ...]  # for forecasts
    weights: Array  # (kinds, m) of these
    gaps: float
    ahead: Array  # (b, m), for each feature, by steps ahead: see `widths_ahead`


def judge(
    Y: Array,
    periods: Sequence[int],
    opt: StreamOptions,
    *,
    calibrate: bool,
    answers: Answers,
    damping: Array | None = None,
    known: Array | None = None,
    tell: Tell = silent,
) -> Judged:
    """What raw rows Y (T, m) ask for. Each question needs the seasons learned once more, and a fit per candidate.

    `answers`: `smoothed` or `filtered`, whichever fills the gaps later; `damping`, `known`: see `Plan`.
    """
    plan = Plan(long_enough(periods, len(Y)), np.arange(0), damping, known)
    rows = max(COMPARED_ROWS, JUDGED_PERIODS * max(plan.periods, default=0))
    runs = hidden_runs(Y, plan.shortest)
    plan = plan._replace(shaped=_shaped(Y, plan, rows, opt, tell))
    if len(Y) <= FEW_ROWS:
        kind, size = _few(Y, plan, opt, answers, tell)
        width = ranked_stretch(size, opt.noise)
    else:
        left = left_by_plan(Y, plan, runs, opt, before=answers is not smoothed, tell=tell)
        kind, width = _many(left, rows, opt, answers, tell, calibrate=calibrate)
    before = answers is not smoothed
    kinds: tuple[Kind, ...] = (kind,)
    if plan.damping is not None:  # what fills gaps best need not go on best where they end
        kinds = tuple(dict.fromkeys((kind, *kinds_of(opt))))
    alone = np.ones((1, Y.shape[1]))
    if not calibrate and len(kinds) == 1:
        return Judged(plan, kind, kinds, alone, 1.0, alone)
    tried = tried_ahead(Y, plan, kinds, rows, opt, before=before, tell=tell)
    weights = alone if len(kinds) == 1 else weights_ahead(tried, opt.noise)
    if not calibrate:
        return Judged(plan, kind, kinds, weights, 1.0, alone)
    size = sizes_of(tried, weights)
    if len(Y) > FEW_ROWS:
        return Judged(plan, kind, kinds, weights, width, widths_ahead(size, opt.noise))
    size = size[np.isfinite(size)]
    return Judged(plan, kind, kinds, weights, width, alone * max(width, ranked_stretch(size, opt.noise), 1.0))


def kinds_of(opt: StreamOptions) -> tuple[Kind, ...]:
    """The kinds of models that are tried; random walks too, where levels are asked for and noise has no outliers."""
    walks = LEVELS in opt.candidates and isinstance(opt.noise, GaussianSpec)
    return (*opt.candidates, WALKS) if walks and len(opt.candidates) > 1 else opt.candidates


def trends_of(
    Y: Array, periods: Sequence[int], opt: StreamOptions, *, auto: bool, known: Array | None = None, tell: Tell = silent
) -> Array:
    """The damping (m,) of the slope of every feature of raw rows Y; `auto`: NaN but for those whose forecasts are
    better with a slope, and hidden runs not clearly worse. Two fits of what is left, where there are any."""
    T = len(Y)
    plan = Plan(long_enough(periods, T), np.arange(0), known=known)
    longest = max(plan.periods, default=0)
    found = dampings(Y, plan, opt, judged_steps(T, (PARTS - 1) * T // PARTS, longest, ORIGINS), auto=auto)
    if not auto or np.isnan(found).all():
        return found
    runs, rows = hidden_runs(Y, plan.shortest), max(COMPARED_ROWS, JUDGED_PERIODS * longest)
    plain, trended = (
        _errors(left_by_plan(Y, one, runs, opt, before=False, tell=tell).last(rows), opt, tell)
        for one in (plan, plan._replace(damping=found))
    )
    worse = [clearly(b - a, MIN_Z) for a, b in zip(plain, trended, strict=True)]
    return np.where(worse, np.nan, found)


def _shaped(Y: Array, plan: Plan, rows: int, opt: StreamOptions, tell: Tell) -> Array:
    """The features whose hidden runs are filled better with shapes, if these together are filled clearly better.

    Features that determine each other exactly are hidden together: beside the others a run of one says nothing.
    Each feature is first tried with shapes of its own. Those that gain share shapes then. Features that gain
    nothing from that are dropped, and the rest is tried again, until all gain. A fit of shapes for each feature,
    and for each trial of shared ones; beside each of these trials, and twice more, one of what is left.
    """
    nobody, periods = np.arange(0), plan.periods
    if not periods or len(Y) < SHAPED_PERIODS * periods[-1]:
        return nobody
    runs = hidden_runs(Y, plan.shortest, like=bound_together(Y))
    Z = np.where(runs.hide, np.nan, Y)
    _, phases = learn(Z, plan, opt.r, opt.noise, TRIAL_SWEEPS)

    def errors(groups: Sequence[Array]) -> list[Array]:
        """With shapes that the features of a group share."""
        signal = phases.signal.copy()
        for columns in groups:
            rest = (Z - phases.signal)[:, columns]
            if np.isfinite(rest).any():
                _, shapes = learn_shapes(rest, periods[-1], columns, opt.r, opt.noise, TRIAL_SWEEPS, 1e-3, tell)
                signal[:, columns] += shapes.signal
        return _errors(left_by(Y, phases._replace(signal=signal), runs, opt).last(rows), opt, tell)

    plain = errors([])
    shaped = errors([np.array([j]) for j in range(Y.shape[1])])
    before, some = nobody, _gaining(plain, shaped, np.arange(Y.shape[1]))
    while len(some) and len(some) != len(before):
        shaped = errors([some])
        before, some = some, _gaining(plain, shaped, some)
    gain = [(plain[j] - shaped[j]) / plain[j].mean() for j in some]
    return some if len(some) and clearly(np.concatenate(gain), MIN_Z) else nobody


def _gaining(plain: Sequence[Array], shaped: Sequence[Array], columns: Array) -> Array:
    """Those of the columns whose mean error is less with shapes."""
    return columns[[bool(shaped[j].sum() < plain[j].sum()) for j in columns]]


def _errors(left: Left, opt: StreamOptions, tell: Tell) -> list[Array]:
    """The root of the summed losses of every hidden run, for each feature."""
    hide, run, _ = left.runs
    loss = opt.noise.loss(tried(left, opt.candidates[0], opt, tell=tell).off)
    column = np.broadcast_to(np.arange(hide.shape[1]), hide.shape)[hide]
    out = []
    for j in range(hide.shape[1]):
        own = column == j
        _, number = np.unique(run[own], return_inverse=True)
        out.append(np.sqrt(np.bincount(number, weights=loss[own])))
    return out


def _many(
    left: Left, rows: int, opt: StreamOptions, answers: Answers, tell: Tell, *, calibrate: bool
) -> tuple[Kind, float]:
    """The kind of model that fills best what is left of the hidden runs, compared on the last rows; widths by all."""
    how: dict[str, Any] = {"dynamics": opt.dynamics, "noise": opt.noise, "drift": opt.drift, "tell": tell}
    candidates, last = kinds_of(opt), left.last(rows)
    best = Choice(candidates[0])
    if len(candidates) > 1:
        best = choose(last.Z, opt.r, candidates, rows=rows, hidden=last.runs, **how)
    if calibrate and (len(candidates) == 1 or len(left.Z) > rows):
        best = choose(left.Z, opt.r, [best.kind], rows=len(left.Z), follow_by=answers, hidden=left.runs, **how)
    return best.kind, best.stretch


def _few(Y: Array, plan: Plan, opt: StreamOptions, answers: Answers, tell: Tell) -> tuple[Kind, Array]:
    """The kind that loses less where every entry is hidden once, and the sizes of its errors. Compare `choose_few`."""
    folds = [hidden_runs(Y, plan.shortest, k) for k in range(APART)]
    lefts = [left_by_plan(Y, plan, runs, opt, before=answers is not smoothed, tell=tell) for runs in folds]
    best: tuple[float, Kind, Array] | None = None
    for kind in dict.fromkeys((opt.candidates[0], opt.candidates[-1])):
        trials = [tried(left, kind, opt, answers, tell) for left in lefts]
        loss = float(sum(opt.noise.loss(trial.off).sum() for trial in trials))
        if best is None or loss < best[0]:
            best = loss, kind, np.concatenate([trial.size for trial in trials])
    assert best is not None  # for the type checker: there is a candidate
    return best[1:]
