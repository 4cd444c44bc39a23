"""The Gram matrix of a sample's observed entries."""

from __future__ import annotations

import numpy as np
import pytest

from factorstream.core.filter.masked import observed_gram
from factorstream.core.place import HERE
from split_place import SPLIT

PLACES = [HERE, SPLIT]


def gram_at(place, C, G, missing):
    """``observed_gram`` with the features at ``place``."""
    missing_idx = place.each(np.flatnonzero, place.put(missing, 0))
    return observed_gram(place, place.put(C, 0), G, missing_idx, int(missing.sum()), len(C))


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("n_missing", [0, 1, 3, 9, 10, 11, 15, 19, 20])
def test_observed_gram_reads_the_fewer_rows_only(rng, n_missing, place):
    """What it must not read is wiped out; NaN would not do, since a subtraction that fails is done over."""
    m, r = 20, 3
    C = rng.standard_normal((m, r))
    G = C.T @ C
    missing = np.zeros(m, dtype=bool)
    missing[rng.permutation(m)[:n_missing]] = True
    expected = C[~missing].T @ C[~missing]
    wiped = C.copy()
    wiped[~missing if 2 * n_missing < m else missing] = 0.0
    np.testing.assert_allclose(gram_at(place, wiped, G, missing), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("huge", [1.0, 1e3, 1e5, 1e7, 1e9, 1e12])
@pytest.mark.parametrize("column", [None, 1])
def test_gram_without_a_feature_of_huge_scale(rng, huge, column, place):
    """G − (missing part) would keep nothing but rounding; with ``column``, in one of its directions only."""
    m, r = 30, 3
    C = rng.standard_normal((m, r))
    if column is None:
        C[4] *= huge
    else:
        C[4, column] *= huge
    missing = np.arange(m) == 4
    exact = C[~missing].T @ C[~missing]
    size = np.sqrt(np.outer(exact.diagonal(), exact.diagonal()))
    assert np.abs((gram_at(place, C, C.T @ C, missing) - exact) / size).max() < 1e-8
