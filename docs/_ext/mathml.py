"""Formulas as MathML, which browsers draw themselves: no script, no picture, nothing fetched."""

from __future__ import annotations

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx


def mathml(latex: str, display: str) -> str:
    """The formula. latex2mathml writes ∼ as a letter, without space around it; it is a relation."""
    return convert(latex, display=display).replace("<mi>&#x0007E;</mi>", "<mo>&#x0223C;</mo>")


def inline(translator, node):
    """Write $...$ in a sentence."""
    translator.body.append(mathml(node.astext(), "inline"))
    raise nodes.SkipNode


def block(translator, node):
    """Write $$...$$ as a line of its own, which scrolls where the screen is narrower."""
    translator.body.append(f'<div class="formula">{mathml(node.astext(), "block")}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx):
    """Register as the renderer `mathml`."""
    app.add_html_math_renderer("mathml", inline_renderers=(inline, None), block_renderers=(block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
