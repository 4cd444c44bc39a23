"""Small pieces of the sentences in messages."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["counted", "listed", "without_components"]


def listed(items: Iterable[object], most: int = 5) -> str:
    """The first few items, and how many more there are.

    >>> listed(["a", "b"]), listed(range(8), most=3)
    ('a, b', '0, 1, 2 and 5 more')
    """
    texts = [str(item) for item in items]
    rest = len(texts) - most
    return ", ".join(texts[:most]) + (f" and {rest} more" if rest > 0 else "")


def counted(count: int, thing: str) -> str:
    """A number of things, in the plural where there is not one of them.

    >>> counted(1, "gap"), counted(0, "gap")
    ('1 gap', '0 gaps')
    """
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


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
