"""Counted covariances beside the paper's single one."""

from __future__ import annotations

import pytest
from benchmarks.cases import judged
from benchmarks.counted import COMPILED, COUNTED, SHARED, TABLES, Table, _compared, method

from bench_problems import HERE, row

pytestmark = pytest.mark.long  # benchmarks, if small ones


def test_both_filters_are_timed_on_the_same_rows():
    rows = {one.method: one for one in _compared(HERE, Table("tiny", 60, 20, 2, 0.1))}
    assert {method(SHARED, "tiny"), method(COUNTED, "tiny")} <= set(rows)
    assert all(one.seconds > 0 for one in rows.values())
    assert rows[method(SHARED, "tiny")].ratio == 1.0


def test_complete_rows_and_rows_with_gaps_have_bars_of_their_own():
    complete, gaps = TABLES[:2]
    rows = [row(method(kind, table.name), s) for kind, s in ((SHARED, 1.0), (COUNTED, 1.3)) for table in TABLES]
    found = {bar.what: bar for bar in judged(rows)}
    assert found[f"{complete.name}: counted / shared"].met is False
    assert found[f"{gaps.name}: counted / shared"].met is True
    assert found[f"{gaps.name}{COMPILED}: counted / shared"].met is None
