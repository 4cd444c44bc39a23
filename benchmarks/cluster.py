"""What workers of a cluster give: variational sweeps over chunks on one and on several processes, beside one process.

    python -m benchmarks.cluster                     # one and two workers, a small table
    python -m benchmarks.cluster --full              # 200,000 × 4096, 1 to 8 workers: 16 cores, 64 GB of memory
    python -m benchmarks.cluster --only blocks       # chunks from small to large
    python -m benchmarks.cluster --only features     # the filter with its features in shards

Chunks are made on the workers and stay in their memory. A worker is a process with one thread. Times are the least of
the sweeps but the first, which imports what workers need. Efficiency is the time of one worker over the time of all,
per worker. Seconds of the processors say the same of a machine that has other work to do: what workers, and this
process with the scheduler in it, spend on a sweep.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, wait

from factorstream import DictionaryFilter, in_shards
from factorstream.cluster.chunks import row_chunks
from factorstream.cluster.sweeps import fit_chunks
from factorstream.core.telling import Sweep
from factorstream.core.variational.blockwise import add_moments, fit_blocks, no_moments
from factorstream.core.variational.fit import FitOptions, fit
from factorstream.core.variational.observed import Observations
from factorstream.cores import limited, undivided
from factorstream.estimators._observing import observe

from .defaults import Array

ROWS, COLUMNS, COMPONENTS, CHUNK = 8000, 4096, 40, 1000
"""Of the table, and the rows of a chunk."""
BLOCKS = (25, 50, 100, 200, 500, 1000, 2000)
"""Rows of a chunk, from few to many."""
SOME = 400
"""Rows that the sweeps begin with."""
SWEEPS = 4
"""The first is not counted, as it imports what workers need."""
GAPS = 0.1
FEATURES, FILTERED = (1000, 10_000, 100_000), 80
"""Features of the filter, and rows of a block."""
BLOCKS_OF = 10
"""Blocks of a chunk."""
FULL = {
    "rows": 200_000,
    "columns": 4096,
    "components": 40,
    "chunk": 1000,
    "workers": [1, 2, 4, 8],
    "sweeps": 2,
    "only": "workers",
}
"""The table of ``--full``: 6.6 GB, and as much again for what is being worked on. A sweep took one worker 84 s."""


class Table(NamedTuple):
    """What the sweeps go over."""

    n: int
    m: int
    r: int
    chunk: int
    sweeps: int

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


class Cost(NamedTuple):
    """Of a sweep."""

    seconds: float
    of_workers: float
    """Seconds of the processors, of all workers together."""
    of_this: float
    """The same of this process."""


class Clock:
    """Is told of every sweep, and notes when, and what the processors have spent since the first."""

    def __init__(self, sweeps: int, client: Client | None = None) -> None:
        self.sweeps, self.client = sweeps, client
        self.times = [time.perf_counter()]
        self.spent: list[tuple[float, float]] = []

    def __call__(self, sweep: Sweep) -> None:
        """Note that a sweep is over."""
        self.times.append(time.perf_counter())
        if sweep.number in (1, sweep.most):
            of_workers = 0.0 if self.client is None else sum(self.client.run(time.process_time).values())
            self.spent.append((of_workers, time.process_time()))

    @property
    def cost(self) -> Cost:
        """The least time of a sweep but the first, and the mean of what the processors spend on one."""
        spent = np.subtract(self.spent[-1], self.spent[0]) / (self.sweeps - 1)
        return Cost(float(min(np.diff(self.times)[1:])), float(spent[0]), float(spent[1]))


def read(values: Array, first: int) -> Observations:
    """The rows of a chunk."""
    return observe(values)


def begun(table: Table) -> tuple[Any, ...]:
    """What the sweeps begin with: a fit to some rows; their moments stand for those of all."""
    some, options = (
        observe(table.rows(0, SOME)),
        FitOptions(r=table.r, max_sweeps=table.sweeps, tol=-np.inf, prune=False),
    )
    with limited():
        warm = fit(some, options._replace(max_sweeps=1)).factors
    return warm, add_moments(no_moments(table.m), some), some, options


@contextmanager
def cluster(n_workers: int) -> Iterator[Client]:
    """So many processes with one thread each. Without a limit of memory: nothing is to go to the disk."""
    with (
        LocalCluster(
            n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=":0", memory_limit=None
        ) as workers,
        Client(workers) as client,
    ):
        yield client


def in_one_process(table: Table, start: tuple[Any, ...]) -> Cost:
    """A sweep over the same chunks in this process, on one thread."""
    warm, moments, some, options = start
    clock, ends = Clock(table.sweeps), range(0, table.n, table.chunk)
    chunks = [table.rows(first, min(first + table.chunk, table.n)) for first in ends]
    with limited(), undivided():
        fit_blocks(lambda: map(observe, chunks), warm, moments, some, options, tell=clock)
    return clock.cost


def on_workers(table: Table, start: tuple[Any, ...], n_workers: int) -> Cost:
    """A sweep on so many workers."""
    with cluster(n_workers) as client:
        clock = Clock(table.sweeps, client)
        X = table.array().persist()
        wait(X)
        client.rebalance()
        warm, moments, some, options = start
        partial(fit_chunks, row_chunks(X), read)(warm, moments, some, options, tell=clock)
    return clock.cost


def workers(table: Table, numbers: Sequence[int]) -> Iterator[str]:
    """A line for each number of workers."""
    start, first, busy = begun(table), None, None
    numbers = sorted(numbers)  # efficiency is beside the fewest
    if table.n <= 4 * ROWS:
        alone = in_one_process(table, start)
        yield f"one process without Dask: {alone.seconds:.2f} s a sweep, processors {alone.of_this:.2f} s"
    for n_workers in numbers:
        cost = on_workers(table, start, n_workers)
        first, busy = first or cost.seconds * n_workers, busy or cost.of_workers
        yield (
            f"{n_workers} workers: {cost.seconds:.2f} s a sweep, efficiency {first / (n_workers * cost.seconds):.2f}; "
            f"processors {cost.of_workers:.2f} s of workers, efficiency {busy / cost.of_workers:.2f}, "
            f"{cost.of_this:.2f} s of this process"
        )


def blocks(table: Table, lengths: Sequence[int], n_workers: int) -> Iterator[str]:
    """A line for each number of rows of a chunk, and one that says from which on the work itself is more than half."""
    start, enough = begun(table), None
    for chunk in lengths:
        cut = table._replace(chunk=chunk)
        alone, cost = in_one_process(cut, start), on_workers(cut, start, n_workers)
        n_chunks = -(-table.n // chunk)
        spent = cost.of_workers + cost.of_this
        more = 1e3 * (spent - alone.of_this) / n_chunks
        enough = (chunk if enough is None else enough) if spent < 2.0 * alone.of_this else None
        yield (
            f"{chunk} rows: {cost.seconds:.2f} s a sweep on {n_workers}, {alone.seconds:.2f} s without Dask; "
            f"processors {spent:.2f} s and {alone.of_this:.2f} s, {more:.1f} ms more for each of {n_chunks} chunks"
        )
    found = f"from {enough} rows of a chunk on" if enough else "for none of these chunks"
    yield f"{found}, the sweep itself is more than half of what the processors spend"


def features(lengths: Sequence[int], n_workers: int) -> Iterator[str]:
    """A line for each number of features: blocks of complete rows through the filter, the features in shards or not."""
    with cluster(n_workers) as client:
        for m in lengths:
            there, here = in_shards_of(client, m, n_workers), _seconds_per_block(m)
            yield (
                f"{m} features: {1e3 * there.seconds:.0f} ms for a block of {FILTERED} rows in {n_workers} shards, "
                f"{1e3 * here:.0f} ms in this process; processors {1e3 * there.of_workers:.1f} ms of workers, "
                f"{1e3 * there.of_this:.1f} ms of this process with the scheduler"
            )


def in_shards_of(client: Client, m: int, n_shards: int, times: int = 3) -> Cost:
    """What a block of complete rows costs with m features in so many shards: the least of some streams."""
    X = da.random.default_rng(0).standard_normal(
        (BLOCKS_OF * FILTERED, m), chunks=(BLOCKS_OF * FILTERED, -(-m // n_shards))
    )
    X = X.persist()
    wait(X)
    model = _filter().partial_fit(in_shards(X))
    costs = []
    for _ in range(times):
        before = _spent(client)
        model.partial_fit(in_shards(X))
        costs.append(np.subtract(_spent(client), before) / BLOCKS_OF)
    return Cost(*(float(least) for least in np.min(costs, axis=0)))


def _spent(client: Client) -> tuple[float, float, float]:
    """The clock, and what the processors have spent on workers and on this process."""
    return time.perf_counter(), sum(client.run(time.process_time).values()), time.process_time()


def _filter() -> DictionaryFilter:
    return DictionaryFilter(COMPONENTS, covariance="shared", scale=False, batch_size=FILTERED, random_state=0)


def _seconds_per_block(m: int) -> float:
    """The least time of a block in this process, on one thread; the first ones start the filter."""
    X, times = np.random.default_rng(0).standard_normal((6 * FILTERED, m)), []
    model = _filter()
    with limited(), undivided():
        for first in range(0, len(X), FILTERED):
            begin = time.perf_counter()
            model.partial_fit(X[first : first + FILTERED])
            times.append(time.perf_counter() - begin)
    return min(times[2:])


def told(lines: Iterator[str]) -> None:
    """Print lines as they come."""
    for line in lines:
        print(line, flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the lines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--columns", type=int, default=COLUMNS)
    parser.add_argument("--components", type=int, default=COMPONENTS)
    parser.add_argument("--chunk", type=int, default=CHUNK)
    parser.add_argument("--sweeps", type=int, default=SWEEPS, help="two at least")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--blocks", type=int, nargs="+", default=BLOCKS)
    parser.add_argument("--features", type=int, nargs="+", default=FEATURES)
    parser.add_argument("--only", choices=["workers", "blocks", "features"])
    parser.add_argument("--full", action="store_true", help="the large table, on 1 to 8 workers")
    if parser.parse_args(arguments).full:
        parser.set_defaults(**FULL)  # whatever else is asked for stays
    chosen = parser.parse_args(arguments)
    if chosen.sweeps < 2:
        parser.error("--sweeps must be 2 at least: the first one is not counted")
    table = Table(chosen.rows, chosen.columns, chosen.components, chosen.chunk, chosen.sweeps)
    print(f"{table.n} × {table.m}, {table.r} components, chunks of {table.chunk} rows")
    if chosen.only in (None, "workers"):
        told(workers(table, chosen.workers))
    if chosen.only in (None, "blocks"):
        told(blocks(table, chosen.blocks, max(chosen.workers)))
    if chosen.only in (None, "features"):
        told(features(chosen.features, max(chosen.workers)))


if __name__ == "__main__":
    main()
