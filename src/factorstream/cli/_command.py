"""What every command is made of, and the pieces that several of them use."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import NamedTuple, NoReturn

__all__ = ["Command", "Parser", "fraction", "whole_number"]


class Parser(argparse.ArgumentParser):
    """An `argparse` parser that answers bad arguments in one sentence."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help).\n")


class Command(NamedTuple):
    """One command of the command line."""

    name: str
    help: str
    """A few words for the list of commands."""
    description: str
    """For the command's own ``--help``."""
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]
    """Returns the exit code: 0 done, 1 failed, 2 bad arguments."""


def fraction(what: str) -> Callable[[str], float]:
    """A converter for a number strictly between 0 and 1; ``what`` names it in the message.

    >>> fraction("a level")("0.9")
    0.9
    """

    def convert(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not 0 < value < 1:
            raise argparse.ArgumentTypeError(f"{text!r} is not {what} between 0 and 1")
        return value

    return convert


def whole_number(text: str, complaint: str = "is not a whole number of at least 1") -> int:
    """A converter for a whole number of at least 1.

    >>> whole_number("3")
    3
    """
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} {complaint}")
    return int(text)
