"""The restoration experiment as files: table, figures, and a page that says how to read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..report.document import Document, Picture, Section, write_document
from ..report.figures import PALETTE, Curve, curves, image_panels, to_png
from ..report.tables import Cell, Column, Estimate, Table, seeds_in_words
from .methods import PAPER_MF_RLF
from .restoration_text import ambiguities, differences, protocol

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .methods import Settings
    from .restoration import Reading, Restoration

__all__ = ["faces_figure", "passes_figure", "summary", "write_report"]

TITLE = "Image restoration on the Olivetti faces: the paper's experiment, reproduced"
LEAD = (
    "The experiment of “Matrix Factorisation with Linear Filters”: pixels of 400 face images are removed and "
    "restored by a rank-40 factorisation that reads one image at a time."
)
_COLUMNS = (
    Column("method", "method", numeric=False),
    Column("passes", "passes or sweeps"),
    Column("missing", "missing", mark_best=True),
    Column("all", "all"),
    Column("filled", "filled"),
    Column("paper", "paper"),
    Column("seconds", "s", digits=1),
    Column("setting", "chosen on held-out entries", numeric=False, aside=True),
)

_FACES_CAPTION = (
    "Nine of the faces, first seed: the originals, what was left of them (removed pixels in red), and every "
    "method's restoration with its SNR over the removed entries. Observed pixels are kept."
)
_PASSES_CAPTION = (
    "First seed. One pass reads every image once; one NMF iteration reads all images twice. The dashed line "
    "is the paper's number for MF-RLF after ten passes, whichever entries it was measured on."
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
                    "setting": _settings([score.setting for score in scores]),
                }
            )
    return Table(f"SNR in dB ({seeds_in_words(result.seeds)})", _COLUMNS, rows, group="reading")


def heading(result: Restoration, reading: Reading) -> str:
    """The reading in words with the initial SNR that was measured."""
    initial = np.mean([score.initial for score in result.scores if score.reading == reading.key])
    return f"{reading.title} (initial SNR {initial:.2f} dB)"


def _settings(chosen: Sequence[Mapping[str, float]]) -> str:
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
    """SNR over the removed entries against passes over the data, or sweeps."""
    panels = []
    for reading in result.readings:
        lines = []
        for colour, method in zip(cycle(PALETTE), result.methods, strict=False):
            points = result.curves[reading.key, method.key]
            lines.append(Curve(method.label, [p for p, _ in points], [db for _, db in points], colour))
        panels.append((heading(result, reading).replace(" (", "\n("), lines))
    return curves(
        panels,
        x_label="passes over the data or sweeps (NMF: batch iterations)",
        y_label="SNR over the removed entries (dB)",
        levels={"MF-RLF in the paper": PAPER_MF_RLF},
    )


def write_report(result: Restoration, settings: Settings, source: str, folder: Path) -> list[Path]:
    """Write page, table and figures into ``folder``; return the files, the one to open first at the front."""
    faces = Picture("faces", to_png(faces_figure(result)), "Faces: original, corrupted, restored", _FACES_CAPTION)
    passes = Picture("passes", to_png(passes_figure(result)), "SNR against passes", _PASSES_CAPTION)
    curves_by_key = [
        {"reading": reading, "method": method, "points": points} for (reading, method), points in result.curves.items()
    ]
    return write_document(
        Document(
            name="restoration",
            title=TITLE,
            lead=LEAD,
            table=summary(result),
            sections=[
                Section("The table", protocol(result, settings, source)),
                Section("Where the paper is ambiguous", ambiguities()),
                Section("How these numbers differ from the paper's, and why", differences(result)),
                Section("The faces", picture=faces),
                Section("SNR against passes", picture=passes),
            ],
            data={
                "scores": [asdict(score) for score in result.scores],
                "curves": curves_by_key,
                "seeds": list(result.seeds),
                "settings": asdict(settings),
                "data_source": source,
            },
        ),
        folder,
    )
