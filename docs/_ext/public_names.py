"""`DictionaryFilter` in a page leads to its reference: code that is exactly a public name becomes a link on the site.

Pages stay plain Markdown this way, and read the same on the repository.
"""

from __future__ import annotations

import re

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

import factorstream

TYPES = {name: "class" if isinstance(getattr(factorstream, name), type) else "func" for name in factorstream.__all__}
NAME = re.compile(r"(?:factorstream\.)?(\w+)(?:\(\))?")


class LinkPublicNames(SphinxTransform):
    """Replace literals by references, but for those in headings and in links."""

    default_priority = 500

    def apply(self, **kwargs: object) -> None:
        """Go through the page."""
        if self.env.docname.startswith("generated/"):
            return
        for literal in list(self.document.findall(nodes.literal)):
            found = NAME.fullmatch(literal.astext())
            if (
                found is None
                or found[1] not in TYPES
                or _inside(literal, (nodes.title, nodes.reference, addnodes.pending_xref))
            ):
                continue
            link = addnodes.pending_xref(
                "",
                refdomain="py",
                reftype=TYPES[found[1]],
                reftarget=f"factorstream.{found[1]}",
                refdoc=self.env.docname,
                refexplicit=True,
            )
            literal.replace_self(link)
            link += literal


def _inside(node: nodes.Node, kinds: tuple[type, ...]) -> bool:
    while node is not None:
        if isinstance(node, kinds):
            return True
        node = node.parent
    return False


def setup(app: Sphinx):
    """Add the transform."""
    app.add_transform(LinkPublicNames)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
