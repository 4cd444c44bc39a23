"""Processor time and memory of `SequenceFilter`: ``python benchmarks/sequence_speed.py [wide|levels|air|long ...]``.

Every case has a process of its own with one thread, so that its peak of memory is its own. Times are processor seconds
of ``fit`` alone, the loading of compiled loops included, and ratios are to the first case of the same table, which is
run just before the others. The air of London needs FACTORSTREAM_DATA, as in `factorstream.datasets`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from typing import NamedTuple

from factorstream.datasets import DatasetNotFoundError, load_london_air

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")

RUN = """
import sys, time
from pathlib import Path
import numpy as np
from factorstream import SequenceFilter

def drawn(T, m, missing=0.2):
    "Five shared states that move, a fifth of the entries missing."
    rng = np.random.default_rng(0)
    x = rng.normal(size=(T, 5))
    for t in range(1, T):
        x[t] += 0.9 * x[t - 1]
    Y = x @ rng.normal(size=(5, m)) + rng.normal(size=(T, m))
    Y[rng.random(Y.shape) < missing] = np.nan
    return Y

def air():
    from factorstream.datasets import load_london_air
    return load_london_air().values

Y = {rows}
begin = time.process_time()
model = SequenceFilter({settings}).fit(Y)
seconds = time.process_time() - begin
words = Path("/proc/self/status").read_text().split()
print(seconds, int(words[words.index("VmHWM:") + 1]) / 2**20, model.n_iter_)
"""
"""What a process runs; it prints processor seconds, the peak of memory in GiB, and the sweeps of the last fit."""

GIVEN = 'drift="none", dynamics=0.9, calibrate=False'
"""One kind of model and nothing to compare, as the published filter has it."""


class Case(NamedTuple):
    """A fit."""

    name: str
    rows: str
    settings: str = ""
    compiled: str = "auto"  # FACTORSTREAM_COMPILED


def wide(sizes: tuple[int, ...] = (500, 1000, 2000, 20_000), T: int = 500) -> list[Case]:
    """More features than rows."""
    return [Case(f"{T} × {m}", f"drawn({T}, {m})") for m in sizes]


def levels(T: int = 3000, m: int = 19) -> list[Case]:
    """What levels cost: one kind of model each, then all that is compared by default."""
    plain, with_levels = 'drift="none", calibrate=False', 'drift="level", calibrate=False'
    return [
        Case(f"{T} × {m}, without levels", f"drawn({T}, {m})", plain),
        Case("with levels, compiled", f"drawn({T}, {m})", with_levels),
        Case("with levels, plain NumPy", f"drawn({T}, {m})", with_levels, "0"),
        Case("default, compiled", f"drawn({T}, {m})"),
        Case("default, plain NumPy", f"drawn({T}, {m})", "", "0"),
    ]


def air() -> list[Case]:
    """Hourly PM10 in London."""
    return [
        Case("London PM10, one given kind of model", "air()", GIVEN),
        Case("without levels", "air()", 'drift="none"'),
        Case("default, compiled", "air()"),
        Case("default, plain NumPy", "air()", "", "0"),
    ]


def long(sizes: tuple[tuple[int, int], ...] = ((20_000, 19), (100_000, 50))) -> list[Case]:
    """Many rows, by what may change slowly."""
    drifts = ('"none"', '"level"', '"auto"', "1e-4")
    return [
        Case(f"{T:,} × {m}, drift={drift}", f"drawn({T}, {m})", f"drift={drift}") for T, m in sizes for drift in drifts
    ]


TABLES: dict[str, Callable[[], list[Case]]] = {"wide": wide, "levels": levels, "air": air, "long": long}


def measure(case: Case) -> tuple[float, float, int]:
    """Processor seconds, the peak of memory in GiB, and the sweeps of the last fit."""
    place = {**os.environ, **dict.fromkeys(THREADS, "1"), "FACTORSTREAM_COMPILED": case.compiled}
    command = [sys.executable, "-W", "ignore", "-c", RUN.format(rows=case.rows, settings=case.settings)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=place)
    seconds, peak, sweeps = done.stdout.split()
    return float(seconds), float(peak), int(sweeps)


def main(tables: dict[str, list[Case]]) -> None:
    """Print a table for each list of cases, for docs/performance.md."""
    for cases in tables.values():
        print("| fit | processor seconds | ratio | peak of memory | sweeps |", "|---|---|---|---|---|", sep="\n")
        first = 0.0
        for case in cases:
            seconds, peak, sweeps = measure(case)
            first = first or seconds
            print(f"| {case.name} | {seconds:.2f} | {seconds / first:.1f} | {peak:.2f} GiB | {sweeps} |", flush=True)
        print()


if __name__ == "__main__":
    wanted = sys.argv[1:] or list(TABLES)
    if "air" in wanted:
        try:
            load_london_air()
        except DatasetNotFoundError as problem:
            print(problem, file=sys.stderr)
            wanted.remove("air")
    main({name: TABLES[name]() for name in wanted})
