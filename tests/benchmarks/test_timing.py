"""Contestants are timed fairly."""

from __future__ import annotations

from benchmarks.timing import race


def test_race_takes_turns_and_gives_slow_ones_one_run():
    order = []
    times = race({"a": lambda: order.append("a"), "b": lambda: order.append("b")}, repeats=3)
    assert order == ["a", "b"] * 4
    assert times["a"].repeats == 3
    assert race({"slow": lambda: None}, limit=0.0)["slow"].repeats == 1


def test_a_race_reports_the_median(monkeypatch):
    times = iter([9.0, 1.0, 2.0, 3.0, 4.0, 100.0])  # the first is the warm-up
    monkeypatch.setattr("benchmarks.timing._clock", lambda call: next(times))
    found = race({"it": lambda: None}, repeats=5)["it"]
    assert (found.median, found.best, found.repeats) == (3.0, 1.0, 5)
