"""The pieces of learning in a stream (see `spread`): first values, E-steps of blocks, M-steps, catching up."""

from __future__ import annotations

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
from .stream import Candidate, Job, LevelChange, StreamOptions, Task, begun, filter_row

TOL = 1e-3
"""Gain of a sweep, in nats per observed entry, below which a fit is over: as in `fit`."""
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


def first_values(task: Task, rows: Rows) -> Task:
    """Where a fit from scratch begins."""
    Z, opt = rows.block(0, rows.job.rows), rows.opt
    model = first_model(opt.noise.without_outliers(Z), opt.r, task.kind, opt.noise, opt.dynamics.cycles)
    model = model._replace(dynamics=apply_given(model.dynamics, opt.dynamics))
    r = len(model.dynamics.A)
    task = task._replace(model=model, prior=LoadingPrior(np.full(r, float(max(r, 1)))))
    if isinstance(opt.noise, GaussianSpec):
        return task
    # a level would learn from an outlier that it follows
    return task._replace(w=np.ones(Z.shape), turn=0 if model.levels is None else -1)


def weighed(task: Task, Z: Array) -> Task:
    """Weights of the block Z, by the model that the job begins with."""
    assert task.model is not None  # for the type checker, as all of these
    assert task.w is not None
    w = weights(task.model, Z, task.belief)
    assert w is not None
    s, _ = expect(task.model, Z, w, task.belief)
    return task._replace(w=_put(task.w, task.at, w), belief=s.end)


def _put(w: Array, at: int, part: Array) -> Array:
    out = w.copy()
    out[at : at + len(part)] = part
    return out


def expected(task: Task, Z: Array, rows: Rows) -> Task:
    """The E-step of the block Z; in a fit from scratch, new weights of it too."""
    model = task.model
    assert model is not None  # for the type checker
    w = None if task.w is None else task.w[task.at : task.at + len(Z)]
    s, mom = expect(model, Z, w, task.belief)
    if w is not None and rows.job.fresh:
        early = model.levels is not None and task.turn < EARLY
        as_is = GivenStudentSpec(model.noise.degrees_of_freedom)  # they are learned from all blocks together
        found = reweigh(model, as_is, Z, s, w, early=early)
        assert found is not None
        assert task.w is not None
        task = task._replace(w=_put(task.w, task.at, found.w))
        mom = mom if model.levels is not None else observed_moments(Z, s, found.w)
    total = mom if task.total is None else add(task.total, mom)
    return task._replace(belief=s.end, total=total, logp=task.logp + s.logp)


def maximised(task: Task, rows: Rows) -> Task:
    """The M-step after a sweep, and the beginning of the next one."""
    return (_maximised_anew if rows.job.fresh else _maximised_beside)(task, rows)


def _maximised_anew(task: Task, rows: Rows) -> Task:
    """As a sweep of `fit` does."""
    model, total, opt, k = task.model, task.total, rows.opt, task.turn
    assert model is not None
    assert total is not None
    assert task.prior is not None
    if task.w is not None and isinstance(model.noise, StudentNoise) and not isinstance(opt.noise, GaussianSpec):
        w = task.w[np.isfinite(rows.block(0, rows.job.rows))]
        model = model._replace(
            noise=_with_degrees(model.noise, w, opt.noise, early=model.levels is not None and k < EARLY)
        )
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
    assert model is not None
    assert task.total is not None
    assert task.past is not None
    assert task.prior is not None
    Z = rows.block(0, job.rows)
    decay = opt.decay ** (np.isfinite(Z).any(1).sum() / opt.window)
    moments = exchanged(add(task.past, task.total, decay), task.past, np.asarray(np.isnan(Z).all(0)))
    centred = task.change is not None and task.turn % 2 == 0
    new = maximise(model, moments, task.prior, opt.dynamics, centred=centred)
    anchor, past, change, prior = task.anchor, task.past, task.change, task.prior
    if centred and change is not None and anchor is not None and model.levels is not None:
        step = new.emission.C - model.emission.C  # the levels, those of the past too, must follow the loadings
        past, moments, change = recentre(past, step), recentre(moments, step), change + step
        anchor = LevelChange(step, np.zeros(len(step), dtype=bool), model.levels.p0).apply(anchor)
    task = task._replace(model=new, past=past, moments=moments, change=change, anchor=anchor)
    task = task._replace(turn=task.turn + 1, at=0, belief=anchor, total=None)
    if task.turn < rows.turns(task):
        return task
    prior = with_relevance(prior, new)
    return task._replace(model=widened(new, moments.N), prior=prior)


def caught_up(task: Task, rows: Rows, i: int, stop: int) -> Task:
    """The learned model filters some more rows of the window."""
    assert task.model is not None
    assert task.prior is not None
    if not rows.job.fresh and rows.old[i].fitted.followed is not None:
        return _as_followed(task, rows, i)
    c, end = task.caught or _before(task.model, task.prior, task), task.end
    for k, z in enumerate(rows.block(task.at, stop), task.at + 1):
        hide = hidden_at(rows.first + k - 1, len(z))
        c, _ = filter_row(c, z, hide, rows.opt.keep, first=k == 1 and task.anchor is None)
        end = c.fitted.belief if k == rows.job.rows else end
    return task._replace(at=stop, caught=c, end=end)


def _before(model: SequenceModel, prior: LoadingPrior, task: Task) -> Candidate:
    """The candidate before the first row of the window."""
    start = initial(model) if task.anchor is None else task.anchor
    return Candidate(task.kind, begun(model, prior, start), start, ())


def _as_followed(task: Task, rows: Rows, i: int) -> Task:
    """A dictionary that has been followed row by row stays what it is, but for features that are new."""
    assert task.model is not None
    assert task.prior is not None
    assert task.anchor is not None
    old, new, learned = rows.old[i], rows.job.new, task.model.emission
    before = old.fitted.followed
    assert before is not None
    V = learned.V
    if V is not None and before.V is not None:
        V = np.where(new[:, None, None], V, before.V)
    emission = learned._replace(C=np.where(new[:, None], learned.C, before.C), V=V, drift=before.drift)
    fitted = begun(task.model._replace(emission=emission), task.prior, old.fitted.belief)
    return task._replace(at=len(rows.window), caught=old._replace(fitted=fitted))


def widened(model: SequenceModel, N: Array) -> SequenceModel:
    """The model with variances that were learned from few values, N (m,), made as wide as Student's quantiles."""
    wide = np.where(N < SETTLED_VALUES, student_factor(np.maximum(N, 2.0)) ** 2, 1.0)
    model = with_R(model, wide * model.noise.R)
    if model.levels is None:
        return model
    return model._replace(levels=model.levels._replace(q=wide * model.levels.q))
