"""The command line. A new command is a file here that defines a ``COMMAND``, and its name in ``COMMANDS``.

The file of a command is imported when the command is asked for, and imports itself what it works with when it runs.
Until then there is nothing but the standard library and click, so that ``--help`` and ``--version`` answer at once.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence

import click

from .. import __version__
from ._command import usage_sentence

__all__ = ["main"]

COMMANDS = (
    "impute",
    "forecast",
    "detect",
    "factorize",
    "restore",
    "info",
    "demo",
    "reproduce",
)

COMPLETE = "_FACTORSTREAM_COMPLETE"
"""The environment variable by which a shell asks for completions; click's name for it."""

CLOSED_PIPE = 141
"""Exit code where the reader of our output has gone, as in ``| head``: that of other programs, 128 + SIGPIPE."""


class _Commands(click.Group):
    """The commands by their names; none is imported before it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"{__name__}.{cmd_name}").COMMAND
        return command


@click.group(cls=_Commands, no_args_is_help=False, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="factorstream %(version)s")
def _factorstream() -> None:
    """Streaming matrix factorisation with uncertainty.

    Every command has a --help of its own. Exit codes: 0 done, 1 failed, 2 bad arguments or bad input, 130 interrupted
    (143 by SIGTERM), 141 whoever read the output has gone.
    """


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0 done, 1 failed, 2 bad arguments or input, 130 interrupted."""
    if argv is None and COMPLETE in os.environ:
        from click.shell_completion import shell_complete

        return shell_complete(_factorstream, {}, "factorstream", COMPLETE, os.environ[COMPLETE])
    typed = tuple(sys.argv[1:] if argv is None else argv)
    try:
        with _factorstream.make_context("factorstream", list(typed)) as context:
            context.meta["factorstream.typed"] = typed
            code = _factorstream.invoke(context)
        if sys.stdout is not None:  # it was not closed before we began
            sys.stdout.flush()  # a closed pipe is found here, and not when Python ends
        return int(code)
    except click.exceptions.Exit as stop:  # --help and --version
        raise SystemExit(stop.exit_code) from None
    except click.UsageError as problem:
        print(usage_sentence(problem), file=sys.stderr)
        raise SystemExit(2) from None
    except (KeyboardInterrupt, click.Abort):
        print("factorstream: interrupted.", file=sys.stderr)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is still to be written goes nowhere
        return CLOSED_PIPE
