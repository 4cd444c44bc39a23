"""The command line: parse, call the package, print."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TypeVar

from .cli_bench import add_bench, bench
from .cli_impute import add_impute, impute
from .report.extras import MissingExtraError, require
from .report.files import UnusableOutputError, make_folder

if TYPE_CHECKING:
    from rich.console import Console

    from .experiments.methods import Settings
    from .experiments.restoration import Reading, Restoration

__all__ = ["main"]

Found = TypeVar("Found")


class _Parser(argparse.ArgumentParser):
    """An `argparse` parser that answers bad arguments in one sentence."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help).\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0 done, 1 failed, 2 bad arguments, 130 interrupted."""
    arguments = _parser().parse_args(argv)
    try:
        run = {"bench": bench, "impute": impute, "reproduce": _reproduce}[arguments.command]
        return run(arguments)
    except KeyboardInterrupt:
        print("factorstream: interrupted.", file=sys.stderr)
        return 130
    except (MissingExtraError, OSError) as problem:  # a missing extra, no data, a folder that cannot be written
        print(f"factorstream: {problem}", file=sys.stderr)
        return 2 if isinstance(problem, UnusableOutputError) else 1


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="factorstream", description="Streaming matrix factorisation with uncertainty.")
    parser.add_argument("--version", action="version", version=f"factorstream {_version()}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    reproduce = commands.add_parser(
        "reproduce",
        help="run an experiment of the paper and write its report",
        description="Run an experiment of the paper, print its table beside ours, and write a report.",
    )
    reproduce.add_argument(
        "--experiment",
        choices=["restoration", "sequences"],
        default="restoration",
        help="which one (default: %(default)s)",
    )
    reproduce.add_argument(
        "--quick",
        action="store_true",
        help="one seed; two readings of the paper and a short NMF, or one fraction: under a minute on an idle core",
    )
    reproduce.add_argument(
        "--seeds", type=_positive, metavar="N", help="number of seeds (default: 3, or 1 with --quick)"
    )
    reproduce.add_argument(
        "--fraction",
        type=_fraction,
        nargs="+",
        metavar="F",
        help="remove these fractions (0 < F < 1) instead of those of the paper",
    )
    reproduce.add_argument(
        "--output",
        type=Path,
        default=Path("reproduction"),
        metavar="DIR",
        help="folder (default: %(default)s)",
    )
    add_impute(commands)
    add_bench(commands)
    return parser


def _version() -> str:
    from . import __version__

    return __version__


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def _fraction(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a fraction between 0 and 1")
    return value


def _reproduce(arguments: argparse.Namespace) -> int:
    require("matplotlib", "rich")
    make_folder(arguments.output)
    return _restoration(arguments) if arguments.experiment == "restoration" else _sequences(arguments)


def _restoration(arguments: argparse.Namespace) -> int:
    from rich.console import Console

    from .datasets import load_olivetti
    from .experiments.methods import Settings
    from .experiments.restoration import NothingLeftError
    from .experiments.restoration_report import summary, versions, write_report
    from .report.tables import print_table

    console = Console()
    faces = load_olivetti()
    console.print(f"Faces: {faces.source}.", highlight=False)
    quick = arguments.quick
    settings = Settings.for_quick_run() if quick else Settings()
    seeds = range(arguments.seeds or (1 if quick else 3))
    try:
        result = _run(console, faces.images, _readings(arguments), settings, seeds)
    except NothingLeftError as problem:
        print(f"factorstream: {problem}", file=sys.stderr)
        return 2
    print_table(summary(result), console)
    console.print(", ".join(f"{name} {version}" for name, version in versions().items()), highlight=False)
    _name(console, write_report(result, settings, faces.source, arguments.output))
    return 0


def _sequences(arguments: argparse.Namespace) -> int:
    from rich.console import Console

    from .datasets import load_london_air
    from .experiments.restoration_report import versions
    from .experiments.sequences import FRACTIONS, METHODS, run
    from .experiments.sequences_report import summary, write_report
    from .report.tables import print_table

    console = Console()
    air = load_london_air()
    console.print(f"PM10: {air.source}.", highlight=False)
    fractions = list(dict.fromkeys(arguments.fraction or FRACTIONS[: 1 if arguments.quick else None]))
    seeds = range(arguments.seeds or (1 if arguments.quick else 3))
    total = len(METHODS) * len(fractions) * len(seeds)
    result = _watched(console, total, lambda notify: run(air.values, fractions, seeds, notify))
    print_table(summary(result), console)
    console.print(", ".join(f"{name} {version}" for name, version in versions().items()), highlight=False)
    _name(console, write_report(result, air.source, arguments.output))
    return 0


def _name(console: Console, paths: Sequence[Path]) -> None:
    """Say which files were written, and which one to open."""
    console.print("\nOpen", paths[0], "for the report. Also written:", highlight=False, soft_wrap=True)
    for path in paths[1:]:
        console.print(f"  {path}", highlight=False, markup=False, soft_wrap=True)


def _readings(arguments: argparse.Namespace) -> list[Reading]:
    from .experiments.restoration import paper_readings, random_reading

    if arguments.fraction:
        return [random_reading(fraction) for fraction in dict.fromkeys(arguments.fraction)]
    return [reading for reading in paper_readings() if not (arguments.quick and reading.key == "block")]


def _run(
    console: Console, images: object, readings: list[Reading], settings: Settings, seeds: Sequence[int]
) -> Restoration:
    """Run the experiment behind a progress bar."""
    import numpy as np

    from .experiments.methods import paper_methods
    from .experiments.restoration import run

    methods = paper_methods(settings)
    faces = np.asarray(images, dtype=np.float64)
    total = len(methods) * len(readings) * len(seeds)
    return _watched(console, total, lambda notify: run(faces, readings, methods, seeds, notify))


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
