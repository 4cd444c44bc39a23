"""Peak memory and time of fits to a file, and of filling it: ``python benchmarks/large_fits.py [MEBIBYTES ...]``.

Every model has a process of its own for each size of file. The peak is of memory that is in use, libraries included.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

COLUMNS, COMPONENTS, NOISE = 50, 3, 0.1
"""Of the file. Not tuned: a table of sensors."""

SIZES = (50, 200, 800)
"""Mebibytes of the file: below the values that are fitted at once, and four and sixteen times as many."""

MODELS = {
    "nothing": "None",
    "`DictionaryFilter(3)`": "factorstream.DictionaryFilter(3, random_state=0)",
    "`BayesianFactorization(3)`": "factorstream.BayesianFactorization(3)",
    "`LowRankImputer(3)`": "factorstream.LowRankImputer(3, random_state=0)",
    "`LowRankImputer()`": "factorstream.LowRankImputer(random_state=0)",
}
"""What is fitted; the first says what the libraries take."""

RUN = """
import resource, sys, time, factorstream
model = {model}
factorstream.fill
begin = fitted = time.perf_counter()
if model is not None:
    model.fit(sys.argv[1])
    fitted = time.perf_counter()
    factorstream.fill(model, sys.argv[1], sys.argv[2], level=0.95)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(peak, fitted - begin, time.perf_counter() - fitted)
"""


def write_file(path: Path, mebibytes: float) -> None:
    """A file of this size, a fifth of it gaps."""
    rng, n = np.random.default_rng(0), int(mebibytes * 2**20 / (8 * COLUMNS))
    C = rng.normal(size=(COMPONENTS, COLUMNS))
    out = np.lib.format.open_memmap(path, "w+", dtype="f8", shape=(n, COLUMNS))
    for first in range(0, n, 10_000):
        X = rng.normal(size=(min(10_000, n - first), COMPONENTS)) @ C + 10.0
        X += NOISE * rng.normal(size=X.shape)
        X[rng.random(X.shape) < 0.2] = np.nan
        out[first : first + len(X)] = X


def measure(model: str, path: Path) -> tuple[float, float, float]:
    """Peak memory in mebibytes, seconds of the fit, and of filling the file with bounds."""
    command = [sys.executable, "-c", RUN.format(model=model), str(path), str(path.with_name("filled.npy"))]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    peak, fit, fill = map(float, done.stdout.split())
    return peak, fit, fill


def main(sizes: tuple[float, ...] = SIZES) -> None:
    """Print a table for docs/large-fits.md."""
    print("| | " + " | ".join(f"{size:g} MiB: peak, fit, fill" for size in sizes) + " |")
    print("|---|" + "---|" * len(sizes))
    rows: dict[str, list[str]] = {name: [] for name in MODELS}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npy"
        for size in sizes:
            write_file(path, size)
            for name, model in MODELS.items():
                peak, fit, fill = measure(model, path)
                rows[name].append(f"{peak:.0f} MiB, {fit:.0f} s, {fill:.0f} s")
    for name, cells in rows.items():
        print(f"| {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main(tuple(map(float, sys.argv[1:])) or SIZES)
