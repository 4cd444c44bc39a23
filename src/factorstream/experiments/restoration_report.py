"""The restoration experiment as files: table, figures, and a page that says how to read them."""

from __future__ import annotations

import importlib.metadata
import json
import platform
from collections.abc import Mapping
from dataclasses import asdict
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..report import html
from ..report.figures import PALETTE, Curve, curves, image_panels, to_png
from ..report.files import write_atomic
from ..report.tables import Cell, Column, Estimate, Table, to_csv, to_data, to_html, to_markdown
from .restoration_text import ambiguities, differences, protocol

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .methods import Settings
    from .restoration import Reading, Restoration

__all__ = ["faces_figure", "passes_figure", "summary", "versions", "write_report"]

TITLE = "Image restoration on the Olivetti faces: the paper's experiment, reproduced"
LEAD = (
    "The experiment of “Matrix Factorisation with Linear Filters”: pixels of 400 face images are removed and "
    "restored by a rank-40 factorisation that reads one image at a time."
)
_COLUMNS = (
    Column("method", "method", numeric=False),
    Column("passes", "passes"),
    Column("missing", "missing", mark_best=True),
    Column("all", "all"),
    Column("filled", "filled"),
    Column("paper", "paper"),
    Column("seconds", "s", digits=1),
    Column("setting", "chosen on held-out entries", numeric=False, aside=True),
)


def summary(result: Restoration) -> Table:
    """One row per reading and method: mean ± standard deviation over the seeds."""
    rows: list[dict[str, Cell]] = []
    for reading in result.readings:
        for method in result.methods:
            scores = result.of(reading.key, method.key)
            rows.append(
                {
                    "reading": heading(result, reading),
                    "method": method.label,
                    "passes": round(float(np.mean([score.passes for score in scores]))),
                    "missing": Estimate.of(score.missing for score in scores),
                    "all": Estimate.of(score.all for score in scores),
                    "filled": Estimate.of(score.filled for score in scores),
                    "paper": method.paper,
                    "seconds": Estimate(float(np.mean([score.seconds for score in scores]))),
                    "setting": _settings([dict(score.setting) for score in scores]),
                }
            )
    n = len(result.seeds)
    title = f"SNR in dB (mean ± sd over {n} seeds)" if n > 1 else "SNR in dB (one seed)"
    return Table(title, _COLUMNS, rows, group="reading")


def heading(result: Restoration, reading: Reading) -> str:
    """The reading in words with the initial SNR that was measured."""
    initial = np.mean([score.initial for score in result.scores if score.reading == reading.key])
    return f"{reading.title} (initial SNR {initial:.2f} dB)"


def _settings(chosen: list[dict[str, Any]]) -> str:
    """Settings in words, each once: seeds may choose differently."""
    texts = [", ".join(f"{name.replace('_', ' ')} {value:g}" for name, value in c.items()) for c in chosen]
    return "; ".join(dict.fromkeys(text for text in texts if text))


def faces_figure(result: Restoration) -> Figure:
    """Originals, what was left of them, and every method's restoration, in the manner of the paper."""
    rows = []
    for reading in result.readings:
        panels = [
            ("original", result.pictures[reading.key, "original"]),
            ("corrupted", result.pictures[reading.key, "corrupted"]),
        ]
        for method in result.methods:
            db = result.of(reading.key, method.key)[0].missing
            panels.append((f"{method.label}: {db:.2f} dB", result.pictures[reading.key, method.key]))
        rows.append((heading(result, reading), panels))
    return image_panels(rows)


def passes_figure(result: Restoration) -> Figure:
    """SNR over the removed entries against passes over the data."""
    panels = []
    for reading in result.readings:
        lines = []
        for colour, method in zip(cycle(PALETTE), result.methods, strict=False):
            points = result.curves[reading.key, method.key]
            lines.append(Curve(method.label, [p for p, _ in points], [db for _, db in points], colour))
        panels.append((heading(result, reading).replace(" (", "\n("), lines))
    return curves(
        panels,
        x_label="passes over the data (NMF: batch iterations)",
        y_label="SNR over the removed entries (dB)",
        levels={"MF-RLF in the paper": 12.38},
    )


