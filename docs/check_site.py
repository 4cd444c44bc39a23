"""Check a built site offline: every link and anchor of it leads somewhere, and no page loads anything from outside.

`make docs` runs it as `python docs/check_site.py docs/_build/html`.
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("link", "href")}
"""What a browser fetches by itself. A link that somebody has to follow may lead outside."""
NOT_LOADED = {"canonical", "next", "prev", "index", "search", "author", "license", "help"}
"""Kinds of `<link>` that only describe the page."""


class Page(HTMLParser):
    """The anchors of a page, and what it links to and loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.targets: list[tuple[str, bool]] = []  # and whether the browser loads it by itself
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take note of one element."""
        given = {name: value for name, value in attrs if value is not None}
        self.anchors.update(given[name] for name in ("id", "name") if name in given)
        for name in ("href", "src"):
            if name in given:
                described = tag == "link" and given.get("rel") in NOT_LOADED
                self.targets.append((given[name], (tag, name) in LOADED and not described))


def pages_of(folder: Path) -> list[Path]:
    """The pages of a site. `_static` has the theme's files, a template among them."""
    return [path for path in sorted(folder.rglob("*.html")) if "_static" not in path.relative_to(folder).parts]


def problems(folder: Path) -> list[str]:
    """One sentence for everything in the folder that does not work offline."""
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in pages_of(folder)}
    found = []
    for path, page in pages.items():
        for target, loaded in page.targets:
            said = _problem(path, target, loaded, pages)
            if said:
                found.append(f"{path.relative_to(folder.resolve())}: {said}")
    return found or ([] if pages else [f"{folder} has no page"])


def _problem(path: Path, target: str, loaded: bool, pages: dict[Path, Page]) -> str | None:
    parts = urlsplit(target)
    if parts.scheme == "data":
        return None
    if parts.scheme or parts.netloc:
        return f"{target} is loaded from outside" if loaded else None
    goal = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if goal.is_dir():
        goal /= "index.html"
    if not goal.exists():
        return f"{target} is not there"
    anchor = unquote(parts.fragment)
    if anchor and goal in pages and anchor not in pages[goal].anchors:
        return f"{target} has no such anchor"
    return None


if __name__ == "__main__":
    site = Path(sys.argv[1])
    broken = problems(site)
    good = f"{len(pages_of(site))} pages: every link leads somewhere, nothing is loaded from outside."
    print("\n".join(broken) or good)
    sys.exit(bool(broken))
