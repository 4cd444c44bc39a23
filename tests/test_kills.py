"""Processes that are killed at random moments go on when they are started again, and end as if nothing had happened."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

pytestmark = [pytest.mark.long, pytest.mark.once]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are made by fork")
def test_twenty_kills_change_nothing():
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks" / "kills.py", "20"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.rsplit(maxsplit=2)[-2]) >= 20
