"""The benchmark as files: Markdown, JSON and plots."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import NamedTuple

from threadpoolctl import threadpool_limits

from factorstream.datasets import DatasetNotFoundError
from factorstream.files import write_atomic
from factorstream.report.figures import to_png
from factorstream.report.tables import Cell, Column, Table, to_markdown

from .bars import Bar
from .cases import CASES, judged
from .peers import PEERS, installed
from .plots import memory_figure, quality_figure, scaling_figure
from .rows import Point, Row, joined, readable
from .timing import Machine, compiled_code, machine

COLUMNS = (
    Column("method", "method", numeric=False, wraps=True),
    Column("time", "median", numeric=False),
    Column("ratio", "× ours"),
    Column("floor", "floor", numeric=False),
    Column("over", "× floor", digits=1),
    Column("quality", "dB"),
    Column("note", "note", numeric=False, aside=True),
)

BAR_COLUMNS = (
    Column("what", "bar", numeric=False, wraps=True),
    Column("measured", "measured", numeric=False),
    Column("wanted", "wanted", numeric=False),
    Column("verdict", "verdict", numeric=False),
    Column("limit", "remark", numeric=False, aside=True),
)

EXPLANATION = (
    "*× ours* is a row's time over that of the first row of its group, which is this package: 2.00 takes twice as "
    "long, 0.50 half as long. The *floor* is the work that the algorithm cannot do without over the rates above "
    "(`floors.py` has every formula), for this package and the yardsticks in plain NumPy; a peer's floor is not ours "
    "to count. Peers get their data prepared (means filled in, mask made, centred) outside the clock unless their name "
    "says otherwise; ours takes the matrix with NaN. *Compiled* is this package with its extra `fast`, insisted on "
    "by FACTORSTREAM_COMPILED=1; its other rows are plain NumPy. dB are the signal-to-noise ratio over the removed "
    "entries."
)

QUICK = "This was a quick run on smaller data than the bars speak of, so none of them is judged."


Notify = Callable[[str], None]
"""Takes what comes next."""


class Outcome(NamedTuple):
    """What a run leaves behind."""

    tables: list[Table]
    paths: list[Path]
    measured: bool
    """Whether there is any figure at all."""


class Measured(NamedTuple):
    """Everything that a run measured."""

    rows: list[Row]
    per_sample: dict[str, Sequence[Point]]
    absent: dict[str, str]
    """A verdict on every case that did not run."""

    def any_figure(self) -> bool:
        """Whether anything was measured at all."""
        return bool(self.per_sample) or any(row.seconds is not None or row.peak is not None for row in self.rows)


def run(output: Path, quick: bool = False, notify: Notify = lambda what: None, only: Collection[str] = ()) -> Outcome:
    """Measure everything on one thread and write ``benchmark.md``, ``benchmark.json`` and the plots.

    ``only`` keeps those of ``CASES`` that it names; all without it.
    """
    output.mkdir(parents=True, exist_ok=True)
    for peer in PEERS:
        installed(peer)  # a thread pool that comes with a later import would not be limited
    with threadpool_limits(1), compiled_code("0"):
        notify("this machine's rates")
        here = machine()
        measured = measure(here, quick, notify, only or CASES)
    verdicts = judged(measured.rows, measured.absent)
    sources = sources_of(measured.rows)
    tables = [bar_table(verdicts, quick), summary(measured.rows)]
    title = f"# Benchmark\n\n{header(here, sources)}\n\n"
    text = title + f"## Bars\n\n{to_markdown(tables[0])}\n## Measurements\n\n{EXPLANATION}\n\n{to_markdown(tables[1])}"
    data = {
        "machine": here._asdict(),
        "data": sources,
        "quick": quick,
        "bars": [bar._asdict() | {"met": None if quick else bar.met} for bar in verdicts],
        "rows": [row._asdict() | {"peak": row.peak._asdict() if row.peak else None} for row in measured.rows],
        "per_sample": {name: [point._asdict() for point in points] for name, points in measured.per_sample.items()},
    }
    contents: dict[str, str | bytes] = {
        "benchmark.md": text,
        "benchmark.json": json.dumps(data, indent=1),
        **plots(measured),
    }
    paths = [write_atomic(output / name, content) for name, content in contents.items()]
    return Outcome(tables, paths, measured.any_figure())


def measure(here: Machine, quick: bool, notify: Notify, only: Collection[str]) -> Measured:
    """The chosen cases, one after another."""
    measured = Measured([], {}, {})
    for name, case in CASES.items():
        if name not in only:
            measured.absent[name] = "not chosen"
            continue
        notify(case.heading)
        try:
            found = case.measure(here, quick)
        except DatasetNotFoundError as problem:
            measured.absent[name] = f"not run: no {case.data}"
            measured.rows.append(Row(case.heading, measured.absent[name], "ours", note=str(problem)))
        else:
            measured.rows.extend(found.rows)
            measured.per_sample.update(found.per_sample)
    return measured


def plots(measured: Measured) -> dict[str, bytes]:
    """The plots that there are figures for, by the names of their files."""
    found = {}
    if measured.per_sample:
        found["time_per_sample.png"] = to_png(scaling_figure(measured.per_sample))
    peaks = [row.peak for row in measured.rows if row.peak]
    if peaks:
        found["peak_memory.png"] = to_png(memory_figure(peaks))
    compared = [row for row in measured.rows if row.quality is not None and row.seconds]
    if compared:
        found["quality_against_time.png"] = to_png(quality_figure(compared))
    return found


def sources_of(rows: Sequence[Row]) -> list[str]:
    """Where the data came from, each source once."""
    return list(dict.fromkeys(row.data for row in rows if row.data))


def header(here: Machine, sources: Sequence[str]) -> str:
    """Where the numbers come from, in a few sentences."""
    versions = ", ".join(f"{name} {version}" for name, version in here.versions.items())
    data = f" Data: {'; '.join(sources)}." if sources else ""
    return (
        f"{here.cpu}, {here.cores} cores, BLAS on one thread; measured rates {here.flops / 1e9:.0f} Gflop/s in matrix "
        f"products, {here.bandwidth / 1e9:.0f} GB/s from memory and {here.cache / 1e9:.0f} GB/s from an array of the "
        "dictionary's size. Medians of at least five repeats in turns, after a warm-up, unless a note says otherwise. "
        f"{versions}.{data}"
    )


def bar_table(verdicts: Sequence[Bar], quick: bool) -> Table:
    """What was wanted, what was measured, and the verdict."""
    cells: list[dict[str, Cell]] = []
    for bar in verdicts:
        measured = bar.measured is not None
        verdict = "not judged" if quick else "met" if bar.met else "not met"
        cells.append(
            {
                "what": bar.what,
                "measured": f"{bar.measured:.2f} {bar.unit}" if measured else "–",
                "wanted": f"{bar.sign} {bar.bound:g}",
                "verdict": verdict if measured else bar.unmeasured,
                "limit": joined(bar.against, bar.limit),
            }
        )
    return Table("Bars", BAR_COLUMNS, cells, notes=[QUICK] if quick else [])


def summary(rows: Sequence[Row]) -> Table:
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
    return Table("Benchmark", COLUMNS, cells, group="case")
