"""Where the three numbers behind "auto" come from: grids over synthetic data and small public tables.

Scored on observed entries that are held out of the fit; no face image and no removed entry is involved. The filter
is the paper's; the constants of counted covariances are varied by ``rare_columns``, on the same data.

    python benchmarks/defaults.py
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

from factorstream import DictionaryFilter
from factorstream.estimators import _filter_run
from factorstream.tall import starting

Array = NDArray[np.float64]

NOISE_SHARES = (0.01, 0.03, 0.1, 0.3)
START_SHARES = (0.25, 0.5, 1.0)
MIN_OBSERVED = (1, 2, 5, 10, 20)


def standardised(X: Array) -> Array:
    """Every feature with mean 0 and deviation 1."""
    return np.asarray((X - X.mean(axis=0)) / X.std(axis=0))


def data_sets() -> dict[str, tuple[Array, int]]:
    """Name → (matrix, number of components)."""
    rng = np.random.default_rng(0)
    low = rng.standard_normal((500, 5)) @ rng.standard_normal((5, 200))
    decaying = rng.standard_normal((400, 100)) * np.arange(1, 101) ** -0.7 @ rng.standard_normal((100, 300))
    return {
        "low rank, 20 dB": (low + 0.22 * rng.standard_normal(low.shape), 5),
        "low rank, 0 dB": (low + 2.2 * rng.standard_normal(low.shape), 5),
        "decaying spectrum": (decaying, 20),
        "wide, decaying": (decaying.T @ decaying[:, :64] / 20, 12),
        "breast cancer": (standardised(load_breast_cancer().data), 5),
        "wine": (standardised(load_wine().data), 3),
        "diabetes": (standardised(load_diabetes().data), 3),
    }


def held_out_error(X: Array, r: int, seeds: Iterable[int] = range(5), covariance: str = "shared") -> float:
    """RMSE over 20% held-out entries, relative to their own root mean square; one automatic pass.

    "shared" is the paper's filter, "counted" the default.
    """
    errors = []
    for seed in seeds:
        held = np.random.default_rng(seed).random(X.shape) < 0.2
        data = np.where(held, np.nan, X)
        data = data[~np.isnan(data).all(axis=1)]
        model = DictionaryFilter(r, covariance=covariance, scale=covariance == "counted", random_state=seed).fit(data)
        filled = model.impute(np.where(held, np.nan, X))
        errors.append(np.sqrt(np.mean((filled - X)[held] ** 2) / np.mean(X[held] ** 2)))
    return float(np.mean(errors))


def print_table(heading: str, results: dict[str, Array], names: Iterable[str]) -> None:
    """One line per setting: its error on every data set, relative to the best setting there."""
    names = list(names)
    best = np.min(list(results.values()), axis=0)
    print(f"{heading}  mean   " + "  ".join(names))
    for setting, errors in results.items():
        ratios = errors / best
        cells = "  ".join(f"{v:^{len(name)}.3f}" for v, name in zip(ratios, names, strict=True))
        print(f"{setting:^{len(heading)}}  {ratios.mean():.3f}  {cells}")
    print()


def main() -> None:
    """Print the error of every setting on every data set, relative to the best setting."""
    sets = data_sets()

    def errors() -> Array:
        return np.array([held_out_error(X, r) for X, r in sets.values()])

    before = starting.NOISE_SHARE, starting.START_SHARE, _filter_run.MIN_OBSERVED
    by_share, by_entries = {}, {}
    for noise in NOISE_SHARES:
        for start in START_SHARES:
            starting.NOISE_SHARE, starting.START_SHARE = noise, start
            by_share[f"{noise} / {start}"] = errors()
    starting.NOISE_SHARE, starting.START_SHARE, _ = before
    for entries in MIN_OBSERVED:
        _filter_run.MIN_OBSERVED = entries
        by_entries[str(entries)] = errors()
    _filter_run.MIN_OBSERVED = before[2]
    print_table("noise share / start share", by_share, sets)
    print_table("observed entries per component", by_entries, sets)


if __name__ == "__main__":
    main()