def versions() -> dict[str, str]:
    """Versions of everything the numbers depend on."""
    found = {"python": platform.python_version()}
    for package in ("factorstream", "numpy", "scipy", "scikit-learn"):
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found


def write_report(result: Restoration, settings: Settings, source: str, folder: Path) -> list[Path]:
    """Write page, table and figures into ``folder``; return the files, the one to open first at the front."""
    table = summary(result)
    faces, passes = to_png(faces_figure(result)), to_png(passes_figure(result))
    stand = ", ".join(f"{name} {version}" for name, version in versions().items())
    facts = protocol(result, settings, source)
    doubts, findings = ambiguities(), differences(result)
    sections = [
        ("The table", to_html(table) + html.paragraphs(facts)),
        ("Where the paper is ambiguous", html.paragraphs(doubts)),
        ("How these numbers differ from the paper's, and why", html.paragraphs(findings)),
        ("The faces", html.picture(faces, "Faces: original, corrupted, restored", _FACES_CAPTION)),
        ("SNR against passes", html.picture(passes, "SNR against passes", _PASSES_CAPTION)),
    ]
    markdown = "\n\n".join(
        [
            f"# {TITLE}",
            LEAD,
            f"## The table\n\n{table.title}.\n\n{to_markdown(table)}",
            _markdown_text(facts),
            f"## Where the paper is ambiguous\n\n{_markdown_text(doubts)}",
            f"## How these numbers differ from the paper's, and why\n\n{_markdown_text(findings)}",
            f"## The faces\n\n![Faces](restoration-faces.png)\n\n{_FACES_CAPTION}",
            f"## SNR against passes\n\n![SNR against passes](restoration-passes.png)\n\n{_PASSES_CAPTION}",
            f"{stand}.\n",
        ]
    )
    data = {
        "table": to_data(table),
        "scores": [asdict(score) for score in result.scores],
        "curves": [
            {"reading": reading, "method": method, "points": points}
            for (reading, method), points in result.curves.items()
        ],
        "seeds": list(result.seeds),
        "settings": asdict(settings),
        "data_source": source,
        "versions": versions(),
    }
    contents: dict[str, str | bytes] = {
        "restoration.html": html.page(TITLE, LEAD, sections, f"{stand}."),
        "restoration.md": markdown,
        "restoration.csv": to_csv(table),
        "restoration.json": json.dumps(finite(data), indent=2, ensure_ascii=False, allow_nan=False) + "\n",
        "restoration-faces.png": faces,
        "restoration-passes.png": passes,
    }
    return [write_atomic(folder / name, content) for name, content in contents.items()]


def finite(data: Any) -> Any:
    """The same data with null for numbers that JSON does not have."""
    if isinstance(data, Mapping):
        return {key: finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [finite(value) for value in data]
    return None if isinstance(data, float) and not np.isfinite(data) else data


_FACES_CAPTION = (
    "Nine of the faces, first seed: the originals, what was left of them (removed pixels in red), and every "
    "method's restoration with its SNR over the removed entries. Observed pixels are kept."
)
_PASSES_CAPTION = (
    "First seed. One pass reads every image once; one NMF iteration reads all images twice. The dashed line "
    "is the paper's number for MF-RLF after ten passes, whichever entries it was measured on."
)


def _markdown_text(texts: list[str]) -> str:
    """Paragraphs apart, items of a list together."""
    pairs = zip(texts, [*texts[1:], ""], strict=True)
    return "".join(
        text + ("\n" if text.startswith("- ") and after.startswith("- ") else "\n\n") for text, after in pairs
    ).rstrip()
