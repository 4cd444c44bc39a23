"""A stream that goes on under Student-t noise."""

from __future__ import annotations

import numpy as np

from factorstream.core.dynamics.heavier import with_heavy_tails
from factorstream.core.dynamics.learning import advance
from factorstream.core.dynamics.noise import LearnedStudentSpec, StudentNoise
from factorstream.core.dynamics.stream import StreamOptions, new_stream
from factorstream.core.dynamics.tails import begin_tails


def test_candidates_get_the_spread_of_their_median_errors_and_go_on():
    rng = np.random.default_rng(0)
    opt, stream = StreamOptions(r=1, sweeps=2), new_stream(3)
    for y in rng.normal(size=(60, 3)):
        stream, _ = advance(stream, y, opt)
    usual = np.array([0.1, np.nan, 100.0])
    after = with_heavy_tails(stream, LearnedStudentSpec(), begin_tails(3)._replace(usual=usual))
    assert after.job is None
    for old, new in zip(stream.bank, after.bank, strict=True):
        R, noise = old.fitted.model.noise.R, new.fitted.model.noise
        assert isinstance(noise, StudentNoise)
        np.testing.assert_allclose(noise.R, [max(0.14826**2, 0.01 * R[0]), R[1], R[2]], rtol=1e-3)
    opt = opt._replace(noise=LearnedStudentSpec())
    for y in rng.normal(size=(40, 3)):
        after, event = advance(after, y, opt)
        assert np.isfinite(event.innovation.logp)
    assert all(isinstance(c.fitted.model.noise, StudentNoise) for c in after.bank)
