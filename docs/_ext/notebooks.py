"""The notebook of the repository as a page of the site: run from top to bottom when the site is built.

In docs/ its page is a few lines that link to it; on the site they are followed by its cells and what they gave. A cell
that fails stops the build.
"""

from __future__ import annotations

import tempfile
from base64 import b64decode
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from sphinx.application import Sphinx

DOCS = Path(__file__).parents[1]
NOTEBOOKS = {"notebook": DOCS.parent / "examples" / "first_look.ipynb"}
PICTURES = DOCS / "generated"


def run(path: Path) -> nbformat.NotebookNode:
    """The notebook with the outputs of all cells; files that it writes go to a folder that is then removed."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(notebook, timeout=300, resources={"metadata": {"path": folder}}).execute()
    return notebook


def read(app: Sphinx, docname: str, source: list[str]) -> None:
    """Put the notebook below the text of its page."""
    if docname in NOTEBOOKS:
        app.env.note_dependency(str(NOTEBOOKS[docname]))
        app.env.note_reread()  # the package may have changed although the notebook has not
        lines = [source[0].partition("On\nthe site")[0].rstrip()]
        for number, cell in enumerate(run(NOTEBOOKS[docname]).cells):
            lines += _of_cell(cell, f"{docname}-{number}")
        source[0] = "\n\n".join(lines) + "\n"


def _of_cell(cell: nbformat.NotebookNode, name: str) -> list[str]:
    if cell.cell_type == "markdown":
        return [cell.source.replace("# A first look\n", "")]
    outputs = [_of_output(output, f"{name}-{number}") for number, output in enumerate(cell.outputs)]
    return [_fenced("python", cell.source), *outputs]


def _of_output(output: nbformat.NotebookNode, name: str) -> str:
    if output.output_type == "stream":
        return _fenced("text", output.text.rstrip())
    data = output.data
    if "image/png" in data:
        PICTURES.mkdir(exist_ok=True)
        (PICTURES / f"{name}.png").write_bytes(b64decode(data["image/png"]))
        return f"![what the lines above draw](generated/{name}.png)"
    if "text/html" in data:
        return _fenced("{raw} html", f'<div class="output">\n{data["text/html"]}\n</div>')
    return _fenced("text", data["text/plain"])


def _fenced(kind: str, text: str) -> str:
    return f"````{kind}\n{text}\n````"


def setup(app: Sphinx):
    """Listen to pages as they are read."""
    app.connect("source-read", read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
