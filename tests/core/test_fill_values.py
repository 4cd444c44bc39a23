"""Fill values are known by their size, rounded or not."""

from __future__ import annotations

import numpy as np
import pytest

from factorstream.core.fill_values import FILL_VALUES, is_fill, is_huge_fill, meaning


@pytest.mark.parametrize("size", FILL_VALUES)
def test_every_fill_value_is_known_in_both_signs_and_precisions(size):
    for value in (size, -size, *([np.float32(size)] if size < 3.5e38 else [])):
        assert is_fill(value)
        assert meaning(float(value)) == FILL_VALUES[size]


def test_other_numbers_are_not():
    values = np.array([0.0, 1.0, -37.2, 998.0, 9998.0, 1.1e20, 1e38, 5e-324, 1e308])
    assert not is_fill(values).any()
    assert meaning(37.2) is None
    assert is_huge_fill(np.array([1e20, 9999.0])).tolist() == [True, False]
