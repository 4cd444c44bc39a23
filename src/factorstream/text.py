"""Small pieces of the sentences in messages."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = [
    "capitalised",
    "clause",
    "column_names",
    "counted",
    "left_out_as_asked",
    "left_out_counting",
    "listed",
    "named_column",
    "without_components",
    "without_numbers",
]


def listed(items: Iterable[object], most: int = 5) -> str:
    """The first few items, and how many more there are.

    >>> listed(["a", "b"]), listed(range(8), most=3)
    ('a, b', '0, 1, 2 and 5 more')
    """
    texts = [str(item) for item in items]
    rest = len(texts) - most
    return ", ".join(texts[:most]) + (f" and {rest} more" if rest > 0 else "")


def named_column(name: str) -> str:
    """A column in a sentence; where a text has no names, they are "column 1" and so on already.

    >>> named_column("heat"), named_column("column 3"), named_column("")
    ('column heat', 'column 3', 'the column without a name')
    """
    return f"column {name.removeprefix('column ')}" if name else "the column without a name"


def column_names(names: Iterable[str], most: int = 5) -> str:
    """The first few names of columns, and how many more there are.

    >>> column_names(["heat", ""])
    'heat, the one without a name'
    """
    return listed((name or "the one without a name" for name in names), most)


def capitalised(sentence: str) -> str:
    """With a capital at its beginning, the rest as it is.

    >>> capitalised("column PM10 is empty.")
    'Column PM10 is empty.'
    """
    return sentence[:1].upper() + sentence[1:]


def clause(sentence: str) -> str:
    """A sentence as a part of another: with a small letter, and without a full stop.

    >>> clause("The first line was taken as data.")
    'the first line was taken as data'
    """
    return sentence[:1].lower() + sentence[1:].rstrip(".")


def counted(count: int, thing: str) -> str:
    """A number of things, in the plural where there is not one of them.

    >>> counted(1, "gap"), counted(0, "gap")
    ('1 gap', '0 gaps')
    """
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


def left_out_counting(columns: Iterable[str]) -> str:
    """What is said of columns that go up by equal steps: they measure nothing."""
    return f"Columns that count rows or years were left out: {column_names(columns)}."


def left_out_as_asked(columns: Iterable[str]) -> str:
    """What is said of columns that the user does not want to be used."""
    return f"Columns left as they are because they were not to be used: {column_names(columns)}."


def without_numbers(columns: Iterable[str]) -> str:
    """What is said of columns of texts, dates and the like."""
    return f"Columns without numbers were left out: {column_names(columns)}."


def without_components(kind: str, what: str = "gap", *, robust: bool = False) -> str:
    """What a model that found no components says of every ``what`` (gap, forecast, entry); ``kind`` is its class.

    >>> without_components("LowRankImputer")
    'No components were found, so nothing is taken from other columns: every gap holds the mean of its column.'
    """
    if kind == "SequenceFilter":
        says = "is told by its own column alone"
    else:
        says = f"holds the mean of its column{', in which outliers have less weight' if robust else ''}"
    return f"No components were found, so nothing is taken from other columns: every {what} {says}."
