"""Streams of made-up rows."""

from __future__ import annotations

import pytest
from benchmarks.small import low_rank
from benchmarks.streams import EXACT, LOOP, PRODUCTS, PUBLIC, _complete

from bench_problems import HERE


def test_a_race_gives_rows_with_floors():
    rows = _complete(HERE, low_rank(240, 50, 3), 3, fit_mean=False)
    assert [one.method for one in rows] == [EXACT, PRODUCTS, LOOP, PUBLIC]
    for one in rows:
        assert one.seconds > 0
        assert one.floor > 0
    assert rows[0].ratio == 1.0


@pytest.mark.usefixtures("one_run_each")
def test_one_run_is_said_beside_the_scaling_of_the_loop():
    notes = {one.method: one.note for one in _complete(HERE, low_rank(240, 50, 3), 3, fit_mean=False)}
    assert notes[LOOP] == "one run; 12 samples, scaled"
