"""Small problems, where the calls from Python cost more than the arithmetic: a narrow table, one row, the import.

The filter is the paper's; counted covariances are a case of their own (``counted``).
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

import factorstream
from factorstream.estimators.dictionary_filter import DictionaryFilter
from factorstream.tall import kernel

from . import floors, peers
from .rows import Contestant, Found, Row, compete
from .textbook import Array
from .timing import Machine, compiled

TABLE, TABLE_COMPILED = "MF-RLF, fit", "MF-RLF, fit, compiled"
ONE_ROW, ONE_ROW_COMPILED = "MF-RLF, partial_fit", "MF-RLF, partial_fit, compiled"
ONE_ROW_PCA = "IncrementalPCA.partial_fit"
IMPORT = "import after sklearn.decomposition"


def low_rank(n: int, m: int, r: int, missing: float = 0.0, seed: int = 0) -> Array:
    """A noisy low-rank matrix, entries removed at random."""
    rng = np.random.default_rng(seed)
    X: Array = rng.standard_normal((n, r)) @ rng.standard_normal((r, m)) + 0.3 * rng.standard_normal((n, m))
    X[rng.random(X.shape) < missing] = np.nan
    return X


def small_table(machine: Machine, quick: bool) -> Found:
    """Few features, many rows, a tenth missing."""
    from sklearn.decomposition import IncrementalPCA

    m, r, n = 20, 5, 4000 if quick else 20_000
    X = low_rank(n, m, r, missing=0.1)
    filled = peers.mean_filled(X)
    fit = partial(DictionaryFilter(r, random_state=0, **peers.PAPER).fit, X)
    work = floors.masked_stream(n, m, r + 1, 0.1)
    contestants = {TABLE: Contestant(fit, work=work)}
    if kernel.import_failure() is None:
        contestants[TABLE_COMPILED] = Contestant(compiled(fit), work=work)
    pca = partial(IncrementalPCA(r, batch_size=200).fit, filled)
    contestants["IncrementalPCA, batches of 200, filled before"] = Contestant(pca, "peer")
    return Found(compete(f"Narrow table {n}×{m}, 10% random, r={r}", contestants, machine))


def one_row(machine: Machine, quick: bool) -> Found:
    """partial_fit of a single row at m=20, r=5, and the price of the import."""
    from sklearn.decomposition import IncrementalPCA

    m, r, k = 20, 5, 200
    S = np.random.default_rng(0).standard_normal((200, m))
    mine, pca = DictionaryFilter(r, random_state=0, **peers.PAPER).partial_fit(S), IncrementalPCA(r).partial_fit(S)

    def many(call: Callable[[Array], object]) -> Callable[[], object]:
        return lambda: [call(S[:1]) for _ in range(k)]

    work = floors.masked_stream(1, m, r + 1, 0.0)
    contestants = {
        ONE_ROW: Contestant(many(mine.partial_fit), work=work, scale=1.0 / k),
        ONE_ROW_PCA: Contestant(many(pca.partial_fit), "peer", scale=1.0 / k),
    }
    if kernel.import_failure() is None:
        other = DictionaryFilter(r, random_state=0, **peers.PAPER).partial_fit(S)
        contestants[ONE_ROW_COMPILED] = Contestant(compiled(many(other.partial_fit)), work=work, scale=1.0 / k)
    rows = compete(f"One more row, m={m}, r={r}", contestants, machine, repeats=15)
    return Found([*rows, _import(machine)])


def _import(machine: Machine) -> Row:
    """The import of all public names; the package itself is lazy."""
    code = "import time, sklearn.decomposition; a = time.perf_counter(); from factorstream import *\n"
    code += "print(time.perf_counter() - a)"
    spent = [float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(5)]
    package = Path(factorstream.__file__).parent
    size = sum(path.stat().st_size for path in package.rglob("*.py"))
    floor = floors.Work(streamed=size).seconds(machine)
    return Row("Import", IMPORT, "ours", float(np.median(spent)), floor, note="floor: reading its files from memory")
