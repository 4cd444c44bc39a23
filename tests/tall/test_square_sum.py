"""The quickest pass over the numbers, and what it must say nothing about."""

from __future__ import annotations

import numpy as np
import pytest

from factorstream.tall.local import has_gaps, square_sum


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_square_sum(dtype):
    Y = np.random.default_rng(0).standard_normal((5, 7)).astype(dtype)
    for part in (Y, Y.T, Y[::2, ::3], Y[:0], Y[:, :0]):
        assert square_sum(part) == pytest.approx(float((part.astype(np.float64) ** 2).sum()), rel=1e-5)
    assert square_sum(np.full((2, 2), np.finfo(dtype).max)) == np.inf  # without a warning
    assert not has_gaps(Y)
    Y[3, 2] = np.nan
    assert has_gaps(Y)
    assert has_gaps(Y[::3, ::2])
