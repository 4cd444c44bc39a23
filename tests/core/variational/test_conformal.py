"""Calibration on hidden entries."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t as student

from factorstream.core.variational.conformal import (
    CalibrationError,
    Scores,
    borrowed_gaps,
    calibrate,
    half_width,
    model_half_width,
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


KNOWN = np.array([np.inf])
"""A feature whose noise variance is known."""


def test_half_width():
    away = np.sort(np.abs(np.random.default_rng(0).normal(size=20000)) * 1.5)
    scores = Scores(away, np.full(20000, np.inf))
    few = Scores(away[:400] * 1e-3, scores.freedom[:400])
    assert half_width(scores, KNOWN, 0.95) == pytest.approx(1.5 * 1.96, rel=0.04)
    assert half_width(few, KNOWN, 0.95) == model_half_width(KNOWN, 0.95)
    with pytest.raises(CalibrationError, match="too few"):
        half_width(Scores(away[:10], scores.freedom[:10]), KNOWN, 0.95)
    for level in (0.0, 1.0, -1.0, np.nan):
        with pytest.raises(ValueError, match="between 0 and 1"):
            half_width(scores, KNOWN, level)


def test_calibration_multiplies_the_width_of_every_features_own_law():
    """Hidden entries as far off as their Student-t laws say change nothing; 1.5 times as far widen all alike."""
    rng = np.random.default_rng(0)
    freedom = np.repeat([2.0, 8.0, np.inf], 10000)
    away = np.abs(rng.normal(size=30000))
    away[:20000] /= np.sqrt(rng.chisquare(freedom[:20000]) / freedom[:20000])
    asked = np.array([2.0, 30.0, np.inf])
    for factor in (1.0, 1.5):
        found = half_width(Scores(factor * away, freedom), asked, 0.95)
        np.testing.assert_allclose(found, factor * student.ppf(0.975, asked), rtol=0.02)


def test_temper_stays_one_on_model_data():
    rng, Y, W = problem(19, n=300, m=60, r=4)
    hidden = borrowed_gaps(W > 0, 0.05, rng)
    kept = np.where(hidden, 0.0, W)
    data = observations(Y, kept)
    found = calibrate(data, hidden, fit(data, FitOptions(r=4)).factors, np.full(60, np.inf))
    assert found.temper == 1.0
    assert found.scores.away.size == hidden.sum()
    assert np.all(np.diff(found.scores.away) >= 0)
    assert half_width(found.scores, KNOWN, 0.95) == pytest.approx(1.96, rel=0.12)
