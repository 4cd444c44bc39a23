"""Large tables through the command line: ``python -m benchmarks.table_sizes [--only NAME ...] [--without-peer]``.

Every table is made, a fifth of its entries is removed at random, and ``factorstream impute`` fills the CSV file in a
process of its own: its seconds, those of the processor, and its most memory. Errors are in standard deviations of the
columns, over the removed entries. Beside them those of scikit-learn's IterativeImputer, fitted in this process to the
same table; it is left out where there are more than a hundred columns: it would take hours.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]
LEVEL = 0.95
MISSING = 0.2
MOST_FOR_PEER = 100


def components(rng: np.random.Generator, n: int, m: int, r: int, noise: float) -> Array:
    """Components of variance 1 together, and noise of this deviation."""
    X: Array = rng.normal(size=(n, r)) @ rng.normal(size=(r, m)) / np.sqrt(r) + noise * rng.normal(size=(n, m))
    return X


def skewed(rng: np.random.Generator, n: int, m: int) -> Array:
    """Five components and noise; a fifth of the columns are skewed, and some have the square of another in them."""
    X = components(rng, n, m, 5, noise=0.25)
    some = max(m // 10, 1)
    X[:, -2 * some : -some] = np.exp(0.5 * X[:, -2 * some : -some])
    X[:, -some:] += 0.5 * X[:, :some] ** 2
    return X


def many_components(rng: np.random.Generator, n: int, m: int) -> Array:
    """Nearly as many components as columns, and little noise."""
    return components(rng, n, m, max(5 * m // 6, 1), noise=0.1)


def all_directions(rng: np.random.Generator, n: int, m: int) -> Array:
    """A normal law whose standard deviations fall as 1/k in random directions."""
    Q = np.linalg.qr(rng.normal(size=(m, m)))[0]
    X: Array = rng.normal(size=(n, m)) @ (Q / np.arange(1.0, m + 1.0)[:, None])
    return X


def few_components(rng: np.random.Generator, n: int, m: int) -> Array:
    """Eight components and noise."""
    return components(rng, n, m, 8, noise=0.2)


def long_tail(rng: np.random.Generator, n: int, m: int) -> Array:
    """120 components that get slowly weaker, and noise; every third column is skewed."""
    weight = 1.0 / np.sqrt(np.arange(1.0, 121.0))
    X: Array = (rng.normal(size=(n, 120)) * weight) @ rng.normal(size=(120, m)) + 0.5 * rng.normal(size=(n, m))
    X[:, ::3] = np.exp(0.5 * X[:, ::3])
    return X


class Kind(NamedTuple):
    """A table to be made."""

    make: Callable[[np.random.Generator, int, int], Array]
    n: int
    m: int


KINDS = {
    "tall, skewed": Kind(skewed, 200_000, 30),
    "tall, many components": Kind(many_components, 200_000, 30),
    "tall, all directions": Kind(all_directions, 200_000, 30),
    "wide, few components": Kind(few_components, 250, 20_000),
    "wide, long tail": Kind(long_tail, 250, 20_000),
}


class Result(NamedTuple):
    """What a run took, and how good it was."""

    seconds: float
    processor: float
    gigabytes: float
    rmse: float
    coverage: float | None = None


def write(path: Path, X: Array) -> None:
    """A CSV file with empty cells for NaN."""
    with path.open("w") as file:
        file.write(",".join(f"c{j}" for j in range(X.shape[1])) + "\n")
        for row in X.tolist():
            file.write(",".join("" if value != value else f"{value:.6f}" for value in row) + "\n")


def command(path: Path, X: Array, gone: Array, level: float | None) -> Result:
    """Fill a file by the command line."""
    out = path.with_name("out.csv")
    arguments = [sys.executable, "-m", "factorstream", "impute", str(path), "-o", str(out)]
    arguments += [] if level is None else ["--level", str(level)]
    began = time.perf_counter()
    process = subprocess.Popen(
        arguments + ([] if level is None else ["--level", str(level)]), stderr=subprocess.DEVNULL
    )
    _, status, used = os.wait4(process.pid, 0)  # of this process alone
    seconds = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(arguments)} has failed")
    filled = np.loadtxt(out, delimiter=",", skiprows=1)
    gigabytes = used.ru_maxrss * (1024 if sys.platform != "darwin" else 1) / 1e9
    processor = used.ru_utime + used.ru_stime
    if level is None:
        return Result(seconds, processor, gigabytes, error(filled, X, gone))
    value, lower, upper = (filled[:, side::3] for side in range(3))
    held = float(np.mean(((lower <= X) & (upper >= X))[gone]))
    return Result(seconds, processor, gigabytes, error(value, X, gone), held)


def error(filled: Array, X: Array, gone: Array) -> float:
    """Root mean square over the removed entries, in standard deviations of the columns."""
    return float(np.sqrt(np.mean((((filled - X) / X.std(axis=0))[gone]) ** 2)))


def peer(X: Array, gone: Array) -> tuple[float, float]:
    """The error and the seconds of the processor of IterativeImputer."""
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer

    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it has not converged
        filled = IterativeImputer(random_state=0).fit_transform(np.where(gone, np.nan, X))
    return error(filled, X, gone), time.process_time() - began


def main(arguments: list[str] | None = None) -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=tuple(KINDS), default=tuple(KINDS))
    parser.add_argument("--without-peer", action="store_true")
    given = parser.parse_args(arguments)
    print("| table | | seconds | of the processor | GB | RMSE | 95% hold | IterativeImputer: RMSE | its seconds |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in given.only:
        make, n, m = KINDS[name]
        rng = np.random.default_rng(0)
        X = np.round(make(rng, n, m), 6)
        gone = rng.random(X.shape) < MISSING
        theirs = "| |" if given.without_peer or m > MOST_FOR_PEER else "{:.4f} | {:.0f} |".format(*peer(X, gone))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "in.csv"
            write(path, np.where(gone, np.nan, X))
            for level in (None, LEVEL):
                found = command(path, X, gone, level)
                held = "" if found.coverage is None else f"{found.coverage:.3f}"
                took = f"{found.seconds:.0f} | {found.processor:.0f} | {found.gigabytes:.2f}"
                what = f"{name}, {n:,} × {m:,} | {'bounds' if level else 'fills'}"
                print(f"| {what} | {took} | {found.rmse:.4f} | {held} | {theirs}", flush=True)


if __name__ == "__main__":
    main()
