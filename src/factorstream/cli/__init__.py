"""The command line. A new command is a file here that defines a ``COMMAND``, and its name in ``COMMANDS``.

Until a command runs, nothing but the standard library is imported, so that ``--help`` and ``--version`` answer
at once.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence

from .. import __version__
from ..files import UnusableOutputError
from ..report.extras import MissingExtraError
from ._command import Command, Parser

__all__ = ["main"]

COMMANDS = (
    "reproduce",
    "impute",
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0 done, 1 failed, 2 bad arguments, 130 interrupted."""
    commands = [_load(name) for name in COMMANDS]
    arguments = _parser(commands).parse_args(argv)
    try:
        return next(command for command in commands if command.name == arguments.command).run(arguments)
    except KeyboardInterrupt:
        print("factorstream: interrupted.", file=sys.stderr)
        return 130
    except (MissingExtraError, OSError) as problem:  # a missing extra, no data, a folder that cannot be written
        print(f"factorstream: {problem}", file=sys.stderr)
        return 2 if isinstance(problem, UnusableOutputError) else 1


def _load(name: str) -> Command:
    command: Command = importlib.import_module(f"{__name__}.{name}").COMMAND
    return command


def _parser(commands: Sequence[Command]) -> argparse.ArgumentParser:
    parser = Parser(prog="factorstream", description="Streaming matrix factorisation with uncertainty.")
    parser.add_argument("--version", action="version", version=f"factorstream {__version__}")
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="command")
    for command in commands:
        command.add_arguments(subparsers.add_parser(command.name, help=command.help, description=command.description))
    return parser
