"""Streams of rows: what each row makes happen, whatever their split, and features that are somewhere else."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest

from dynamics_problems import draw, make
from factorstream.core.dynamics.fit import ALL_LEVELS, LEVELS, STATES, WALKS, fit
from factorstream.core.dynamics.late import relocated
from factorstream.core.dynamics.learning import GROWTH, advance, kinds
from factorstream.core.dynamics.noise import GivenStudentSpec
from factorstream.core.dynamics.stream import StreamOptions, new_stream, resumed
from sequence_problems import leaves

SHORT = StreamOptions(r=2, warmup=128, window=32, sweeps=3)


def passed(stream, Y, opt=SHORT):
    for y in Y:
        stream, _ = advance(stream, y, opt, np.ones((2, len(y))))
    return stream


def test_streams_stay_bounded_and_a_row_changes_nothing_in_place():
    _, _, _, Y = draw(make(2, m=6, r=2, level=True), 400, 2)
    stream = new_stream(6)
    for k, y in enumerate(Y):
        before = pickle.loads(pickle.dumps(stream))
        after, _ = advance(stream, y, SHORT)
        for (path, u), (_, v) in zip(leaves(before), leaves(stream), strict=True):
            np.testing.assert_array_equal(u, v, err_msg=path)
        stream = after
        assert len(stream.window) <= (192 if k < 192 else 64)
    assert stream.refreshes >= 4


@pytest.mark.parametrize("noise", [SHORT.noise, GivenStudentSpec(4.0)])
def test_a_stream_that_is_written_and_read_back_between_rows_goes_on_the_same(noise):
    """Nothing that a row needs is kept outside the stream, nor shared with the rows that were passed."""
    Y = draw(make(2, m=6, r=2, level=True), 220, 2)[3]
    opt = SHORT._replace(noise=noise, warmup=64)
    a, b, jobs = new_stream(6), new_stream(6), 0
    for y in Y:
        a, _ = advance(a, y, opt, np.ones((2, 6)))
        row = y.copy()
        b, _ = advance(pickle.loads(pickle.dumps(b)), row, opt, np.ones((2, 6)))
        row[:] = 7.0
        jobs += b.job is not None
    assert jobs > 50  # something is half done when it is written
    assert a.refreshes >= 1
    for (path, u), (_, v) in zip(leaves(a), leaves(b), strict=True):
        np.testing.assert_array_equal(u, v, err_msg=path)


def test_a_stream_weighs_the_first_kind_and_the_last():
    assert kinds(StreamOptions(candidates=(LEVELS, ALL_LEVELS, STATES))) == (LEVELS, STATES)
    assert kinds(StreamOptions(candidates=(STATES,))) == (STATES,)


def test_every_window_is_asked_for_features_that_are_elsewhere(monkeypatch):
    """Also one that is so short that its weights are found, and more could be done, at one row."""
    Y = draw(make(2, m=4, r=2), 120, 2, gaps="none")[3]
    Y[::2, 0] = Y[:71, 1] = np.nan
    asked = []

    def spy(w, Z):
        asked.append(len(Z))
        return relocated(w, Z)

    monkeypatch.setattr("factorstream.core.dynamics.learning.relocated", spy)
    opt = SHORT._replace(noise=GivenStudentSpec(4.0), candidates=(STATES,), warmup=32)
    stream = passed(new_stream(4), Y, opt)
    assert len(set(asked)) > 1
    assert min(asked) < 20
    assert stream.refreshes <= len(asked) <= stream.refreshes + 1


def test_a_feature_whose_every_entry_is_an_outlier_begins_again_once(monkeypatch):
    """However it is measured: the stream must go on all the same."""
    model = make(2, m=4, r=2, nu=3.0)
    _, _, _, Y = draw(model, 420, 2, gaps="none")
    opt = SHORT._replace(noise=GivenStudentSpec(3.0), candidates=(STATES,))
    monkeypatch.setattr("factorstream.core.dynamics.pieces.weights", lambda model, Z, start: np.full(Z.shape, 0.01))
    stream = passed(new_stream(4), Y, opt)
    assert np.isfinite(stream.fitted.model.emission.C).all()
    assert stream.refreshes >= 2


def test_a_row_says_what_happened():
    Y = draw(make(2, m=4, r=2, level=True), 300, 2, gaps="none")[3]
    stream, fits, learned = new_stream(4), [], []
    for k, y in enumerate(Y, 1):
        stream, event = advance(stream, y, SHORT)
        assert (event.innovation is None) == (k == 1)
        if event.judged is not None:
            np.testing.assert_array_equal(event.judged, Y[:k])
            fits.append(k)
        if event.counts is not None:
            learned.append((k, event.known < 1.0, event.counts[0]))
    assert fits[0] == 1
    assert all(later >= GROWTH * sooner for sooner, later in pairwise(fits) if later < 128)
    assert fits[-1] >= 128 > fits[-2]
    fresh = [(k, n) for k, anew, n in learned if anew]
    assert [n for _, n in fresh] == fits  # each learns from all rows up to where it began
    assert all(begun <= k < begun + 64 for (k, _), begun in zip(fresh, fits, strict=True))
    later = [n for _, anew, n in learned if not anew]
    assert len(later) == stream.refreshes >= 3
    assert all(32 <= n < 64 for n in later)
    assert sum(later) + fits[-1] + len(stream.window) == 300  # no row twice, none left out


@pytest.mark.parametrize("kind", [LEVELS, STATES])
def test_a_window_without_data_teaches_nothing_and_forgets_nothing(kind):
    Y = draw(make(2, m=4, r=2, level=True), 200, 2)[3]
    opt, empty = SHORT._replace(candidates=(kind,)), np.full((20 * 32, 4), np.nan)
    stream = passed(passed(new_stream(4), Y, opt), empty[:96], opt)
    assert stream.job is None
    paused = passed(stream, empty, opt)
    assert pickle.dumps(paused.learning.past) == pickle.dumps(stream.learning.past)
    assert pickle.dumps(paused.fitted.model) == pickle.dumps(stream.fitted.model)
    assert len(paused.window) < 32
    behind = passed(paused._replace(window=paused.window[:0]), empty[:32], opt)
    np.testing.assert_array_equal(behind.learning.anchor.x, behind.bank[0].recent[-1].x)  # the next window begins here


def test_rows_without_data_do_not_make_the_past_older():
    Y = draw(make(2, m=4, r=2), 400, 2, gaps="none")[3]
    Y[::2] = np.nan
    opt, stream, seen = SHORT._replace(candidates=(STATES,)), new_stream(4), 0
    for y in Y:
        before = stream
        stream, event = advance(stream, y, opt)
        if event.counts is not None and event.known == 1.0:
            n = event.counts
            np.testing.assert_allclose(stream.learning.past.N, before.learning.past.N * opt.decay ** (n / 32) + n)
            seen += 1
    assert seen >= 2


@pytest.mark.parametrize("kind", [LEVELS, STATES])
def test_a_feature_that_falls_silent_is_not_forgotten(kind):
    """Its variances stay, those that were made wider for few values too."""
    Y = draw(make(2, m=4, r=2, level=True), 800, 2, gaps="none")[3]
    Y[190:, 0] = np.nan
    Y[:170, 1] = Y[190:, 1] = np.nan
    opt = SHORT._replace(candidates=(kind,), window=16)
    then = passed(new_stream(4), Y[:260], opt)
    stream = passed(then, Y[260:], opt)
    assert 15 < then.learning.past.N[1] <= 20
    np.testing.assert_array_equal(stream.learning.past.N[:2], then.learning.past.N[:2])
    np.testing.assert_allclose(stream.fitted.model.noise.R[:2], then.fitted.model.noise.R[:2], rtol=0.2)
    if kind == LEVELS:
        np.testing.assert_allclose(stream.fitted.model.levels.q[:2], then.fitted.model.levels.q[:2], rtol=0.2)


def test_random_walks_that_are_fitted_anew_stay_random_walks():
    """Where a short fit has chosen them to forecast."""
    Y = np.random.default_rng(0).normal(size=(120, 3)).cumsum(axis=0)
    opt = StreamOptions(r=2, candidates=(WALKS,))
    stream = resumed(fit(Y[:80], 2, WALKS), WALKS, np.zeros(3), np.ones(3), Y[:80], opt)
    before = stream.fitted.model
    stream = passed(stream, Y[80:], opt)
    assert stream.fits == 100
    model = stream.fitted.model
    assert model is not before
    assert model.emission.C.shape == (3, 0)
    assert (model.noise.R / model.levels.q).max() < 1e-3
