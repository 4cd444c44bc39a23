"""The sequence experiment as a table, a figure and a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from ..report.document import Document, Picture, Section, write_document
from ..report.figures import to_png
from ..report.series import Series, series_panels
from ..report.tables import Cell, Column, Estimate, Table, seeds_in_words
from .sequences import LAG, PUBLISHED, RUN

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .sequences import Score, Sequences

__all__ = ["stations_figure", "summary", "write_report"]

TITLE = "Imputation of sequences: PM10 at the stations of London"
LEAD = (
    "The experiment of “Probabilistic sequential matrix factorization”: runs of hours are removed from every "
    "station's record and filled in from the other stations and from the station's own past and future."
)
_COLUMNS = (
    Column("method", "method", numeric=False),
    Column("rmse", "RMSE"),
    Column("two_sigma", "±2σ", digits=3),
    Column("level_90", "90%", digits=3),
    Column("level_95", "95%", digits=3),
    Column("seconds", "s", digits=1),
)
_CAPTION = (
    "First seed, first fraction: ten days at the stations that lost most of them. Removed hours are dots; the line "
    "and the band are what was put in their place, smoothed."
)


def summary(result: Sequences) -> Table:
    """One row per fraction and method, ours and the published ones: mean ± standard deviation over the seeds."""
    rows: list[dict[str, Cell]] = []
    for fraction in result.fractions:
        group = f"{100 * fraction:.3g}% of every station removed, in runs of {RUN} hours"
        for method in result.labels:
            scores = result.of(fraction, method)
            rows.append(
                {
                    "removed": group,
                    "method": method,
                    "rmse": Estimate.of(score.rmse for score in scores),
                    "two_sigma": _mean(scores, "two_sigma"),
                    "level_90": _mean(scores, "level_90"),
                    "level_95": _mean(scores, "level_95"),
                    "seconds": Estimate(Estimate.of(score.seconds for score in scores).mean),
                }
            )
        for method, figures in PUBLISHED.items():
            if fraction in figures:
                published: dict[str, Cell] = dict.fromkeys((column.key for column in _COLUMNS), None)
                error, covered = figures[fraction]
                rows.append(
                    {
                        **published,
                        "removed": group,
                        "method": f"{method} (published)",
                        "rmse": error,
                        "two_sigma": covered,
                    }
                )
    seeds = seeds_in_words(result.seeds)
    title = f"RMSE and share of entries inside ±2σ, 90% and 95% intervals, over the removed entries ({seeds})"
    return Table(title, _COLUMNS, rows, group="removed")


def _mean(scores: Sequence[Score], name: str) -> Cell:
    values = [getattr(score, name) for score in scores]
    return None if None in values else Estimate.of(values)


def stations_figure(result: Sequences) -> Figure:
    """A few stations with what was removed, what was put in its place, and how sure that was."""
    panels = [
        Series(f"station {e.feature}", e.rows, e.truth, e.removed, e.filled, e.std, e.line) for e in result.excerpts
    ]
    return series_panels(panels, x_label="hour", y_label="PM10 (µg/m³)", other_label="linear interpolation")


def protocol(result: Sequences, source: str) -> list[str]:
    """How the table was made."""
    seeds = ", ".join(map(str, result.seeds))
    return [
        f"Data: {source}; one hour per row, one station per column, gaps of the record itself left as they are. "
        f"Masks are seeded ({seeds}): every station loses runs of {RUN} hours until the fraction is reached.",
        "RMSE and coverage count the removed entries only. No setting was given to `SequenceFilter`, and whatever it "
        "chooses, it chooses on observed entries.",
        "**Smoothed**: `fit` on the whole record, then `impute`. **Streaming**: one pass of `partial_fit`, row by row, "
        f"from the first row on; every row is filled as it arrives (filter), or {LAG} rows later (fixed lag). "
        "Linear interpolation sees the future, as the smoother does.",
        "Published figures: Akyildiz, van den Burg, Damoulas and Steel (AISTATS 2021), on masks of the same kind but "
        "not the same ones, ±2σ coverage. A dash means that no figure was published.",
        "The column **s** holds the seconds of one run, roughly; both streaming rows come from one run.",
    ]


def write_report(result: Sequences, source: str, folder: Path) -> list[Path]:
    """Write page, table and figure into ``folder``; return the files, the one to open first at the front."""
    stations = Picture("stations", to_png(stations_figure(result)), "Removed hours and what was filled in", _CAPTION)
    return write_document(
        Document(
            name="sequences",
            title=TITLE,
            lead=LEAD,
            table=summary(result),
            sections=[
                Section("The table", protocol(result, source)),
                Section("A few stations", picture=stations),
            ],
            data={
                "scores": [asdict(score) for score in result.scores],
                "seeds": list(result.seeds),
                "data_source": source,
            },
        ),
        folder,
    )
