"""Whether errors ask for heavy tails."""

from __future__ import annotations

import numpy as np
import pytest

import reference_events as ref
from factorstream.core.dynamics.tails import add_errors, begin_tails, heavy


def counted(Y, mean, claimed=1.0):
    tails = begin_tails(Y.shape[1])
    for y, expected in zip(Y, mean, strict=True):
        tails = add_errors(tails, y, expected, np.full(Y.shape[1], claimed))
    return tails


def noise(nu, rng, shape):
    return rng.normal(size=shape) if nu is None else rng.standard_t(nu, size=shape)


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize(("nu", "expected"), [(None, False), (6.0, False), (2.0, True), (1.5, True)])
def test_noise_with_heavy_tails_is_told_from_other_noise_whatever_its_unit(nu, expected, unit):
    for seed in range(10):
        Y = unit * noise(nu, np.random.default_rng(seed), (400, 3))
        assert heavy(counted(Y, np.zeros_like(Y), 5 * unit)) == expected


def test_a_skewed_feature_has_outliers_on_one_side_and_no_heavy_tails():
    """Each feature on a side of its own, so that there are as many above as below."""
    for seed in range(10):
        Y = np.exp(np.random.default_rng(seed).normal(size=(400, 4))) * [1, -1, 1, -1]
        far = np.abs(Y - np.median(Y, axis=0)) > 5 * 1.5 * np.median(np.abs(Y - np.median(Y, axis=0)), axis=0)
        assert far.mean() > 0.01
        assert not heavy(counted(Y - np.median(Y, axis=0), np.zeros_like(Y)))


def test_dropouts_to_zero_are_outliers_though_they_are_on_one_side():
    for seed in range(10):
        rng = np.random.default_rng(seed)
        Y = rng.normal(size=(400, 3))
        Y[rng.random(Y.shape) < 0.03] = -20.0
        assert heavy(counted(Y, np.zeros_like(Y)))


def test_a_walk_with_heavy_steps_is_no_noise():
    """Each value is expected where the last one was, and far off it is not back with the next one."""
    for seed in range(10):
        Y = np.cumsum(np.random.default_rng(seed).standard_t(1.5, size=(400, 3)), axis=0)
        assert not heavy(counted(Y[1:], Y[:-1]))


def test_counts_are_about_those_of_the_naive_twin_that_has_seen_all_rows():
    Y = np.random.default_rng(0).standard_t(1.5, size=(1000, 4))
    Y[np.random.default_rng(1).random(Y.shape) < 0.2] = np.nan
    tails = counted(Y, np.zeros_like(Y))
    n, far, asked, back = ref.outliers_that_return(Y, np.zeros_like(Y))
    assert tails.n.sum() == n
    assert tails.far.sum() == pytest.approx(far, rel=0.2)
    assert tails.judged.sum() == pytest.approx(asked, rel=0.2)
    assert tails.back.sum() == pytest.approx(back, rel=0.2)


def test_one_outlier_and_no_data_decide_nothing():
    Y = np.random.default_rng(0).normal(size=(60, 2))
    Y[40, 0] = 100.0
    assert not heavy(counted(Y, np.zeros_like(Y)))
    assert not heavy(counted(np.full((5, 2), np.nan), np.zeros((5, 2))))
