"""Streams of rows, and the standards they are measured in."""

from __future__ import annotations

import numpy as np

from dynamics_problems import draw, make
from factorstream.core.dynamics.fit import STATES, Noise
from factorstream.core.dynamics.stream import Options, advance, new_stream, standards


def test_streams_do_not_depend_on_their_split_and_stay_bounded():
    model = make(2, m=6, r=2, level=True)
    _, _, _, Y = draw(model, 300, 2)
    opt = Options(r=2, warmup=128, window=32, sweeps=3)
    a, b = new_stream(6), new_stream(6)
    for y in Y:
        a, _ = advance(a, y, opt)
        assert len(a.window) <= 128
    for part in (Y[:7], Y[7:100], Y[100:]):
        for y in part.copy():
            b, _ = advance(b, y, opt)
    assert a.model is not None
    assert b.model is not None
    assert np.array_equal(a.model.C, b.model.C)
    assert a.refreshes == (300 - 128) // 32
    kept = a.model.C.copy()
    advance(a, Y[0], opt)
    assert np.array_equal(kept, a.model.C)  # nothing is changed in place


def test_standards_survive_columns_of_any_size():
    Y = np.array([[1e300, 1.0, 5.0, np.nan], [-1e300, 2.0, 5.0, np.nan], [1e300, 3.0, 5.0, np.nan]])
    shift, scale = standards(Y)
    assert np.isfinite((Y - shift)[:, :3] / scale[:3]).all()
    assert shift[1] == 2.0
    assert shift[2] == 5.0
    assert (scale > 0).all()
    assert np.array_equal(standards(Y[:1, 1:3])[1], [1.0, 5.0])  # one row: the size of the values


def test_a_feature_whose_every_entry_is_an_outlier_is_met_again_once(monkeypatch):
    """However it is measured: the stream must go on all the same."""
    model = make(2, m=4, r=2)._replace(nu=3.0)
    _, _, _, Y = draw(model, 300, 2, gaps="none")
    opt = Options(r=2, noise=Noise(3.0), candidates=(STATES,), warmup=128, window=32, sweeps=3)
    monkeypatch.setattr("factorstream.core.dynamics.stream.weights", lambda model, Z, start: np.full(Z.shape, 0.01))
    stream = new_stream(4)
    for y in Y:
        stream, _ = advance(stream, y, opt)
    assert np.isfinite(stream.model.C).all()
    assert stream.refreshes >= (300 - 128) // 32
