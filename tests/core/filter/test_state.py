"""The weights of the running moments."""

from __future__ import annotations

import numpy as np
import pytest

from factorstream.core.filter.state import sample_weight


def test_samples_are_weighted_by_their_numbers(rng):
    """The start has weight 1, sample j (from 1 on) weight j + 1."""
    values, mean = rng.standard_normal(20), 3.0
    for k, value in enumerate(values):
        mean += sample_weight(k) * (value - mean)
    weights = np.arange(1.0, 22.0)
    assert mean == pytest.approx(weights @ np.append(3.0, values) / weights.sum())
