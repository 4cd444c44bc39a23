"""Learning a piece at a time, so that no row of a stream waits for a whole fit.

A job is EM over the first rows of a stream's window, for every candidate. Its sweeps go from block to block: the E-step
of a block begins at the filtered belief before it, and its moments are added up; after the last block there is an
M-step. So a row is smoothed by what comes after it in its block, and not by later blocks: what is raised is the
likelihood of the blocks, each given those before it. At last the learned models filter all rows of the window, until
they have caught up with the stream, and take the place of the old ones.

How much is done at one row depends on sizes alone, never on time, so a stream gives the same bits however it is called.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..linalg import Array
from .choose import HIDDEN_PERIOD, HIDDEN_RUN, HIDDEN_SHIFT
from .drift import with_drift
from .em import LoadingPrior, apply_given, maximise, penalty
from .filter import initial
from .fit import EARLY, UNIT_ROOT_SWEEPS, first_model, with_relevance
from .model import SequenceModel, with_R
from .moments import Moments, add, exchanged, observed_moments, recentre
from .noise import GaussianSpec, GivenStudentSpec, StudentNoise, StudentSpec
from .outliers import expect, reweigh, weights
from .scale import student_factor
from .stream import Candidate, Job, LevelChange, Stream, StreamOptions, Task, begun, filter_row

WORK = 64
"""Work at one row, in rows of an E-step with levels: some 4 milliseconds, less than ten times what a row takes without.
Not tuned: the bound is 20 times."""
LEVEL_BLOCK, STATE_BLOCK = 64, 256
"""Rows of a block with and without levels, whose E-step costs about as much. More would be better for the moments."""
ROBUST_BLOCK = 8
"""Rows of a block under Student-t noise, which asks several times about each."""
FILTERED = 16
"""Rows that are filtered at a time, twice each."""
TOL = 1e-3
"""Gain of a sweep, in nats per observed entry, below which a fit is over: as in `fit`."""
START = 32
"""What the first values of a fit cost."""
CALL = 8
"""What anything costs, however few rows it is about."""
NEW_FEATURE_TURNS = 4
"""Turns of EM over a window in which a feature is new, so that its loadings settle. Not tuned, and it matters: with
levels, 2 turns give 8% more error in gaps of such features and intervals 4% wider, 8 turns 1.4% less and intervals 3%
narrower; without, all give the same errors within 0.1% (``benchmarks/sequence_defaults.py``)."""


SETTLED_VALUES = 64
"""Values from which on a feature waits for the end of a window like the others: half a window. Not tuned: between 32
and 128 the errors in late features move by at most 0.5% (``benchmarks/sequence_defaults.py``)."""


class Rows(NamedTuple):
    """What the tasks of a job work on."""

    job: Job
    window: Array  # (k, m) raw
    first: int  # number of the window's first row in the stream
    old: tuple[Candidate, ...]
    opt: StreamOptions

    def block(self, start: int, stop: int) -> Array:
        """Standardised rows of the window, those of muted features missing."""
        Z = (self.window[start:stop] - self.job.shift) / self.job.scale
        Z[:, self.job.muted] = np.nan
        return np.asarray(Z)

    def turns(self, task: Task) -> int:
        """Sweeps that the task makes; with levels two belong together (see `learn_levels`)."""
        if self.job.fresh:
            return self.opt.sweeps if self.job.rows > 1 else 1  # nothing moves in one row
        return (1 if task.change is None else 2) * (NEW_FEATURE_TURNS if self.job.new.any() else 1)


def hidden_at(row: int, m: int) -> Array:
    """The features (m,) of which the second filter does not see row number `row`: those of `choose.held_out`."""
    return np.asarray((row + np.arange(m) * HIDDEN_SHIFT % HIDDEN_PERIOD) % HIDDEN_PERIOD < HIDDEN_RUN)


def worked(stream: Stream, opt: StreamOptions) -> Stream:
    """The stream whose job is one row's work further."""
    if stream.job is None:
        return stream
    tasks, left = list(stream.job.tasks), float(WORK)
    rows = Rows(stream.job, stream.window, stream.rows - len(stream.window), stream.bank, opt)
    while (i := _next(tasks, rows)) is not None and (left == WORK or cost_of(tasks[i], rows) <= left):
        left -= cost_of(tasks[i], rows)
        tasks[i] = piece(tasks[i], rows, i)
    return stream._replace(job=stream.job._replace(tasks=tuple(tasks)))


def _next(tasks: Sequence[Task], rows: Rows) -> int | None:
    """The task to go on with: none catches up before all have learned, so that they end at the same row."""
    learning = (i for i, task in enumerate(tasks) if task.turn < rows.turns(task))
    behind = (i for i, task in enumerate(tasks) if not done(task, rows))
    return next(learning, next(behind, None))


def done(task: Task, rows: Rows) -> bool:
    """Whether the task has come to the last row."""
    return task.turn == rows.turns(task) and task.at == len(rows.window)


