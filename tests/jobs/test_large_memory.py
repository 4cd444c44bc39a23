"""Files four times as large as all the memory that a process may have are fitted and filled, with intervals."""

from __future__ import annotations

import gzip
import os
import resource
import shutil
import subprocess
import sys

import numpy as np
import pytest

from factorstream import open_rows, open_sink

pytestmark = [pytest.mark.long, pytest.mark.gigabytes]

LIMIT = 512 * 2**20
"""Of what a process may write to in memory: RLIMIT_DATA. Python and its libraries take half of it."""
STACK = 512 * 2**10
"""Of every thread."""
ROWS = 4096
"""Of a piece of the file."""
FEW, MANY = 8, 128
"""Columns of numbers that belong together; columns of files without texts, whose others are not looked at."""
GROUPED = 32
"""The same of a file with row groups as large as pyarrow makes them, of which a reader holds one or two mebibytes for
each column."""
LETTERS = np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+ ", dtype=np.uint8)
"""Of the notes beside the numbers of a text: most of the file, because to read numbers alone would take an hour."""
NOTE = 12_000
"""Letters of a note. They are random, so that they cannot be packed into less than three quarters."""

FILL = """
import resource, sys, threading
from pathlib import Path
import numpy as np
from factorstream import BayesianFactorization, DictionaryFilter, LowRankImputer, fill, open_rows

kind, way, path, out, few, limit = *sys.argv[1:5], *map(int, sys.argv[5:7])
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
if path.endswith(".npy"):
    try:
        np.load(path)
        sys.exit("the file fits into memory")
    except MemoryError:
        pass


def blocks():
    rows = np.load(path, mmap_mode="r")
    for first in range(0, len(rows), 5000):
        yield rows[first : first + 5000]


peak, done = 0, threading.Event()


def watch():
    global peak
    while not done.wait(0.02):
        words = Path("/proc/self/status").read_text().split()
        peak = max(peak, int(words[words.index("RssAnon:") + 1]))


def lazy():
    import polars
    return polars.scan_parquet(path)


ways = {"file": lambda: path, "map": lambda: np.load(path, mmap_mode="r"), "blocks": lambda: blocks, "lazy": lazy}
models = {"imputer": LowRankImputer(3, max_iter=2, random_state=0), "sweeps": BayesianFactorization(3, max_iter=2)}
models["filter"] = DictionaryFilter(3, random_state=0)
threading.Thread(target=watch, daemon=True).start()
source = open_rows(ways[way](), columns=range(few))
model = models[kind].fit(source)
written = fill(model, source, out, level=0.9)
done.set()
print(written.n_rows, written.n_gaps, written.n_left, peak // 1024)
"""


def piece(k):
    """True values of some rows, and where they are missing."""
    rng = np.random.default_rng(k)
    C = np.random.default_rng(0).normal(size=(3, FEW))
    X = rng.normal(size=(ROWS, 3)) @ C + 5.0 + 0.3 * rng.normal(size=(ROWS, FEW))
    return X, rng.random(X.shape) < 0.2


def numbers(n, columns=MANY):
    for k in range(n):
        X, gaps = piece(k)
        others = np.random.default_rng(k).random((ROWS, columns - FEW))  # which cannot be packed
        yield np.hstack([np.where(gaps, np.nan, X), others])


def write_numbers(path, n):
    source = open_rows(lambda: numbers(n))
    with open_sink(path, source) as sink:
        for block in source.blocks():
            sink.write(block)


def write_archive(path, n):
    """Not packed: that takes minutes."""
    write_numbers(path.with_suffix(".npy"), n)
    np.savez(path, X=np.load(path.with_suffix(".npy"), mmap_mode="r"))
    path.with_suffix(".npy").unlink()


