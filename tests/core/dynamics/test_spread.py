"""Learning in pieces: what comes of it is what a fit at once gives, and no row has much to do."""

from __future__ import annotations

import numpy as np
import pytest

from dynamics_problems import draw, make
from factorstream.core.dynamics import pieces, spread, stream
from factorstream.core.dynamics.choose import held_out
from factorstream.core.dynamics.filter import filter_rows, update
from factorstream.core.dynamics.fit import ALL_LEVELS, LEVELS, STATES, fit
from factorstream.core.dynamics.learning import advance
from factorstream.core.dynamics.noise import GivenStudentSpec
from factorstream.core.dynamics.outliers import expect
from factorstream.core.dynamics.scale import standards
from factorstream.core.dynamics.stream import StreamOptions, new_stream
from sequence_problems import leaves


@pytest.mark.parametrize("kind", [LEVELS, ALL_LEVELS, STATES])
def test_a_fit_in_pieces_is_the_fit_at_once(kind):
    """As long as a block holds all rows; and the beliefs are those of a filter over all rows since the first."""
    Y = draw(make(3, m=5, r=2, level=kind != STATES), 70, 3)[3]
    opt, s, sizes = StreamOptions(r=2, candidates=(kind,), keep=100), new_stream(5), []
    for k, y in enumerate(Y, 1):
        n = k if s.job is None else s.job.rows
        s, event = advance(s, y, opt)
        if event.counts is None or n > spread.LEVEL_BLOCK:
            continue
        sizes.append(n)
        shift, scale = standards(Y[:n])
        found = fit((Y[:n] - shift) / scale, 2, kind, sweeps=opt.sweeps if n > 1 else 1)
        for (path, u), (_, v) in zip(leaves(s.fitted.model), leaves(found.model), strict=True):
            if v is not None:
                np.testing.assert_allclose(u, v, rtol=1e-9, atol=1e-12, err_msg=path)
        beliefs = filter_rows(s.fitted.model, (Y[:k] - shift) / scale)[0]
        assert len(s.bank[0].recent) == k
        for mine, plain in zip(s.bank[0].recent, beliefs, strict=True):
            np.testing.assert_array_equal(mine.x, plain.x)
            np.testing.assert_array_equal(mine.P, plain.P)
    assert len(sizes) > 5


@pytest.mark.parametrize("kind", [LEVELS, STATES])
def test_blocks_change_a_long_fit_little(kind):
    """The likelihood of all rows is nearly that of a fit that smooths each row by all that come after it."""
    Y = draw(make(3, m=5, r=2, level=True), 400, 3)[3]
    opt, s = StreamOptions(r=2, candidates=(kind,)), new_stream(5)
    while s.learning is None:
        n = s.rows + 1 if s.job is None else s.job.rows
        s, _ = advance(s, Y[s.rows], opt)
    shift, scale = standards(Y[:n])
    Z = (Y[:n] - shift) / scale
    found = fit(Z, 2, kind, sweeps=opt.sweeps)
    mine, best = (expect(model, Z)[0].logp / np.isfinite(Z).sum() for model in (s.fitted.model, found.model))
    assert n >= 256
    assert mine > best - 0.01


@pytest.mark.parametrize("noise", [StreamOptions().noise, GivenStudentSpec(4.0)])
def test_no_row_has_much_to_do(noise, monkeypatch):
    """Counted, not timed: rows that are smoothed and rows that are filtered because of one row."""
    done = {"smoothed": 0, "filtered": 0}

    def smoothing(model, Z, *rest, **more):
        done["smoothed"] += len(Z) if model.levels is not None else len(Z) / 4
        return expect(model, Z, *rest, **more)

    def filtering(model, s, y):
        done["filtered"] += 1
        return update(model, s, y)

    monkeypatch.setattr(pieces, "expect", smoothing)
    monkeypatch.setattr("factorstream.core.dynamics.outliers.expect", smoothing)
    monkeypatch.setattr(stream, "update", filtering)
    Y = draw(make(2, m=5, r=2, level=True), 300, 2)[3]
    Y[:250, 0] = np.nan  # a feature that starts late
    opt, s = StreamOptions(r=2, noise=noise, warmup=64, window=32, sweeps=3), new_stream(5)
    for y in Y:
        done.update(smoothed=0, filtered=0)
        s, _ = advance(s, y, opt)
        assert done["smoothed"] <= spread.WORK
        assert done["filtered"] <= spread.WORK + 4  # and both filters of both candidates
    assert s.refreshes >= 1


def test_the_second_filter_does_not_see_the_runs_that_choosing_hides():
    hide, _ = held_out(np.zeros((120, 7)))
    np.testing.assert_array_equal([pieces.hidden_at(t, 7) for t in range(120)], hide)
