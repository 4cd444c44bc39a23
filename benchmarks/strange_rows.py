"""How many components find strange rows best? ``python -m benchmarks.strange_rows``.

The benign rows of the breast cancer data, and 20 malignant ones that are drawn at random, are scored as
``factorstream detect`` scores them: a `DictionaryFilter` is fitted to all of them, and a row is the stranger the lower
its log-density is. The area under the ROC curve says how far the malignant ones come first: 1 is perfect,
0.5 is chance.
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score

from factorstream import DictionaryFilter
from factorstream.cores import limited

MALIGNANT = 20
COMPONENTS = (1, 3, 5, 10, 15)
SEEDS = 5
"""Draws of the malignant rows."""


def area(n_components: int, seed: int) -> float:
    """Area under the curve for one draw."""
    rng = np.random.default_rng(seed)
    data = load_breast_cancer()
    drawn = rng.choice(np.flatnonzero(data.target == 0), MALIGNANT, replace=False)
    rows = rng.permutation(np.concatenate([np.flatnonzero(data.target == 1), drawn]))
    with limited(1):
        model = DictionaryFilter(n_components, random_state=0).fit(data.data[rows])
        return float(roc_auc_score(data.target[rows] == 0, -model.score_samples(data.data[rows])))


def main() -> None:
    """Print a line for every number of components."""
    print("components  area under the curve: mean, least, greatest")
    for n_components in COMPONENTS:
        areas = [area(n_components, seed) for seed in range(SEEDS)]
        print(f"{n_components:10d}  {np.mean(areas):.3f}  {min(areas):.3f}  {max(areas):.3f}")


if __name__ == "__main__":
    main()
