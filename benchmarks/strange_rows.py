"""How many components find strange rows best, with gaps too? ``python -m benchmarks.strange_rows``.

The benign rows of the breast cancer data, and 20 malignant ones that are drawn at random, are scored as
``factorstream detect`` scores them: a `DictionaryFilter` is fitted to all of them, and `row_scores` compares each with
the likeliest row. The area under the ROC curve says how far the malignant ones come first: 1 is perfect, 0.5 is chance.
A second table has gaps: of every other row, in the mean, one value in five is known. There the log-density per known
value stands beside the score: it finds rows by their gaps.
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score

from factorstream import DictionaryFilter
from factorstream.cores import limited
from factorstream.jobs.strangeness import row_scores

MALIGNANT = 20
COMPONENTS = (1, 3, 5, 10, 15)
SEEDS = 5
"""Draws of the malignant rows."""


def areas(n_components: int, seed: int, *, gaps: bool) -> tuple[float, float]:
    """Areas under the curve for one draw: by scores, and by log-densities per known value."""
    rng = np.random.default_rng(seed)
    data = load_breast_cancer()
    drawn = rng.choice(np.flatnonzero(data.target == 0), MALIGNANT, replace=False)
    rows = rng.permutation(np.concatenate([np.flatnonzero(data.target == 1), drawn]))
    X = data.data[rows].copy()
    if gaps:
        sparse = rng.random((len(X), 1)) < 0.5
        X[sparse & (rng.random(X.shape) < 0.8)] = np.nan
    known = ~np.isnan(X)
    with limited(1):
        model = DictionaryFilter(n_components, random_state=0).fit(X)
        by = row_scores(model, X), -model.score_samples(X) / np.maximum(known.sum(axis=1), 1)
    some = known.any(axis=1)
    score, density = (float(roc_auc_score(data.target[rows][some] == 0, one[some])) for one in by)
    return score, density


def main() -> None:
    """Print a line for every number of components, without gaps and with them."""
    for gaps in (False, True):
        which = "With gaps" if gaps else "Without gaps"
        print(f"{which}: area under the curve by score: mean, least, greatest; by density: mean")
        for n_components in COMPONENTS:
            score, density = zip(*(areas(n_components, seed, gaps=gaps) for seed in range(SEEDS)), strict=True)
            print(
                f"{n_components:10d}  {np.mean(score):.3f}  {min(score):.3f}  {max(score):.3f}  {np.mean(density):.3f}"
            )


if __name__ == "__main__":
    main()
