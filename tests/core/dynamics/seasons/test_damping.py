"""Which features have a trend."""

from __future__ import annotations

import numpy as np

from factorstream.core.dynamics.noise import GaussianSpec
from factorstream.core.dynamics.seasons.damping import DAMPINGS, dampings, judged_steps, roots
from factorstream.core.dynamics.seasons.judge import trends_of
from factorstream.core.dynamics.seasons.layers import Plan
from factorstream.core.dynamics.stream import StreamOptions

OPTIONS = StreamOptions(2)


def test_lines_have_trends_and_noise_has_none(rng):
    t = np.arange(300)
    Y = np.column_stack([0.3 * t + rng.normal(size=300), rng.normal(size=300), rng.normal(size=(300, 8)).cumsum(0)])
    Y[rng.random(Y.shape) < 0.1] = np.nan
    found = trends_of(Y, (), OPTIONS, auto=True)
    assert found[0] in DAMPINGS
    assert np.isnan(found[1])
    assert np.isnan(found[2:]).sum() >= 6  # a walk may have gone one way in the last third by chance
    forced = trends_of(Y, (), OPTIONS, auto=False)
    assert np.isin(forced, DAMPINGS).all()


def test_few_rows_say_nothing():
    Y = np.arange(20.0)[:, None]
    plan = Plan((), np.arange(0))
    assert np.isnan(dampings(Y, plan, OPTIONS, 10, auto=True)).all()
    np.testing.assert_array_equal(dampings(Y, plan, OPTIONS, 10, auto=False), 1.0)


def test_a_slope_that_fades_is_damped(rng):
    """Growth that comes and goes in twenty rows."""
    b = np.zeros(600)
    for k in range(1, 600):
        b[k] = 0.8 * b[k - 1] + rng.normal()
    found = trends_of(b.cumsum()[:, None], (), OPTIONS, auto=False)
    assert found[0] < 0.95


def test_how_far_is_judged():
    assert judged_steps(300, 200, 24, 4) == 24
    assert judged_steps(300, 200, 168, 4) == 25
    assert judged_steps(12, 8, 0, 4) == 4


def test_roots_leave_out_what_is_missing():
    loss = np.array([[4.0, np.nan], [16.0, np.nan], [np.nan, np.nan]])
    np.testing.assert_allclose(roots(loss, axis=0), [np.sqrt(10.0), np.nan])
    assert GaussianSpec().loss(np.array([2.0]))[0] == 4.0
