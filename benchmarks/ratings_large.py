"""Time and memory of a table of ratings as large as MovieLens-25M, beside the ALS of implicit and of cmfrec.

    python -m benchmarks.ratings_large              # 162,000 × 59,000, 25 million ratings, 20 components
    python -m benchmarks.ratings_large --share 20   # a 20th of the rows and ratings
    python -m benchmarks.ratings_large --table FILE.npz    # the table in this file, which is written if it is not there

Every fit has a process of its own, in which the table is read, and loops are compiled or loaded, before memory is
counted: what is told is how much more there was at the peak. It is compared with the *statistics*, the numbers that a
fit with a posterior for every column cannot do without: the sums over rows and the posterior that follows from them,
q(q + 1)/2 numbers in each for the second moments of a column, q for the first, and a few; q counts the means too.
Seconds are those of the clock and, after them, of the processor, all threads together: on a machine that has other work
to do, only these can be compared. Peers that are not installed are left out. They have no posterior: they keep q
numbers for each row and column.
"""

from __future__ import annotations

import argparse
import importlib.util
import multiprocessing
import os
import tempfile
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from threading import Event, Thread
from typing import Any, NamedTuple

import numpy as np
import threadpoolctl
from scipy import sparse

from factorstream import BayesianFactorization
from factorstream.core.variational.packed import size
from factorstream.estimators import _bayesian_run
from factorstream.estimators._telling import SweepProgress

from .ratings import simulate

LARGE = (162_000, 59_000, 25_000_000)
"""Rows, columns and entries: those of MovieLens-25M."""

RANK, SWEEPS, PAIRS = 20, 2, 1_000_000
"""Components, sweeps that are timed, and entries that are predicted."""

MIB = 2**20


class Measured(NamedTuple):
    """What one method took."""

    name: str
    start: float  # seconds of everything before the first sweep; of peers, whose sweeps are reckoned, it says nothing
    sweep: float  # seconds of one
    start_cpu: float  # the same, of the processor
    sweep_cpu: float
    memory: float  # bytes at the peak, beyond the table
    predict: float = float("nan")  # seconds of PAIRS entries
    predict_memory: float = float("nan")


class Peak:
    """The most memory that this process has had meanwhile, beyond what it had before."""

    def __enter__(self) -> Peak:
        self.before = self.most = _resident()
        self.over = Event()
        self.watch = Thread(target=self._watch, daemon=True)
        self.watch.start()
        return self

    def _watch(self) -> None:
        while not self.over.wait(0.005):
            self.most = max(self.most, _resident())

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.watch.join()

    @property
    def bytes(self) -> float:
        """How much more there was."""
        return float(self.most - self.before)


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def table(n: int, m: int, N: int) -> Any:
    """Simulated ratings as sparse rows, with 4 bytes for the number of a column."""
    data = simulate(0, n, m, N, tastes=4, steep=0.6)
    X = sparse.csr_array((data.stars, (data.people.astype(np.int32), data.things.astype(np.int32))), shape=(n, m))
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X


def statistics(m: int, rank: int, row_mean: bool) -> tuple[int, int]:
    """Bytes of the sums over rows, and of these and the posterior."""
    q = rank + 1 + row_mean
    return 8 * m * (size(q) + q + 2), 8 * m * (2 * size(q) + 2 * q + 3)


Times = Any
"""Seconds of the clock and of the processor (2,)."""


def _now() -> Times:
    return np.array([time.perf_counter(), time.process_time()])


class _Clock(SweepProgress):
    """Notes when a sweep ends, where a bar would be moved."""

    ends: list[Times] = []  # noqa: RUF012

    def __call__(self, sweep: Any) -> None:
        self.ends.append(_now())


def ours(path: str, row_mean: bool) -> Measured:
    """Our fit, and entries predicted with standard deviations."""
    X: Any = sparse.load_npz(path)
    warnings.simplefilter("ignore")  # things without any rating
    _compile()
    _bayesian_run.SweepProgress = _Clock  # type: ignore[attr-defined]
    _Clock.ends.clear()
    model = BayesianFactorization(RANK, fit_row_mean=row_mean, max_iter=SWEEPS + 1, tol=0.0)
    began = _now()
    with Peak() as fitting:
        model.fit(X)
    rng = np.random.default_rng(0)
    rows, columns = rng.integers(X.shape[0], size=PAIRS), rng.integers(X.shape[1], size=PAIRS)
    asked = time.perf_counter()
    with Peak() as predicting:
        _, std = model.predict_entries(X, rows, columns, return_std=True)
    predicted = time.perf_counter() - asked
    assert np.isfinite(std).all() or not row_mean
    sweep = np.median(np.diff(_Clock.ends, axis=0), axis=0)
    name = f"BayesianFactorization({RANK}{', fit_row_mean=True' if row_mean else ''}), float64"
    return _measured(name, _Clock.ends[0] - began - sweep, sweep, fitting)._replace(
        predict=predicted, predict_memory=predicting.bytes
    )


