"""What every command is made of: common options, what it says and where, and errors as sentences with exit codes."""

from __future__ import annotations

import functools
import json
import math
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import click

from ..extras import MissingExtraError
from ..files import UnusableOutputError
from ..progress import Step, progress

__all__ = ["STANDARD", "BadInputError", "Words", "command", "usage_sentence"]

STANDARD = Path("-")
"""Standard input or standard output instead of a file."""


class BadInputError(Exception):
    """What was given cannot be used; the message is a sentence that says what to do."""


class Words:
    """What a command says: sentences on standard error, or with ``--json`` one object when all is done."""

    def __init__(self, command: str, *, quiet: bool = False, as_json: bool = False) -> None:
        self.quiet = quiet or as_json
        """Whether nothing is said but errors; progress is not shown then either."""
        self.data_on_stdout = False
        """Set by a command that writes its results there: ``--json`` then goes to standard error."""
        self.as_json = as_json
        """Whether programs read what is said."""
        self._facts: dict[str, Any] = {"command": command}
        self.notes: list[str] = []
        """What was said so far."""
        self.caveats: list[str] = []

    def note(self, sentence: str) -> None:
        """Say a sentence."""
        self.notes.append(sentence)
        if not self.quiet:
            print(f"factorstream: {sentence}", file=sys.stderr)

    def caveat(self, sentence: str) -> None:
        """Say what was left out, or is not as it could be; a report lists it too."""
        self.caveats.append(sentence)
        self.note(sentence)

    def show(self, text: str) -> None:
        """Print a result for people; with ``--json`` programs get the facts instead."""
        if not self.as_json:
            print(text)

    def fact(self, **facts: Any) -> None:
        """Add to what ``--json`` says: what `json.dumps` takes, and arrays; numbers that are not finite become null."""
        self._facts |= facts

    @property
    def verbose(self) -> int:
        """The parameter ``verbose`` of a model that is fitted here."""
        return int(not self.quiet)

    @contextmanager
    def phases(self) -> Iterator[Callable[[str], None]]:
        """Show how long each step of the work takes; it is told their names. A fit shows itself how far it is."""
        phase = ""
        with ExitStack() as shown:

            def begin(what: str) -> None:
                nonlocal phase
                if what != phase:
                    shown.close()
                    phase = what
                    shown.enter_context(progress(what, show=not self.quiet and what != "fitting"))

            yield begin

    @contextmanager
    def progress(self, what: str, total: float | None = None) -> Iterator[Step]:
        """Show how far the work in the block is, unless that is not wanted."""
        with progress(what, total, show=not self.quiet) as step:
            yield step

    def done(self) -> int:
        """Everything has worked: the summary of ``--json``, and the exit code."""
        self._summarise(exit_code=0, notes=self.notes)
        return 0

    def failed(self, sentence: str, code: int) -> int:
        """Say why it has not, and return the exit code."""
        if self.as_json:
            self._summarise(exit_code=code, error=sentence, notes=self.notes)
        else:
            print(f"factorstream: {sentence}", file=sys.stderr)
        return code

    def _summarise(self, **ending: Any) -> None:
        if self.as_json:
            where = sys.stderr if self.data_on_stdout else sys.stdout
            facts = _for_json({**self._facts, **ending})
            print(json.dumps(facts, ensure_ascii=False, allow_nan=False, default=str), file=where)

    @contextmanager
    def repeating_warnings(self) -> Iterator[None]:
        """What estimators warn of becomes notes, each once; other kinds of warnings stay what they are."""

        with warnings.catch_warnings():
            show_others = warnings.showwarning

            def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
                if not issubclass(category, UserWarning):
                    show_others(message, category, *where, **more)
                elif str(message) not in self.notes:
                    self.note(str(message))

            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = show
            yield


def _for_json(value: Any) -> Any:
    """The value with None in place of NaN and infinities, which JSON has no words for, and lists for arrays."""
    if isinstance(value, dict):
        return {key: _for_json(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_for_json(each) for each in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return _for_json(value.tolist()) if hasattr(value, "tolist") else value


def command(name: str, summary: str, cls: type[click.Command] = click.Command) -> Callable[..., click.Command]:
    """Make a command of a function, whose docstring is its help and ``summary`` its line in the list of commands.

    The function gets a `Words` and its own options and arguments. It returns nothing; a command that cannot do its work
    raises an error, whose message should be one sentence that says what to do:

    - bad input (`BadInputError`, `TableError`, `ModelFileError`, `UnusableOutputError`): exit code 2;
    - anything else (no data, no permission, a missing package, a bug): exit code 1.
    """

    def decorate(function: Callable[..., None]) -> click.Command:
        @functools.wraps(function)
        def run(quiet: bool, as_json: bool, debug: bool, **arguments: Any) -> int:
            words = Words(name, quiet=quiet, as_json=as_json)
            return _attempt(words, debug, functools.partial(function, words, **arguments))

        made = click.command(name, cls=cls, short_help=summary, context_settings={"max_content_width": 100})(run)
        made.params += _COMMON  # after its own
        return made

    return decorate


_COMMON = [
    click.Option(["-q", "--quiet"], is_flag=True, help="say nothing but errors, show no progress"),
    click.Option(
        ["--json", "as_json"],
        is_flag=True,
        help="print a summary for programs instead of sentences (on stdout, or on stderr when the data go to stdout)",
    ),
    click.Option(["--debug"], is_flag=True, help="where something fails, print the traceback too"),
]


def _attempt(words: Words, debug: bool, work: Callable[[], None]) -> int:
    """Do the work, and turn what goes wrong into a sentence and an exit code."""
    try:
        with words.repeating_warnings():
            work()
        return words.done()
    except (click.ClickException, click.exceptions.Exit, BrokenPipeError):
        raise
    except Exception as problem:
        if debug:
            traceback.print_exc()
        return words.failed(*_explained(problem))


def _explained(problem: Exception) -> tuple[str, int]:
    """An error as a sentence, and its exit code."""
    from ..persist.content import ModelFileError
    from ..sources.table import TableError

    if isinstance(problem, BadInputError | TableError | ModelFileError | UnusableOutputError):
        return str(problem), 2
    if isinstance(problem, OSError) and problem.strerror:  # no permission, a full disk
        where = f"{problem.filename}: " if problem.filename else ""
        return f"{where}{problem.strerror}.", 1
    if isinstance(problem, MissingExtraError | OSError):  # no data
        return str(problem), 1
    if isinstance(problem, MemoryError):
        return "There is not enough memory for this; use fewer components or rows, or a larger machine.", 1
    first = str(problem).partition("\n")[0].rstrip(".")
    return f"{type(problem).__name__}: {first} (pass --debug for the traceback).", 1


def usage_sentence(problem: click.UsageError) -> str:
    """Bad arguments in one sentence, with the place of help."""
    message = " ".join(problem.format_message().split()).rstrip(".")
    if isinstance(problem, click.BadParameter) and not isinstance(problem, click.MissingParameter) and problem.param:
        name = max(problem.param.opts, key=len) if isinstance(problem.param, click.Option) else problem.param.metavar
        message = f"argument {name}: {problem.message.rstrip('.')}"
    where = problem.ctx.command_path if problem.ctx else "factorstream"
    return f"{where}: {message} (see {where} --help)."
