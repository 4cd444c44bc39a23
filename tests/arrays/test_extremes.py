"""The least and the greatest entry of every column."""

from __future__ import annotations

import array_api_strict
import numpy as np
import pytest

from factorstream.arrays import least_and_greatest, to_host


@pytest.mark.parametrize("n", [0, 1, 7])
@pytest.mark.parametrize("gaps", [0.0, 0.5, 1.0])
def test_missing_entries_do_not_count(rng, n, gaps):
    values = rng.normal(size=(n, 5))
    values[rng.random(values.shape) < gaps] = np.nan
    low, high = map(to_host, least_and_greatest(array_api_strict.asarray(values)))
    np.testing.assert_array_equal(low, np.fmin.reduce(values, axis=0, initial=np.inf))
    np.testing.assert_array_equal(high, np.fmax.reduce(values, axis=0, initial=-np.inf))
