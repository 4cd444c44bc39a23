"""Docstrings are written for `help()`; this is what reStructuredText wants besides.

Fitted attributes end in an underscore, which would make `n_components_` in "array (n_components_, n_features)" a link
to a target of that name. It is escaped, except in literals. Names of pages, such as docs/counted.md, become links.

numpydoc shows the docstring of a property in place of what the class says of it under Attributes, which is more: the
latter is kept.
"""

from __future__ import annotations

import re

from numpydoc.docscrape_sphinx import SphinxDocString
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


def keep_descriptions(method):
    """As ``method``, which gives the name of an attribute and its description, but with the class's own description."""

    def process(self, name, description, fake_autosummary):
        shown, summary = method(self, name, description, fake_autosummary)
        return shown, description or summary

    return process


def setup(app: Sphinx):
    """Change numpydoc, and listen to docstrings after it has rewritten them."""
    SphinxDocString._process_param = keep_descriptions(SphinxDocString._process_param)
    app.connect("autodoc-process-docstring", escape, priority=AFTER_NUMPYDOC)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
