"""`factorstream reproduce`: run an experiment of the paper and write its report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import click

from ..extras import require
from ..files import make_folder
from ._command import BadInputError, Words, command
from ._options import FILE, fraction, whole_number

if TYPE_CHECKING:
    from rich.console import Console

    from ..experiments.restoration import Reading

__all__ = ["COMMAND"]

Found = TypeVar("Found")

SEEDS = 3
"""Unless ``--seeds`` or ``--quick`` says otherwise. Not tuned: enough to show how much the seed matters."""


class _SeveralFractions(click.Command):
    """``--fraction 0.2 0.3`` means the same as ``--fraction 0.2 --fraction 0.3``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        out: list[str] = []
        waiting = given = False  # for the value of --fraction; one has been given
        for text in args:
            if waiting and not text.startswith("-"):
                out += ["--fraction", text] if given else [text]
                given = True
                continue
            if waiting and not given:
                break
            out.append(text)
            waiting, given = text == "--fraction", False
        if waiting and not given:
            raise click.UsageError("argument --fraction: expected at least one argument", ctx)
        return super().parse_args(ctx, out)


class _Plan(NamedTuple):
    """What was asked for."""

    quick: bool
    seeds: range
    fractions: list[float]
    output: Path


@command("reproduce", "run an experiment of the paper and write its report", cls=_SeveralFractions)
@click.option(
    "--experiment",
    type=click.Choice(["restoration", "sequences"]),
    default="restoration",
    show_default=True,
    help="which one",
)
@click.option(
    "--quick",
    is_flag=True,
    help="one seed; two readings of the paper and a short NMF, or one fraction: under a minute on an idle core",
)
@click.option(
    "--seeds", type=whole_number(), metavar="N", help=f"number of seeds (default: {SEEDS}, or 1 with --quick)"
)
@click.option(
    "--fraction",
    "fractions",
    type=fraction("a fraction"),
    multiple=True,
    metavar="F...",
    help="remove these fractions (0 < F < 1) instead of those of the paper",
)
@click.option("--output", type=FILE, default=Path("reproduction"), show_default=True, metavar="DIR", help="folder")
def COMMAND(
    words: Words, experiment: str, quick: bool, seeds: int | None, fractions: tuple[float, ...], output: Path
) -> None:
    """Run an experiment of the paper, print its table beside ours, and write a report."""
    require("jinja2", "matplotlib", "rich")
    make_folder(output)
    from rich.console import Console

    plan = _Plan(quick, range(seeds or (1 if quick else SEEDS)), list(dict.fromkeys(fractions)), output)
    paths = {"restoration": _restoration, "sequences": _sequences}[experiment](plan, words, Console(quiet=words.quiet))
    words.fact(experiment=experiment, files=list(map(str, paths)))


def _restoration(plan: _Plan, words: Words, console: Console) -> Sequence[Path]:
    from ..datasets import load_olivetti
    from ..experiments import restoration
    from ..experiments.methods import Settings, paper_methods
    from ..experiments.restoration_report import summary, write_report
    from ..report.tables import print_table

    faces = load_olivetti()
    console.print(f"Faces: {faces.source}.", highlight=False, markup=False)
    settings = Settings.for_quick_run() if plan.quick else Settings()
    methods, readings = paper_methods(settings), _readings(plan)
    total = len(methods) * len(readings) * len(plan.seeds)
    try:
        result = _watched(
            words, total, lambda notify: restoration.run(faces.images, readings, methods, plan.seeds, notify)
        )
    except restoration.NothingLeftError as problem:
        raise BadInputError(str(problem)) from None
    print_table(summary(result), console)
    return _named(console, write_report(result, settings, faces.source, plan.output))


def _sequences(plan: _Plan, words: Words, console: Console) -> Sequence[Path]:
    from ..datasets import load_london_air
    from ..experiments import sequences
    from ..experiments.sequences_report import summary, write_report
    from ..report.tables import print_table

    air = load_london_air()
    console.print(f"PM10: {air.source}.", highlight=False, markup=False)
    fractions = plan.fractions or list(sequences.FRACTIONS[: 1 if plan.quick else None])
    total = len(sequences.METHODS) * len(fractions) * len(plan.seeds)
    result = _watched(words, total, lambda notify: sequences.run(air.values, fractions, plan.seeds, notify))
    print_table(summary(result), console)
    return _named(console, write_report(result, air.source, plan.output))


def _readings(plan: _Plan) -> list[Reading]:
    from ..experiments.restoration import paper_readings, random_reading

    if plan.fractions:
        return [random_reading(share) for share in plan.fractions]
    return [reading for reading in paper_readings() if not (plan.quick and reading.key == "block")]


def _named(console: Console, paths: Sequence[Path]) -> Sequence[Path]:
    """Say what the numbers depend on, which files were written, and which one to open."""
    from ..report.document import versions

    console.print(", ".join(f"{name} {version}" for name, version in versions().items()), highlight=False)
    console.print("\nOpen", paths[0], "for the report. Also written:", highlight=False, soft_wrap=True)
    for path in paths[1:]:
        console.print(f"  {path}", highlight=False, markup=False, soft_wrap=True)
    return paths


def _watched(words: Words, total: int, work: Callable[[Callable[[str], None]], Found]) -> Found:
    """Do the work and show how far it is; it is told what comes next ``total`` times."""
    with words.progress("experiments", total) as step:
        begun = count()
        return work(lambda what: step(next(begun), what))
