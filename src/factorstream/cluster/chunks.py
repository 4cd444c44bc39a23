"""Chunks of a Dask array, and work on them in tasks.

Tasks are pure: they change nothing that they are given, so that Dask may run them again after a worker was lost. What
they need travels as arguments and results of tasks, from which Dask makes it anew. A task works on one thread, since
workers have as many tasks at a time as they were given threads.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any, NamedTuple
from uuid import uuid4

import dask
import numpy as np
from dask.utils import parse_bytes

from ..cores import limited, undivided

FAN_IN = 4
"""Results of chunks that are merged by one task. Not tuned: a worker that merges holds so many at a time; memory and
speed only."""


LARGE_GRAPH = "distributed.admin.large-graph-warning-threshold"
"""The setting of Dask from which on it warns of large graphs. Dask's own name."""


class Chunk(NamedTuple):
    """Some rows of an array, all of their features."""

    values: Any
    """A task whose result is an array of NumPy."""
    first: int
    """The number of its first row."""
    n_rows: int


def checked(X: Any, name: str) -> Any:
    """X as a Dask array of float32 or float64, or a sentence about why the estimator of this name cannot use it."""
    if X.ndim != 2:
        raise ValueError(f"Found array with dim {X.ndim}, while dim 2 is required by {name}.")
    if any(np.isnan(length) for length in X.shape):
        raise ValueError("X is a Dask array of unknown length; call X.compute_chunk_sizes() first.")
    for length, what in zip(X.shape, ("sample", "feature"), strict=True):
        if length == 0:
            raise ValueError(f"Found array with 0 {what}(s) (shape={X.shape}) while a minimum of 1 is required.")
    if not isinstance(X._meta, np.ndarray) or X.dtype.kind not in "fiub":
        raise TypeError(
            f"X is a Dask array of {type(X._meta).__name__} with {X.dtype}; pass one whose chunks are NumPy arrays of "
            "real numbers, NaN where a value is missing."
        )
    return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)


def whole_rows(X: Any) -> Any:
    """The same array with all features of a row in one chunk.

    Where it was cut by features, its rows are cut anew if chunks would be larger than those that Dask makes itself.
    """
    if X.numblocks[1] == 1:
        return X
    most = parse_bytes(dask.config.get("array.chunk-size"))
    fits = max(X.chunks[0]) * X.shape[1] * X.dtype.itemsize <= most
    return X.rechunk({1: -1} if fits else {0: "auto", 1: -1})


def row_chunks(X: Any) -> list[Chunk]:
    """The chunks of an array of whole rows, from the first one on; those without rows are left out."""
    values = X.to_delayed()[:, 0]
    ends = np.cumsum(X.chunks[0]).tolist()
    return [Chunk(one, end - n, int(n)) for one, end, n in zip(values, ends, X.chunks[0], strict=True) if n]


def task(function: Callable[..., Any], *arguments: Any) -> Any:
    """A task that calls a function on one thread; its arguments are numbers and tasks."""
    name = getattr(function, "func", function).__name__.lstrip("_")
    call = dask.delayed(partial(alone, function), pure=False, traverse=False)
    return call(*arguments, dask_key_name=f"{name}-{uuid4().hex}")


def held(value: Any) -> Any:
    """A value that many tasks are given: it travels once, and can be made anew."""
    name = f"{type(value).__name__.lstrip('_')}-{uuid4().hex}"
    return dask.delayed(partial(_itself, value), pure=False, traverse=False)(dask_key_name=name)


def _itself(value: Any) -> Any:
    return value


def started(*tasks: Any) -> tuple[Any, ...]:
    """The same tasks, whose results stay where they are made: on workers of a cluster, otherwise in this process."""
    with _large_graphs():
        return tuple(dask.persist(*tasks))


def results(*tasks: Any) -> tuple[Any, ...]:
    """What the tasks return, in this process."""
    with _large_graphs():
        return tuple(dask.compute(*tasks))


def _large_graphs() -> AbstractContextManager[Any]:
    """No warning of graphs with large values in them: ours are sent once, and every worker needs them.

    Only a cluster warns. Where its package is not imported yet, its settings are not there, and a setting made before
    them would take them all along when it ends.
    """
    if "distributed" not in sys.modules:
        return nullcontext()
    setting: AbstractContextManager[Any] = dask.config.set({LARGE_GRAPH: "1 PiB"})
    return setting


def alone(function: Callable[..., Any], *arguments: Any) -> Any:
    """What the function returns, worked out on one thread."""
    with limited(), undivided():
        return function(*arguments)


def merged(function: Callable[[Any, Any], Any], parts: Sequence[Any]) -> Any:
    """A task whose result is that of all parts, tasks too, merged two by two in their order, in a tree."""
    level = list(parts)
    while len(level) > 1:
        groups = [level[i : i + FAN_IN] for i in range(0, len(level), FAN_IN)]
        level = [group[0] if len(group) == 1 else task(partial(_merged, function), *group) for group in groups]
    return level[0]


def _merged(function: Callable[[Any, Any], Any], *parts: Any) -> Any:
    """The result of a few parts."""
    total = parts[0]
    for part in parts[1:]:
        total = function(total, part)
    return total
