"""Learning in one pass over a stream: when something is to be learned, and when it is.

What is learned is done a piece at a time (`spread`), and by several candidates (`bank`).
"""

from __future__ import annotations

import numpy as np

from ..absurd_rows import absurd_entries
from ..entries import without
from ..linalg import Array
from .bank import best, passed
from .fit import Kind
from .late import (
    MIN_VALUES,
    OUTLIER_WEIGHT,
    in_unknown_units,
    init_new,
    needs_refresh,
    relocated,
    scored,
    unseen,
)
from .moments import forget
from .noise import GaussianSpec
from .scale import MIN_SCALE_VALUES, standards
from .spread import finished, weighed_anew, worked
from .stream import (
    Candidate,
    Job,
    Learning,
    LevelChange,
    Outcome,
    Stream,
    StreamOptions,
    Task,
    in_units,
    new_stream,
)
from .widths import begin_width, faded

GROWTH = 1.25
"""How many times as many rows as the last fit of the warm-up had the next one needs."""
FEW_BEFORE = 8
"""Rows before the first value of a new feature from which on they are learned from by themselves. Speed only: as many
rows as any piece of work is counted for."""


def advance(
    stream: Stream,
    y: Array,
    opt: StreamOptions,
    wide: Array | None = None,
    beside: Array | None = None,
    held: bool = False,
) -> tuple[Stream, Outcome]:
    """Take one raw row (m,), NaN = missing, and say what happened. O(m r²), and no row takes much longer than others.

    From the first row with data on, EM on all rows so far begins whenever they have become a quarter more (GROWTH),
    for the last time when there are `warmup` rows, which are kept until then.
    Afterwards, every `window` rows, and when a feature that is new has 8, 16, 32, 64 values: one E-step over the
    window, moments added to the decayed past, one M-step (stepwise EM). Both are done in pieces, a row each, while the
    candidates go on as they are; what is due meanwhile begins when that is done. Only rows with data decay the past,
    and nothing is learned or forgotten of a feature without data in the window. The schedule depends on the rows
    alone, so any split of the stream gives the same result. The innovation is about the prediction made BEFORE
    y was seen, in raw units.

    `wide` (2, m): factors on intervals in gaps and of forecasts besides those that errors teach, infinite where nothing
    is known; None: errors teach none. `beside` (m,): variance of what was taken off the raw row before; None: nothing.
    `held`: entries of the rows before are under suspicion, and scores are kept as they were before these (`Candidate`).
    The candidate that answers stays the same: `answered_by_the_best` is asked once it is known what the row was.
    """
    if stream.rows and stream.learning is None and not np.isfinite(stream.window).any():  # no data yet: begin here
        stream = new_stream(len(y))
    window = np.vstack([stream.window, y])
    stream = _ended_early(stream._replace(rows=stream.rows + 1, window=window), opt)
    window = stream.window
    new = unseen(stream) & np.isfinite(window).any(0)
    if new.any():
        stream = init_new(stream, new, opt.noise)
    outcome = Outcome(None)
    if stream.bank:
        z = np.where(new | in_unknown_units(stream), np.nan, (y - stream.shift) / stream.scale)
        more = 0.0 if beside is None else beside / stream.scale**2
        each = [passed(c, z, stream.rows - 1, opt.keep, wide, more, held) for c in stream.bank]
        outcome = Outcome(in_units(each[stream.leader][1], stream))
        bank = tuple(c for c, _ in each) if scored(stream) else tuple(c._replace(score=0.0) for c, _ in each)
        stream = stream._replace(bank=bank)
    if stream.job is None:
        stream, outcome = _begun(stream, outcome, new, opt)
    stream = _once_more_if_elsewhere(worked(stream, opt), opt)
    first = not stream.bank and len(stream.window) == 1  # which needs a model at once
    while first and stream.job is not None and not finished(stream, opt):
        stream = worked(stream, opt)
    return _adopted(stream, outcome, opt) if finished(stream, opt) else (stream, outcome)


