"""Docstrings are written for `help()`; this is what reStructuredText wants besides.

Fitted attributes end in an underscore, which would make `n_components_` in "array (n_components_, n_features)" a link
to a target of that name. It is escaped, except in literals. Names of pages, such as docs/counted.md, become links.
"""

from __future__ import annotations

import re

from sphinx.application import Sphinx

ATTRIBUTE = re.compile(r"(?<![\\\w`*])([a-z]\w*[a-z0-9])_(?=[\s,.;:)]|$)")
PAGE = re.compile(r"docs/(\w+)\.md")
AFTER_NUMPYDOC = 900


def escape(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Escape the last underscore of attributes and link pages, in place."""
    for k, line in enumerate(lines):
        if line.lstrip().startswith((">>>", "...", "..")):
            continue
        parts = line.split("``")
        parts[::2] = [PAGE.sub(r":doc:`/\1`", ATTRIBUTE.sub(r"\1\\_", part)) for part in parts[::2]]
        lines[k] = "``".join(parts)


def setup(app: Sphinx):
    """Listen to docstrings, after numpydoc has rewritten them."""
    app.connect("autodoc-process-docstring", escape, priority=AFTER_NUMPYDOC)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
