"""The candidates of a stream: their scores beside a naive twin, and which of them answers."""

from __future__ import annotations

import numpy as np
import pytest

import reference_sequences as ref
from dynamics_problems import draw, linear, make
from factorstream.core.dynamics.bank import ODDS, SCORE_MEMORY, best, passed
from factorstream.core.dynamics.choose import HORIZON
from factorstream.core.dynamics.filter import forecast, initial
from factorstream.core.dynamics.fit import LEVELS, STATES, fit
from factorstream.core.dynamics.learning import advance, answered_by_the_best
from factorstream.core.dynamics.stream import Candidate, StreamOptions, begun, new_stream, resumed
from factorstream.core.dynamics.widths import begin_width


def candidate(model, m, kind=STATES):
    start = initial(model)
    width = begin_width(m)
    return Candidate(kind, begun(model, None, start), start, (), gaps=width, ahead=width)


def test_scores_are_those_of_the_written_out_filter():
    model = make(1, m=7, r=2)
    Y = draw(model, 90, 1)[3]
    c = candidate(model, 7)
    for t, y in enumerate(Y, 1):
        c, _ = passed(c, y, t, 1, None)
    A, Q, P0, C, R, mean = linear(model)
    expected = ref.stream_score(A, Q, A @ P0 @ A.T + Q, C, R, mean, Y, SCORE_MEMORY)
    np.testing.assert_allclose(c.score, expected, rtol=1e-9)
    assert (c.gaps.factors == 1.0).all()  # nobody asked for widths


def test_forecasts_are_compared_with_what_came():
    model = make(1, m=7, r=2)
    Y = draw(model, 3 * HORIZON + 2, 1, gaps="none")[3]
    c = candidate(model, 7)
    for t, y in enumerate(Y):
        c, _ = passed(c, y, t, 1, np.ones((2, 7)))
    assert c.ahead.rows == len(Y) - 1
    mean, var = forecast(model, candidate_after(model, Y[: 3 * HORIZON + 1]), HORIZON)
    np.testing.assert_allclose(c.foretold.mean, mean)
    np.testing.assert_allclose(c.foretold.var, var)
    assert c.foretold.age == 1


def candidate_after(model, Y):
    c = candidate(model, Y.shape[1])
    for t, y in enumerate(Y):
        c, _ = passed(c, y, t, 1, None)
    return c.fitted.belief


def test_another_candidate_answers_when_it_is_clearly_ahead():
    one = candidate(make(1, m=3, r=1), 3)
    bank = (one, one._replace(score=0.9 * ODDS))
    assert best(bank, 0, 1000) == 0
    bank = (one, one._replace(score=1.1 * ODDS))
    assert best(bank, 0, 1000) == 1
    assert best(bank, 1, 1000) == 1
    assert best(bank, 0, 20) == 0  # too few rows to compare by


def odds(Y):
    stream, found = new_stream(Y.shape[1]), []
    for y in Y:
        stream, _ = advance(stream, y, StreamOptions(r=2, candidates=(LEVELS, STATES)))
        found.append(stream.bank[0].score - stream.bank[1].score)
    return np.array(found)


@pytest.mark.parametrize("first", [0, 45])
def test_the_units_of_a_feature_do_not_decide_which_candidate_answers(first):
    """Also while few of its values, or none, were there for the fits so far."""
    Y = draw(make(5, m=4, r=2, R=0.1), 80, 5, gaps="none")[3]
    Y[:first, 0] = np.nan
    Y[first + 1 : first + 12, 0][np.arange(11) % 5 > 0] = np.nan
    expected = odds(Y)
    Y[:, 0] = 1e4 * (Y[:, 0] + 50.0)
    assert np.abs(odds(Y) - expected).max() < 100.0  # one value in the units of others may cost millions


def test_a_candidate_that_joins_later_begins_level_with_the_one_that_answers():
    Y = draw(make(5, m=4, r=2, R=0.1, level=True), 200, 5, gaps="none")[3]
    opt = StreamOptions(r=2, candidates=(LEVELS, STATES))
    stream = resumed(fit(Y[:100], 2, LEVELS), LEVELS, np.zeros(4), np.ones(4), Y[:100], opt)
    for y in Y[100:]:
        before = stream
        stream, _ = advance(stream, y, opt)
        if len(stream.bank) > len(before.bank):
            break
    assert abs(stream.bank[0].score) > 1.0
    assert stream.bank[1].score == stream.bank[0].score


@pytest.mark.long
def test_a_stream_changes_its_mind():
    """Random walks, and then states without levels about the same mean."""
    rng = np.random.default_rng(0)
    walks = rng.standard_normal((400, 4)).cumsum(axis=0)
    shared = draw(make(5, m=4, r=2, R=0.1), 1200, 5, gaps="none")[3] * 6.0
    stream, opt, leaders = new_stream(4), StreamOptions(r=2, candidates=(LEVELS, STATES)), []
    for y in np.vstack([walks, walks.mean(0) + shared]):
        stream = answered_by_the_best(advance(stream, y, opt)[0])
        leaders.append(stream.bank[stream.leader].kind)
    assert leaders[399] == LEVELS
    assert leaders[-1] == STATES
