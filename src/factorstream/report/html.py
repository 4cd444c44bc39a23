"""One self-contained HTML page: its style and its pictures travel inside the file."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Sequence

__all__ = ["inline", "page", "paragraphs", "picture"]

_STYLE = """
:root { color-scheme: light dark; --ink: #1c2330; --soft: #5b6474; --line: #d9dee7; --paper: #ffffff;
        --band: #f3f5f9; --accent: #0b6e99; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ef; --soft: #9aa4b5; --line: #343c4a; --paper: #14181f; --band: #1d232d;
          --accent: #6cc3e8; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
       font: 16px/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
main { max-width: 66rem; margin: 0 auto; padding: 3rem 1.5rem 5rem; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 .75rem; letter-spacing: -.01em; }
h2 { font-size: 1.3rem; margin: 3rem 0 .75rem; }
p, li { max-width: 46rem; }
.lead { font-size: 1.12rem; color: var(--soft); }
code { font: .9em ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; background: var(--band);
       padding: .1em .3em; border-radius: 4px; }
.scroll { overflow-x: auto; margin: 1.25rem 0 .5rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: .94rem; }
caption { text-align: left; color: var(--soft); padding-bottom: .5rem; }
th, td { padding: .42rem .7rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
thead th { border-bottom: 2px solid var(--ink); font-weight: 600; white-space: nowrap; }
.num { text-align: right; white-space: nowrap; }
tr.group th { background: var(--band); color: var(--accent); padding-top: .6rem; }
td strong { color: var(--accent); }
figure { margin: 1.5rem 0; }
figure img { display: block; width: 100%; height: auto; background: #fff; border: 1px solid var(--line);
             border-radius: 8px; }
figcaption, .note { color: var(--soft); font-size: .9rem; margin-top: .5rem; max-width: 52rem; }
footer { margin-top: 4rem; padding-top: 1rem; border-top: 1px solid var(--line); color: var(--soft);
         font-size: .88rem; }
"""


def page(title: str, lead: str, sections: Sequence[tuple[str, str]], footer: str) -> str:
    """A whole page from ``(heading, body)`` pairs whose bodies are HTML already.

    >>> page("Title", "Lead.", [("One", paragraphs(["Text."]))], "Foot.").count("<h2>")
    1
    """
    body = "\n".join(f"<section><h2>{inline(heading)}</h2>\n{content}</section>" for heading, content in sections)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n"
        f'<h1>{inline(title)}</h1>\n<p class="lead">{inline(lead)}</p>\n{body}\n'
        f"<footer>{inline(footer)}</footer>\n</main>\n</body>\n</html>\n"
    )


def inline(text: str) -> str:
    """Escape text, and turn the Markdown marks ``**bold**`` and ```code``` into HTML.

    >>> inline("a < b, **c**, `d`")
    'a &lt; b, <strong>c</strong>, <code>d</code>'
    """
    escaped = html.escape(text, quote=False)
    escaped = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", escaped)
    return re.sub(r"`(.+?)`", r"<code>\1</code>", escaped)


def paragraphs(texts: Sequence[str]) -> str:
    """Paragraphs; consecutive texts that begin with ``- `` become a list."""
    parts: list[str] = []
    for text in texts:
        if text.startswith("- "):
            item = f"<li>{inline(text[2:])}</li>"
            if parts and parts[-1].endswith("</ul>"):
                parts[-1] = parts[-1].removesuffix("</ul>") + item + "</ul>"
            else:
                parts.append(f"<ul>{item}</ul>")
        else:
            parts.append(f"<p>{inline(text)}</p>")
    return "\n".join(parts)


def picture(png: bytes, alt: str, caption: str) -> str:
    """A figure with the picture embedded."""
    data = base64.b64encode(png).decode("ascii")
    return (
        f'<figure><img src="data:image/png;base64,{data}" alt="{html.escape(alt)}">'
        f"<figcaption>{inline(caption)}</figcaption></figure>"
    )
