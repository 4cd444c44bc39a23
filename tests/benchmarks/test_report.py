"""The files of the benchmark."""

from __future__ import annotations

import json

import pytest
from benchmarks.cases import judged
from benchmarks.masked import FIT, FIT_AND_FILL
from benchmarks.report import bar_table, run

from bench_problems import row

pytestmark = pytest.mark.long  # benchmarks, if small ones


def test_report(tmp_path):
    pytest.importorskip("matplotlib")
    (judged, table), paths, measured = run(tmp_path / "out", quick=True, only=["memory"])
    assert measured
    assert len(table.rows) == 3
    assert {row["verdict"] for row in judged.rows} == {"not judged", "not chosen"}
    assert [path.name for path in paths] == ["benchmark.md", "benchmark.json", "peak_memory.png"]
    data = json.loads(paths[1].read_text())
    assert data["machine"]["flops"] > 0
    assert {bar["met"] for bar in data["bars"]} == {None}
    assert "copies of C" in paths[0].read_text()


def test_without_a_peer_of_the_quality_there_is_nothing_to_compare():
    rows = [row(FIT_AND_FILL, 0.3, 15.0), row(FIT, 0.2, 15.0), row("poor", 0.1, 14.0, role="peer")]
    lines = {line["what"]: line for line in bar_table(judged(rows), quick=True).rows}
    for what in ("fit and fill", "fit alone"):
        line = lines[f"faces: fastest peer of 18.9 dB / {what}"]
        assert (line["measured"], line["verdict"]) == ("–", "nothing to compare")
        assert line["limit"] == "no peer reached 18.9 dB on these data (case)"
    assert lines["complete: textbook loop / ours"]["verdict"] == "not run"
