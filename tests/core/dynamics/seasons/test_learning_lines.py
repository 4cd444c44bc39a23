"""Trends and coefficients that a stream learns a piece at a time are those that are learned at once."""

from __future__ import annotations

import numpy as np
import pytest

from factorstream.core.dynamics.noise import GaussianSpec, LearnedStudentSpec
from factorstream.core.dynamics.seasons.layers import Plan, learn
from factorstream.core.dynamics.seasons.trends import TrendLayer
from factorstream.core.dynamics.stream import StreamOptions
from relearning_problems import M, learned, season_rows


@pytest.mark.parametrize("noise", [GaussianSpec(), LearnedStudentSpec()])
@pytest.mark.parametrize("periods", [(), (8,)])
def test_trends_and_coefficients_in_pieces_are_those_at_once(noise, periods):
    rows = season_rows()
    W, opt = np.hstack(rows), StreamOptions(r=2, noise=noise)
    anew, _ = learned(W, periods, "asked", opt)
    want = learn(rows[0], Plan(periods, np.arange(0), np.ones(M), rows[1]), 2, noise, 1)[0][-1]
    got = anew.layers[-1]
    assert isinstance(got, TrendLayer)
    assert isinstance(want, TrendLayer)
    for a, b in zip(
        (*got.variances, got.shift, got.scale, got.running.A),
        (*want.variances, want.shift, want.scale, want.running.A),
        strict=True,
    ):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(got.slope[0], 0.1, atol=0.05)
