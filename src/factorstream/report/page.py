"""One self-contained HTML page: its style, pictures and script travel inside the file, and nothing is fetched.

A page is made of parts, and a part of blocks: words, tables, charts, pictures, code. The templates beside this module
turn them into HTML; every text is escaped there, so that names of columns may hold any characters.
"""

from __future__ import annotations

import base64
import hashlib
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from ..extras import require
from ..files import write_atomic
from .tables import Table, cell_text, cell_value, marked_best

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = [
    "Block",
    "Chart",
    "Charts",
    "Code",
    "Gallery",
    "Number",
    "Page",
    "Part",
    "Picture",
    "Words",
    "plain",
    "render",
    "write_page",
]

TALL = 15
"""Rows from which on a table that can be sorted scrolls inside the page. By eye."""


@dataclass(frozen=True)
class Words:
    """Paragraphs; texts that begin with ``- `` are items of a list. ``**bold**`` and `` `code` `` are marked up.

    Names that others have given go through `plain` first.
    """

    texts: Sequence[str]
    kind: ClassVar[str] = "words"

    def runs(self) -> Iterator[tuple[bool, list[str]]]:
        """Texts that belong together, and whether they are a list."""
        for is_list, texts in groupby(self.texts, lambda text: text.startswith("- ")):
            yield is_list, list(texts)


@dataclass(frozen=True)
class Picture:
    """A picture in pixels, such as a photograph; where it becomes a file, that is called NAME-``key``.png."""

    key: str
    png: bytes
    alt: str
    caption: str
    kind: ClassVar[str] = "picture"

    @property
    def base64(self) -> str:
        """The picture as text, for the page."""
        return base64.b64encode(self.png).decode("ascii")


@dataclass(frozen=True)
class Chart:
    """A drawing that follows the light or dark style of the page."""

    svg: str
    """One ``<svg>`` element, trusted: `charts.to_svg` makes it."""
    alt: str
    wide: str = ""
    """The same for screens with more room, where it takes the whole width; by default it stands beside others."""


@dataclass(frozen=True)
class Charts:
    """Charts beside one another, where the screen has room for it."""

    charts: Sequence[Chart]
    caption: str = ""
    kind: ClassVar[str] = "charts"


@dataclass(frozen=True)
class Gallery:
    """Pictures beside one another, where the screen has room for it."""

    pictures: Sequence[Picture]
    kind: ClassVar[str] = "gallery"


@dataclass(frozen=True)
class Code:
    """Lines of Python or of a shell."""

    text: str
    kind: ClassVar[str] = "code"


Block = Words | Table | Picture | Gallery | Charts | Code


class Number(NamedTuple):
    """One of the few large numbers at the top of a page, and what it is."""

    value: str
    words: str


class Part(NamedTuple):
    """A heading and what stands below it."""

    heading: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Page:
    """A whole page."""

    title: str
    lead: str
    parts: Sequence[Part]
    footer: str
    above: str = ""
    """A few small words above the title."""
    numbers: Sequence[Number] = ()


def write_page(path: Path, page: Page) -> Path:
    """Write the page as one HTML file, which is complete or not there."""
    return write_atomic(path, render(page))


def render(page: Page) -> str:
    """The page as HTML; needs Jinja2.

    >>> text = render(Page("Title", "A <lead>.", [Part("One", [Words(["Text.", "- a", "- b"])])], "Foot."))
    >>> text.count("<h2>"), text.count("<li>"), "A &lt;lead&gt;." in text
    (1, 2, True)
    """
    parts = [Part(part.heading, [_prepared(block) for block in part.blocks]) for part in page.parts]
    script = _environment().get_template("sort.js").render()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    return (
        _environment()
        .get_template("page.html")
        .render(
            page=page,
            parts=parts,
            sorts=any(getattr(block, "sorts", False) for part in parts for block in part.blocks),
            script=script,
            script_hash=f"sha256-{digest}",
        )
    )


@cache
def _environment() -> Environment:
    require("jinja2")
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("factorstream.report"),
        autoescape=lambda name: name is not None and name.endswith(".html"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["inline"] = _inline
    return environment


def plain(text: str) -> str:
    """Text of which nothing is marked up: a backslash before what would be, as in Markdown.

    >>> print(plain("x**2"))
    x\\*\\*2
    """
    return re.sub(r"([\\*`])", r"\\\1", text)


def _inline(text: str) -> str:
    """Text as HTML: ``**bold**`` and ```code``` are marked up, and what went through `plain` comes out as it was."""
    from markupsafe import Markup, escape

    kept = {"\\": "\ue000", "*": "\ue001", "`": "\ue002"}  # code points that are nobody's, until the marks are gone
    marked = re.sub(r"\\([\\*`])", lambda found: kept[found[1]], str(escape(text)))
    marked = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", marked)
    marked = re.sub(r"`(.+?)`", r"<code>\1</code>", marked)
    for character, stand_in in kept.items():
        marked = marked.replace(stand_in, character)
    return Markup(marked)


class _Cell(NamedTuple):
    text: str
    value: float | str | None
    """What the column is sorted by; None: its text."""
    css: str
    best: bool = False


class _Group(NamedTuple):
    heading: str
    rows: list[list[_Cell]]


class _TableBlock(NamedTuple):
    """A table as the template takes it."""

    title: str
    titles: list[_Cell]
    groups: list[_Group]
    notes: Sequence[str]
    sorts: bool
    tall: bool
    kind: str = "table"


def _prepared(block: Block) -> Any:
    """A block as its template takes it."""
    if isinstance(block, Charts):
        from markupsafe import Markup

        return Charts([Chart(Markup(one.svg), one.alt, Markup(one.wide)) for one in block.charts], block.caption)
    return _table(block) if isinstance(block, Table) else block


def _sorted_by(value: float | str | None) -> float | str | None:
    """A cell's value as JavaScript reads it."""
    return str(value).replace("inf", "Infinity") if isinstance(value, float) and math.isinf(value) else value


def _table(table: Table) -> _TableBlock:
    css = {column.key: "num" if column.numeric else "txt" for column in table.columns}
    groups = []
    for heading, rows in table.grouped():
        best = marked_best(table.columns, rows)
        cells = [
            [
                _Cell(
                    cell_text(row[c.key], c.digits),
                    _sorted_by(cell_value(row[c.key], c)),
                    css[c.key],
                    row is best.get(c.key),
                )
                for c in table.columns
            ]
            for row in rows
        ]
        groups.append(_Group(heading, cells))
    return _TableBlock(
        table.title,
        [_Cell(column.title, None, css[column.key]) for column in table.columns],
        groups,
        table.notes,
        sorts=table.sorts,
        tall=table.sorts and len(table.rows) > TALL,
    )
