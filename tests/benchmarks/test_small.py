"""Small problems, plain and compiled."""

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest
from benchmarks.cases import judged
from benchmarks.timing import Timing, compiled_code

from bench_problems import HERE, row
from benchmarks import small


def test_compiled_rows_are_compiled_and_the_others_are_not(monkeypatch):
    pytest.importorskip("numba")
    asked = []

    def code():
        return os.environ["FACTORSTREAM_COMPILED"]

    def once(calls, *_):
        return {name: Timing(1.0, 1.0, 5) for name, call in calls.items() if call() or True}

    monkeypatch.setattr("benchmarks.rows.race", once)
    monkeypatch.setattr(small, "DictionaryFilter", lambda *_, **__: SimpleNamespace(fit=lambda X: asked.append(code())))
    with compiled_code("0"):
        rows = small.small_table(HERE, quick=True).rows
        assert (asked, code()) == (["0", "1"], "0")
    assert [row.role for row in rows] == ["ours", "ours", "peer"]
    plain, fast = row(small.TABLE, 3.0), row(small.TABLE_COMPILED, 1.0)
    (bar,) = [bar for bar in judged([plain, fast]) if bar.what == "narrow table: NumPy / compiled"]
    assert (bar.measured, bar.met) == (3.0, True)
