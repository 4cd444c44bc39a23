"""`factorstream reproduce`: run an experiment of the paper and write its report."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from ..files import make_folder
from ..report.extras import require
from ._command import Command, fraction, whole_number

if TYPE_CHECKING:
    from rich.console import Console

    from ..experiments.restoration import Reading

__all__ = ["COMMAND"]

Found = TypeVar("Found")

SEEDS = 3
"""Unless ``--seeds`` or ``--quick`` says otherwise. Not tuned: enough to show how much the seed matters."""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--experiment",
        choices=list(_EXPERIMENTS),
        default="restoration",
        help="which one (default: %(default)s)",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="one seed; two readings of the paper and a short NMF, or one fraction: under a minute on an idle core",
    )
    parser.add_argument(
        "--seeds", type=whole_number, metavar="N", help=f"number of seeds (default: {SEEDS}, or 1 with --quick)"
    )
    parser.add_argument(
        "--fraction",
        type=fraction("a fraction"),
        nargs="+",
        metavar="F",
        help="remove these fractions (0 < F < 1) instead of those of the paper",
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("reproduction"),
        metavar="DIR",
        help="folder (default: %(default)s)",
    )


def _run(arguments: argparse.Namespace) -> int:
    require("jinja2", "matplotlib", "rich")
    make_folder(arguments.output)
    from rich.console import Console

    return _EXPERIMENTS[arguments.experiment](arguments, Console())


def _restoration(arguments: argparse.Namespace, console: Console) -> int:
    from ..datasets import load_olivetti
    from ..experiments import restoration
    from ..experiments.methods import Settings, paper_methods
    from ..experiments.restoration_report import summary, write_report
    from ..report.tables import print_table

    faces = load_olivetti()
    console.print(f"Faces: {faces.source}.", highlight=False)
    settings = Settings.for_quick_run() if arguments.quick else Settings()
    methods, readings, seeds = paper_methods(settings), _readings(arguments), _seeds(arguments)
    total = len(methods) * len(readings) * len(seeds)
    try:
        result = _watched(
            console, total, lambda notify: restoration.run(faces.images, readings, methods, seeds, notify)
        )
    except restoration.NothingLeftError as problem:
        print(f"factorstream: {problem}", file=sys.stderr)
        return 2
    print_table(summary(result), console)
    _name(console, write_report(result, settings, faces.source, arguments.output))
    return 0


def _sequences(arguments: argparse.Namespace, console: Console) -> int:
    from ..datasets import load_london_air
    from ..experiments import sequences
    from ..experiments.sequences_report import summary, write_report
    from ..report.tables import print_table

    air = load_london_air()
    console.print(f"PM10: {air.source}.", highlight=False)
    fractions = list(dict.fromkeys(arguments.fraction or sequences.FRACTIONS[: 1 if arguments.quick else None]))
    seeds = _seeds(arguments)
    total = len(sequences.METHODS) * len(fractions) * len(seeds)
    result = _watched(console, total, lambda notify: sequences.run(air.values, fractions, seeds, notify))
    print_table(summary(result), console)
    _name(console, write_report(result, air.source, arguments.output))
    return 0


def _seeds(arguments: argparse.Namespace) -> range:
    return range(arguments.seeds or (1 if arguments.quick else SEEDS))


def _readings(arguments: argparse.Namespace) -> list[Reading]:
    from ..experiments.restoration import paper_readings, random_reading

    if arguments.fraction:
        return [random_reading(share) for share in dict.fromkeys(arguments.fraction)]
    return [reading for reading in paper_readings() if not (arguments.quick and reading.key == "block")]


def _name(console: Console, paths: Sequence[Path]) -> None:
    """Say what the numbers depend on, which files were written, and which one to open."""
    from ..report.document import versions

    console.print(", ".join(f"{name} {version}" for name, version in versions().items()), highlight=False)
    console.print("\nOpen", paths[0], "for the report. Also written:", highlight=False, soft_wrap=True)
    for path in paths[1:]:
        console.print(f"  {path}", highlight=False, markup=False, soft_wrap=True)


def _watched(console: Console, total: int, work: Callable[[Callable[[str], None]], Found]) -> Found:
    """Do the work behind a progress bar; it is told what comes next ``total`` times."""
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), BarColumn(24), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("starting", total=total)
        started = False

        def notify(what: str) -> None:
            nonlocal started
            progress.update(task, advance=int(started), description=what)
            started = True

        return work(notify)


_EXPERIMENTS: dict[str, Callable[[argparse.Namespace, Console], int]] = {
    "restoration": _restoration,
    "sequences": _sequences,
}

COMMAND = Command(
    "reproduce",
    help="run an experiment of the paper and write its report",
    description="Run an experiment of the paper, print its table beside ours, and write a report.",
    add_arguments=_add_arguments,
    run=_run,
)
