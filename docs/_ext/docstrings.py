"""Docstrings are written for `help()`; this is what reStructuredText wants besides.

Fitted attributes end in an underscore, which would make `n_components_` in "array (n_components_, n_features)" a link to a
target of that name. It is escaped, except in literals.
"""

from __future__ import annotations

import re

from sphinx.application import Sphinx

ATTRIBUTE = re.compile(r"(?<![\\\w`*])([a-z]\w*[a-z0-9])_(?=[\s,.;:)]|$)")
AFTER_NUMPYDOC = 900


def escape(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Escape the last underscore of attributes, in place."""
    for k, line in enumerate(lines):
        if line.lstrip().startswith((">>>", "...", "..")):
            continue
        parts = line.split("``")
        lines[k] = "``".join(ATTRIBUTE.sub(r"\1\\_", part) if j % 2 == 0 else part for j, part in enumerate(parts))


def setup(app: Sphinx):
    """Listen to docstrings, after numpydoc has rewritten them."""
    app.connect("autodoc-process-docstring", escape, priority=AFTER_NUMPYDOC)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
