"""Rows folded to a period come back, wherever they begin and end."""

from __future__ import annotations

import numpy as np
import pytest

from factorstream.core.dynamics.seasons.folding import fold, unfold


@pytest.mark.parametrize("T", [1, 5, 6, 7, 20])
@pytest.mark.parametrize("place", [0, 1, 5])
@pytest.mark.parametrize("m", [1, 3])
def test_folded_rows_come_back(rng, T, place, m):
    Y = rng.normal(size=(T, m))
    Y[rng.random(Y.shape) < 0.2] = np.nan
    long = fold(Y, 6, place)
    assert long.shape == (-(-(place + T) // 6), 6 * m)
    np.testing.assert_array_equal(unfold(long, 6, T, place), Y)
    assert np.isfinite(long).sum() == np.isfinite(Y).sum()


def test_a_row_is_a_part_of_a_long_row():
    Y = np.arange(10.0).reshape(5, 2)
    long = fold(Y, 3, 1)
    np.testing.assert_array_equal(long, [[np.nan, np.nan, 0, 1, 2, 3], [4, 5, 6, 7, 8, 9]])
    long[0, 2] = 100.0
    assert Y[0, 0] == 0.0  # a copy
