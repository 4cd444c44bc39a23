"""Pages are written for the repository; this makes the same links and pictures work on the site.

* Some pages of the site are files that belong elsewhere in the repository (`TAKEN_IN`). In docs/ they are one line
  that says where; on the site they are the file itself.
* A link to such a file or to a script of the gallery, from any page, leads to its page on the site.
* A drawing (SVG) becomes part of the page, so that it has the colours of the page, light or dark.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
TAKEN_IN = {
    "contributing": ROOT / "CONTRIBUTING.md",
    "changelog": ROOT / "CHANGELOG.md",
    "notation": ROOT / "src" / "factorstream" / "core" / "README.md",
}
GALLERY = ROOT / "examples" / "gallery"
PAGE_OF = {path: DOCS / f"{name}.md" for name, path in TAKEN_IN.items()}
PAGE_OF |= {ROOT / "README.md": DOCS / "index.md", GALLERY: DOCS / "gallery" / "index.rst"}
PAGE_OF |= {path: DOCS / "gallery" / f"{path.stem}.rst" for path in GALLERY.glob("plot_*.py")}

LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)(#[^)\s]*)?\)")
DRAWING = re.compile(r"^!\[[^\]]*\]\(([^)\s]+\.svg)\)$", flags=re.MULTILINE)


def read(app: Sphinx, docname: str, source: list[str]) -> None:
    """Change the text of a page before it is parsed."""
    place = DOCS / f"{docname}.md"
    if not place.exists():  # the gallery and the reference, which Sphinx has written
        return
    written_at = TAKEN_IN.get(docname, place)
    if written_at != place:
        app.env.note_dependency(str(written_at))
        source[0] = written_at.read_text(encoding="utf-8")
    text = DRAWING.sub(lambda found: _inlined(app, place.parent / found[1]), source[0])
    source[0] = LINK.sub(lambda found: f"]({_moved(found[1], written_at, place)}{found[2] or ''})", text)


def _moved(target: str, written_at: Path, place: Path) -> str:
    """A link in the file ``written_at``, as the page at ``place`` has to write it."""
    path = Path(os.path.normpath(written_at.parent / target))
    return Path(os.path.relpath(PAGE_OF.get(path, path), place.parent)).as_posix()


def _inlined(app: Sphinx, path: Path) -> str:
    app.env.note_dependency(str(path))
    return f'```{{raw}} html\n<figure class="drawing">\n{path.read_text(encoding="utf-8")}\n</figure>\n```'


def reset_pictures(gallery_conf: dict[str, object], script: str) -> None:
    """Give every picture of the gallery the same frame and letters, whatever the script before it set."""
    import matplotlib.pyplot as plt

    plt.rcParams.update(
        {
            "figure.figsize": (8, 4.2),
            "figure.constrained_layout.use": True,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": False,
            "legend.frameon": False,
            "font.size": 10,
            "savefig.dpi": 110,
        }
    )


def setup(app: Sphinx):
    """Listen to pages as they are read."""
    app.connect("source-read", read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
