from __future__ import annotations

import pytest
from benchmarks.timing import Timing


@pytest.fixture
def one_run_each(monkeypatch):
    """Everybody is too slow for a second run."""
    monkeypatch.setattr("benchmarks.rows.race", lambda calls, *_: dict.fromkeys(calls, Timing(1.0, 1.0, 1)))
