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

from .noise import GaussianSpec
from .pieces import Rows, caught_up, expected, first_values, maximised, weighed
from .stream import Job, Stream, StreamOptions, Task

WORK = 64
"""Work at one row, in rows of an E-step with levels: some 4 milliseconds, less than ten times what a row takes without.
Not tuned: the bound is 20 times. It matters, because candidates learn sooner or later: with slow levels gaps have 3%
more error at 32 and 5% at 128, intervals are 4% and 5% narrower, and forecasts move by at most 1%; where loadings
change, errors move by at most 0.4% (``benchmarks/sequence_defaults.py``)."""
LEVEL_BLOCK, STATE_BLOCK = 64, 256
"""Rows of a block with and without levels, whose E-step costs about as much. More would be better for the moments."""
ROBUST_LEVEL_BLOCK, ROBUST_STATE_BLOCK, WEIGHED_BLOCK = 32, 64, 8
"""The same under Student-t noise, which weighs each entry, and where the first weights are found in several turns."""
FILTERED = 4
"""Rows that are filtered at a time."""
FILTER_ROW, ROBUST_FILTER_ROW = 2, 8
"""What a row costs that is filtered twice, without and with weights of its entries."""
START, START_FEATURE = 16, 2
"""What the first values of a fit cost, and that for every feature."""
CALL = 8
"""What anything costs, however few rows it is about."""


def worked(stream: Stream, opt: StreamOptions) -> Stream:
    """The stream whose job is one row's work further."""
    if stream.job is None:
        return stream
    tasks, left = list(stream.job.tasks), float(WORK)
    rows = Rows(stream.job, stream.window, stream.rows - len(stream.window), stream.bank, opt)
    while (i := _next(tasks, rows)) is not None and (left == WORK or cost_of(tasks[i], rows) <= left):
        left -= cost_of(tasks[i], rows)
        tasks[i] = piece(tasks[i], rows, i)
        if weighed_anew(tasks[i], stream.job):
            break
    return stream._replace(job=stream.job._replace(tasks=tuple(tasks)))


def weighed_anew(task: Task, job: Job) -> bool:
    """Whether the weights of the job's entries have just been found, by which features may turn out to be elsewhere."""
    return not job.fresh and task.w is not None and task.turn == 0 and task.at == 0


def _next(tasks: Sequence[Task], rows: Rows) -> int | None:
    """The task to go on with: none catches up before all have learned, and then the one that is furthest behind."""
    learning = (i for i, task in enumerate(tasks) if task.turn < rows.turns(task))
    behind = [i for i, task in enumerate(tasks) if not done(task, rows)]
    return next(learning, min(behind, key=lambda i: tasks[i].at, default=None))


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
        return float(START + START_FEATURE * rows.window.shape[1])
    if task.turn == rows.turns(task):
        each = FILTER_ROW if isinstance(rows.opt.noise, GaussianSpec) else ROBUST_FILTER_ROW
        return max(each * (_stop(task, rows) - task.at), CALL)
    return max((_stop(task, rows) - task.at) * WORK / _size(task, rows), CALL)


def _size(task: Task, rows: Rows) -> int:
    """Rows of a block."""
    assert task.model is not None  # for the type checker
    if task.turn == rows.turns(task):
        return FILTERED
    if task.turn < 0:
        return WEIGHED_BLOCK
    levels = task.model.levels is not None
    if isinstance(rows.opt.noise, GaussianSpec):
        return LEVEL_BLOCK if levels else STATE_BLOCK
    return ROBUST_LEVEL_BLOCK if levels else ROBUST_STATE_BLOCK


def _stop(task: Task, rows: Rows) -> int:
    """Where the next block ends."""
    last = len(rows.window) if task.turn == rows.turns(task) else rows.job.rows
    return min(task.at + _size(task, rows), last)


def piece(task: Task, rows: Rows, i: int) -> Task:
    """The next piece of the task of candidate i."""
    if task.model is None:
        return first_values(task, rows)
    if task.turn == rows.turns(task):
        return caught_up(task, rows, i, _stop(task, rows))
    stop = _stop(task, rows)
    Z = rows.block(task.at, stop)
    task = (weighed(task, Z) if task.turn < 0 else expected(task, Z, rows))._replace(at=stop)
    if stop < rows.job.rows:
        return task
    return task._replace(turn=0, at=0, belief=task.anchor) if task.turn < 0 else maximised(task, rows)
