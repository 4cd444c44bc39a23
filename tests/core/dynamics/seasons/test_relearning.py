"""Layers that a stream learns a piece at a time are those that are learned at once."""

from __future__ import annotations

import numpy as np
import pytest

from factorstream.core.dynamics.noise import GaussianSpec, LearnedStudentSpec
from factorstream.core.dynamics.seasons import relearning
from factorstream.core.dynamics.seasons.layers import Plan, learn, restarted
from factorstream.core.dynamics.seasons.relearning import begun, further
from factorstream.core.dynamics.stream import StreamOptions
from relearning_problems import M, T, learned, season_rows


@pytest.mark.parametrize("noise", [GaussianSpec(), LearnedStudentSpec()])
def test_seasons_in_pieces_are_those_at_once(noise, monkeypatch):
    Y, opt = season_rows()[0], StreamOptions(r=2, noise=noise)
    monkeypatch.setattr(relearning, "VALUES_AT_ONCE", T)
    anew, pieces = learned(Y, (8, 24), "none", opt)
    assert pieces == 2 * M
    want, _ = learn(Y, Plan((24, 8), np.arange(0)), 2, noise, 1)
    for one, other in zip(anew.layers, restarted(want), strict=True):
        assert one.period == other.period
        for a, b in zip(
            (*one.variances, one.mean, one.d, one.columns),
            (*other.variances, other.mean, other.d, other.columns),
            strict=True,
        ):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


def test_a_long_stream_learns_from_its_last_periods():
    rng = np.random.default_rng(2)
    shape, other, t = rng.normal(size=(8, 1)), rng.normal(size=(8, 1)), np.arange(8 * 80)
    Y = np.where(t[:, None] < 8 * 16, 50.0 * other[t % 8], shape[t % 8]) + 0.1 * rng.normal(size=(len(t), 1))
    anew = begun(Y, (8,), "none")
    while not anew.learned:
        anew, _ = further(anew, Y, 1, StreamOptions(r=1), 1)
    (layer,) = anew.layers
    np.testing.assert_allclose(layer.mean - layer.mean.mean(), shape - shape.mean(), atol=0.1)
    assert layer.variances.R[0] < 0.02