def write_table(path, n, columns=GROUPED, rows=2**20):
    """As pyarrow writes a table by default: row groups of 2²⁰ rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    pieces, schema = numbers(n, columns), pa.schema([(f"x{j}", pa.float64()) for j in range(columns)])
    with pq.ParquetWriter(path, schema) as out:
        for first in range(0, n, rows // ROWS):
            group = np.concatenate([next(pieces) for _ in range(min(rows // ROWS, n - first))])
            out.write_table(pa.table([pa.array(column, from_pandas=True) for column in group.T], schema=schema))


def write_small_groups(path, n):
    """For polars, which holds about seven row groups at a time: four mebibytes each."""
    write_table(path, n, MANY, ROWS)


def write_text(path, n):
    between = "\t" if path.suffix == ".tsv" else ","
    with gzip.open(path, "wt", 1) if path.suffix == ".gz" else path.open("w", encoding="utf-8") as file:
        file.write(between.join([*(f"x{j}" for j in range(FEW)), "note"]) + "\n")
        for k in range(n):
            notes = LETTERS[np.random.default_rng(k).integers(0, 64, size=(ROWS, NOTE), dtype=np.uint8)]
            for row, missing, note in zip(*(part.tolist() for part in piece(k)), notes, strict=True):
                cells = ("" if gap else f"{value:.6g}" for value, gap in zip(row, missing, strict=True))
                file.write(f"{between.join(cells)}{between}{note.tobytes().decode()}\n")


WAYS = {
    "npy": ("sweeps", "file", ".npy", write_numbers, MANY * 8),
    "memory map": ("imputer", "map", ".npy", write_numbers, MANY * 8),
    "blocks": ("imputer", "blocks", ".npy", write_numbers, MANY * 8),
    "npz": ("imputer", "file", ".npz", write_archive, MANY * 8),
    "csv": ("imputer", "file", ".csv", write_text, NOTE),
    "csv, one pass": ("filter", "file", ".csv", write_text, NOTE),
    "tsv": ("imputer", "file", ".tsv", write_text, NOTE),
    "csv.gz": ("imputer", "file", ".csv.gz", write_text, NOTE * 3 // 4 - 100),
    "parquet": ("imputer", "file", ".parquet", write_numbers, MANY * 7),
    "parquet of pyarrow": ("imputer", "file", ".parquet", write_table, GROUPED * 7),
    "arrow": ("imputer", "file", ".arrow", write_numbers, MANY * 8),
    "feather": ("imputer", "file", ".feather", write_numbers, MANY * 7),
    "hdf5": ("imputer", "file", ".h5", write_numbers, MANY * 8),
    "zarr": ("imputer", "file", ".zarr", write_numbers, MANY * 7),
    "lazy frame": ("imputer", "lazy", ".parquet", write_small_groups, MANY * 7),
}
"""The model, how it is given its rows, the ending of the file, how that is written, and the bytes of a row in it."""


def size(path):
    return sum(one.stat().st_size for one in path.rglob("*") if one.is_file()) if path.is_dir() else path.stat().st_size


def run(*arguments):
    """Run the fit with few and small stacks and pools, which count as data however little of them is used.

    Memory that was used goes back to the system at once; that of polars stays reserved for it by default.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    few = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "POLARS_MAX_THREADS", "FACTORSTREAM_THREADS", "ARROW_IO_THREADS")
    pools = {"ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": "65536"}
    polars = {"_RJEM_MALLOC_CONF": "retain:false,narenas:1,dirty_decay_ms:0,muzzy_decay_ms:0,tcache:false"}
    frugal = {**os.environ, **dict.fromkeys(few, "1"), **pools, **polars}
    resource.setrlimit(resource.RLIMIT_STACK, (STACK, hard))
    try:
        code = [sys.executable, "-c", FILL, *map(str, arguments)]
        return subprocess.run(code, capture_output=True, text=True, check=False, env=frugal)
    finally:
        resource.setrlimit(resource.RLIMIT_STACK, (soft, hard))


@pytest.fixture
def room(tmp_path):
    """A folder that does not stay behind: pytest keeps those of several runs."""
    yield tmp_path
    shutil.rmtree(tmp_path)


@pytest.mark.parametrize("what", WAYS)
def test_four_times_the_memory(what, room):
    kind, way, ending, write, row_bytes = WAYS[what]
    n = 4 * LIMIT // (ROWS * row_bytes) + 2
    path, out = room / f"x{ending}", room / f"y{ending}"
    write(path, n)
    assert size(path) > 4 * LIMIT
    done = run(kind, way, path, out, FEW, LIMIT)
    n_gaps = sum(int(piece(k)[1].sum()) for k in range(n))
    assert done.stdout.split()[:3] == [str(n * ROWS), str(n_gaps), "0"], done.stderr[-2000:]
    print(f"{what}: {size(path) / 2**20:.0f} MiB of the file, {done.stdout.split()[3]} MiB of memory")
    check(out, n, n_gaps)


def check(out, n, n_gaps):
    """Filled values and bounds are as good as a model of rank 3 makes them, and known values are as they were."""
    errors, held = 0.0, 0
    source = open_rows(out, columns=range(3 * FEW))
    coming = (row for block in source.blocks() for row in block.values)
    for k in range(n):
        X, gaps = piece(k)
        found = np.array([next(coming) for _ in range(ROWS)])
        filled, lower, upper = found[:, ::3], found[:, 1::3], found[:, 2::3]
        errors += float(((filled - X)[gaps] ** 2).sum())
        held += int(((lower <= X) & (upper >= X))[gaps].sum())
        assert np.allclose(filled[~gaps], X[~gaps], rtol=1e-5, atol=1e-5)
    assert next(coming, None) is None
    assert (errors / n_gaps) ** 0.5 < 0.6  # the noise is 0.3
    assert abs(held / n_gaps - 0.9) < 0.03
