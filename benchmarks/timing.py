"""Fair timing: contestants take turns, medians count, and the machine's own rates say what the floor is."""

from __future__ import annotations

import os
import platform
import statistics
import time
import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from factorstream.report.document import versions

Result = TypeVar("Result")

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "tensorly", "cmfrec", "pysubtracking", "statsmodels")


class Timing(NamedTuple):
    """Wall-clock seconds of one contestant."""

    median: float
    best: float
    repeats: int


class Machine(NamedTuple):
    """What the numbers were measured on."""

    cpu: str
    cores: int
    versions: dict[str, str]
    flops: float
    """Double-precision operations per second in a large matrix product, one thread."""
    bandwidth: float
    """Bytes per second read by a scalar product of an array that no cache holds, one thread."""
    cache: float
    """The same for an array as large as the dictionary of the streams here (4096 × 40), read again and again."""


def race(calls: Mapping[str, Callable[[], object]], repeats: int = 5, limit: float = 20.0) -> dict[str, Timing]:
    """Time calls in turns, so that a busy neighbour hurts all alike, after one warm-up each.

    One that takes longer than ``limit`` seconds runs once: its warm-up is its time.
    """
    warm = {name: _clock(call) for name, call in calls.items()}
    times: dict[str, list[float]] = {name: [t] if t > limit else [] for name, t in warm.items()}
    for _ in range(repeats):
        for name, call in calls.items():
            if warm[name] <= limit:
                times[name].append(_clock(call))
    return {name: Timing(statistics.median(t), min(t), len(t)) for name, t in times.items()}


def _clock(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


@contextmanager
def compiled_code(wanted: str) -> Iterator[None]:
    """Rows go through compiled code ("1") or through NumPy ("0")."""
    before = os.environ.get("FACTORSTREAM_COMPILED")
    os.environ["FACTORSTREAM_COMPILED"] = wanted
    try:
        yield
    finally:
        if before is None:
            del os.environ["FACTORSTREAM_COMPILED"]
        else:
            os.environ["FACTORSTREAM_COMPILED"] = before


def compiled(call: Callable[[], Result]) -> Callable[[], Result]:
    """The call with rows through compiled code, however few they are."""

    def fast() -> Result:
        with compiled_code("1"):
            return call()

    return fast


def peak_bytes(call: Callable[[], object]) -> int:
    """The most memory that a call holds beyond what was there before it."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        call()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


def machine() -> Machine:
    """Names, versions, and the three rates behind every floor."""
    rng = np.random.default_rng(0)
    A, x = rng.standard_normal((1000, 1000)), rng.standard_normal(2**24)
    c = x[: 4096 * 40].copy()
    again = 50  # so that the other contestants' turns do not empty the cache
    calls = {"product": lambda: A @ A, "memory": lambda: x.dot(x), "cache": lambda: [c.dot(c) for _ in range(again)]}
    found = race(calls, repeats=40)
    rates = 2e9 / found["product"].best, x.nbytes / found["memory"].best, again * c.nbytes / found["cache"].best
    return Machine(_cpu(), os.cpu_count() or 1, versions(PACKAGES), *rates)


def _cpu() -> str:
    """The name of the processor: Linux tells it in a file, other systems through `platform`."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