def finished(stream: Stream, opt: StreamOptions) -> bool:
    """Whether the stream has a job that has come to its end."""
    if stream.job is None:
        return False
    rows = Rows(stream.job, stream.window, stream.rows - len(stream.window), stream.bank, opt)
    return all(done(task, rows) for task in stream.job.tasks)


def cost_of(task: Task, rows: Rows) -> float:
    """What the next piece of a task costs."""
    if task.model is None:
        return START
    if task.turn == rows.turns(task):
        return max(2.0 * (_stop(task, rows) - task.at), CALL)
    return max((_stop(task, rows) - task.at) * WORK / _size(task, rows), CALL)


def _size(task: Task, rows: Rows) -> int:
    """Rows of a block."""
    assert task.model is not None  # for the type checker
    if task.turn == rows.turns(task):
        return FILTERED
    if not isinstance(rows.opt.noise, GaussianSpec):
        return ROBUST_BLOCK
    return STATE_BLOCK if task.model.levels is None else LEVEL_BLOCK


def _stop(task: Task, rows: Rows) -> int:
    """Where the next block ends."""
    last = len(rows.window) if task.turn == rows.turns(task) else rows.job.rows
    return min(task.at + _size(task, rows), last)


def piece(task: Task, rows: Rows, i: int) -> Task:
    """The next piece of the task of candidate i."""
    if task.model is None:
        return _first(task, rows)
    if task.turn == rows.turns(task):
        return _catch_up(task, rows, i)
    stop = _stop(task, rows)
    Z = rows.block(task.at, stop)
    task = (_weighed(task, Z) if task.turn < 0 else _expected(task, Z, rows))._replace(at=stop)
    if stop < rows.job.rows:
        return task
    return task._replace(turn=0, at=0, belief=task.anchor) if task.turn < 0 else _maximised(task, rows)


def _first(task: Task, rows: Rows) -> Task:
    """Where a fit from scratch begins."""
    Z, opt = rows.block(0, rows.job.rows), rows.opt
    model = first_model(opt.noise.without_outliers(Z), opt.r, task.kind, opt.noise)
    model = model._replace(dynamics=apply_given(model.dynamics, opt.dynamics))
    r = len(model.dynamics.A)
    task = task._replace(model=model, prior=LoadingPrior(np.full(r, float(max(r, 1)))))
    if isinstance(opt.noise, GaussianSpec):
        return task
    # a level would learn from an outlier that it follows
    return task._replace(w=np.ones(Z.shape), turn=0 if model.levels is None else -1)


def _weighed(task: Task, Z: Array) -> Task:
    """Weights of the block Z, by the model that the job begins with."""
    assert task.model is not None and task.w is not None  # for the type checker
    w = weights(task.model, Z, task.belief)
    assert w is not None
    s, _ = expect(task.model, Z, w, task.belief)
    return task._replace(w=_put(task.w, task.at, w), belief=s.end)


def _put(w: Array, at: int, part: Array) -> Array:
    out = w.copy()
    out[at : at + len(part)] = part
    return out


def _expected(task: Task, Z: Array, rows: Rows) -> Task:
    """The E-step of the block Z; in a fit from scratch, new weights of it too."""
    model = task.model
    assert model is not None  # for the type checker
    w = None if task.w is None else task.w[task.at : task.at + len(Z)]
    s, mom = expect(model, Z, w, task.belief)
    if w is not None and rows.job.fresh:
        early = model.levels is not None and task.turn < EARLY
        as_is = GivenStudentSpec(model.noise.degrees_of_freedom)  # they are learned from all blocks together
        found = reweigh(model, as_is, Z, s, w, early=early)
        assert found is not None and task.w is not None  # for the type checker
        task = task._replace(w=_put(task.w, task.at, found.w))
        mom = mom if model.levels is not None else observed_moments(Z, s, found.w)
    total = mom if task.total is None else add(task.total, mom)
    return task._replace(belief=s.end, total=total, logp=task.logp + s.logp)


def _maximised(task: Task, rows: Rows) -> Task:
    """The M-step after a sweep, and the beginning of the next one."""
    return (_maximised_anew if rows.job.fresh else _maximised_beside)(task, rows)


def _maximised_anew(task: Task, rows: Rows) -> Task:
    """As a sweep of `fit` does."""
    model, total, opt, k = task.model, task.total, rows.opt, task.turn
    assert model is not None and total is not None and task.prior is not None  # for the type checker
    if task.w is not None and isinstance(model.noise, StudentNoise) and not isinstance(opt.noise, GaussianSpec):
        w = task.w[np.isfinite(rows.block(0, rows.job.rows))]
        model = model._replace(noise=_with_degrees(model.noise, w, opt.noise, early=model.levels is not None and k < EARLY))
    bounds = (*task.bounds, task.logp - penalty(model, task.prior))
    settled = k > 1 + (EARLY if task.w is not None and model.levels is not None else 0)
    if settled and bounds[-1] - bounds[-3] < 2.0 * TOL * max(float(total.N.sum()), 1.0):
        return _learned(task, model, total, rows)
    centred = model.levels is not None and k % 2 == 1
    new = maximise(model, total, task.prior, opt.dynamics, centred=centred, unit_root=k < UNIT_ROOT_SWEEPS)
    if centred:
        total = recentre(total, new.emission.C - model.emission.C)
    prior = with_relevance(task.prior, new)
    if k + 1 == rows.turns(task):
        return _learned(task._replace(prior=prior), new, total, rows)
    return task._replace(
        model=new, prior=prior, turn=k + 1, at=0, belief=None, total=None, logp=0.0, bounds=bounds[-2:]
    )  # fmt: skip


