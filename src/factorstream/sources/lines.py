"""Where the lines and cells of delimited text begin and end, and by which delimiter."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..text import counted
from .table import TableError

__all__ = [
    "DELIMITERS",
    "LINE",
    "SNIFFED_LINES",
    "ends_in_quotes",
    "is_blank",
    "other_width",
    "said_of_delimiter",
    "sniff_delimiter",
    "split_lines",
]

DELIMITERS = ",;\t|"
"""Those that are looked for."""
_NAMES = {";": "semicolons", "\t": "tabs", "|": "bars"}
SNIFFED_LINES = 20
"""In how many lines they are looked for: not tuned, a round number that keeps this instant."""
LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
"""A line with its end."""
_REST_OF_QUOTED = re.compile(r'[^"]*(?:""[^"]*)*"(?!")')
"""A quoted cell behind the quote that opens it, up to the one that closes it."""


def split_lines(text: str, delimiter: str, line: int = 1) -> Iterator[tuple[list[str], str]]:
    """Lines as (cells with their quotes, line end).

    A quote opens a quoted cell, which may hold delimiters and line ends, only where the cell begins with it.
    ``line``: the number of the first line, for messages.
    """
    if '"' not in text:
        for whole in LINE.findall(text):
            body = whole.rstrip("\r\n")
            yield body.split(delimiter), whole[len(body) :]
        return
    d = re.escape(delimiter)
    token = re.compile(rf'("[^"]*(?:""[^"]*)*"|[^{d}\r\n]*)({d}|\r\n|\n|\r|\Z)')
    cells: list[str] = []
    at = 0
    while at < len(text) or cells:
        found = token.match(text, at)
        assert found is not None  # the second branch matches anything, the end of the text included
        cell, end = found.groups()
        if cell.startswith('"') and (len(cell) == 1 or not cell.endswith('"')):
            raise TableError(f"line {line} has a quote that is not closed")
        cells.append(cell)
        line += cell.count("\n")
        at = found.end()
        if end != delimiter:
            yield cells, end
            cells = []
            line += 1


def ends_in_quotes(line: str, delimiters: str, inside: bool = False) -> bool:
    """Whether a line ends inside a quoted cell, by the rule of `split_lines`, so that the next line continues it.

    ``delimiters``: one, or all that it may be. ``inside``: whether the line begins inside a quoted cell.

    >>> [ends_in_quotes(line, ",") for line in ('5" pipe,1', 'x,"two', 'x,"one ""two"" three",3')]
    [False, True, False]
    >>> ends_in_quotes('lines",3', ",", inside=True)
    False
    """
    if '"' not in line:
        return inside
    plain = re.compile(rf"[^{re.escape(delimiters)}\r\n]*")
    at = 0  # where a cell begins
    while at < len(line):
        end = at
        if inside or line[at] == '"':
            closed = _REST_OF_QUOTED.match(line, at + (not inside))
            if closed is None:
                return True
            end = closed.end()
        if end == at or line[end : end + 1] not in ("", "\r", "\n", *delimiters):  # there are no quotes around the cell
            found = plain.match(line, at)
            assert found is not None  # it matches nothing, too
            end = found.end()
        inside = False
        at = end + 1
    return False


def is_blank(cells: Sequence[str], width: int) -> bool:
    """Whether there is nothing in a line, which is then no row of a table with several columns."""
    return width > 1 and list(cells) == [""]


def other_width(line: int, cells: Sequence[str], width: int) -> str:
    """What is said of a line that has not as many cells as the first, and what to do as far as it shows.

    >>> other_width(2, ["1", "2", ""], 2)
    'line 2 has 3 cells where the first has 2; its last cell is empty: remove the delimiters at the ends, or name it'
    """
    remedy = ""
    if width == 1 < len(cells):
        remedy = "; remove what stands above the table, or pass --delimiter"
    elif len(cells) == width + 1 and not cells[-1]:
        remedy = "; its last cell is empty: remove the delimiters at the ends, or name it"
    return f"line {line} has {counted(len(cells), 'cell')} where the first has {width}{remedy}"


def sniff_delimiter(text: str) -> str:
    """The delimiter that cuts the first lines into the most cells, each into as many; a comma if none does.

    Where semicolons cut them too, commas that all stand between two digits are decimal commas.

    At most 64 KiB are looked at: not tuned, a round number that keeps this instant.
    """
    sample = text[:65536].splitlines()[:SNIFFED_LINES]
    first = next((line for line in sample if line.strip()), None)
    if first is None:
        return ","
    best, most = ",", 0
    decimal = _count(first, ";") > 0 and not re.search(r"(?<!\d),|,(?!\d)", "\n".join(sample))
    for delimiter in DELIMITERS.replace(",", "") if decimal else DELIMITERS:
        counts = [_count(line, delimiter) for line in sample if line.strip()]
        steady = sum(count == counts[0] for count in counts) * 2 > len(counts)
        if steady and _count(first, delimiter) > most:
            best, most = delimiter, _count(first, delimiter)
    return best


def said_of_delimiter(delimiter: str) -> str:
    """A sentence about a delimiter that was found; none about commas, which everybody expects.

    >>> said_of_delimiter(";")
    'Cells were taken as separated by semicolons; pass --delimiter if they are not.'
    """
    if delimiter not in _NAMES:
        return ""
    return f"Cells were taken as separated by {_NAMES[delimiter]}; pass --delimiter if they are not."


def _count(line: str, delimiter: str) -> int:
    return re.sub(r'"[^"]*"', "", line).count(delimiter)
