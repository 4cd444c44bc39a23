"""The units in which a sequence is modelled."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtri

from factorstream.core.dynamics.noise import LearnedStudentSpec
from factorstream.core.dynamics.scale import standards, student_factor


def test_standards_survive_columns_of_any_size():
    Y = np.array([[1e300, 1.0, 5.0, np.nan], [-1e300, 2.0, 5.0, np.nan], [1e300, 3.0, 5.0, np.nan]])
    shift, scale = standards(Y)
    assert np.isfinite((Y - shift)[:, :3] / scale[:3]).all()
    assert shift[1] == 2.0
    assert shift[2] == 5.0
    assert (scale > 0).all()
    assert np.array_equal(standards(Y[:1, 1:3])[1], [1.0, 5.0])  # one row: the size of the values


@pytest.mark.parametrize("n", [2, 4, 10, 40])
def test_few_values_of_a_feature_ask_for_students_quantile(n):
    """One more value lies within so many standard deviations of the mean of n, whose spread is their own."""
    rng = np.random.default_rng(n)
    values = rng.normal(size=(100_000, n + 1))
    mean, sd = values[:, :n].mean(1), values[:, :n].std(1, ddof=1) * np.sqrt(1 + 1 / n)
    for held in (0.5, 0.95):
        width = student_factor(np.array(n), held) * ndtri((1 + held) / 2) * sd
        assert (np.abs(values[:, n] - mean) < width).mean() == pytest.approx(held, abs=0.006)


def test_one_value_has_no_spread():
    factor = student_factor(np.array([0.0, 1.0, 2.0, np.inf]))
    np.testing.assert_allclose(factor, [np.inf, np.inf, 6.482877, 1.0], rtol=1e-6)


def test_a_borrowed_spread_is_no_rounding_of_the_values():
    """Few huge values beside small ones: in units of the small ones' spread they would have no squares."""
    Y = np.array([[1.0, 0.0, np.nan, 3.0], [2.0, 1e77, np.nan, np.nan], [3.0, np.nan, np.nan, np.nan]])
    for size in (1.0, 1e-20):
        shift, scale = standards(size * Y)
        assert np.nanmax(np.abs((size * Y - shift) / scale)) < 1e13
        np.testing.assert_allclose(scale[2:], scale[0])  # without values, and with ordinary ones: as it was


def test_single_precision_has_a_median_as_well():
    """Spikes are looked for in double precision: the middle two of float32 values may have no sum."""
    Y = np.array([[3e38], [2.9e38], [3e38], [2.8e38], [3e38], [2.9e38]], dtype=np.float32)
    mean, sd = standards(Y, LearnedStudentSpec())
    np.testing.assert_allclose(mean, 2.93e38, rtol=0.01)
    assert np.isfinite(sd).all()