def _measured(name: str, start: Times, sweep: Times, peak: Peak) -> Measured:
    return Measured(name, float(start[0]), float(sweep[0]), float(start[1]), float(sweep[1]), peak.bytes)


def _compile() -> None:
    """Load the compiled loops, and compile those that are not in numba's cache."""
    if not importlib.util.find_spec("numba") or "FACTORSTREAM_COMPILED" in os.environ:
        return
    os.environ["FACTORSTREAM_COMPILED"] = "1"
    few: Any = sparse.random_array((300, 200), density=0.2, format="csr", rng=np.random.default_rng(0))
    few.indices, few.indptr = few.indices.astype(np.int32), few.indptr.astype(np.int32)
    for row_mean in (False, True):
        model = BayesianFactorization(2, fit_row_mean=row_mean, max_iter=2).fit(few)
        model.predict_entries(few, [0], [0], return_std=True)
    del os.environ["FACTORSTREAM_COMPILED"]


def implicit(path: str, _: bool) -> Measured:
    """ALS for implicit feedback, the exact solver; it takes no ratings as such, but its sweeps cost as much."""
    from implicit.cpu.als import AlternatingLeastSquares

    X = sparse.csr_matrix(sparse.load_npz(path)).astype(np.float32)

    def run(k: int) -> None:
        with threadpoolctl.threadpool_limits(1, "blas"):  # as it asks for: it has threads of its own
            AlternatingLeastSquares(factors=RANK, iterations=k, use_cg=False).fit(X, show_progress=False)

    return _timed(f"implicit {_version('implicit')}, Cholesky, float32", run)


def cmfrec(path: str, _: bool) -> Measured:
    """ALS with means of rows and columns, the exact solver."""
    import cmfrec as package

    X = sparse.coo_matrix(sparse.load_npz(path))

    def run(k: int) -> None:
        package.CMF(
            k=RANK, niter=k, use_cg=False, finalize_chol=False, verbose=False, precompute_for_predictions=False
        ).fit(X)

    return _timed(f"cmfrec {_version('cmfrec')}, Cholesky, float64", run)


def _version(name: str) -> str:
    from importlib.metadata import version

    return version(name)


def _timed(name: str, run: Callable[[int], object]) -> Measured:
    """Seconds of one more sweep: what a run of several takes more than a run of one."""
    times = []
    with Peak() as peak:
        for k in (1, 1 + SWEEPS):
            began = _now()
            run(k)
            times.append(_now() - began)
    sweep = (times[1] - times[0]) / SWEEPS
    return _measured(name, times[0] - sweep, sweep, peak)


def alone(function: Callable[[str, bool], Measured], path: str, row_mean: bool = False) -> Measured:
    """What a function measures in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
        return process.submit(function, path, row_mean).result()


def told(found: Measured, needed: tuple[int, int] | None = None) -> str:
    """One line."""
    start = "" if needed is None else f"start {found.start:.1f} ({found.start_cpu:.1f}) s, "
    text = f"{found.name}: {start}a sweep {found.sweep:.2f} ({found.sweep_cpu:.2f}) s, {found.memory / MIB:.0f} MiB"
    if needed is not None:
        text += f" = {found.memory / needed[1]:.2f} × the statistics ({found.memory / needed[0]:.2f} × the sums alone)"
        text += f"; {PAIRS} entries in {found.predict:.1f} s and {found.predict_memory / MIB:.0f} MiB"
    return text


def main() -> None:
    """Print what was measured, line by line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", help="where to keep the table for another run")
    parser.add_argument("--share", type=int, default=1, help="this part of the rows and ratings")
    given = parser.parse_args()
    n, m, N = LARGE[0] // given.share, LARGE[1], LARGE[2] // given.share
    with tempfile.TemporaryDirectory() as folder:
        path = given.table or str(Path(folder) / "ratings.npz")
        if not Path(path).exists():
            with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
                process.submit(_write, path, n, m, N).result()
        sums, both = statistics(m, RANK, True)
        print(f"{n} × {m}, {N} ratings; statistics {both / MIB:.0f} MiB, of which sums {sums / MIB:.0f}", flush=True)
        for row_mean in (True, False):
            print(told(alone(ours, path, row_mean), statistics(m, RANK, row_mean)), flush=True)
        for name, peer in (("implicit", implicit), ("cmfrec", cmfrec)):
            if importlib.util.find_spec(name):
                print(told(alone(peer, path)), flush=True)


def _write(path: str, n: int, m: int, N: int) -> None:
    sparse.save_npz(path, table(n, m, N), compressed=False)


if __name__ == "__main__":
    main()