def answered_by_the_best(stream: Stream) -> Stream:
    """The stream in which the candidate answers that has foretold best."""
    return stream._replace(leader=best(stream.bank, stream.leader, stream.rows)) if stream.bank else stream


def _ended_early(stream: Stream, opt: StreamOptions) -> Stream:
    """The warm-up is over when it is more than half done and a feature starts: it is known sooner as a late one.

    What is being learned was begun without it.
    """
    if stream.known <= opt.warmup // 2:
        return stream
    seen = np.isfinite(stream.window)
    if not (seen[stream.known :].any(0) & ~seen[: stream.known].any(0)).any():
        return stream
    bank = tuple(c._replace(learning=c.would_learn, would_learn=None) for c in stream.bank)
    return stream._replace(bank=bank, window=stream.window[stream.known :], known=0, job=None)


def _begun(stream: Stream, outcome: Outcome, new: Array, opt: StreamOptions) -> tuple[Stream, Outcome]:
    """The stream with a job, if one is due."""
    if stream.learning is None:
        due = len(stream.window) >= min(GROWTH * stream.fits, opt.warmup)
        return _restart(stream, outcome, opt) if due else (stream, outcome)
    window = stream.window
    since = int(np.isfinite(window[:, new]).any(1).argmax()) if new.any() else 0
    if since >= FEW_BEFORE and np.isfinite(window[:since]).any():  # so that they have a short window of their own
        return _refresh(stream, opt, since), outcome
    due = len(window) >= (2 * opt.window if new.any() else opt.window)
    if due and not np.isfinite(window).any():  # the next window begins here
        bank = tuple(_anchored(c) for c in stream.bank)
        return stream._replace(bank=bank, window=window[:0]), outcome
    count = np.isfinite(window[:, new]).sum(0)
    if due or (count >= MIN_VALUES).any() or needs_refresh(stream):
        return _refresh(stream, opt), outcome
    return stream, outcome


def _anchored(c: Candidate) -> Candidate:
    return c if c.learning is None else c._replace(learning=c.learning._replace(anchor=c.fitted.belief))


def _restart(stream: Stream, outcome: Outcome, opt: StreamOptions) -> tuple[Stream, Outcome]:
    """A fit of the warm-up from scratch begins.

    The rows are judged together: what the first of them could not show to be absurd is missing from here on.
    """
    Y = without(stream.window, absurd_entries(stream.window))
    shift, scale = standards(Y, opt.noise)
    count = np.isfinite(Y).sum(0)
    few = count < MIN_SCALE_VALUES  # too few values: unseen until more come
    muted = few & ((len(Y) >= opt.warmup) | (count == 0))
    tasks = tuple(Task(kind) for kind in kinds(opt))
    job = Job(len(Y), stream.fits / len(Y), shift, scale, True, np.zeros(len(few), dtype=bool), muted, tasks)
    return stream._replace(window=Y, job=job, fits=len(Y)), outcome._replace(judged=stream.window)


def kinds(opt: StreamOptions) -> tuple[Kind, ...]:
    """The kinds of models that a stream weighs: the first one asked for and the last, the most different one.

    One between the two is left out, as `choose_few` does: it would add half the cost.
    """
    return tuple(dict.fromkeys((opt.candidates[0], opt.candidates[-1])))


def _refresh(stream: Stream, opt: StreamOptions, rows: int | None = None) -> Stream:
    """Stepwise EM over the window, or its first `rows`, begins."""
    window = stream.window[:rows]
    muted = unseen(stream) & (np.isfinite(window).sum(0) < MIN_SCALE_VALUES)  # too few values: still unseen
    new = unseen(stream) & np.isfinite(window).any(0) & ~muted
    tasks = tuple(_task(c, new, window.shape, opt) for c in stream.bank)
    job = Job(len(window), 1.0, stream.shift, stream.scale, False, new, muted, tasks)
    return stream._replace(job=job)


