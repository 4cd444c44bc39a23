"""Arguments and options that several commands have, and the kinds of values that they take."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..files import follow_links

if TYPE_CHECKING:
    from ..jobs.reading import Reading

__all__ = [
    "COMPONENTS",
    "FILE",
    "Parsed",
    "checkpoint_option",
    "dataset_option",
    "fraction",
    "model_option",
    "most_components_option",
    "plot_option",
    "reading_options",
    "refuse_same",
    "refuse_settings",
    "robust_option",
    "save_option",
    "seed_option",
    "text_options",
    "whole_number",
]

FILE = click.Path(path_type=Path)
"""A file that a shell can complete; whether it can be used is said by what uses it, in a better sentence."""


class Parsed(click.ParamType):  # type: ignore[type-arg]
    """A value that a function reads from text; the message of its `ValueError` is the complaint."""

    def __init__(self, name: str, parse: Callable[[str], Any]) -> None:
        self.name = name
        self._parse = parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The value of a text; defaults that are no text stay as they are."""
        if not isinstance(value, str):
            return value
        try:
            return self._parse(value)
        except ValueError as problem:
            self.fail(str(problem), param, ctx)


def fraction(what: str) -> Parsed:
    """A number strictly between 0 and 1; ``what`` names it in the message.

    >>> fraction("a level").convert("0.9", None, None)
    0.9
    """

    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not 0 < value < 1:
            raise ValueError(f"{text!r} is not {what} between 0 and 1")
        return value

    return Parsed("fraction", parse)


def whole_number(complaint: str = "is not a whole number of at least 1", **words: Any) -> Parsed:
    """A whole number of at least 1, or one of the texts ``words``, which stand for their values.

    >>> whole_number(auto="auto").convert("3", None, None)
    3
    """

    def parse(text: str) -> Any:
        if text in words:
            return words[text]
        if not text.isdecimal() or int(text) < 1:
            raise ValueError(f"{text!r} {complaint}")
        return int(text)

    return Parsed("whole number", parse)


COMPONENTS = whole_number("is neither auto nor a whole number of at least 1", auto="auto")
"""How many components to use."""


def _seed(text: str) -> int:
    if not text.isdecimal() or int(text) >= 2**32:  # what NumPy's RandomState takes
        raise ValueError(f"{text!r} is not a whole number from 0 to 2**32 - 1")
    return int(text)


def _mark(text: str) -> str:
    if not text.strip():
        raise ValueError("an empty cell is a gap anyway; name a number or a text")
    return text


def _delimiter(text: str) -> str:
    value = {"tab": "\t", "\\t": "\t"}.get(text, text)
    if len(value) != 1 or value in '"\r\n':
        raise ValueError(f"{text!r} is not one character (or tab)")
    return value


def _mark_of_numbers(text: str, known: str, what: str) -> str:
    value = {"comma": ",", "point": ".", "space": " ", "\u00a0": " ", "\u202f": " "}.get(text, text)
    if value not in known or len(value) != 1:
        raise ValueError(f"{text!r} is not {what}")
    return value


def _decimal(text: str) -> str:
    return _mark_of_numbers(text, ".,", "a decimal mark; give . or ,")


def _thousands(text: str) -> str:
    return _mark_of_numbers(text, ".,' ", "a mark between thousands; give one of . , ' or space")


def _encoding(text: str) -> str:
    from ..sources.encodings import known_encoding

    return known_encoding(text)


_READING = (
    click.option(
        "--na",
        "missing",
        multiple=True,
        type=Parsed("text", _mark),
        metavar="TOKEN",
        help="a number or text that marks a gap as well, such as -999 or '<0.5'; may be given more than once",
    ),
    click.option(
        "--delimiter",
        type=Parsed("character", _delimiter),
        metavar="D",
        help="between cells of text: one character, or tab (default: found)",
    ),
    click.option(
        "--decimal",
        type=Parsed("mark", _decimal),
        metavar="D",
        help="decimal mark in text, . or , (default: . or, where they can be nothing else, decimal commas)",
    ),
    click.option(
        "--thousands",
        type=Parsed("mark", _thousands),
        metavar="T",
        help="mark between thousands in text: . , ' or space (default: none, or what can be nothing else)",
    ),
    click.option(
        "--encoding",
        type=Parsed("encoding", _encoding),
        metavar="NAME",
        help="of text, such as cp1252 (default: UTF-8, UTF-16 with a byte-order mark, or else cp1252)",
    ),
    click.option(
        "--header/--no-header",
        default=None,
        help="the first line of a text is names, or data (default: data if it is numbers, dates and gaps like the "
        "rows below it)",
    ),
)


