"""Location and scale that outliers do not move."""

from __future__ import annotations

import numpy as np
import pytest

from factorstream.core.robust_scale import mad_scale, median_and_scale


def test_scale_of_normal_values_with_outliers():
    rng = np.random.default_rng(0)
    values = 5.0 + 2.0 * rng.standard_normal(20_000)
    values[:200] = 1e9
    middle, scale = median_and_scale(values)
    assert middle == pytest.approx(5.0, abs=0.1)
    assert scale == pytest.approx(2.0, rel=0.03)
    assert mad_scale(values - middle) == scale


def test_nothing_has_no_scale():
    assert mad_scale(np.zeros(0)) == 0.0
    assert median_and_scale(np.zeros(0)) == (0.0, 0.0)
