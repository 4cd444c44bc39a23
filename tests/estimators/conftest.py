"""Fixtures shared by the tests of the estimators."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture
def problem(rng):
    """Rows of two factors in eight features, the same with gaps, and where the gaps are."""
    X = rng.standard_normal((150, 2)) @ rng.standard_normal((2, 8)) + 0.2 * rng.standard_normal((150, 8)) + 3.0
    gaps = rng.random(X.shape) < 0.2
    return X, np.where(gaps, np.nan, X), gaps
