"""The benchmark as files: Markdown, JSON and plots."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from threadpoolctl import threadpool_limits

from ...datasets import DatasetNotFoundError
from ...report.figures import PALETTE, Curve, curves, to_png
from ...report.files import write_atomic
from ...report.tables import Cell, Column, Table, to_markdown
from .cases import CASES, Row, scaling
from .timing import Machine, machine

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = (
    Column("method", "method", numeric=False),
    Column("time", "median", numeric=False),
    Column("ratio", "× ours"),
    Column("floor", "floor", numeric=False),
    Column("over", "× floor", digits=1),
    Column("quality", "dB"),
    Column("note", "note", numeric=False, aside=True),
)


def run(
    output: Path, quick: bool = False, notify: Callable[[str], None] = lambda what: None, cases: Sequence[str] = ()
) -> tuple[Table, list[Path]]:
    """Measure everything on one thread and write ``benchmark.md``, ``benchmark.json`` and the plots.

    ``cases`` keeps those whose function has one of these names; all without it.
    """
    output.mkdir(parents=True, exist_ok=True)
    rows: list[Row] = []
    with threadpool_limits(1):
        notify("this machine's rates")
        here = machine()
        for case in CASES:
            if not cases or case.__name__ in cases:
                notify((case.__doc__ or "").partition(":")[0])
                try:
                    rows += case(here, quick)
                except DatasetNotFoundError as problem:
                    rows.append(Row(case.__name__, "not run", None, note=str(problem)))
        notify("time per sample")
        lines = scaling(here, quick) if not cases or "scaling" in cases else {}
    table = summary(rows, here)
    data = {"machine": here._asdict(), "rows": [row._asdict() for row in rows], "microseconds_per_sample": lines}
    text = f"# Benchmark\n\n{header(here)}\n\n{to_markdown(table)}"
    paths = [
        write_atomic(output / "benchmark.md", text),
        write_atomic(output / "benchmark.json", json.dumps(data, indent=1)),
    ]
    if lines:
        paths.append(write_atomic(output / "time_per_sample.png", to_png(scaling_figure(lines))))
    peaks = [row.peak for row in rows if row.peak]
    if peaks:
        paths.append(write_atomic(output / "peak_memory.png", to_png(memory_figure(peaks))))
    compared = [row for row in rows if row.quality is not None and row.seconds]
    if compared:
        paths.append(write_atomic(output / "quality_against_time.png", to_png(quality_figure(compared))))
    return table, paths


def header(here: Machine) -> str:
    """Where the numbers come from, in two sentences."""
    versions = ", ".join(f"{name} {version}" for name, version in here.versions.items())
    return (
        f"{here.cpu}, {here.cores} cores, BLAS on one thread; measured rates {here.flops / 1e9:.0f} Gflop/s in matrix "
        f"products and {here.bandwidth / 1e9:.0f} GB/s from memory. Medians of at least five repeats in turns, "
        f"after a warm-up, unless a note says otherwise. {versions}."
    )


def summary(rows: Sequence[Row], here: Machine) -> Table:
    """The rows in readable units."""
    cells: list[dict[str, Cell]] = []
    for row in rows:
        over = row.seconds / row.floor if row.seconds and row.floor else None
        cells.append(
            {
                "case": row.case,
                "method": row.method,
                "time": readable(row.seconds),
                "ratio": row.ratio,
                "floor": readable(row.floor),
                "over": over,
                "quality": row.quality,
                "note": row.note,
            }
        )
    return Table("Benchmark", COLUMNS, cells, group="case", notes=[header(here)])


def readable(seconds: float | None) -> str:
    """Seconds in the unit that suits them.

    >>> readable(0.0123), readable(4e-6), readable(None)
    ('12.3 ms', '4.0 µs', '–')
    """
    if seconds is None:
        return "–"
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e6:.1f} µs"


def scaling_figure(lines: dict[str, list[tuple[float, float]]]) -> Figure:
    """Time per sample against each size."""
    panels = [
        (f"against {name}", [Curve("filter", [x for x, _ in points], [y for _, y in points], PALETTE[0])])
        for name, points in lines.items()
    ]
    figure = curves(panels, x_label="size", y_label="µs per sample", log_x=False)
    for axis, points in zip(figure.axes, lines.values(), strict=True):
        axis.set_ylim(bottom=0)
        if points[-1][0] > 100 * points[0][0] / 4:
            axis.set_xscale("log")
            axis.set_xticks([x for x, _ in points], [f"{x:g}" for x, _ in points])
            axis.minorticks_off()
    return figure


def quality_figure(rows: Sequence[Row]) -> Figure:
    """SNR over the removed entries against seconds, one labelled point per method."""
    points = [
        Curve("", [row.seconds or 0.0], [row.quality or 0.0], PALETTE[i % len(PALETTE)]) for i, row in enumerate(rows)
    ]
    title = "faces, 25% of the pixels removed"
    figure = curves([(title, points)], x_label="seconds", y_label="dB over removed entries")
    figure.set_size_inches(9, 5)
    axis = figure.axes[0]
    axis.margins(x=0.25, y=0.1)
    for row in rows:
        name = row.method.partition(",")[0]
        axis.annotate(name, (row.seconds or 0.0, row.quality or 0.0), (5, 4), textcoords="offset points", fontsize=8)
    return figure


def memory_figure(peaks: Sequence[tuple[int, int]]) -> Figure:
    """Peak extra memory of one call against the number of its rows."""
    line = Curve("partial_fit", [n for n, _ in peaks], [size / 1e6 for _, size in peaks], PALETTE[0])
    figure = curves([("peak extra memory", [line])], x_label="rows", y_label="MB", log_x=False)
    figure.axes[0].set_ylim(bottom=0)
    return figure
