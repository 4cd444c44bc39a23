"""Streams of rows: what each row makes happen, whatever their split, and features that are somewhere else."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from dynamics_problems import draw, make
from factorstream.core.dynamics.choose import Choice
from factorstream.core.dynamics.few import FEWEST_ROWS, stretches
from factorstream.core.dynamics.fit import ALL_LEVELS, LEVELS, STATES, smoothed
from factorstream.core.dynamics.learning import MIN_VALUES, advance, relocated, unseen
from factorstream.core.dynamics.noise import GivenStudentSpec
from factorstream.core.dynamics.scale import standards
from factorstream.core.dynamics.stream import Refresh, Restart, Step, StreamOptions, new_stream


def test_streams_stay_bounded_and_a_row_changes_nothing_in_place():
    model = make(2, m=6, r=2, level=True)
    _, _, _, Y = draw(model, 300, 2)
    opt = StreamOptions(r=2, warmup=128, window=32, sweeps=3)
    stream = new_stream(6)
    for k, y in enumerate(Y):
        before = pickle.dumps(stream) if k in (5, 127, 140, 191) else None
        after, _ = advance(stream, y, opt)
        assert before is None or pickle.dumps(pickle.loads(before)) == pickle.dumps(pickle.loads(pickle.dumps(stream)))
        stream = after
        assert len(stream.window) <= (128 if k < 127 else 31)
    assert stream.refreshes == (300 - 128) // 32


def test_a_stream_that_is_written_and_read_back_between_rows_goes_on_the_same():
    """Nothing that a row needs is kept outside the stream, nor shared with the rows that were passed."""
    Y = draw(make(2, m=6, r=2, level=True), 220, 2)[3]
    opt = StreamOptions(r=2, warmup=128, window=32, sweeps=3)
    a, b = new_stream(6), new_stream(6)
    for y in Y:
        a, _ = advance(a, y, opt)
        row = y.copy()
        b, _ = advance(pickle.loads(pickle.dumps(b)), row, opt)
        row[:] = 7.0
    np.testing.assert_array_equal(a.fitted.model.emission.C, b.fitted.model.emission.C)
    np.testing.assert_array_equal(a.window, b.window)


@pytest.mark.parametrize(("candidates", "asked"), [((STATES,), 0), ((LEVELS, STATES), 1)])
def test_a_stream_chooses_only_where_there_is_a_choice(candidates, asked, monkeypatch):
    calls = []
    monkeypatch.setattr(
        "factorstream.core.dynamics.learning.choose", lambda Z, r, kinds, **_: calls.append(1) or Choice(kinds[0])
    )
    Y = draw(make(2, m=4, r=2), 128, 2)[3]
    stream, opt = new_stream(4), StreamOptions(r=2, candidates=candidates, warmup=128, sweeps=1)
    for y in Y:
        stream, _ = advance(stream, y, opt)
    assert len(calls) == asked


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


@pytest.mark.parametrize("candidates", [(LEVELS, ALL_LEVELS, STATES), (STATES,)])
def test_few_rows_of_a_stream_get_the_widths_of_a_fit(candidates):
    """At rows 32 and 64 as `stretches` finds them; 1 at other rows, and where nobody asks."""
    opt = StreamOptions(r=2, candidates=candidates, sweeps=4)
    Y = draw(make(0, m=4), 64, 0)[3]
    stream, plain = new_stream(4), new_stream(4)
    for k, y in enumerate(Y, 1):
        stream, event = advance(stream, y, opt, calibrate=True)
        plain, other = advance(plain, y, opt)
        if isinstance(event, Restart):
            assert other.widths == (1.0, 1.0)
            shift, scale = standards(Y[:k])
            kind = LEVELS if stream.fitted.model.levels is not None else STATES
            how = {"answers": smoothed, "sweeps": 4}
            expected = stretches((Y[:k] - shift) / scale, 2, kind, **how) if k >= FEWEST_ROWS else (1.0, 1.0)
            assert event.widths == pytest.approx(expected)
            assert (event.widths != (1.0, 1.0)) == (k >= FEWEST_ROWS)


@pytest.mark.parametrize("kind", [LEVELS, STATES])
def test_a_window_without_data_teaches_nothing_and_forgets_nothing(kind):
    Y = draw(make(2, m=4, r=2, level=True), 160, 2)[3]
    opt = StreamOptions(r=2, candidates=(kind,), warmup=128, window=32, sweeps=3)
    stream = new_stream(4)
    for y in Y:
        stream, _ = advance(stream, y, opt)
    paused = stream
    for _ in range(20 * 32):
        paused, _ = advance(paused, np.full(4, np.nan), opt)
    assert pickle.dumps(paused.learning.past) == pickle.dumps(stream.learning.past)
    assert pickle.dumps(paused.fitted.model) == pickle.dumps(stream.fitted.model)
    np.testing.assert_array_equal(paused.learning.anchor.x, paused.fitted.belief.x)  # the next window begins here


def test_rows_without_data_do_not_make_the_past_older():
    Y = draw(make(2, m=4, r=2), 160, 2, gaps="none")[3]
    Y[136:152] = np.nan  # half of the window
    opt = StreamOptions(r=2, candidates=(STATES,), warmup=128, window=32, sweeps=3)
    stream = new_stream(4)
    for y in Y:
        stream, _ = advance(stream, y, opt)
    np.testing.assert_allclose(stream.learning.past.N, 128 * opt.decay**0.5 + 16)


@pytest.mark.parametrize("kind", [LEVELS, STATES])
def test_a_feature_that_falls_silent_is_not_forgotten(kind):
    """Its variances stay, those that were made wider for few values too."""
    Y = draw(make(2, m=4, r=2, level=True), 800, 2, gaps="none")[3]
    Y[160:, 0] = np.nan
    Y[:140, 1] = Y[160:, 1] = np.nan
    opt = StreamOptions(r=2, candidates=(kind,), warmup=128, window=16, sweeps=3)
    stream = new_stream(4)
    for k, y in enumerate(Y):
        stream, _ = advance(stream, y, opt)
        if k == 180:
            then = stream
    np.testing.assert_array_equal(stream.learning.past.N[:2], then.learning.past.N[:2])
    np.testing.assert_allclose(stream.fitted.model.noise.R[:2], then.fitted.model.noise.R[:2], rtol=0.2)
    if kind == LEVELS:
        np.testing.assert_allclose(stream.fitted.model.levels.q[:2], then.fitted.model.levels.q[:2], rtol=0.2)
