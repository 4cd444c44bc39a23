"""Fits and fills that are killed at random moments and started again.

    python -m benchmarks.kills 200    # that many kills, shared among seven estimators and three formats

Every piece of work is a process that SIGKILL ends after a random time, again and again until it comes to its end. What
it leaves then is compared, bit for bit, with what a process leaves that nobody killed. The processes are made by
``fork``, which Windows does not have.
"""

from __future__ import annotations

import argparse
import gzip
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import factorstream
from factorstream import Checkpoint, fill, load, open_rows
from factorstream.estimators import _source_rows
from factorstream.sources.rows.source import Source

ROWS, COLUMNS, BLOCK = 2000, 6, 50
"""Of the file, and rows of a block. Not tuned: forty blocks, so that a pass has many places to be killed in."""

FITS: dict[str, Callable[[], object]] = {
    "DictionaryFilter": lambda: factorstream.DictionaryFilter(2, n_passes=3, random_state=0),
    "DictionaryFilter, shared": lambda: factorstream.DictionaryFilter(2, covariance="shared", random_state=0),
    "BroydenFactorization": lambda: factorstream.BroydenFactorization(2, random_state=0),
    "SGDFactorization": lambda: factorstream.SGDFactorization(2, n_passes=2, random_state=0),
    "BayesianFactorization": lambda: factorstream.BayesianFactorization(2, random_state=0),
    "BayesianFactorization, robust": lambda: factorstream.BayesianFactorization(2, robust=True, random_state=0),
    "LowRankImputer": lambda: factorstream.LowRankImputer(2, random_state=0),
}
"""What is fitted."""

FILLS = (".npy", ".csv", ".npy.gz")
"""Formats of the files that are filled: numbers and text to which rows are appended, and parts that are joined."""


def source_in(folder: Path, ending: str = ".npy") -> Source:
    """The rows, in small blocks."""
    width = 8 * COLUMNS if "npy" in ending else 8 * COLUMNS + 12
    return open_rows(folder / f"rows{ending}", block_bytes=width * BLOCK)


def make_files(folder: Path) -> None:
    """Rows with gaps in every format, and a model that fills them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, 2)) @ rng.normal(size=(2, COLUMNS)) + 0.1 * rng.normal(size=(ROWS, COLUMNS))
    X[rng.random(X.shape) < 0.2] = np.nan
    np.save(folder / "rows.npy", X)
    lines = [",".join("" if np.isnan(x) else f"{x:.6f}" for x in row) for row in X]
    text = ",".join(f"x{j}" for j in range(COLUMNS)) + "\n" + "\n".join(lines) + "\n"
    (folder / "rows.csv").write_text(text)
    factorstream.DictionaryFilter(2, random_state=0).fit(X).save(folder / "model")


def work(name: str, folder: Path, out: Path) -> None:
    """One piece of work, which goes on where it was killed."""
    if name in FITS:
        checkpoint = Checkpoint(out / "checkpoint", rows=1)
        model = FITS[name]().fit(source_in(folder), checkpoint=checkpoint)  # type: ignore[attr-defined]
        model.save(out / "result")
        (out / "checkpoint").unlink()
    else:
        ending = name.removeprefix("fill ")
        source = source_in(folder, ".csv" if ending == ".csv" else ".npy")
        fill(load(folder / "model"), source, out / f"result{ending}", level=0.9, resume=True)


def run(name: str, folder: Path, out: Path, delay: float | None) -> bool:
    """Run a piece of work in a process, which is killed after a delay; whether it came to its end."""
    child = os.fork()
    if not child:
        status = 1
        try:
            work(name, folder, out)
            status = 0
        finally:
            os._exit(status)
    if delay is not None:
        time.sleep(delay)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return False
    if status:
        raise RuntimeError(f"{name} failed.")
    return True


def left_in(out: Path) -> dict[str, bytes]:
    """The files of a folder; packed ones by what is packed, since the packing has the time in it."""
    read = {True: lambda path: gzip.decompress(path.read_bytes()), False: Path.read_bytes}
    return {path.name: read[path.suffix == ".gz"](path) for path in out.iterdir()}


def kill(name: str, folder: Path, wanted: int, rng: np.random.Generator) -> int:
    """Kill a piece of work ``wanted`` times or more, and compare what it leaves in the end; returns the kills."""
    want, took = _left_alone(name, folder)
    kills = 0
    while kills < wanted:
        out = Path(tempfile.mkdtemp(dir=folder))
        while not run(name, folder, out, rng.uniform(0.0, took) if kills < wanted else None):
            kills += 1
        found = left_in(out)
        if found != want:
            others = sorted(one for one in found.keys() | want.keys() if found.get(one) != want.get(one))
            raise AssertionError(f"{name} ended otherwise after a kill: {', '.join(others)}.")
        shutil.rmtree(out)
    return kills


def _left_alone(name: str, folder: Path) -> tuple[dict[str, bytes], float]:
    """What the work leaves that nobody kills, and the seconds that it takes."""
    out = Path(tempfile.mkdtemp(dir=folder))
    begin = time.perf_counter()
    run(name, folder, out, None)
    return left_in(out), time.perf_counter() - begin


def main(kills: int) -> None:
    """Share the kills among all pieces of work, and say how it went."""
    _source_rows.SOME_VALUES = 300 * COLUMNS  # so that there are sweeps over blocks
    names = [*FITS, *(f"fill {ending}" for ending in FILLS)]
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_files(folder)
        done = 0
        for k, one in enumerate(names):
            found = kill(one, folder, (kills * (k + 1)) // len(names) - (kills * k) // len(names), rng)
            done += found
            print(f"{one}: the same after {found} kills", flush=True)
        print(f"all the same after {done} kills")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kills", type=int, nargs="?", default=200, help="how many in all (default: 200)")
    main(parser.parse_args().kills)
