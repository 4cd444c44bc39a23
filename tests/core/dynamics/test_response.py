"""What a shift does to a filter, beside filters of rows with the shift and without."""

from __future__ import annotations

import numpy as np
import pytest

from dynamics_problems import draw, make
from factorstream.core.dynamics.filter import filter_rows
from factorstream.core.dynamics.response import FOLLOWED, in_rows, remains, response

BY = np.array([0.0, 1.5, 0.0, -0.5, 0.0])


@pytest.mark.parametrize("level", [False, True])
def test_a_response_is_the_difference_that_a_shift_makes(level):
    model = make(3, m=5, r=2, level=level)
    Y = draw(model, 80, 0, gaps="none")[3]
    moved = Y.copy()
    moved[72:] += BY
    (plain, seen), (other, seen_moved) = (filter_rows(model, rows) for rows in (Y, moved))
    found = response(model, plain[71], BY, 8)
    shown = [moved[t] - seen_moved[t].mean - Y[t] + seen[t].mean for t in range(72, 80)]
    np.testing.assert_allclose(found.innovations, shown, atol=1e-6)
    np.testing.assert_allclose(found.x, [other[t].x - plain[t].x for t in range(72, 80)], atol=1e-6)
    for t in (71, 72, 79):
        without = found.without(other[t], t - 72)
        np.testing.assert_allclose(without.x, plain[t].x, atol=1e-6)
        if level:
            np.testing.assert_allclose(without.levels.mean, plain[t].levels.mean, atol=1e-6)


def test_after_so_many_rows_it_is_taken_to_stay_as_it_is():
    model = make(3, m=5, r=2)
    start = filter_rows(model, draw(model, 40, 0)[2])[0][-1]
    found = response(model, start, BY, 5 * FOLLOWED)
    assert len(found.innovations) == FOLLOWED
    assert np.array_equal(in_rows(found.innovations, 20), found.innovations[[*range(FOLLOWED), *[FOLLOWED - 1] * 8]])
    assert np.array_equal(found.without(start, 50).x, start.x - found.x[-1])


def test_a_shift_remains_and_a_step_of_the_states_does_not():
    model = make(3, m=5, r=2)
    Y = draw(model, 80, 0, gaps="none")[3]
    deviation = np.sqrt(model.noise.R)
    for moved in (True, False):
        rows = Y.copy()
        rows[72:] += (8.0 * deviation * [0, 1, 0, 0, 0]) if moved else 0.0
        if not moved:  # a state jumps, and goes back as states do
            x = np.array([6.0, 0.0])
            for t in range(72, 80):
                rows[t] += model.emission.C @ x
                x = model.dynamics.A @ x
        states, innovations = filter_rows(model, rows)
        std = np.sqrt(innovations[-1].var)
        scores = np.array([(rows[t] - innovations[t].mean) / std for t in range(72, 80)])
        by = rows[72] - innovations[72].mean  # as if the features had moved to where they are seen
        shown = in_rows(response(model, states[71], by, 8).innovations, 8) / std
        assert remains(scores, shown) == moved
