"""The plots of the benchmark."""

from __future__ import annotations

import pytest
from benchmarks.plots import memory_figure, scaling_figure
from benchmarks.rows import Peak
from benchmarks.small import low_rank
from benchmarks.streams import scaling
from benchmarks.timing import Timing

from bench_problems import HERE


def test_the_axes_of_the_plots_are_named(monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr("benchmarks.streams.low_rank", lambda *_: low_rank(20, 6, 2))
    monkeypatch.setattr("benchmarks.streams.race", lambda calls, **_: dict.fromkeys(calls, Timing(1.0, 1.0, 1)))
    figure = scaling_figure(scaling(HERE, quick=True).per_sample)
    assert [axis.get_xlabel() for axis in figure.axes] == ["features m", "components r", "samples n", "share missing"]
    assert figure.axes[0].get_ylabel() == "µs per sample"
    memory = memory_figure([Peak(100, 3, 1, 1), Peak(200, 3, 1, 1)])
    assert memory.axes[0].get_xlabel() == "rows n of one call"
