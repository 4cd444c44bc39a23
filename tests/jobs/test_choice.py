"""Which columns of a file are used, by names and positions."""

from __future__ import annotations

import pytest

from factorstream.jobs.choice import Choice, chosen_positions, position_of
from factorstream.sources.table import TableError

NAMES = ["year", "Heat", "rain, mm", "3", "twice", "twice"]


@pytest.mark.parametrize(
    ("asked", "position"), [("year", 0), ("1", 0), ("2", 1), ("3", 3), ("rain, mm", 2), ("6", 5), ("5", 4)]
)
def test_names_go_before_positions(asked, position):
    assert position_of(asked, NAMES) == position


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("heat", "it has no column heat; the nearest name is Heat"),
        ("yaer", "it has no column yaer; the nearest name is year"),
        ("ripe", "it has no column ripe; it has year, Heat, rain, mm, 3, twice, twice"),
        ("0", "it has no column 0, by name or position; it has 6 columns"),
        ("9", "it has no column 9, by name or position; it has 6 columns"),
        ("snow depth", "it has no column snow depth; it has year, Heat, rain, mm, 3, twice, twice"),
        ("twice", "two of its columns are named twice; name the one you mean by its position, from 1 on"),
    ],
)
def test_what_is_not_there_is_said_with_what_is_near(asked, words):
    with pytest.raises(TableError) as problem:
        position_of(asked, NAMES)
    assert str(problem.value) == words


def test_lists_of_names():
    assert chosen_positions(Choice(), NAMES) == (None, [], None)
    assert chosen_positions(Choice(("Heat", "rain, mm"), (), "year"), NAMES) == ([1, 2], [], 0)
    assert chosen_positions(Choice((), ("year, 3",)), NAMES) == (None, [0, 3], None)
    for choice in (Choice(("year",), ("1",)), Choice(("year",), (), "year")):
        with pytest.raises(TableError, match="column year is both to be used and not; name it once"):
            chosen_positions(choice, NAMES)
