"""What workers of a cluster give: variational sweeps over chunks on one and on several processes, beside one process.

    python -m benchmarks.cluster                                          # one and two workers, a small table
    python -m benchmarks.cluster --rows 200000 --workers 1 2 4 8          # needs 16 cores and 32 GB of memory
    python -m benchmarks.cluster --only blocks                            # chunks from small to large
    python -m benchmarks.cluster --only features                          # the filter with its features in shards

Chunks are made on the workers and stay in their memory. A worker is a process with one thread. Times are medians over
sweeps, the first of which is left out: it imports what workers need. Efficiency is the time of one worker over the
time of all, per worker.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, wait
from sklearn.base import clone

from factorstream import DictionaryFilter
from factorstream.cluster.chunks import row_chunks
from factorstream.cluster.sweeps import fit_chunks
from factorstream.core.telling import Sweep
from factorstream.core.variational.blockwise import add_moments, fit_blocks, no_moments
from factorstream.core.variational.fit import FitOptions, fit
from factorstream.core.variational.observed import Observations
from factorstream.cores import limited, undivided
from factorstream.estimators._observing import observe
from factorstream.tall.dask_place import DaskPlace
from factorstream.tall.places import using

from .defaults import Array

ROWS, COLUMNS, COMPONENTS, CHUNK = 8000, 4096, 40, 1000
"""Of the table, and the rows of a chunk."""
BLOCKS = (25, 50, 100, 200, 500, 1000, 2000)
"""Rows of a chunk, from few to many."""
SOME = 400
"""Rows that the sweeps begin with."""
SWEEPS = 4
"""The first is not counted."""
GAPS = 0.1
FEATURES, FILTERED = (1000, 10_000, 100_000), 80
"""Features of the filter, and rows of a block."""


class Table(NamedTuple):
    """What the sweeps go over."""

    n: int
    m: int
    r: int
    chunk: int

    def rows(self, first: int, stop: int) -> Array:
        """Some rows, always the same ones."""
        rng = np.random.default_rng([1, first])
        X = rng.standard_normal((stop - first, self.r)) @ np.random.default_rng(0).standard_normal((self.r, self.m))
        X += 0.3 * rng.standard_normal(X.shape)
        X[rng.random(X.shape) < GAPS] = np.nan
        return X

    def array(self) -> Any:
        """All rows in chunks of Dask."""
        ends = [*range(self.chunk, self.n, self.chunk), self.n]
        parts = [
            da.from_delayed(dask.delayed(self.rows)(first, stop), (stop - first, self.m), np.float64)
            for first, stop in zip([0, *ends[:-1]], ends, strict=True)
        ]
        return da.concatenate(parts)


class Clock:
    """Is told of every sweep, and notes when."""

    def __init__(self) -> None:
        self.times = [time.perf_counter()]

    def __call__(self, sweep: Sweep) -> None:
        """Note that a sweep is over."""
        self.times.append(time.perf_counter())

    @property
    def seconds(self) -> float:
        """The median time of a sweep but the first."""
        return float(statistics.median(np.diff(self.times)[1:]))


def read(values: Array, first: int) -> Observations:
    """The rows of a chunk."""
    return observe(values)


def begun(table: Table) -> tuple[Any, ...]:
    """What the sweeps begin with: a fit to some rows; their moments stand for those of all."""
    some, options = observe(table.rows(0, SOME)), FitOptions(r=table.r, max_sweeps=SWEEPS, tol=-np.inf, prune=False)
    with limited():
        warm = fit(some, options._replace(max_sweeps=1)).factors
    return warm, add_moments(no_moments(table.m), some), some, options


@contextmanager
def cluster(n_workers: int) -> Iterator[Client]:
    """So many processes with one thread each."""
    with (
        LocalCluster(n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=":0") as workers,
        Client(workers) as client,
    ):
        yield client


def in_one_process(table: Table, start: tuple[Any, ...]) -> float:
    """Seconds of a sweep over the same chunks in this process, on one thread."""
    warm, moments, some, options = start
    clock, ends = Clock(), range(0, table.n, table.chunk)
    chunks = [observe(table.rows(first, min(first + table.chunk, table.n))) for first in ends]
    with limited(), undivided():
        fit_blocks(lambda: iter(chunks), warm, moments, some, options, tell=clock)
    return clock.seconds


def on_workers(table: Table, start: tuple[Any, ...], n_workers: int) -> float:
    """Seconds of a sweep on so many workers."""
    clock = Clock()
    with cluster(n_workers) as client:
        X = table.array().persist()
        wait(X)
        client.rebalance()
        warm, moments, some, options = start
        partial(fit_chunks, row_chunks(X), read)(warm, moments, some, options, tell=clock)
    return clock.seconds


def workers(table: Table, numbers: Sequence[int]) -> list[str]:
    """A line for each number of workers."""
    start = begun(table)
    alone = in_one_process(table, start) if table.n <= 4 * ROWS else float("nan")
    lines = [f"one process without Dask: {alone:.2f} s a sweep"]
    first = None
    for n_workers in numbers:
        seconds = on_workers(table, start, n_workers)
        first = seconds * n_workers if first is None else first
        lines.append(f"{n_workers} workers: {seconds:.2f} s a sweep, efficiency {first / (n_workers * seconds):.2f}")
    return lines


def blocks(table: Table, lengths: Sequence[int], n_workers: int) -> list[str]:
    """A line for each number of rows of a chunk."""
    start, lines = begun(table), []
    for chunk in lengths:
        cut = table._replace(chunk=chunk)
        alone, seconds = in_one_process(cut, start), on_workers(cut, start, n_workers)
        n_chunks = -(-table.n // chunk)
        more = 1e3 * (n_workers * seconds - alone) / n_chunks
        lines.append(
            f"{chunk} rows: {seconds:.2f} s a sweep on {n_workers}, {alone:.2f} s without Dask, "
            f"{more:.1f} ms of a worker more for each of {n_chunks} chunks"
        )
    return lines


def features(lengths: Sequence[int], n_workers: int) -> list[str]:
    """A line for each number of features: blocks of complete rows through the filter, the features in shards or not."""
    lines = []
    with cluster(n_workers):
        for m in lengths:
            X = np.random.default_rng(0).standard_normal((6 * FILTERED, m))
            model = DictionaryFilter(COMPONENTS, covariance="shared", batch_size=FILTERED, random_state=0)
            here = _seconds_per_block(model, X)
            with using(DaskPlace(n_workers)):
                there = _seconds_per_block(clone(model), X)
            lines.append(
                f"{m} features: {1e3 * there:.0f} ms for a block of {FILTERED} rows in {n_workers} shards, "
                f"{1e3 * here:.0f} ms in this process"
            )
    return lines


def _seconds_per_block(model: DictionaryFilter, X: Array) -> float:
    """The least time of a block; the first ones start the filter."""
    times = []
    for first in range(0, len(X), FILTERED):
        begin = time.perf_counter()
        model.partial_fit(X[first : first + FILTERED])
        times.append(time.perf_counter() - begin)
    return min(times[2:])


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the lines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--columns", type=int, default=COLUMNS)
    parser.add_argument("--components", type=int, default=COMPONENTS)
    parser.add_argument("--chunk", type=int, default=CHUNK)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--blocks", type=int, nargs="+", default=BLOCKS)
    parser.add_argument("--features", type=int, nargs="+", default=FEATURES)
    parser.add_argument("--only", choices=["workers", "blocks", "features"])
    chosen = parser.parse_args(arguments)
    table = Table(chosen.rows, chosen.columns, chosen.components, chosen.chunk)
    print(f"{table.n} × {table.m}, {table.r} components, chunks of {table.chunk} rows")
    if chosen.only in (None, "workers"):
        print(*workers(table, chosen.workers), sep="\n")
    if chosen.only in (None, "blocks"):
        print(*blocks(table, chosen.blocks, max(chosen.workers)), sep="\n")
    if chosen.only in (None, "features"):
        print(*features(chosen.features, max(chosen.workers)), sep="\n")


if __name__ == "__main__":
    main()
