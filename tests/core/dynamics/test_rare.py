"""How rare scores are, under a normal law and under longer tails."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from factorstream.core.dynamics import rare
from factorstream.core.dynamics.rare import Rare, add_tail, rarity, surprise


def test_the_surprise_of_a_normal_law_and_its_mean_logarithm():
    z = np.array([0.0, -1.0, 2.0, 30.0])
    np.testing.assert_allclose(surprise(z), [0.0, *(-np.log(2) - norm.logsf(z[1:] * [-1, 1, 1]))], atol=1e-12)
    mean = quad(lambda t: np.log(t / 2) * norm.pdf(t), 2, 30)[0] / norm.sf(2)
    assert pytest.approx(mean, rel=1e-6) == rare.NORMAL_HILL


@pytest.mark.parametrize("law", ["normal", "t"])
def test_scores_are_as_rare_as_it_says(law):
    """One in 1000 is to have a rarity of log 1000; counted are 30,000 scores, the standard error is 18%."""
    rng, r, n, count = np.random.default_rng(0), Rare(), 0, 0
    for t in range(4000):
        z = rng.normal(size=10) if law == "normal" else rng.standard_t(2.0, size=10)
        if t >= 1000:
            n, count = n + 10, count + int((rarity(r, z) > np.log(1000)).sum())
        r = add_tail(r, z)
    assert 0.4 < count / n * 1000 < 1.7
    if law == "t":
        assert rarity(r, np.array([6.0]))[0] < surprise(np.array([6.0]))[0] / 2


def test_one_outlier_makes_no_tail_long():
    r = add_tail(Rare(), np.array([100.0]))
    assert rarity(r, np.array([5.0]))[0] == pytest.approx(surprise(np.array([5.0]))[0], abs=0.1)
    assert rarity(r, np.array([np.nan]))[0] <= 0.0
