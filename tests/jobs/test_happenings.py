"""Events of a file, with its lines, times and columns."""

from __future__ import annotations

import numpy as np
import pytest

from cli_problems import write
from factorstream.jobs.detection import DetectionSettings, detect_file
from factorstream.jobs.happenings import events_table, happened


@pytest.fixture
def moved(tmp_path):
    """A file of 300 days whose column b rises by 4 on line 202 and has noise of deviation 0.3."""
    rng = np.random.default_rng(0)
    days = np.arange("2024-01-01", "2024-10-27", dtype="datetime64[D]")[:300]
    X = np.sin(np.arange(300)[:, None] / 9 + np.arange(4)) + 0.3 * rng.normal(size=(300, 4))
    X[200:, 1] += 4.0
    rows = [[str(day), *(f"{value:.6g}" for value in row)] for day, row in zip(days, X, strict=True)]
    return write(tmp_path / "x.csv", ["day", *"abcd"], rows), days


def test_events_have_the_places_times_and_names_of_the_file(moved):
    path, days = moved
    found = detect_file(path, DetectionSettings(sequence=True))
    shift = next(one for one in happened(found) if one.columns[0][0] == "b")
    assert shift.kind == "shift"
    assert 201 <= shift.since <= 203
    assert shift.since_when == str(days[shift.since - 2])
    assert shift.found_when == str(days[shift.found - 2])
    assert shift.columns[0][1] == pytest.approx(4.0, abs=1.5)
    table = {column.name: column.values for column in events_table(found)}
    assert list(table) == ["event", "since line", "found at line", "since", "columns"]
    at = table["since line"].index(float(shift.since))
    assert (table["event"][at], table["found at line"][at]) == ("shift", shift.found)
    assert table["since"][at] == shift.since_when
    assert table["columns"][at].startswith(f"b ({shift.columns[0][1]:+.3g})")


def test_rows_without_an_order_have_no_events(moved):
    found = detect_file(moved[0], DetectionSettings())
    assert happened(found) == []
