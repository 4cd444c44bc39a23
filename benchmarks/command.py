"""The command ``python -m benchmarks``: parse, measure, print."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from factorstream.extras import MissingExtraError, require
from factorstream.files import UnusableOutputError, make_folder

from .cases import listing, unknown

DESCRIPTION = """\
Time this package beside its peers on the same data, on one BLAS thread, and
write a table (Markdown, JSON) and plots. Peers come with
`pip install --group bench`; one that is not installed is named in the table
as such, and so is a case whose data are not found.
"""


class Parser(argparse.ArgumentParser):
    """An `argparse` parser that answers bad arguments in one sentence."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, and where help is."""
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help).\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; the exit code is 0 done, 1 nothing could be measured, 2 bad arguments, 130 interrupted."""
    arguments = _parser().parse_args(argv)
    try:
        return _run(arguments)
    except KeyboardInterrupt:
        return _failed("interrupted.", 130)
    except UnusableOutputError as problem:
        return _failed(str(problem), 2)
    except MissingExtraError as problem:
        return _failed(str(problem), 1)


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="benchmarks",
        description=DESCRIPTION,
        epilog=f"cases:\n{listing()}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quick", action="store_true", help="smaller data: a few minutes")
    parser.add_argument("--only", nargs="+", default=(), metavar="CASE", help="only these of the cases below")
    parser.add_argument(
        "--output", type=Path, default=Path("benchmark"), metavar="DIR", help="folder (default: %(default)s)"
    )
    return parser


def _run(arguments: argparse.Namespace) -> int:
    require("matplotlib", "rich")
    from rich.console import Console

    from factorstream.report.tables import print_table

    from . import report

    if refusal := unknown(arguments.only):
        return _failed(refusal, 2)
    make_folder(arguments.output)
    console = Console()
    with console.status("starting") as status:
        outcome = report.run(arguments.output, arguments.quick, status.update, arguments.only)
    for table in outcome.tables:
        print_table(table, console)
    for path in outcome.paths:
        console.print(f"  {path}", highlight=False, markup=False, soft_wrap=True)
    return 0 if outcome.measured else _failed("nothing was measured; the notes of the table say why.", 1)


def _failed(why: str, code: int) -> int:
    print(f"benchmarks: {why}", file=sys.stderr)
    return code
