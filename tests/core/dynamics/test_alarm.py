"""The alarm rule: soon after a change, at the rate asked for otherwise."""

from __future__ import annotations

import numpy as np
import pytest

from dynamics_problems import draw, make
from factorstream.core.dynamics.alarm import Alarm, threshold, watch
from factorstream.core.dynamics.filter import filter_rows


def test_alarm_fires_on_a_change_and_seldom_before():
    model = make(4, m=8, r=2)
    early, late = 0, 0
    for seed in range(10):
        _, _, _, Y = draw(model, 600, seed)
        Y[400:] += 2.0 * np.sqrt(model.noise.R) * np.sign(np.arange(8) - 3.5)
        _, infos = filter_rows(model, Y)
        a = Alarm()
        fired = []
        for t, info in enumerate(infos):
            a, now = watch(a, info, h=10.0)
            fired += [t] if now.fired else []
        early += sum(t < 400 for t in fired)
        late += any(400 <= t < 440 for t in fired)
    assert early <= 1
    assert late >= 9


@pytest.mark.parametrize("rate", [1e-2, 1e-3])
def test_false_alarms_of_gaussian_innovations_come_at_the_rate_asked_for(rate):
    """200,000 rows; Siegmund's approximation and the running standardisation together are within a factor of 1.6."""
    rng = np.random.default_rng(0)
    template = filter_rows(make(0, m=5), np.zeros((1, 5)))[1][0]
    alarm, count, h = Alarm(), 0, threshold(rate)
    for chi2 in rng.chisquare(20, 200_000):
        alarm, now = watch(alarm, template._replace(n_obs=20, chi2=chi2), h)
        count += now.fired
    assert 1 / 1.6 < count / 200_000 / rate < 1.6