def _learned(task: Task, model: SequenceModel, moments: Moments, rows: Rows) -> Task:
    """A fit from scratch is over; what it has learned has to catch up."""
    model = with_drift(model, rows.opt.drift)
    return task._replace(model=model, moments=moments, turn=rows.turns(task), at=0, belief=None, total=None)


def _with_degrees(noise: StudentNoise, w: Array, spec: StudentSpec, early: bool) -> StudentNoise:
    """The noise with the degrees of freedom that the weights w of all rows suggest, in as many turns as in a fit."""
    squares = (noise.nu + 1.0) / w - noise.nu  # those by which the weights were found (`expected_weights`)
    for _ in range(1 if early else spec.learning_turns):
        noise = spec.learn(noise, w)
        w = w if early else noise.expected_weights(squares)
    return noise


def _maximised_beside(task: Task, rows: Rows) -> Task:
    """Stepwise EM: moments of the window are added to those of the decayed past. Every other turn is centred."""
    job, opt, model = rows.job, rows.opt, task.model
    assert model is not None and task.total is not None and task.past is not None and task.prior is not None
    Z = rows.block(0, job.rows)
    decay = opt.decay ** (np.isfinite(Z).any(1).sum() / opt.window)
    moments = exchanged(add(task.past, task.total, decay), task.past, np.asarray(np.isnan(Z).all(0)))
    centred = task.change is not None and task.turn % 2 == 0
    new = maximise(model, moments, task.prior, opt.dynamics, centred=centred)
    anchor, past, change = task.anchor, task.past, task.change
    if centred and change is not None and anchor is not None and model.levels is not None:
        step = new.emission.C - model.emission.C  # the levels, those of the past too, must follow the loadings
        past, moments, change = recentre(past, step), recentre(moments, step), change + step
        anchor = LevelChange(step, np.zeros(len(step), dtype=bool), model.levels.p0).apply(anchor)
    task = task._replace(model=new, past=past, moments=moments, change=change, anchor=anchor)
    task = task._replace(turn=task.turn + 1, at=0, belief=anchor, total=None)
    if task.turn < rows.turns(task):
        return task
    return task._replace(model=widened(new, moments.N), prior=with_relevance(task.prior, new))


def _catch_up(task: Task, rows: Rows, i: int) -> Task:
    """The learned model filters some more rows of the window."""
    assert task.model is not None and task.prior is not None  # for the type checker
    if not rows.job.fresh and rows.old[i].fitted.followed is not None:
        return _as_followed(task, rows, i)
    at, stop, opt = task.at, _stop(task, rows), rows.opt
    c, end = task.caught, task.end
    for k, z in enumerate(rows.block(at, stop), at + 1):
        hide = hidden_at(rows.first + k - 1, len(z))
        if c is None:
            c = _before(task.model, task.prior, task, rows)
            if task.anchor is None:  # the first row of all
                c, _ = filter_row(c, z, hide, opt.keep, first=True)
                end = c.fitted.belief if k == rows.job.rows else end
                continue
        c, _ = filter_row(c, z, hide, opt.keep)
        end = c.fitted.belief if k == rows.job.rows else end
    return task._replace(at=stop, caught=c, end=end)


def _before(model: SequenceModel, prior: LoadingPrior, task: Task, rows: Rows) -> Candidate:
    """The candidate before the first row of the window."""
    start = initial(model) if task.anchor is None else task.anchor
    return Candidate(task.kind, begun(model, prior, start), start, ())


def _as_followed(task: Task, rows: Rows, i: int) -> Task:
    """A dictionary that has been followed row by row stays what it is, but for features that are new."""
    assert task.model is not None and task.prior is not None and task.anchor is not None  # for the type checker
    old, new, learned = rows.old[i], rows.job.new, task.model.emission
    before = old.fitted.followed
    assert before is not None
    V = learned.V
    if V is not None and before.V is not None:
        V = np.where(new[:, None, None], V, before.V)
    emission = learned._replace(C=np.where(new[:, None], learned.C, before.C), V=V, drift=before.drift)
    fitted = begun(task.model._replace(emission=emission), task.prior, old.fitted.belief)
    return task._replace(at=len(rows.window), caught=old._replace(fitted=fitted), end=task.end or old.fitted.belief)


def widened(model: SequenceModel, N: Array) -> SequenceModel:
    """The model with variances that were learned from few values, N (m,), made as wide as Student's quantiles."""
    wide = np.where(N < SETTLED_VALUES, student_factor(np.maximum(N, 2.0)) ** 2, 1.0)
    model = with_R(model, wide * model.noise.R)
    if model.levels is None:
        return model
    return model._replace(levels=model.levels._replace(q=wide * model.levels.q))
