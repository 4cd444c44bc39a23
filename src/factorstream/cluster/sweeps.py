"""Variational sweeps over the chunks of a Dask array: a map over chunks, a tree of merges, and a conclusion.

What ``core.variational.blockwise.fit_blocks`` does one block after another. The posterior of the features stays on the
workers from sweep to sweep: as the result of the task that concludes a sweep, which Dask makes anew where it is lost
with a worker. This process learns only how far the sweeps have come.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..core.place import HERE, Place, Tall
from ..core.telling import Tell, silent
from ..core.variational.blockwise import (
    BlockFit,
    begin_sweeps,
    block_spent,
    block_sums,
    end_sweep,
    end_sweeps,
    scaling_of,
)
from ..core.variational.factors import Factors
from ..core.variational.fit import Course, FitOptions, goes_on, sweep_rules, told
from ..core.variational.freedom import SpentSums, merge_spent
from ..core.variational.noise.law import ColumnMoments, Scaling
from ..core.variational.observed import Observations
from ..core.variational.posterior import second_moment
from ..core.variational.sweep import RowSums, SweepRules, merge_sums
from .chunks import Chunk, held, merged, results, started, task

Reader = Callable[[Any, int], Observations]
"""The values and weights of a chunk's rows with data, given the number of its first row. It can be pickled."""


class _Given(NamedTuple):
    """What every task needs beside its chunk and the posterior; it stays the same in all sweeps."""

    read: Reader
    scaling: Scaling
    rules: SweepRules
    options: FitOptions
    m: int
    N: float  # observed entries


def fit_chunks(
    chunks: Sequence[Chunk],
    read: Reader,
    warm: Factors,
    moments: ColumnMoments,
    some: Observations,
    options: FitOptions,
    place: Place = HERE,
    tell: Tell = silent,
) -> BlockFit:
    """``fit_blocks`` of the rows that ``read`` makes of the chunks; equal to it but for rounding, whatever the chunks.

    All but the chunks is in the memory of this process, and so is what comes back.
    """
    scaling = scaling_of(warm, moments, some, options, place)
    begun = Course(begin_sweeps(warm, scaling, some, place), None)
    N, n = float(moments.count.sum()), 0
    rules = sweep_rules(options, begun.factors, scaling.own, place)
    given, course = held(_Given(read, scaling, rules, options, some.m, N)), held(begun)
    while goes_on(begun, options):
        sums = merged(merge_sums, [task(_sums, values, first, given, course) for values, first, _ in chunks])
        course, facts = started(*_concluded_by(given, course, sums))
        begun, n = results(facts)[0]
        tell(told(begun, options, N, n))
    spent = merged(merge_spent, [task(_spent, values, first, given, course) for values, first, _ in chunks])
    factors, parameters = results(task(_ended, given, course, spent))[0]
    return BlockFit(factors, begun.history, parameters, n)


def _concluded_by(given: Any, course: Any, sums: Any) -> tuple[Any, Any]:
    """Tasks for the course after a sweep, and for what this process is told of it."""
    course = task(_concluded, given, course, sums)
    return course, task(_facts, course, sums)


def _sums(values: Any, first: int, given: _Given, course: Course) -> RowSums:
    factors = course.factors
    return block_sums(given.read(values, first), factors, given.scaling, second_moment(factors.post, factors.s2))


def _concluded(given: _Given, course: Course, sums: RowSums) -> Course:
    M = second_moment(course.factors.post, course.factors.s2)
    return end_sweep(course, sums, given.rules, M, given.m, given.options, given.N, given.scaling.scale)


def _facts(course: Course, sums: RowSums) -> tuple[Course, int]:
    """How far the sweeps have come, without what is large, and the number of rows."""
    return course._replace(factors=None, moment=None), int(sums.n)  # type: ignore[arg-type]


def _spent(values: Any, first: int, given: _Given, course: Course) -> SpentSums:
    factors = course.factors
    return block_spent(given.read(values, first), factors, given.scaling, second_moment(factors.post, factors.s2))


def _ended(given: _Given, course: Course, spent: SpentSums) -> tuple[Factors, Tall]:
    return end_sweeps(course.factors, spent, given.scaling)
