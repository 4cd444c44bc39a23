"""Streams of rows: what each row makes happen, whatever their split, and features that are somewhere else."""

from __future__ import annotations

import numpy as np
import pytest

from dynamics_problems import draw, make
from factorstream.core.dynamics.fit import LEVELS, STATES
from factorstream.core.dynamics.learning import MIN_VALUES, advance, relocated, unseen
from factorstream.core.dynamics.noise import GivenStudentSpec
from factorstream.core.dynamics.stream import Refresh, Restart, Step, StreamOptions, new_stream


def test_streams_do_not_depend_on_their_split_and_stay_bounded():
    model = make(2, m=6, r=2, level=True)
    _, _, _, Y = draw(model, 300, 2)
    opt = StreamOptions(r=2, warmup=128, window=32, sweeps=3)
    a, b = new_stream(6), new_stream(6)
    for y in Y:
        a, _ = advance(a, y, opt)
        assert len(a.window) <= 128
    for part in (Y[:7], Y[7:100], Y[100:]):
        for y in part.copy():
            b, _ = advance(b, y, opt)
    assert a.fitted is not None
    assert b.fitted is not None
    assert np.array_equal(a.fitted.model.emission.C, b.fitted.model.emission.C)
    assert a.refreshes == (300 - 128) // 32
    kept = a.fitted.model.emission.C.copy()
    advance(a, Y[0], opt)
    assert np.array_equal(kept, a.fitted.model.emission.C)  # nothing is changed in place


def test_a_feature_whose_every_entry_is_an_outlier_begins_again_once(monkeypatch):
    """However it is measured: the stream must go on all the same."""
    model = make(2, m=4, r=2, nu=3.0)
    _, _, _, Y = draw(model, 300, 2, gaps="none")
    opt = StreamOptions(r=2, noise=GivenStudentSpec(3.0), candidates=(STATES,), warmup=128, window=32, sweeps=3)
    monkeypatch.setattr("factorstream.core.dynamics.learning.weights", lambda model, Z, start: np.full(Z.shape, 0.01))
    stream = new_stream(4)
    for y in Y:
        stream, _ = advance(stream, y, opt)
    assert np.isfinite(stream.fitted.model.emission.C).all()
    assert stream.refreshes >= (300 - 128) // 32


@pytest.mark.parametrize("kind", [LEVELS, STATES])
def test_a_row_says_what_happened(kind):
    Y = draw(make(2, m=4, r=2, level=True), 200, 2, gaps="none")[3]
    opt = StreamOptions(r=2, candidates=(kind,), warmup=128, window=32, sweeps=3)
    stream, happened = new_stream(4), []
    for y in Y:
        stream, event = advance(stream, y, opt)
        happened.append(event)
    restarts = [k for k, event in enumerate(happened, 1) if isinstance(event, Restart)]
    refreshes = [k for k, event in enumerate(happened, 1) if isinstance(event, Refresh)]
    assert restarts == [1, 2, 4, 8, 16, 32, 64, 128]
    assert refreshes == [160, 192]
    assert all(isinstance(event, Step) for k, event in enumerate(happened, 1) if k not in restarts + refreshes)
    assert happened[0].innovation is None
    assert all(event.innovation is not None for event in happened[1:])
    assert [len(happened[k - 1].rows) for k in restarts] == restarts
    assert all((happened[k - 1].change is None) == (kind == STATES) for k in refreshes)


def test_a_late_feature_is_unseen_until_it_is_learned():
    Y = draw(make(2, m=4, r=2), 60, 2, gaps="none")[3]
    Y[:40, 0] = np.nan
    opt = StreamOptions(r=2, candidates=(STATES,), warmup=16, window=20, sweeps=3)
    stream, learned = new_stream(4), []
    for k, y in enumerate(Y):
        stream, event = advance(stream, y, opt)
        learned += [k] if isinstance(event, Refresh) and not unseen(stream).any() else []
    assert learned[0] == 40 + MIN_VALUES - 1


def test_a_feature_is_elsewhere_when_most_of_its_entries_are_outliers():
    Z = np.zeros((10, 3))
    w = np.ones((10, 3))
    w[:6, 1] = w[:5, 2] = 0.01
    assert list(relocated(w, Z)) == [False, True, False]
    Z[2:, 1] = np.nan
    assert not relocated(w, Z).any()
