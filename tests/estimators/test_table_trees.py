"""Trees as arrays, beside those of scikit-learn."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.tree import ExtraTreeRegressor

from factorstream.core.tables.forest import forest_values, joined
from factorstream.estimators import _table_trees
from factorstream.estimators._table_trees import FOLDS, TREES, grow


def test_arrays_say_what_the_trees_say(rng):
    G, Y, new = rng.standard_normal((200, 4)), rng.standard_normal((200, 2)), rng.standard_normal((50, 4))
    trees = [ExtraTreeRegressor(min_samples_leaf=2, random_state=k).fit(G, Y) for k in range(3)]
    forest = joined([_table_trees._arrays(tree.tree_) for tree in trees])
    assert_allclose(forest_values(forest, new), np.mean([tree.predict(new) for tree in trees], axis=0))
    assert forest_values(forest, new[:0]).shape == (0, 2)


def test_rows_are_told_by_trees_that_do_not_know_them(rng):
    """Of targets without any rule, trees that know a row say something near its target, others nothing."""
    G, Y = rng.standard_normal((300, 3)), rng.standard_normal((300, 2))
    grown = grow(G, Y, np.random.default_rng(0))
    assert len(grown.forest.roots) == TREES
    assert np.corrcoef(forest_values(grown.forest, G)[:, 0], Y[:, 0])[0, 1] > 0.5
    assert abs(np.corrcoef(grown.left_out[:, 0], Y[:, 0])[0, 1]) < 0.2
    again = [grow(G, Y, np.random.default_rng(k)).left_out for k in range(1, 30)]
    of_means = np.var(again, axis=0, ddof=1).mean(axis=0)  # of TREES / FOLDS trees; the mean over all has less
    assert_allclose(grown.noise, of_means * (1 - 1 / FOLDS), rtol=0.25)


def test_rounding_does_not_choose_a_split(rng):
    """Two features with the same order divide rows alike; which of them is taken must not depend on rounding."""
    G = rng.standard_normal((200, 2))
    G, Y = np.column_stack([G, np.exp(G[:, 0])]), np.column_stack([np.sin(3 * G[:, 0]), G[:, 1]])
    one = grow(G, Y, np.random.default_rng(0))
    other = grow(G, Y * (1.0 + 1e-15), np.random.default_rng(0))
    for part, same in zip(one.forest, other.forest, strict=True):
        assert_array_equal(part, same)
