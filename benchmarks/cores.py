"""What the cores of a machine give: every job on one thread and on several, beside what BLAS itself gains.

    python -m benchmarks.cores                    # all parts; needs 8 GB of memory
    python -m benchmarks.cores --only grid        # small to large, one thread beside all: nothing may get slower
    python -m benchmarks.cores --only neighbours  # with as many busy neighbours as there are cores

A job may gain what a product of two square matrices gains when BLAS has as many threads. Rows with gaps are also held
to a floor: C read once, its observed rows written once, at the speed at which all threads copy such an array, and the
products of the observed rows with themselves at the rate of the square matrices. Times are the best of several runs.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np
import threadpoolctl

from factorstream import BayesianFactorization, DictionaryFilter
from factorstream.core.variational import fit as variational
from factorstream.core.variational.sweep import sweep
from factorstream.cores import PASS, each_piece, limited

from .defaults import Array

FEATURES, COMPONENTS, GAPS = 200_000, 40, 0.25
"""Of the filter's rows."""
SAMPLES, COLUMNS = 2000, 4096
"""Of the table for the variational fit."""
SQUARE = 4000
"""Rows of the matrices whose product says what BLAS gains."""
GRID = ((200, 20, 5), (500, 100, 5), (300, 1000, 10), (300, 4096, 20), (100, 20_000, 40))
"""Samples, features and components from small to large."""
RUNS = 3


def best(work: Callable[[], Any], runs: int = RUNS) -> float:
    """The least time of several runs, in seconds."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def in_turns(work: Callable[[], Any], threads: Sequence[int]) -> tuple[float, float]:
    """The least times on the first and on the last number of threads, which take turns after one run of each."""
    times: list[list[float]] = [[], []]
    for _ in range(2 * RUNS + 1):
        for n, some in zip((threads[0], threads[-1]), times, strict=True):
            with with_threads(n):
                some.append(best(work, 1))
    return min(times[0][1:]), min(times[1][1:])


def with_threads(n: int) -> Any:
    """A context in which the library has n threads."""
    return patch.dict(os.environ, {"FACTORSTREAM_THREADS": str(n)})


def rows(n: int, m: int, r: int, gaps: float = 0.0, seed: int = 0) -> Array:
    """Samples of m features that follow r components."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, r)) @ np.random.default_rng(1).standard_normal((r, m))
    X += 0.3 * rng.standard_normal((n, m))
    X[rng.random(X.shape) < gaps] = np.nan
    return X


# ------------------------------------------------------------------ what the machine can


def multiplications(threads: int) -> float:
    """Multiplications per second of a square product, by BLAS with so many threads."""
    A = np.random.default_rng(0).standard_normal((SQUARE, SQUARE))
    with threadpoolctl.threadpool_limits(threads, user_api="blas"):
        return float(SQUARE) ** 3 / best(lambda: A @ A)


def copied(threads: int) -> float:
    """Bytes per second that are read and written while an array as large as C is copied by so many threads."""
    C = np.ones((FEATURES, COMPONENTS + 1))
    out = np.empty_like(C)

    def copy(some: slice) -> None:
        out[some] = C[some]

    with with_threads(threads), limited():
        return 2.0 * C.nbytes / best(lambda: each_piece(copy, len(C), PASS * C.size))


def floor(threads: int) -> float:
    """The least time that a row with gaps can take: see above."""
    q = COMPONENTS + 1
    moved = 8.0 * FEATURES * q * (1.0 + (1.0 - GAPS))
    return moved / copied(threads) + (1.0 - GAPS) * FEATURES * q * q / 2.0 / multiplications(threads)


# ------------------------------------------------------------------ jobs


def of_rows(settings: dict[str, Any], X: Array) -> Callable[[], float]:
    """Seconds per row of ``partial_fit``, from a filter that has begun."""
    begun = DictionaryFilter(COMPONENTS, random_state=0, **settings).partial_fit(
        rows(2 * COMPONENTS, X.shape[1], COMPONENTS)
    )

    def once() -> float:
        start = time.perf_counter()
        begun.partial_fit(X)
        return (time.perf_counter() - start) / len(X)

    return lambda: min(once() for _ in range(RUNS))


def of_answers(X: Array, model: Any, ask: Callable[[Any, Array], Any]) -> Callable[[], float]:
    """Seconds per row of a question to a model that has learned from complete rows."""
    model.fit(rows(2 * COMPONENTS, X.shape[1], COMPONENTS))
    return lambda: best(lambda: ask(model, X)) / len(X)


def deviations(model: Any, X: Array) -> Any:
    """The question for filled rows and their standard deviations."""
    return model.impute(X, return_std=True)


def bounds(model: Any, X: Array) -> Any:
    """The question for intervals."""
    return model.predict_interval(X)


