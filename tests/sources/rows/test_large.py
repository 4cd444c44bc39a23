"""A file four times as large as the memory that a process may have is read and written again, in every format."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys

import numpy as np
import pytest

from factorstream import open_rows, open_sink
from row_files import WRITERS

pytestmark = [pytest.mark.long, pytest.mark.gigabytes]

LIMIT = 160 * 2**20
"""Of what a process may write to in memory, its libraries included: RLIMIT_DATA."""
STACK = 512 * 2**10
"""Of every thread."""
ROWS, COLUMNS = 4096, 64
"""Of a piece of the file, which has two million bytes."""
PIECES = 4 * LIMIT // (ROWS * COLUMNS * 8) + 40
"""How many make the file: more than four limits, also where numbers that are not random can be packed."""
NOTE = "a remark on this row; " * 500
"""Beside the numbers of a text: reading numbers alone would take minutes."""

COPY = """
import resource, sys
resource.setrlimit(resource.RLIMIT_DATA, (int(sys.argv[1]),) * 2)
import numpy as np
from factorstream import open_rows, open_sink
from factorstream.sources.table import Bounds
source = open_rows(sys.argv[2], block_bytes=2**21)
with open_sink(sys.argv[3], source, bounds=[0]) as sink:
    for block in source.blocks():
        filled = np.full(block.values.shape, 0.5)
        sink.write(block, filled, Bounds(filled - 1, filled + 1))
print(sink.written)
"""


def piece(k):
    X = np.random.default_rng(k).random((ROWS, COLUMNS))
    X[:, k % COLUMNS] = np.nan
    return X


def write_numbers(path):
    if path.suffix == ".npz":  # not packed: that takes minutes
        write_numbers(path.with_suffix(".npy"))
        np.savez(path, X=np.load(path.with_suffix(".npy"), mmap_mode="r"))
        return PIECES * ROWS
    source = open_rows(map(piece, range(PIECES)))
    with open_sink(path, source) as sink:
        for block in source.blocks():
            sink.write(block)
    return PIECES * ROWS


def write_text(path):
    """Three columns of numbers, and remarks that are most of the file."""
    rows = 4 * LIMIT // len(NOTE) + 1
    between = "\t" if path.suffix == ".tsv" else ","
    with path.open("w", encoding="utf-8") as file:
        file.write(between.join(["note", "a", "b", "c"]) + "\n")
        for k in range(0, rows, ROWS):
            X = piece(0)[: rows - k, 1:4].tolist()
            file.writelines(between.join([NOTE, repr(a), repr(b) if b > 0.2 else "", repr(c)]) + "\n" for a, b, c in X)
    return rows


def run(code, *arguments):
    """Run Python with few and small stacks and pools, which count as data however little of them is used."""
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    resource.setrlimit(resource.RLIMIT_STACK, (STACK, hard))
    try:
        return subprocess.run(
            [sys.executable, "-c", code, *map(str, arguments)],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "1"},
        )
    finally:
        resource.setrlimit(resource.RLIMIT_STACK, (soft, hard))


@pytest.fixture
def room(tmp_path):
    """A folder that does not stay behind: pytest keeps those of several runs."""
    yield tmp_path
    shutil.rmtree(tmp_path)


def size(path):
    return (
        sum(file.stat().st_size for file in path.rglob("*") if file.is_file()) if path.is_dir() else path.stat().st_size
    )


@pytest.mark.parametrize("ending", [ending for ending in WRITERS if "gz" not in ending and ending != ".tsv"])
def test_four_times_the_memory(ending, room):
    path, out = room / f"x{ending}", room / f"y{ending}"
    rows = write_text(path) if "sv" in ending else write_numbers(path)
    assert size(path) > 4 * LIMIT
    done = run(COPY, LIMIT, path, out)
    assert done.stdout.split() == [str(rows)], done.stderr[-2000:]
    old, new = open_rows(path), open_rows(out)
    assert new.n_columns == old.n_columns + 2
    kept = [0, *range(3, new.n_columns)]
    sums = [np.zeros(old.n_columns), np.zeros(old.n_columns)]
    for block in old.blocks():
        sums[0] += np.where(np.isnan(block.values), 0.5, block.values).sum(axis=0)
    for block in new.blocks():
        assert not np.isnan(block.values).any()
        sums[1] += block.values[:, kept].sum(axis=0)
    np.testing.assert_allclose(*sums, rtol=1e-12)


def test_the_limit_is_one(room):
    """Nothing would be shown by a limit that a whole array fits in."""
    write_numbers(room / "x.npy")
    code = "import numpy as np, resource, sys; resource.setrlimit(resource.RLIMIT_DATA, (int(sys.argv[1]),) * 2)\n"
    code += "np.load(sys.argv[2])"
    assert "MemoryError" in run(code, LIMIT, room / "x.npy").stderr
