"""A report as files: one page (HTML, and the same in Markdown), its table as CSV, its data as JSON, its pictures."""

from __future__ import annotations

import importlib.metadata
import json
import math
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..files import write_atomic
from .page import Block, Page, Part, Picture, Words, render
from .tables import Table, to_csv, to_data, to_markdown

__all__ = ["Document", "Picture", "Section", "versions", "write_document"]

PACKAGES = ("factorstream", "numpy", "scipy", "scikit-learn")
"""Those that the numbers of an experiment depend on."""


@dataclass(frozen=True)
class Section:
    """A heading, then texts (``- `` begins an item of a list), then a picture."""

    heading: str
    texts: Sequence[str] = ()
    picture: Picture | None = None


@dataclass(frozen=True)
class Document:
    """A report; the first of its sections is the one below the table."""

    name: str
    """Of its files, without an ending."""
    title: str
    lead: str
    table: Table
    sections: Sequence[Section]
    data: Mapping[str, object]
    """For the JSON file, beside the table and the versions."""


def versions(packages: Iterable[str] = PACKAGES) -> dict[str, str]:
    """Versions of Python and of packages."""
    found = {"python": platform.python_version()}
    for package in packages:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found


def write_document(document: Document, folder: Path) -> list[Path]:
    """Write all files into ``folder``; return them, the one to open first at the front."""
    used = versions()
    footer = ", ".join(f"{name} {version}" for name, version in used.items()) + "."
    data = {"table": to_data(document.table), **document.data, "versions": used}
    contents: dict[str, str | bytes] = {
        ".html": _html(document, footer),
        ".md": _markdown(document, footer),
        ".csv": to_csv(document.table),
        ".json": json.dumps(_without_nan(data), indent=2, ensure_ascii=False, allow_nan=False) + "\n",
    }
    contents |= {f"-{s.picture.key}.png": s.picture.png for s in document.sections if s.picture}
    return [write_atomic(folder / f"{document.name}{end}", content) for end, content in contents.items()]


def _html(document: Document, footer: str) -> str:
    parts = []
    for section in document.sections:
        blocks: list[Block] = [document.table] if section is document.sections[0] else []
        blocks.append(Words(section.texts))
        if section.picture:
            blocks.append(section.picture)
        parts.append(Part(section.heading, blocks))
    return render(Page(document.title, document.lead, parts, footer))


def _markdown(document: Document, footer: str) -> str:
    parts = [f"# {document.title}", document.lead]
    for section in document.sections:
        parts.append(f"## {section.heading}")
        if section is document.sections[0]:
            parts.append(f"{document.table.title}.\n\n{to_markdown(document.table)}")
        if section.texts:
            parts.append(_markdown_texts(section.texts))
        if section.picture:
            file = f"{document.name}-{section.picture.key}.png"
            parts.append(f"![{section.picture.alt}]({file})\n\n{section.picture.caption}")
    return "\n\n".join([*parts, f"{footer}\n"])


def _markdown_texts(texts: Sequence[str]) -> str:
    """Paragraphs apart, items of a list together.

    >>> _markdown_texts(["One.", "- a", "- b", "Two."])
    'One.\\n\\n- a\\n- b\\n\\nTwo.'
    """
    pairs = zip(texts, [*texts[1:], ""], strict=True)
    return "".join(
        text + ("\n" if text.startswith("- ") and after.startswith("- ") else "\n\n") for text, after in pairs
    ).rstrip()


def _without_nan(data: object) -> object:
    """The same data with null for numbers that JSON does not have."""
    if isinstance(data, Mapping):
        return {key: _without_nan(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_without_nan(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data
