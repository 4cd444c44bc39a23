"""All rules together: what happened, to which features, by how much and since when."""

from __future__ import annotations

import numpy as np
import pytest

from dynamics_problems import draw, make
from factorstream.core.dynamics.alarm import Alarm
from factorstream.core.dynamics.filter import forecast, initial, predict, update
from factorstream.core.dynamics.lookout import (
    Row,
    begin_lookout,
    last_verdicts,
    limits_of,
    look,
    scores_of,
)
from factorstream.core.dynamics.response import in_rows, response
from factorstream.core.dynamics.suspects import PATIENCE


def told(model, Y, rate=1e-4, known=1e4):
    """What happens in rows Y under a model that is true of them: kind, row, first row, features, sizes."""
    m = Y.shape[1]
    limits, a, k, before, out = limits_of(rate, m), Alarm(), begin_lookout(np.full(m, known)), None, []
    for t, y in enumerate(Y):
        after, innovation = update(model, initial(model) if before is None else predict(model, before), y)

        def ahead(before=before):
            mean, var = forecast(model, initial(model) if before is None else before, PATIENCE)
            return mean, np.sqrt(var)

        def shown(by, rows, after=after, innovation=innovation):
            found = in_rows(response(model, after, by, rows).innovations, rows)
            return found / np.sqrt(innovation.var)

        z = scores_of(model, y, innovation, np.ones(m))
        a, k, _, _, happenings = look(a, k, Row(y, innovation, z, np.zeros(m, dtype=bool), ahead, shown), limits)
        out += [(one.kind, t, t + 1 - one.rows, one.which.tolist(), one.size) for one in happenings]
        before = after
    return out + [(one.kind, t, t + 1 - one.rows, one.which.tolist(), one.size) for one in last_verdicts(k)]


@pytest.mark.parametrize("level", [False, True])
@pytest.mark.parametrize("size", [8.0, -8.0])
def test_a_shift_is_told_with_feature_size_and_first_row(level, size):
    model = make(4, m=8, r=2, level=level)
    Y = draw(model, 260, 0)[2]
    by = size * np.sqrt(model.noise.R[3])
    Y[200:, 3] += by
    kind, row, since, which, sizes = told(model, Y)[0]
    assert (kind, which[0]) == ("shift", 3)
    assert 200 <= row <= 210
    assert abs(since - 200) <= 1
    assert 0.6 < sizes[0] / by < 1.5


@pytest.mark.parametrize("size", [8.0, -8.0])
def test_the_way_back_is_told_as_long_as_the_way_there(size):
    model = make(4, m=8, r=2)
    Y = draw(model, 700, 0)[2]
    by = size * np.sqrt(model.noise.R[3])
    Y[200:500, 3] += by
    (there, *_, first), (back, *_, second) = [
        (since, *rest, sizes[0]) for kind, _, since, which, *rest, sizes in told(model, Y) if which[0] == 3
    ]
    assert abs(there - 200) <= 1
    assert abs(back - 500) <= 1
    assert 0.6 < first / by < 1.5
    assert 0.6 < -second / by < 1.5


def test_an_outlier_is_told_as_one_and_nothing_else():
    model = make(4, m=8, r=2)
    Y = draw(model, 260, 0)[2]
    assert told(model, Y) == []
    Y[200, 3] += 40.0 * np.sqrt(model.noise.R[3])
    ((kind, row, since, which, sizes),) = told(model, Y)
    assert (kind, row, since, which) == ("outlier", 203, 200, [3])
    assert sizes[0] == pytest.approx(40.0 * np.sqrt(model.noise.R[3]), rel=0.2)
    assert told(model, Y[:201])[0][0] == "outlier"  # the last row of all: nothing speaks for more


@pytest.mark.parametrize("factor", [3.0, 0.2])
def test_noise_that_grows_or_fades_is_no_shift(factor):
    model = make(4, m=8, r=2, R=3.0)
    signal, noise = (draw(one, 300, 0)[2] for one in (model._replace(noise=model.noise._replace(R=np.zeros(8))), model))
    noise = noise - signal
    noise[200:] *= factor
    found = told(model, signal + noise)
    assert "spread" in [kind for kind, *_ in found]
    assert all(row >= 200 for _, row, *_ in found)


@pytest.mark.parametrize("m", [1, 8])
def test_false_events_are_no_more_than_asked_for(m):
    """4000 rows at a rate of 1e-2: 40 expected, and of 60 or more the chance is 0.2%."""
    model = make(5, m=m, r=min(2, m))
    Y = draw(model, 4000, 0)[2]
    assert 5 < len(told(model, Y, rate=1e-2)) < 60


def test_one_feature_that_moves_is_told_once():
    model = make(4, m=1, r=1)
    Y = draw(model, 260, 0)[2]
    Y[200:] += 10.0 * np.sqrt(model.noise.R)
    (told_once,) = [one for one in told(model, Y) if one[0] == "shift" and one[2] >= 199]
    assert told_once[3] == [0]