def _task(c: Candidate, new: Array, shape: tuple[int, ...], opt: StreamOptions) -> Task:
    """Where a candidate begins to learn from a window."""
    assert c.learning is not None  # for the type checker: the warm-up is over
    model, (anchor, past) = c.fitted.now, c.learning
    change = None
    if model.levels is not None:
        change = np.zeros_like(model.emission.C)
        anchor = LevelChange(change, new, model.levels.p0).apply(anchor)
    robust = not isinstance(opt.noise, GaussianSpec)
    w, turn = (np.ones(shape), -1) if robust else (None, 0)
    return Task(
        c.kind, model, c.fitted.prior, anchor, forget(past, new), None, change, w, turn, belief=anchor,
        end=c.fitted.belief,
    )  # fmt: skip


def _once_more_if_elsewhere(stream: Stream, opt: StreamOptions) -> Stream:
    """Features most of whose entries in the window are outliers begin again where they are now."""
    job = stream.job
    if job is None or job.fresh:
        return stream
    for task in job.tasks:
        if task.w is None or not weighed_anew(task, job):
            continue
        Z = stream.window[: job.rows]
        elsewhere = relocated(task.w, Z) & ~unseen(stream)
        if elsewhere.any():
            window = stream.window.copy()
            window[: job.rows] = np.where(elsewhere & (task.w >= OUTLIER_WEIGHT), np.nan, Z)
            bank = tuple(_forgetting(c, elsewhere) for c in stream.bank)
            stream = stream._replace(bank=bank, window=window)
            return _refresh(init_new(stream, elsewhere, opt.noise), opt)
    return stream


def _forgetting(c: Candidate, which: Array) -> Candidate:
    assert c.learning is not None  # for the type checker: the warm-up is over
    return c._replace(learning=c.learning._replace(past=forget(c.learning.past, which)))


def _adopted(stream: Stream, outcome: Outcome, opt: StreamOptions) -> tuple[Stream, Outcome]:
    """The stream that goes on by what its job has learned."""
    job = stream.job
    assert job is not None  # for the type checker
    n = job.rows
    counts = np.isfinite(stream.window[:n]).sum(0, dtype=np.float64)
    over = not job.fresh or n >= opt.warmup
    bank = tuple(_successor(stream, i, over, opt) for i in range(len(job.tasks)))
    leader = 0
    if stream.bank:
        was = stream.bank[stream.leader].kind
        leader = next((i for i, c in enumerate(bank) if c.kind == was), 0)
    stream = stream._replace(
        shift=job.shift,
        scale=job.scale,
        moved=None,
        window=stream.window[n:] if over else stream.window,
        known=0 if over else n,
        bank=bank,
        leader=leader,
        job=None,
        refreshes=stream.refreshes + (not job.fresh),
    )
    return stream, outcome._replace(counts=counts, known=job.known)


def _successor(stream: Stream, i: int, over: bool, opt: StreamOptions) -> Candidate:
    """What becomes of the candidate i: the model and beliefs of its task, the scores and widths that it had.

    One that was not there before begins level with the candidate that answers.
    """
    job = stream.job
    assert job is not None  # for the type checker
    task = job.tasks[i]
    assert task.caught is not None
    assert task.moments is not None
    assert task.end is not None
    old = next((c for c in stream.bank if c.kind == task.kind), None)
    score = old.score if old is not None else stream.bank[stream.leader].score if stream.bank else 0.0
    width = begin_width(len(job.shift))
    c = task.caught._replace(foretold=None)
    learning = Learning(task.end, task.moments)
    c = c._replace(learning=learning) if over else c._replace(would_learn=learning)
    if old is None:
        return c._replace(score=score, calm=score, gaps=width, ahead=width)
    recent = c.recent
    if not job.fresh and len(recent) < opt.keep:  # those of rows before the window
        levels = task.model.levels if task.model is not None else None
        before = old.recent[: len(old.recent) - len(recent)]
        if levels is not None and task.change is not None:
            change = LevelChange(task.change, job.new, levels.p0)
            before = tuple(map(change.apply, before))
        recent = (*before, *recent)[-opt.keep :]
    gaps, ahead = (faded(w, job.known) for w in (old.gaps, old.ahead))
    return c._replace(recent=recent, score=score, calm=old.calm, gaps=gaps, ahead=ahead)
