"""Widths of forecasts that learn from what came."""

from __future__ import annotations

import numpy as np
import pytest

from factorstream.core.dynamics.seasons.tracking import EVERY, RATE, Forecast, compared


@pytest.mark.parametrize("true", [0.4, 1.0, 2.5])
def test_intervals_come_to_hold_what_they_should(rng, true):
    steps, widths, forecasts, held = 8, np.ones((4, 1)), (), []
    for t in range(6000):
        y = true * rng.normal(size=1)
        if t > 2000 and forecasts:
            k = min((forecasts[0].age + 1).bit_length(), 4) - 1
            held.append(abs(y[0]) <= 1.96 * widths[k, 0])
        widths, forecasts = compared(widths, forecasts, y)
        if t % (steps // EVERY) == 0:
            forecasts = (*forecasts, Forecast(np.zeros((steps, 1)), np.ones((steps, 1))))
    assert 0.93 < np.mean(held) < 0.97
    np.testing.assert_allclose(widths, true, rtol=0.4)
    assert len(forecasts) <= EVERY


def test_one_row_moves_what_it_tells_of(rng):
    forecast = Forecast(np.zeros((6, 2)), np.ones((6, 2)), age=4)  # the fifth step is in the third doubling: 4 to 6
    widths, left = compared(np.ones((3, 2)), [forecast], np.array([10.0, np.nan]))
    np.testing.assert_array_equal(widths[:2], 1.0)
    assert widths[2, 0] == pytest.approx(np.exp(RATE / 3 * 0.95))
    assert widths[2, 1] == 1.0
    assert [one.age for one in left] == [5]
    assert compared(widths, left, np.zeros(2))[1] == ()


def test_doublings_that_are_learned_elsewhere_stay():
    forecast = Forecast(np.zeros((6, 1)), np.ones((6, 1)))
    widths, left = np.ones((3, 1)), (forecast,)
    for _ in range(6):
        widths, left = compared(widths, left, np.full(1, 10.0), 2)
    np.testing.assert_array_equal(widths[:2], 1.0)
    assert widths[2, 0] > 1.2
    assert left == ()
