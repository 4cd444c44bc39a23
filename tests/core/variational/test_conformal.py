"""Calibration on hidden entries."""

from __future__ import annotations

import numpy as np
import pytest

from factorstream.core.variational.conformal import (
    CalibrationError,
    borrowed_gaps,
    calibrate,
    gaussian_half_width,
    half_width,
)
from factorstream.core.variational.fit import FitOptions, fit
from factorstream.core.variational.observed import observations
from variational_problems import problem


def test_borrowed_gaps_have_the_shape_of_gaps():
    rng = np.random.default_rng(0)
    seen = np.ones((50, 100), dtype=bool)
    for k in range(50):
        s = rng.integers(0, 80)
        seen[k, s : s + 20] = False
    hidden = borrowed_gaps(seen, 0.05, rng)
    assert not (hidden & ~seen).any()
    assert 0.04 < hidden.sum() / seen.sum() < 0.08
    for k in np.flatnonzero(hidden.any(axis=1)):
        j = np.flatnonzero(hidden[k])
        assert j.max() - j.min() < 20  # inside one borrowed run
    assert borrowed_gaps(np.ones((50, 100), dtype=bool), 0.1, rng).mean() == pytest.approx(0.1, abs=0.02)


def test_half_width():
    scores = np.sort(np.abs(np.random.default_rng(0).normal(size=20000)) * 1.5)
    assert half_width(scores, 0.95) == pytest.approx(1.5 * 1.96, rel=0.04)
    assert half_width(scores[:400] * 1e-3, 0.95) == gaussian_half_width(0.95)
    with pytest.raises(CalibrationError, match="too few"):
        half_width(scores[:10], 0.95)
    for level in (0.0, 1.0, -1.0, np.nan):
        with pytest.raises(ValueError, match="between 0 and 1"):
            half_width(scores, level)


def test_temper_stays_one_on_model_data():
    rng, Y, W = problem(19, n=300, m=60, r=4)
    hidden = borrowed_gaps(W > 0, 0.05, rng)
    kept = np.where(hidden, 0.0, W)
    data = observations(Y, kept)
    found = calibrate(data, hidden, fit(data, FitOptions(r=4)).factors)
    assert found.temper == 1.0
    assert found.scores.size == hidden.sum()
    assert half_width(found.scores, 0.95) == pytest.approx(1.96, rel=0.12)
