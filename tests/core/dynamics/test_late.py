"""Features of a stream that start late, or are somewhere else."""

from __future__ import annotations

import numpy as np
import pytest

from dynamics_problems import draw, make
from factorstream.core.dynamics.few import FEWEST_ROWS
from factorstream.core.dynamics.fit import STATES
from factorstream.core.dynamics.late import MIN_VALUES, in_unknown_units, relocated, scored, unseen
from factorstream.core.dynamics.learning import advance
from factorstream.core.dynamics.stream import StreamOptions, new_stream

SHORT = StreamOptions(r=2, candidates=(STATES,), warmup=128, window=32, sweeps=3)


def passed(stream, Y):
    for y in Y:
        stream, _ = advance(stream, y, SHORT)
    return stream


def test_a_late_feature_is_unseen_until_it_is_learned():
    Y = draw(make(2, m=4, r=2), 80, 2, gaps="none")[3]
    Y[:50, 0] = np.nan
    opt = StreamOptions(r=2, candidates=(STATES,), warmup=16, window=30, sweeps=3)
    stream, learned = new_stream(4), []
    for k, y in enumerate(Y):
        stream, _ = advance(stream, y, opt)
        learned += [k] if stream.learning is not None and not unseen(stream).any() else []
    assert 50 + MIN_VALUES - 1 <= learned[0] < 50 + MIN_VALUES + 8


@pytest.mark.parametrize("start", [70, 100, 127])
def test_a_feature_that_starts_late_in_the_warm_up_ends_it(start):
    """It is known after some rows, and not only when the warm-up would have been over."""
    Y = draw(make(2, m=4, r=2), 200, 2, gaps="none")[3]
    Y[:start, 0] = np.nan
    stream = passed(new_stream(4), Y[:start])
    assert stream.learning is None
    stream = passed(stream, Y[start : start + 1])
    assert (stream.learning is not None) == (start > 70)  # more than half of it is done
    stream = passed(stream, Y[start + 1 : start + 40])
    assert np.abs(stream.fitted.model.emission.C[0]).max() > 0.1
    assert stream.learning is None or not unseen(stream).any()


def test_a_feature_is_elsewhere_when_most_of_its_entries_are_outliers():
    Z = np.zeros((10, 3))
    w = np.ones((10, 3))
    w[:6, 1] = w[:5, 2] = 0.01
    assert list(relocated(w, Z)) == [False, True, False]
    Z[2:, 1] = np.nan
    assert not relocated(w, Z).any()


def test_until_a_fit_has_had_some_values_of_a_feature_its_units_are_unknown():
    Y = draw(make(2, m=4, r=2), 60, 2, gaps="none")[3]
    Y[:40, 0] = np.nan
    Y[:36, 1] = np.nan
    stream = new_stream(4)
    assert not in_unknown_units(stream).any()
    for k, y in enumerate(Y, 1):
        stream, _ = advance(stream, y, SHORT)
        count = np.isfinite(Y[: stream.known]).sum(0)
        few = count < 3
        np.testing.assert_array_equal(unseen(stream), count == 0)
        np.testing.assert_array_equal(in_unknown_units(stream), few & ~few.all())
        assert scored(stream) == (k > FEWEST_ROWS)
        if count[0] == 0 and k > 41:
            assert stream.shift[0] == Y[40:k, 0].mean()  # measured by the values so far
            np.testing.assert_array_equal(stream.fitted.model.emission.C[0], 0.0)
    assert not unseen(stream).any()
