"""Ratings: how well they are predicted. For time and memory of large tables see ``ratings_large.py``.

    python -m benchmarks.ratings    # 943 × 1682, 100,000 ratings: errors and coverage, a few seeds

The ratings are simulated: stars from 1 to 5, people who rate high or low, things that are liked more or less, few
things that most people rate, and eight tastes of moderate size. Peers that are not installed are left out.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from factorstream import BayesianFactorization, DictionaryFilter

Array = NDArray[Any]

HIDDEN = 0.1
"""Share of the ratings that are predicted and not fitted."""

FIRST_SEED = 100
"""Tables from here on are for reporting: none of them was looked at when settings were chosen."""


class Ratings(NamedTuple):
    """Who rated what, and how."""

    people: Array
    things: Array
    stars: Array
    n_people: int
    n_things: int


def simulate(seed: int, n: int = 943, m: int = 1682, N: int = 100_000, tastes: int = 8, steep: float = 0.9) -> Ratings:
    """N different ratings; the sizes by default are those of MovieLens-100K. ``steep``: how few things most rate."""
    rng = np.random.default_rng(seed)
    popular = np.arange(1.0, m + 1.0) ** -steep
    active = rng.lognormal(size=n)
    active = np.maximum(active, 0.2 * active.mean())
    pairs = np.empty(0, dtype=np.int64)
    while len(pairs) < N:
        more = [rng.choice(len(p), int(1.5 * N), p=p / p.sum()) for p in (active, popular)]
        pairs = np.unique(np.concatenate([pairs, more[0] * m + more[1]]))
    people, things = np.divmod(rng.permutation(pairs)[:N], m)
    size = 0.75 ** np.arange(tastes)
    size *= 0.5 / np.sqrt(size @ size)
    liked = np.log(popular)
    of_thing = 0.3 * rng.normal(size=m) + 0.35 * (liked - liked.mean()) / liked.std()
    U, V = rng.normal(size=(n, tastes)), rng.normal(size=(m, tastes)) * size
    stars = 3.3 + 0.42 * rng.normal(size=n)[people] + of_thing[things] + 0.85 * rng.normal(size=N)
    for k in range(tastes):
        stars += U[people, k] * V[things, k]
    return Ratings(people, things, np.clip(np.rint(stars), 1.0, 5.0), n, m)


class Result(NamedTuple):
    """How well one method predicted the hidden ratings."""

    error: float
    held: float
    seconds: float


def asked(model: Any, X: Any, rows: Array, columns: Array, truth: Array, seconds: float) -> Result:
    """Root mean square error, and the share of hidden ratings within 1.96 standard deviations."""
    mean, std = model.predict_entries(X, rows, columns, return_std=True)
    held = float(np.mean(np.abs(mean - truth) <= 1.96 * std))
    return Result(float(np.sqrt(np.mean((mean - truth) ** 2))), held, seconds)


def biases(rows: Array, columns: Array, values: Array, shape: tuple[int, int], ridge: float = 4.0) -> Any:
    """Means of rows and columns alone, alternated."""
    overall, a, b = values.mean(), np.zeros(shape[0]), np.zeros(shape[1])
    for _ in range(20):
        b = np.bincount(columns, values - overall - a[rows], shape[1]) / (
            np.bincount(columns, minlength=shape[1]) + ridge
        )
        a = np.bincount(rows, values - overall - b[columns], shape[0]) / (np.bincount(rows, minlength=shape[0]) + ridge)
    return lambda row, column: overall + a[row] + b[column]


def accuracy(seed: int, rank: int, **sizes: int) -> dict[str, Result]:
    """Every method on one simulated table, with people and with things as rows."""
    data = simulate(seed, **sizes)
    hidden = np.random.default_rng(1000 + seed).random(len(data.stars)) < HIDDEN
    found: dict[str, Result] = {}
    people, things = (data.people, data.n_people), (data.things, data.n_things)
    for name, (row, n), (column, m) in (("people", people, things), ("things", things, people)):
        known, truth = data.stars[~hidden], data.stars[hidden]
        X = sparse.csr_array((known, (row[~hidden], column[~hidden])), shape=(n, m))
        models = {
            "fit": BayesianFactorization(rank),
            "fit, row means": BayesianFactorization(rank, fit_row_mean=True),
            "one pass": DictionaryFilter(rank, random_state=seed),
            "one pass, row means": DictionaryFilter(rank, fit_row_mean=True, random_state=seed),
        }
        for method, model in models.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # things without any rating
                began = time.perf_counter()
                model.fit(X)
                seconds = time.perf_counter() - began
                found[f"{method}; rows are {name}"] = asked(model, X, row[hidden], column[hidden], truth, seconds)
    row, column = data.people, data.things
    predict = biases(row[~hidden], column[~hidden], data.stars[~hidden], (data.n_people, data.n_things))
    found["biases alone"] = _error(predict(row[hidden], column[hidden]), data.stars[hidden])
    if importlib.util.find_spec("cmfrec"):
        import cmfrec

        table = sparse.coo_matrix(
            (data.stars[~hidden], (row[~hidden], column[~hidden])), (data.n_people, data.n_things)
        )
        for k, penalty in ((5, 10.0), (rank, 10.0), (rank, 15.0)):
            began = time.perf_counter()
            peer = cmfrec.CMF(k=k, lambda_=penalty, niter=30, use_cg=False, verbose=False).fit(table)
            seconds = time.perf_counter() - began
            answer = np.nan_to_num(peer.predict(row[hidden], column[hidden]), nan=float(data.stars[~hidden].mean()))
            found[f"cmfrec, k={k}, lambda={penalty:g}"] = _error(answer, data.stars[hidden])._replace(seconds=seconds)
    return found


def _error(answer: Array, truth: Array) -> Result:
    return Result(float(np.sqrt(np.mean((answer - truth) ** 2))), float("nan"), float("nan"))


def main() -> None:
    """Print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rank", type=int, default=10)
    given = parser.parse_args()
    runs = [accuracy(FIRST_SEED + k, given.rank) for k in range(given.seeds)]
    for method in runs[0]:
        error, held, seconds = np.mean([run[method] for run in runs], axis=0)
        print(f"{method:40} RMSE {error:.4f}  95% hold {held:.3f}  {seconds:.1f} s")


if __name__ == "__main__":
    main()