_CHOOSING = (
    click.option(
        "--columns",
        multiple=True,
        metavar="A,B",
        help="use these columns alone, by names or positions from 1 on; the others stay as they are",
    ),
    click.option(
        "--exclude", multiple=True, metavar="C", help="leave these columns as they are, by names or positions from 1 on"
    ),
    click.option(
        "--id",
        "id_column",
        metavar="NAME",
        help="this column says which row is which: it is never used, and labels rows in reports",
    ),
)


def text_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """How to read a table; the function gets one argument ``reading`` for all these options."""

    @functools.wraps(function)
    def run(*positional: Any, **arguments: Any) -> Any:
        from ..jobs.reading import Reading

        names = ("delimiter", "header", "missing", "decimal", "thousands", "encoding")
        how = {name: arguments.pop(name) for name in names}
        if how["decimal"] is not None and how["decimal"] == how["thousands"]:
            raise click.UsageError("--decimal and --thousands are the same mark; give another one, or leave one out")
        return function(*positional, reading=Reading(**how), **arguments)

    return _with_options(run, _READING)


def reading_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """How to read a table, and which of its columns to use; all is in the argument ``reading``."""

    @functools.wraps(function)
    def run(
        *positional: Any,
        reading: Reading,
        columns: tuple[str, ...],
        exclude: tuple[str, ...],
        id_column: str | None,
        **arguments: Any,
    ) -> Any:
        from ..jobs.choice import Choice

        if arguments.get("model_path") is not None and (columns or exclude):
            option = "--columns" if columns else "--exclude"
            raise click.UsageError(
                f"{option} is a setting of the fit, and --model was fitted before; leave out one of them"
            )
        chosen = reading._replace(choice=Choice(columns, exclude, id_column))
        return function(*positional, reading=chosen, **arguments)

    return _with_options(text_options(run), _CHOOSING)


def _with_options(function: Callable[..., Any], options: Sequence[Callable[..., Any]]) -> Callable[..., Any]:
    for option in reversed(options):
        function = option(function)
    return function


robust_option = click.option("--robust", is_flag=True, help="let gross outliers lose their weight")
most_components_option = click.option(
    "--components",
    type=COMPONENTS,
    default="auto",
    show_default=True,
    metavar="N",
    help="most components to use, or auto",
)
seed_option = click.option(
    "--seed", type=Parsed("seed", _seed), default=0, show_default=True, metavar="S", help="of the fit"
)

model_option = click.option(
    "--model", "model_path", type=FILE, metavar="M", help="use the model in this file, which --save has written"
)
plot_option = click.option("--plot", "picture", type=FILE, metavar="P.png", help="draw a picture (needs matplotlib)")
save_option = click.option(
    "--save", "save_path", type=FILE, metavar="M", help="keep the model in this file, for --model and factorstream.load"
)


dataset_option = click.option(
    "--dataset", metavar="NAME", help="which array of a .npz, .h5 or .zarr file that has several"
)
checkpoint_option = click.option(
    "--checkpoint",
    type=FILE,
    metavar="C",
    help="save in this file every minute how far the work has come; the same command goes on from there after it was "
    "stopped or killed, and removes the file when all is done; IN is read block by block, whatever its size",
)


def refuse_same(option: str, own: Path | None, **others: Path | None) -> None:
    """Refuse a file that would replace, or remove, another one of the command; both are given by their options."""
    for name, path in others.items():
        if own is not None and path is not None and follow_links(path) == follow_links(own):
            raise click.UsageError(f"{option} and {name} are the same file; give each its own")


def refuse_settings(model_path: Path | None, **given: object) -> None:
    """Refuse settings of a fit beside a model that was fitted before; each is given by the name of its option."""
    names = [f"--{name}" for name, value in given.items() if value]
    if model_path is not None and names:
        raise click.UsageError(
            f"{names[0]} is a setting of the fit, and --model was fitted before; leave out one of them"
        )
