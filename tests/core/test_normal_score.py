"""Scores that are about N(0, 1) whatever the number of values."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2, norm

from factorstream.core.normal_score import normal_score


@pytest.mark.parametrize("n", [1, 2, 6, 40])
def test_probabilities_are_those_of_the_normal_law(n):
    p = np.array([0.5, 0.1, 0.01, 0.001])
    np.testing.assert_allclose(norm.sf(normal_score(chi2.isf(p, n), n)), p, rtol=0.25, atol=0.02)
    assert normal_score(float(n), n) == pytest.approx(normal_score(np.array([float(n)]), np.array([n]))[0])
    assert normal_score(np.inf, n) == np.inf
