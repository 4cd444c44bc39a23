"""How well is a feature learned that nobody has heard of at the beginning? ``python -m benchmarks.late_features``.

A `StreamFactorization` takes samples of the breast cancer data one at a time, and the perimeter comes after 200 of 400.
Beside it are two filters that have a column for it from the start: one in which it is empty until then, and one in
which it is always seen. All are asked for it in the other samples. Printed are the mean error over several orders of
the samples, and the error for each order.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
from sklearn.datasets import load_breast_cancer

from factorstream import DictionaryFilter
from factorstream.cores import limited
from factorstream.river import StreamFactorization

from .defaults import Array

FEATURE, LATE, LEARNED, COMPONENTS = "mean perimeter", 200, 400, 5
KINDS = ("comes late", "a column from the start", "always seen")


def error(kind: str, seed: int, late: int = LATE, learned: int = LEARNED) -> float:
    """Root mean square of the errors of the feature, by one of KINDS, for one order of the samples."""
    data = load_breast_cancer()
    names = [str(name) for name in data.feature_names]
    column = names.index(FEATURE)
    X = data.data[np.random.default_rng(seed).permutation(len(data.data))]
    asked = X[learned:].copy()
    asked[:, column] = np.nan
    seen = X[:learned].copy()
    if kind != "always seen":
        seen[:late, column] = np.nan
    with limited(1):
        if kind == "comes late":
            filled = _one_at_a_time(seen, asked, names)[:, column]
        else:
            filled = DictionaryFilter(COMPONENTS, random_state=0).partial_fit(seen).impute(asked)[:, column]
    return float(np.sqrt(np.mean((filled - X[learned:, column]) ** 2)))


def _one_at_a_time(seen: Array, asked: Array, names: Sequence[str]) -> Array:
    """The rows asked for, filled; what is missing is in no dict."""
    model = StreamFactorization(COMPONENTS)
    for row in seen.tolist():
        model.learn_one({name: value for name, value in zip(names, row, strict=True) if not np.isnan(value)})
    filled = []
    for row in asked.tolist():
        said = model.impute_one({name: value for name, value in zip(names, row, strict=True) if not np.isnan(value)})
        filled.append([said[name] for name in names])
    return np.array(filled)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for every kind."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--late", type=int, default=LATE, help="samples without the feature")
    parser.add_argument("--learned", type=int, default=LEARNED, help="samples in all")
    parser.add_argument("--seeds", type=int, default=5, help="orders of the samples")
    given = parser.parse_args(arguments)
    for kind in KINDS:
        errors = [error(kind, seed, given.late, given.learned) for seed in range(given.seeds)]
        print(f"{kind:24} error {np.mean(errors):.2f} ({', '.join(f'{one:.2f}' for one in errors)})")
    data = load_breast_cancer()
    print(f"{'standard deviation':24}       {data.data[:, list(data.feature_names).index(FEATURE)].std():.2f}")


if __name__ == "__main__":
    main()
