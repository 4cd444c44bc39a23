"""Trees for what a factorisation leaves, grown by scikit-learn and kept as arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn import config_context

from ..core.linalg import Array
from ..core.tables.forest import Forest, joined

TREES, FOLDS = 10, 5
"""Trees, and the parts that rows are divided into: every tree is grown without one of them, so that every row has
TREES / FOLDS trees that do not know it. Not tuned: 20 trees lower the error of filled entries by 0.3% over 40 real
tables in twice the time."""

LEAF = 3
"""Least rows of a leaf. Not tuned: the error of filled entries grows by 0.6% with 5."""

COMPARED = 12
"""Features that are tried at a split, at most. Not tuned: all of those that most tables have."""


GRID = 2.0**-20
"""What targets are rounded to, so that sums of them are exact and rounding never decides between two equally good
splits. Derived: a millionth of a standard deviation."""


class GrownForest(NamedTuple):
    """Trees, what they say of the rows that they were grown without, and the noise in that."""

    forest: Forest
    left_out: Array  # (n, t)
    noise: Array  # (t,) variance of ``left_out`` that the mean over all trees does not have


def grow(G: Array, Y: Array, rng: np.random.Generator) -> GrownForest:
    """Grow trees for targets Y (n, t) of features G (n, p): extremely randomised ones."""
    from sklearn.tree import ExtraTreeRegressor  # its import takes time, and few need it

    n, p = G.shape
    G, Y = np.ascontiguousarray(G, dtype=np.float32), np.ascontiguousarray(np.round(Y / GRID) * GRID)
    fold = rng.permutation(n) % FOLDS
    seeds = rng.integers(2**31 - 1, size=TREES)
    trees, said = [], np.zeros((TREES // FOLDS, n, Y.shape[1]))
    with config_context(skip_parameter_validation=True):
        for k in range(TREES):
            away = fold == k % FOLDS
            grown = ExtraTreeRegressor(
                min_samples_leaf=LEAF, max_features=min(1.0, COMPARED / p), random_state=int(seeds[k])
            ).fit(G[~away], Y[~away], check_input=False)
            trees.append(_arrays(grown.tree_))
            said[k // FOLDS, away] = grown.tree_.predict(G[away]).reshape(-1, Y.shape[1])
    of_one = said.var(axis=0, ddof=1).mean(axis=0)
    return GrownForest(joined(trees), said.mean(axis=0), of_one * (1.0 / len(said) - 1.0 / TREES))


def _arrays(tree: Any) -> Forest:
    """A tree of scikit-learn, whose leaves have the child -1, as arrays."""
    leaf = tree.children_left < 0
    here = np.arange(tree.node_count)
    left, right = (np.where(leaf, here, child) for child in (tree.children_left, tree.children_right))
    feature, threshold = np.where(leaf, 0, tree.feature), np.where(leaf, 0.0, tree.threshold)
    return Forest(np.zeros(1, dtype=np.int64), feature, threshold, left, right, tree.value[:, :, 0])
