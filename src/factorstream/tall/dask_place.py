"""The features in shards, each of which is with a worker of Dask.

Functions are sent to the shards as tasks, and their results stay with the workers; sums come back, one wait for each.
Tasks are sent with the next sum that is asked for, many together.
Dask runs tasks again after a worker was lost, and a shard that had been changed in place would be wrong then. So a task
copies what a function may write into, and where there are only sums to make, forbids it to write. What kind of result
a function has (an array, a tuple, nothing) is asked once for every kind of arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import accumulate, pairwise
from typing import Any
from weakref import WeakSet

import numpy as np

from ..cluster.chunks import held, merged, results, started, task
from ..core.linalg import Array, is_sparse
from ..core.place import HERE, Placed, Tall
from .placed_rows import PlacedRows, rows_numbered
from .products import centred_anew, combine, is_missing, some_rows

READ_ONLY = {centred_anew, combine, is_missing, rows_numbered, some_rows}
"""Functions for ``each`` that write into nothing, so that no copy is made for them. Speed and memory only: others that
write into nothing may be left out."""

ONE = "one"
"""The form of a result that is no tuple."""


class Shards(Placed):
    """An array whose features are divided among tasks."""

    def __init__(self, place: DaskPlace, parts: Sequence[Any]) -> None:
        self.place, self.parts = place, tuple(parts)


class Hole:
    """Where a shard goes among the arguments of a function."""

    def __init__(self, number: int) -> None:
        self.number = number


class DaskPlace:
    """So many shards of about the same length, fewer where there are fewer features; or shards of given lengths."""

    room = HERE.room
    keeps_sparse, lag, works_ahead, far = True, 1, False, True

    def __init__(self, shards: int | Sequence[int]) -> None:
        self.lengths = None if isinstance(shards, int) else tuple(shards)
        self._n_shards = shards if isinstance(shards, int) else len(shards)
        self._forms: dict[Any, Any] = {}
        self._waiting: WeakSet[Shards] = WeakSet()

    def put(self, values: Any, axis: int) -> Tall:
        """The array in shards, which are sent to the workers."""
        if values is None or isinstance(values, Shards):
            return values
        if isinstance(values, PlacedRows):
            return values.tall
        if isinstance(values, tuple):
            return _rebuilt(values, [self.put(value, axis) for value in values])
        cuts = pairwise(self._ends(values.shape[axis]))
        return self._shards([held(_part(values, axis, a, b)) for a, b in cuts])

    def _ends(self, m: int) -> list[int]:
        if self.lengths is not None:
            return [0, *accumulate(self.lengths)]
        n = max(min(self._n_shards, m), 1)
        return [i * m // n for i in range(n + 1)]

    def get(self, values: Tall, axis: int) -> Array:
        """All shards, one after the other, in this process."""
        self._start()
        return np.concatenate(results(*values.parts), axis=axis)

    def each(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """A task for each shard, and one for each part of its result."""
        calls, kind = self._tasks(_read_only if function in READ_ONLY else _writable, function, arguments)
        if kind not in self._forms:
            calls = self._start(*calls)
            self._forms[kind] = results(task(_form, calls[0]))[0]
        form = self._forms[kind]
        leaves = ([call if form == ONE else task(_leaf, call, i) for call in calls] for i in range(_n_leaves(form)))
        return _built(form, map(self._shards, leaves))

    def total(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """A task for each shard, and a tree of sums."""
        return results(*self._start(merged(_sum, self._tasks(_read_only, function, arguments)[0])))[0]

    by_row = total

    def rows(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """One call, in this process."""
        return function(*arguments)

    def empty(self, *shape: int) -> Array:
        """An array of this process."""
        return HERE.empty(*shape)

    def _shards(self, parts: Sequence[Any]) -> Shards:
        """Shards that are still to be made."""
        shards = Shards(self, parts)
        self._waiting.add(shards)
        return shards

    def _start(self, *tasks: Any) -> tuple[Any, ...]:
        """Start these tasks, and with them all shards that wait for it and are still wanted: together, since it takes
        a scheduler longer to be told of anything than to be told of a little more."""
        waiting = list(self._waiting)
        all_started = started(*tasks, *(part for shards in waiting for part in shards.parts))
        at = len(tasks)
        for shards in waiting:
            shards.parts, at = all_started[at : at + len(shards.parts)], at + len(shards.parts)
        self._waiting.clear()
        return all_started[: len(tasks)]

    def _tasks(
        self, given: Callable[[Any], Any], function: Callable[..., Any], arguments: Any
    ) -> tuple[Sequence[Any], Any]:
        """A call for each shard, whose arrays are ``given`` to the function; and what decides the form of its result.

        What is not tall is copied now: the caller may change it before a task is run.
        """
        found: list[Shards] = []
        with_holes = _without_shards(arguments, found)
        call = partial(_call, given, function, with_holes)
        calls = [task(call, *parts) for parts in zip(*(one.parts for one in found), strict=True)]
        return calls, (function, _kind(with_holes))


def _part(values: Any, axis: int, start: int, stop: int) -> Any:
    if is_sparse(values):
        return values.tocsr()[:, start:stop]
    part = values[(slice(None),) * axis + (slice(start, stop),)]
    return np.array(part, order="C")  # a copy: the caller may write into its own


def _without_shards(argument: Any, found: list[Shards]) -> Any:
    """An argument with holes for its shards, which are added to those that were ``found``."""
    if isinstance(argument, Shards):
        found.append(argument)
        return Hole(len(found) - 1)
    if isinstance(argument, tuple):
        return _rebuilt(argument, [_without_shards(value, found) for value in argument])
    return argument.copy() if isinstance(argument, np.ndarray) else argument


def _kind(argument: Any) -> Any:
    """What of an argument can decide the form of a result."""
    if isinstance(argument, tuple):
        return (type(argument), *map(_kind, argument))
    return argument if argument is None or isinstance(argument, bool) else type(argument)


def _call(given: Callable[[Any], Any], function: Callable[..., Any], arguments: tuple[Any, ...], *parts: Any) -> Any:
    return function(*(_with_parts(argument, given, parts) for argument in arguments))


def _with_parts(argument: Any, given: Callable[[Any], Any], parts: tuple[Any, ...]) -> Any:
    if isinstance(argument, Hole):
        return given(parts[argument.number])
    if isinstance(argument, tuple):
        return _rebuilt(argument, [_with_parts(value, given, parts) for value in argument])
    return argument


def _writable(part: Any) -> Any:
    return part.copy() if isinstance(part, np.ndarray) or is_sparse(part) else part


def _read_only(part: Any) -> Any:
    if not isinstance(part, np.ndarray):
        return part
    part = np.ascontiguousarray(part).view()
    part.flags.writeable = False
    return part


def _sum(a: Any, b: Any) -> Any:
    if isinstance(a, tuple):
        return _rebuilt(a, [_sum(one, other) for one, other in zip(a, b, strict=True)])
    return a + b


def _rebuilt(like: tuple[Any, ...], values: Sequence[Any]) -> Any:
    """A tuple, or a NamedTuple of the same kind, of other values."""
    return type(like)(*values) if hasattr(like, "_fields") else tuple(values)


def _form(result: Any) -> Any:
    """A result with ONE in the place of every array."""
    if isinstance(result, tuple):
        return _rebuilt(result, [_form(part) for part in result])
    return None if result is None else ONE


def _flat(result: Any) -> Iterator[Any]:
    """The arrays of a result."""
    for part in result if isinstance(result, tuple) else (result,):
        if isinstance(part, tuple):
            yield from _flat(part)
        elif part is not None:
            yield part


def _n_leaves(form: Any) -> int:
    return len(list(_flat(form)))


def _leaf(result: Any, number: int) -> Any:
    return list(_flat(result))[number]


def _built(form: Any, parts: Iterator[Shards]) -> Any:
    if isinstance(form, tuple):
        return _rebuilt(form, [_built(part, parts) for part in form])
    return None if form is None else next(parts)


def joined(build: Callable[[Any], Any], value: Any) -> Any:
    """A task for what ``build`` makes of a value, or of a tuple of them, whose shards are brought together in it."""
    found: list[Shards] = []
    with_holes = _without_shards(value, found)
    numbers = tuple(len(one.parts) for one in found)
    return task(partial(_built_of, build, with_holes, numbers), *(part for one in found for part in one.parts))


def _built_of(build: Callable[[Any], Any], with_holes: Any, numbers: tuple[int, ...], *parts: Any) -> Any:
    ends = [0, *accumulate(numbers)]
    whole = tuple(np.concatenate(parts[a:b], axis=0) for a, b in pairwise(ends))
    return build(_with_parts(with_holes, _read_only, whole))
