"""Rows chosen at random while they pass."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from factorstream.estimators._chosen_rows import Chosen, chosen_rows, with_more


def chosen(X, size, most):
    found = Chosen(most)
    for first in range(0, X.shape[0], size):
        found = with_more(found, X[first : first + size], first)
    return found


@pytest.mark.parametrize("size", [1, 7, 100, 1000])
@pytest.mark.parametrize("most", [30, 100])
def test_the_rows_with_the_least_random_numbers_stay(size, most):
    X = np.arange(1000.0)[:, None]
    numbers, below = np.random.default_rng(0).random(1000), 1.0
    while np.sum(numbers < below) > most:
        below /= 2
    found = chosen(X, size, most)
    assert_array_equal(chosen_rows(found), X[numbers < below])
    assert not found.all


def test_few_rows_all_stay():
    X = np.arange(20.0)[:, None]
    found = chosen(X, 6, 20)
    assert found.all
    assert_array_equal(chosen_rows(found), X)


def test_sparse_rows():
    X = sparse.csr_array(np.arange(1.0, 201.0).reshape(100, 2))
    assert_array_equal(chosen_rows(chosen(X, 9, 40)).toarray(), chosen_rows(chosen(X.toarray(), 100, 40)))