def of_sweeps(n: int, m: int) -> Callable[[], float]:
    """Seconds of a variational sweep; the first one, which may load compiled code, does not count."""
    X, times = rows(n, m, COMPONENTS, GAPS), []

    def timed(*arguments: Any) -> Any:
        start = time.perf_counter()
        swept = sweep(*arguments)
        times.append(time.perf_counter() - start)
        return swept

    def once() -> float:
        times.clear()
        with patch.object(variational, "sweep", timed):
            BayesianFactorization(COMPONENTS, max_iter=6, tol=0.0, calibrate=False, random_state=0).fit(X)
        return min(times[1:])

    return once


def large(threads: Sequence[int]) -> None:
    """The sizes at which cores should count."""
    gappy, shared = rows(COMPONENTS, FEATURES, COMPONENTS, GAPS, seed=2), {"covariance": "shared", "scale": False}
    complete = rows(4 * COMPONENTS, FEATURES, COMPONENTS, seed=3)
    wide = f"{FEATURES} features, r = {COMPONENTS}"
    streamed = DictionaryFilter(COMPONENTS, random_state=0)
    fitted = BayesianFactorization(COMPONENTS, max_iter=2, calibrate=False, random_state=0)
    jobs = {
        f"complete rows, {wide}, shared covariance": of_rows(shared, complete),
        f"complete rows, {wide}": of_rows({}, complete),
        f"rows with gaps, {wide}, shared covariance": of_rows(shared, gappy),
        f"rows with gaps, {wide}": of_rows({}, gappy),
        f"impute with deviations, {wide}": of_answers(gappy, streamed, deviations),
        f"predict_interval, {wide}": of_answers(gappy, streamed, bounds),
        f"impute with deviations, variational, {SAMPLES} × {COLUMNS}, r = {COMPONENTS}": of_answers(
            rows(SAMPLES, COLUMNS, COMPONENTS, GAPS), fitted, deviations
        ),
        f"variational sweep, {SAMPLES} × {COLUMNS}, r = {COMPONENTS}": of_sweeps(SAMPLES, COLUMNS),
    }
    print("| | " + " | ".join(f"{n} threads" for n in threads) + " | gain | of that of BLAS | over the floor |")
    print("|---|" + "---:|" * (len(threads) + 3))
    rates = [multiplications(n) for n in (threads[0], threads[-1])]
    gained, least = rates[1] / rates[0], floor(threads[-1])
    print(
        f"| a square product by BLAS, GF/s | {2e-9 * rates[0]:.0f} | "
        + "| " * (len(threads) - 2)
        + f"{2e-9 * rates[1]:.0f} | {gained:.1f} | | |"
    )
    for name, job in jobs.items():
        times = []
        for n in threads:
            with with_threads(n):
                times.append(job())
        gain = times[0] / times[-1]
        over = f"{times[-1] / least:.2f}" if name.startswith("rows with gaps") else ""
        told = " | ".join(f"{1e3 * one:.2f} ms" for one in times)
        print(f"| {name} | {told} | {gain:.1f} | {gain / gained:.2f} | {over} |", flush=True)


def grid(threads: Sequence[int]) -> None:
    """Small and middle sizes, on one thread and on all."""
    print("| samples × features, r | filter, gaps | filter, complete | variational |")
    print("|---|---:|---:|---:|")
    for n, m, r in GRID:
        gappy, complete = rows(n, m, r, GAPS), rows(n, m, r)
        fits: list[Callable[[], Any]] = [
            partial(DictionaryFilter(r, random_state=0).fit, gappy),
            partial(DictionaryFilter(r, random_state=0).fit, complete),
            partial(BayesianFactorization(r, max_iter=5, calibrate=False, random_state=0).fit, gappy),
        ]
        gains = [times[0] / times[1] for times in (in_turns(fit, threads) for fit in fits)]
        print(f"| {n} × {m}, {r} | " + " | ".join(f"{gain:.2f}" for gain in gains) + " |", flush=True)


def neighbours(threads: Sequence[int]) -> None:
    """A fit while as many other processes as there are cores each keep one busy."""
    print("| samples × features, r | one thread, s | all threads, s | ratio |")
    print("|---|---:|---:|---:|")
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(threads[-1])]
    try:
        for n, m, r in GRID:
            times = in_turns(partial(DictionaryFilter(r, random_state=0).fit, rows(n, m, r, GAPS)), threads)
            print(f"| {n} × {m}, {r} | {times[0]:.3f} | {times[1]:.3f} | {times[1] / times[0]:.2f} |", flush=True)
    finally:
        for process in busy:
            process.kill()
            process.wait()


PARTS = {"large": large, "grid": grid, "neighbours": neighbours}


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the parts that are asked for."""
    cores = os.cpu_count() or 1
    parser = argparse.ArgumentParser(description="What the cores of a machine give.")
    parser.add_argument(
        "--threads", type=int, nargs="+", default=[1, cores], help="the first is compared with the last"
    )
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    chosen = parser.parse_args(arguments)
    print(f"{cores} cores; NumPy {np.__version__}")
    for part in chosen.only:
        print(f"\n## {part}\n")
        PARTS[part](chosen.threads)


if __name__ == "__main__":
    main()
