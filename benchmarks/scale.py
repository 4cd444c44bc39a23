"""What a stream far larger than one machine costs: a table computed from constants that are measured on this one.

    python -m benchmarks.scale               # measures, and prints the table of docs/scale.md
    python -m benchmarks.scale --quick       # the same from smaller measurements

Measured, on one core: how long a shard works on a value (judged, centred, multiplied, and C moved), how long the small
recursion takes for a row, what the process with the scheduler spends on the tasks of a shard for a block, and how fast
arrays come from a worker on the same machine. All times are the least of a few. The rest is multiplication: nothing of
this size was run.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from math import ceil, log
from typing import NamedTuple

import numpy as np
from distributed import wait

from factorstream import DictionaryFilter
from factorstream.cluster.chunks import FAN_IN
from factorstream.core.absurd import judge, seen_in
from factorstream.core.filter.recursion import run_block
from factorstream.core.filter.state import copy_arrays
from factorstream.core.filter.whitened import in_numpy
from factorstream.cores import limited, undivided
from factorstream.tall.blocks import block_sums
from factorstream.tall.products import centred_anew, combine

from . import cluster

FEATURES, SAMPLES, COMPONENTS = 10**8, 10**9, 40
"""Of the stream that is reckoned."""
CORES = 16
"""Of a machine; a shard for each."""
MACHINES = (10, 100, 1000)
BLOCKS = (256, 1024, 4096)
"""Rows of a block (``batch_size``)."""
SHARD, TIMES = 8192, 3
"""Features of the shard that is measured, and how often."""
BYTES = 2**25
"""Of the array that is sent."""
VECTORS = 8
"""Numbers of a feature that are kept beside its loadings. Derived: origin, unit, the count of its values, and the five
of ``core.absurd.Seen``."""


class Constants(NamedTuple):
    """What was measured, in seconds, for blocks of one length."""

    B: int
    value: float
    """A shard's work on a value, of one core."""
    row: float
    """The small recursion for a row."""
    tasks: float
    """Of the scheduler, for the tasks of one shard for one block."""
    byte: float
    """From one process to another."""


def measured(B: int, shard: int, tasks: float, byte: float) -> Constants:
    """The constants for blocks of B rows."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((B, COMPONENTS)) @ rng.standard_normal((COMPONENTS, shard))
    X += 0.3 * rng.standard_normal(X.shape)
    model = DictionaryFilter(COMPONENTS, covariance="shared", scale=False, random_state=0)
    run = model.partial_fit(X[:200] if B > 200 else X).state_
    seen, state, rules = seen_in(X), run.filter, run.settings.model
    with limited(), undivided():
        Y = centred_anew(X, state.origin)
        K, N, _, m, _ = block_sums(state.C, Y, None, 0.0, False)
        _, block = run_block(copy_arrays(state.small), rules, K, N, m, in_numpy)

        def work() -> None:
            judge(seen, X)
            rows = centred_anew(X, state.origin)
            block_sums(state.C, rows, None, 0.0, False)
            combine(state.C, block.A, rows, block.D)

        value = _least(work) / (B * shard)
        row = _least(lambda: run_block(copy_arrays(state.small), rules, K, N, m, in_numpy)) / B
    return Constants(B, value, row, tasks, byte)


def _least(work: Callable[[], object]) -> float:
    """Seconds of the processor that it takes, the least of a few."""
    times = []
    for _ in range(TIMES):
        begin = time.process_time()
        work()
        times.append(time.process_time() - begin)
    return min(times)


def seconds_for_tasks(few: int, many: int) -> tuple[float, float]:
    """What the scheduler's process spends on one more shard in a block, from the difference between few shards and
    many; and the time that a byte takes from a worker to this process."""
    with cluster.cluster(1) as client:
        costs = [cluster.in_shards_of(client, 20 * n, n) for n in (few, many)]
        there = client.submit(np.zeros, BYTES // 8)
        wait(there)
        times = []
        for _ in range(TIMES):
            begin = time.perf_counter()
            there.result()
            times.append(time.perf_counter() - begin)
    return max(costs[1].of_this - costs[0].of_this, 0.0) / (many - few), min(times) / BYTES


class Cost(NamedTuple):
    """Of the whole stream, in hours of the clock."""

    shards: float
    recursion: float
    transfers: float
    """Sums up the tree, and what moves C down to every shard from one process."""
    scheduler: float

    @property
    def total(self) -> float:
        """One after another, as it is now."""
        return sum(self)


def reckoned(found: Constants, machines: int) -> Cost:
    """The hours of the stream with a shard on every core of so many machines."""
    blocks, shards = SAMPLES / found.B, machines * CORES
    hours = 1.0 / 3600.0
    return Cost(
        FEATURES * SAMPLES * found.value / shards * hours,
        SAMPLES * found.row * hours,
        blocks * (ceil(log(shards, FAN_IN)) * (FAN_IN - 1) * up(found.B) + shards * down(found.B)) * found.byte * hours,
        blocks * shards * found.tasks * hours,
    )


def up(B: int) -> int:
    """Bytes of a sum over the features for a block."""
    q = COMPONENTS + 1
    return 8 * (B * B + q * B + q * q)


def down(B: int) -> int:
    """Bytes that move C after it."""
    q = COMPONENTS + 1
    return 8 * (q * q + B * q)


def table(constants: Sequence[Constants]) -> list[str]:
    """The lines of docs/scale.md."""
    q = COMPONENTS + 1
    lines = [
        f"{FEATURES:.0e} features × {SAMPLES:.0e} samples, {COMPONENTS} components, float64: "
        f"{8e-15 * FEATURES * SAMPLES:.0f} PB of rows.",
        f"Kept in shards: {8e-9 * FEATURES * q:.1f} GB of loadings and {8e-9 * FEATURES * VECTORS:.1f} GB beside them; "
        f"a file of the model is as large.",
        "",
        "| rows of a block | bytes of a block's rows | a reduction, of a shard | back to a shard | reductions |",
        "|---|---|---|---|---|",
    ]
    for B in (found.B for found in constants):
        lines.append(
            f"| {B} | {8e-9 * B * FEATURES:,.0f} GB | {1e-6 * up(B):.2f} MB | {1e-6 * down(B):.2f} MB | "
            f"{SAMPLES / B / 1e6:.2f} million |"
        )
    lines += [
        "",
        "| machines of 16 cores | rows of a block | shards | recursion | transfers | scheduler | together |",
        "|---|---|---|---|---|---|---|",
    ]
    for machines in MACHINES:
        for found in constants:
            cost = reckoned(found, machines)
            lines.append(
                f"| {machines} | {found.B} | {cost.shards:,.0f} h | {cost.recursion:,.0f} h | "
                f"{cost.transfers:,.0f} h | {cost.scheduler:,.0f} h | {cost.total:,.0f} h |"
            )
    return lines


def main(arguments: Sequence[str] | None = None) -> None:
    """Print constants and table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args(arguments).quick
    tasks, byte = seconds_for_tasks(1, 3) if quick else seconds_for_tasks(2, 18)
    constants = [measured(B, SHARD // 8 if quick else SHARD, tasks, byte) for B in (BLOCKS[:2] if quick else BLOCKS)]
    for found in constants:
        print(
            f"blocks of {found.B} rows: {1e9 * found.value:.2f} ns of a core for a value, {1e6 * found.row:.1f} µs for "
            f"a row of the recursion, {1e3 * found.tasks:.2f} ms of the scheduler for a shard, "
            f"{1e-9 / found.byte:.2f} GB a second between processes"
        )
    print("", *table(constants), sep="\n")


if __name__ == "__main__":
    main()
