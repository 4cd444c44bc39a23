"""How much memory it takes to read a large file and write it again filled, in every format.

    python -m benchmarks.large               # files of 256 MB
    python -m benchmarks.large --size 4096   # of 4 GB; memory must not grow with it

Every format has its own process. Memory is what the process has written to (RssAnon), looked at after every block, less
what it had when the library was imported. Files that are mapped into memory are not in it: the system may drop them.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from factorstream import open_rows, open_sink
from factorstream.sources.table import Bounds

from .defaults import Array

ENDINGS = (".npy", ".npz", ".csv", ".csv.gz", ".parquet", ".arrow", ".feather", ".h5", ".zarr")
"""Of the files that are made."""
ROWS, COLUMNS = 4096, 64
"""Of the pieces in which they are made: 2 MiB."""
GAPS = 0.1
"""Share of the entries that are missing."""


def pieces(size: int) -> Iterator[Array]:
    """About as many bytes of numbers, in pieces."""
    for k in range(max(1, size // (ROWS * COLUMNS * 8))):
        rng = np.random.default_rng(k)
        X = rng.integers(0, 10**6, size=(ROWS, COLUMNS)) / 1e3
        X[rng.random(X.shape) < GAPS] = np.nan
        yield X


def make(path: Path, size: int) -> None:
    """Write a file of these numbers; a text has fewer of them, about as many bytes."""
    source = open_rows(pieces(size))
    with open_sink(path, source) as sink:
        for block in source.blocks():
            sink.write(block)


def copy(path: Path, out: Path) -> None:
    """Read a file and write it again filled, with bounds for one column; print rows, seconds and MiB."""
    before = _written_to()
    most, start = before, time.perf_counter()
    source = open_rows(path)
    with open_sink(out, source, bounds=[0]) as sink:
        for block in source.blocks():
            filled = np.zeros(block.values.shape)
            sink.write(block, filled, Bounds(filled - 1, filled + 1))
            most = max(most, _written_to())
    most = max(most, _written_to())
    print(sink.written, time.perf_counter() - start, most - before)


def measured(ending: str, size: int, folder: Path) -> tuple[float, float, float]:
    """The size of a file in MiB, the seconds of its copy, and the MiB that this took."""
    path, out = folder / f"x{ending}", folder / f"y{ending}"
    make(path, size)
    command = [sys.executable, "-m", "benchmarks.large", "--copy", str(path), str(out)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return _size(path) / 2**20, float(said[1]), float(said[2])


def _size(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())


def _written_to() -> float:
    """MiB of memory that this process has written to."""
    found = re.search(r"RssAnon:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found[1]) / 1024 if found else 0.0


def main() -> None:
    """Measure every format, or copy one file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=256, help="MiB of numbers in a file")
    parser.add_argument("--only", choices=ENDINGS, help="one format")
    parser.add_argument("--copy", nargs=2, type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.copy:
        copy(*given.copy)
        return
    print("| file | MiB | seconds | MiB of memory |\n|---|---:|---:|---:|")
    for ending in [given.only] if given.only else ENDINGS:
        with tempfile.TemporaryDirectory() as folder:
            size, seconds, memory = measured(ending, given.size * 2**20, Path(folder))
        print(f"| `{ending}` | {size:.0f} | {seconds:.1f} | {memory:.0f} |", flush=True)


if __name__ == "__main__":
    main()
