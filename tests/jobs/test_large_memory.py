"""Files four times as large as all the memory that a process may have are fitted and filled, with intervals."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from factorstream import open_rows, open_sink

pytestmark = pytest.mark.long  # gigabytes go through the disk

LIMIT = 448 * 2**20
"""Of what a process may write to in memory: RLIMIT_DATA. Python and its libraries take 210 MiB of it."""
ROWS = 1024
"""Of a piece of the file."""
FEW, MANY = 24, 512
"""Columns of numbers that belong together; columns of files without texts, whose others are not looked at."""
NOTE = "a remark on this row; " * 800
"""Beside the numbers of a text: most of the file, because to read numbers alone would take an hour."""

FILL = """
import resource, sys
from factorstream import BayesianFactorization, DictionaryFilter, LowRankImputer, fill, open_rows
import numpy as np
limit, kind, path, out, few = int(sys.argv[1]), *sys.argv[2:5], int(sys.argv[5])
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
if path.endswith(".npy"):
    try:
        np.load(path)
        sys.exit("the file fits into memory")
    except MemoryError:
        pass
models = {"imputer": LowRankImputer(3, random_state=0), "sweeps": BayesianFactorization(3)}
models["filter"] = DictionaryFilter(3, random_state=0)
source = open_rows(path, columns=range(few)) if few else open_rows(path)
model = models[kind].fit(source)
print(*fill(model, source, out, level=0.9)[1:])
"""


def piece(k, few):
    """True values of some rows, and where they are missing."""
    rng = np.random.default_rng(k)
    C = np.random.default_rng(0).normal(size=(3, few))
    X = rng.normal(size=(ROWS, 3)) @ C + 5.0 + 0.3 * rng.normal(size=(ROWS, few))
    return X, rng.random(X.shape) < 0.2


def write_numbers(path, few):
    n = 4 * LIMIT // (ROWS * MANY * 8) + 2

    def pieces():
        for k in range(n):
            X, gaps = piece(k, few)
            others = np.random.default_rng(k).random((ROWS, MANY - few))  # which cannot be packed
            yield np.hstack([np.where(gaps, np.nan, X), others])

    source = open_rows(pieces)
    with open_sink(path, source) as sink:
        for block in source.blocks():
            sink.write(block)
    return n


def write_text(path, few):
    n = 4 * LIMIT // (ROWS * len(NOTE)) + 1
    with path.open("w", encoding="utf-8") as file:
        file.write(",".join(["note", *(f"x{j}" for j in range(few))]) + "\n")
        for k in range(n):
            for row, missing in zip(*(part.tolist() for part in piece(k, few)), strict=True):
                cells = ("" if gap else f"{value:.6g}" for value, gap in zip(row, missing, strict=True))
                file.write(f"{NOTE},{','.join(cells)}\n")
    return n


@pytest.mark.parametrize(
    ("kind", "ending", "few"),
    [("sweeps", ".npy", 8), ("imputer", ".parquet", 8), ("imputer", ".csv", FEW), ("filter", ".csv", FEW)],
)
def test_four_times_the_memory(kind, ending, few, tmp_path):
    path, out = tmp_path / f"x{ending}", tmp_path / f"y{ending}"
    n = write_text(path, few) if ending == ".csv" else write_numbers(path, few)
    assert path.stat().st_size > 4 * LIMIT
    chosen = 0 if ending == ".csv" else few
    code = [sys.executable, "-c", FILL, str(LIMIT), kind, str(path), str(out), str(chosen)]
    done = subprocess.run(code, capture_output=True, text=True, check=False)
    n_gaps = sum(int(piece(k, few)[1].sum()) for k in range(n))
    assert done.stdout.split() == [str(n * ROWS), str(n_gaps), "0"], done.stderr[-2000:]
    errors, held = 0.0, 0
    source = open_rows(out, columns=range(3 * few)) if chosen else open_rows(out)
    coming = (row for block in source.blocks() for row in block.values)
    for k in range(n):
        X, gaps = piece(k, few)
        found = np.array([next(coming) for _ in range(ROWS)])
        filled, lower, upper = found[:, ::3], found[:, 1::3], found[:, 2::3]
        errors += float(((filled - X)[gaps] ** 2).sum())
        held += int(((lower <= X) & (upper >= X))[gaps].sum())
        assert np.allclose(filled[~gaps], X[~gaps], rtol=1e-5, atol=1e-5)
    assert next(coming, None) is None
    assert (errors / n_gaps) ** 0.5 < 0.6  # the noise is 0.3
    assert abs(held / n_gaps - 0.9) < 0.03
