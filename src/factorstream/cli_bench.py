"""`factorstream bench`: this package beside its peers."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from .experiments.bench.choices import listing

__all__ = ["add_bench", "bench"]

DESCRIPTION = """\
Time this package beside its peers on the same data, on one BLAS thread, and
write a table (Markdown, JSON) and plots. Peers come with
`pip install "factorstream[bench]"`; one that is not installed is named in the
table as such, and so is a case whose data are not found.
"""


def add_bench(commands: Any) -> None:
    """Add the command to the subparsers of the command line."""
    parser = commands.add_parser(
        "bench",
        help="time this package beside its peers",
        description=DESCRIPTION,
        epilog=f"cases:\n{listing()}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quick", action="store_true", help="smaller data: a few minutes")
    parser.add_argument("--only", nargs="+", default=(), metavar="CASE", help="only these of the cases below")
    parser.add_argument(
        "--output", type=Path, default=Path("benchmark"), metavar="DIR", help="folder (default: %(default)s)"
    )


def bench(arguments: argparse.Namespace) -> int:
    """Run the command and return its exit code: 0 done, 1 nothing could be measured, 2 bad arguments."""
    from .report.extras import require
    from .report.files import make_folder

    require("matplotlib", "rich")
    from rich.console import Console

    from .experiments.bench.report import run, unknown
    from .report.tables import print_table

    if refusal := unknown(arguments.only):
        print(f"factorstream: {refusal}", file=sys.stderr)
        return 2
    make_folder(arguments.output)
    console = Console()
    with console.status("starting") as status:
        outcome = run(arguments.output, arguments.quick, status.update, arguments.only)
    for table in outcome.tables:
        print_table(table, console)
    for path in outcome.paths:
        console.print(f"  {path}", highlight=False, markup=False, soft_wrap=True)
    if not outcome.measured:
        print("factorstream: nothing was measured; the notes of the table say why.", file=sys.stderr)
    return 0 if outcome.measured else 1
