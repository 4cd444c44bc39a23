"""Periods found in rows."""

from __future__ import annotations

import numpy as np
import pytest

from factorstream.core.dynamics.seasons.finding import autocorrelation, candidates_in, found_periods
from factorstream.core.dynamics.stream import StreamOptions


def test_autocorrelation_is_that_of_observed_pairs(rng):
    D = rng.normal(size=(40, 2)).cumsum(0)
    D[rng.random(D.shape) < 0.2] = np.nan
    naive = np.zeros(11)
    for d in D.T:
        z = (d - np.nanmean(d)) / np.nanstd(d)
        naive += [np.nanmean(z[h:] * z[: len(z) - h]) / 2 for h in range(11)]
    np.testing.assert_allclose(autocorrelation(D, 10), naive, atol=1e-12)


@pytest.mark.parametrize("periods", [(7,), (12,), (6, 30)])
def test_periods_are_found(rng, periods):
    t = np.arange(12 * periods[-1])
    Y = 0.3 * rng.normal(size=(len(t), 2)) + 0.02 * t[:, None]
    for P, strength in zip(periods, (2.0, 1.0), strict=False):  # a longer period is the weaker one, as weeks often are
        Y += strength * rng.normal(size=(P, 2))[t % P]
    Y[rng.random(Y.shape) < 0.1] = np.nan
    found = found_periods(Y, StreamOptions())
    assert found[0] == periods[-1]
    assert set(periods) <= set(found)
    assert all(found[0] % P == 0 for P in found)  # half a period may show as well: parts of it can be alike
    assert found_periods(Y, StreamOptions(), [5, periods[0], 1000]) == (periods[0],)


def test_nothing_is_found_where_nothing_is(rng):
    noise = rng.normal(size=(300, 2))
    for Y in (noise, noise.cumsum(0), noise[:3], np.ones((50, 1)), np.full((50, 1), np.nan)):
        assert candidates_in(Y) == ()
        assert found_periods(Y, StreamOptions()) == ()
    assert found_periods(noise, StreamOptions(), [7, 24]) == ()
