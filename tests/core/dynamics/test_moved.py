"""A stream from which a shift is taken out, beside one of the same rows without the shift."""

from __future__ import annotations

import numpy as np
import pytest

from dynamics_problems import draw, make
from factorstream.core.dynamics.filter import forecast
from factorstream.core.dynamics.fit import LEVELS, STATES
from factorstream.core.dynamics.learning import advance, answered_by_the_best
from factorstream.core.dynamics.moved import taken_out
from factorstream.core.dynamics.stream import StreamOptions, new_stream

OPTIONS = StreamOptions(r=2, candidates=(LEVELS, STATES), warmup=64, window=32, keep=6)
BY = np.array([4.0, 0.0, 0.0, 0.0, -2.0])


def streams(rows, since, until):
    """A stream of the rows, and one of which the features have moved since a row."""
    Y = draw(make(7, m=5, r=2, R=0.1), rows, 7, gaps="none")[3]
    moved = Y.copy()
    moved[since:] += BY
    out = []
    for X in (Y, moved):
        stream = new_stream(5)
        for t, y in enumerate(X[:until]):
            stream, _ = advance(stream, y, OPTIONS, held=t > since)
            if t < since:
                stream = answered_by_the_best(stream)
        out.append(stream)
    return *out, Y, moved


def ahead(c, stream):
    return stream.shift + stream.scale * forecast(c.fitted.now, c.fitted.belief, 12)[0]


@pytest.mark.parametrize("since", [88, 94, 98])
def test_what_is_left_is_the_stream_without_the_shift(since):
    plain, spoiled, *_ = streams(110, since, 102)
    stream = taken_out(spoiled, BY, 102 - since)
    np.testing.assert_allclose(stream.shift, plain.shift + BY)
    for c, other, before in zip(stream.bank, plain.bank, spoiled.bank, strict=True):
        right = ahead(other, plain) + BY
        assert np.abs(ahead(c, stream) - right).max() < 0.15
        assert np.abs(ahead(before, spoiled) - right).max() > 0.5
        assert c.score == before.calm  # rows of the shift do not count
        assert c.foretold is None
        assert np.array_equal(c.shadow.x, c.fitted.belief.x)
        assert len(c.recent) == OPTIONS.keep
        for one, without in zip(c.recent, other.recent, strict=True):
            np.testing.assert_allclose(one.x, without.x, atol=0.2)


def test_what_is_learned_afterwards_holds_where_the_features_are_now():
    """Rows before the shift move with it, and a model that had caught up with the last rows does so again."""
    plain, spoiled, Y, moved = streams(300, 107, 111)
    assert any(task.caught is not None for task in spoiled.job.tasks)
    stream = taken_out(spoiled, BY, 4)
    for t in range(111, 300):
        plain, _ = advance(plain, Y[t], OPTIONS)
        stream, _ = advance(stream, moved[t], OPTIONS)
    assert plain.refreshes == stream.refreshes > 3
    for c, other in zip(stream.bank, plain.bank, strict=True):
        assert np.abs(ahead(c, stream) - ahead(other, plain) - BY).max() < 0.3


def test_scores_are_kept_while_something_is_under_suspicion():
    """Another candidate would answer by the rows of the shift."""
    spoiled, (before, *_) = streams(110, 98, 102)[1], streams(110, 98, 98)
    assert spoiled.leader == before.leader
    assert [c.calm for c in spoiled.bank] == [c.score for c in before.bank]
    assert answered_by_the_best(spoiled).leader != spoiled.leader
