"""Hampel's rule."""

from __future__ import annotations

import numpy as np

from factorstream.core.dynamics.spikes import without_spikes


def test_spikes_are_left_out_of_a_start_and_nothing_else():
    rng = np.random.default_rng(1)
    Y = np.cumsum(rng.normal(size=(400, 3)), axis=0)
    Y[200:, 0] += 50.0  # a step is no spike
    Y[:, 1] = 7.0  # nor is a constant
    Y[100, 1] = 8.0
    Y[50, 2], Y[300, 2], Y[10:20, 2] = 1e6, -1e6, np.nan
    kept = without_spikes(Y)
    lost = np.isnan(kept) & ~np.isnan(Y)
    assert lost[50, 2]
    assert lost[300, 2]
    assert not lost[:, 1].any()
    assert not lost[200:204, 0].any()
    assert lost.mean() < 0.01  # the walk's own largest steps
    np.testing.assert_array_equal(without_spikes(Y[48:53]), Y[48:53])  # too few rows to tell
    assert np.isnan(without_spikes(np.full((9, 2), np.nan))).all()
