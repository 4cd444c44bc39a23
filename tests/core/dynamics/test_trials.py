"""Shifts that stay, and episodes that end."""

from __future__ import annotations

import numpy as np

from factorstream.core.dynamics.lookout import SHIFT, Happening
from factorstream.core.dynamics.shifts import REACH
from factorstream.core.dynamics.trials import after_row, no_trials, tried


def shift(feature, size, stays=True):
    return Happening(SHIFT, 4, np.array([feature, 2]), np.array([size, 1.0]), np.array([stays, stays]))


def passed(t, rows):
    for _ in range(rows):
        t = after_row(t)
    return t


def test_a_shift_is_taken_out_if_it_stays_beside_what_the_filter_does():
    t, by = tried(no_trials(3), shift(0, 5.0, stays=False))
    assert not by.any()
    t, by = tried(t, shift(0, 5.0))
    assert by.tolist() == [5.0, 0.0, 1.0]
    unsure = Happening(SHIFT, 4, np.array([0, 2]), np.array([5.0, 1.0]), np.array([True, False]))
    assert tried(no_trials(3), unsure)[1].tolist() == [5.0, 0.0, 0.0]
    assert passed(t, REACH).by.tolist() == by.tolist()
    assert not passed(t, REACH + 1).by.any()


def test_what_goes_back_is_taken_out_and_the_next_shifts_are_left():
    """One after the first that went back, three after the second, and so on; others that moved are on trial no more."""
    t, left = no_trials(3), []
    for _ in range(3):
        count = 0
        while not tried(t, shift(0, 5.0))[1].any():
            t, count = tried(t, shift(0, 5.0))[0], count + 1
        left.append(count)
        t = passed(tried(t, shift(0, 5.0))[0], 10)
        t, by = tried(t, shift(0, -4.0, stays=False))
        assert by.tolist() == [-4.0, 0.0, 0.0]
        assert not t.by.any()
    assert left == [0, 1, 3]
    assert (t.returns, t.left) == (3, 7)


def test_a_smaller_step_the_other_way_is_no_way_back():
    t, _ = tried(no_trials(3), shift(0, 5.0))
    t, by = tried(t, shift(0, -2.0, stays=False))
    assert not by.any()
    assert t.returns == 0


def test_one_that_has_stayed_makes_up_for_one_that_went_back():
    t = no_trials(3)._replace(returns=2)
    t, by = tried(t, shift(1, -5.0))
    assert by.any()
    t, by = tried(passed(t, 10), shift(1, -5.0))  # and further: a trial anew
    assert by.any()
    t = passed(t, REACH)
    assert t.returns == 2
    t = after_row(t)
    assert t.returns == 1
    assert tried(t, shift(1, 5.0))[0].returns == 1  # no longer on trial: this is another one
