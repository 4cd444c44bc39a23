"""The report on restored pictures: before, after, how sure, and how the ways to restore did on hidden pixels."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..extras import require
from ..files import check_writable
from ..text import listed
from .document import versions
from .page import Block, Code, Gallery, Number, Page, Part, Picture, Words, plain, write_page
from .tables import Cell, Column, Table
from .words import many

__all__ = ["Restored", "write_picture_report"]

Array = NDArray[Any]

SHOWN = 4
"""Pictures that are shown, evenly spaced where there are more: each is three times in the file. By eye."""
LARGEST = 1000
"""Pixels of the longer side above which every second, third, … is shown: the width of the page."""
RED = (200, 85, 61)


class Restored(NamedTuple):
    """Pictures that were restored together."""

    names: Sequence[str]
    before: Array
    """(k, height, width) or (k, height, width, channels)."""
    after: Array
    std: Array
    """Standard deviations of filled pixels, else 0; NaN at filled pixels where nobody knows."""
    damaged: Array
    """What was filled."""
    method: str
    errors: Mapping[str, float]
    """Of every way that was tried on hidden pixels, the best first."""
    n_filled: int


def write_picture_report(
    path: Path, restored: Sequence[Restored], *, source: str, settings: Mapping[str, str], code: str
) -> Path:
    """Write one HTML file about restored pictures."""
    require("jinja2", "matplotlib")
    check_writable(path)
    n_pictures, n_filled = sum(len(one.names) for one in restored), sum(one.n_filled for one in restored)
    ways = listed(dict.fromkeys(one.method for one in restored))
    done = [
        f"{many(n_filled, 'damaged pixel')} of {many(n_pictures, 'picture')} in {plain(source)} were filled by {ways}. "
        "All other pixels are as they were read; a JPEG file changes them a little when it is written."
    ]
    rows: list[dict[str, Cell]] = [{"name": name, "value": value} for name, value in settings.items()]
    pairs = [Column("name", "", numeric=False), Column("value", "", numeric=False)]
    packages = ", ".join(f"{name} {number}" for name, number in versions().items())
    parts = [
        Part("What was done", [Words(done)]),
        Part("Before and after", _pictures(restored)),
        Part("How good it is", _errors(restored)),
        Part("Settings and versions", [Table("Settings", pairs, rows), Words([f"{packages}."])]),
        Part("Do it again", [Code(code)]),
    ]
    return write_page(
        path,
        Page(
            title=f"{many(n_filled, 'pixel')} filled in {plain(source)}",
            lead="What was damaged, what stands there now, and how good such fills are on pixels that were hidden on "
            "purpose.",
            parts=parts,
            footer=f"Written by factorstream on {datetime.now(UTC).date().isoformat()} (UTC). This file needs nothing "
            "else and loads nothing.",
            above="factorstream report",
            numbers=[Number(f"{n_pictures:,}", "pictures" if n_pictures > 1 else "picture"), *_best(restored)],
        ),
    )


def _best(restored: Sequence[Restored]) -> list[Number]:
    errors = [next(iter(one.errors.values())) for one in restored if one.errors]
    return [Number(f"{np.mean(errors):.3g}", "grey levels off, on hidden pixels (root mean square)")] if errors else []


def _errors(restored: Sequence[Restored]) -> list[Block]:
    rows: list[dict[str, Cell]] = []
    for one in restored:
        names = listed(one.names, 3)
        rows += [{"pictures": names, "way": way, "error": float(error)} for way, error in one.errors.items()]
    if not rows:
        words = "There were too few known pixels to hide some of them, and so nothing was measured: how far the filled "
        return [Words([f"{words}pixels are off is not known."])]
    words = (
        "Known pixels were hidden in the shape of the damage, and every way filled them. The best was taken; as it was "
        "chosen by these pixels, it may be a little further off on others."
    )
    columns = [Column("way", "way to fill", numeric=False), Column("error", "error", digits=2)]
    title = "Root-mean-square errors on hidden pixels, in grey levels"
    group = "pictures" if len(restored) > 1 else None
    return [Words([words]), Table(title, columns, rows, group=group, sorts=group is None)]


def _pictures(restored: Sequence[Restored]) -> list[Block]:
    every = [(one, k) for one in restored for k in range(len(one.names))]
    chosen = [every[int(place)] for place in np.linspace(0, len(every) - 1, min(SHOWN, len(every)))]
    blocks: list[Block] = [Words([f"{len(chosen)} of {len(every)} pictures."])] if len(chosen) < len(every) else []
    for one, k in chosen:
        name, before, after, std = one.names[k], one.before[k], one.after[k], _flat(one.std[k])
        filled = _flat(one.damaged[k])
        least_sure = float(np.max(std, initial=0.0, where=np.isfinite(std))) or 1.0
        low, high = (0.0, 255.0) if after.dtype == np.uint8 else (float(np.min(after)), float(np.max(after)))
        views = [
            ("before", " (red: damaged)", np.where(filled[..., None], RED, _colours(before, low, high))),
            ("after", "", _colours(after, low, high)),
            ("how sure", " (the brighter, the less)", _colours(np.nan_to_num(std, nan=least_sure), 0.0, least_sure)),
        ]
        pictures = [
            Picture(f"{k}-{what}", _png(pixels), f"{name}: {what}", f"{plain(name)}, {what}{hint}")
            for what, hint, pixels in views
        ]
        blocks.append(Gallery(pictures))
    return blocks


def _flat(numbers: Array) -> Array:
    """One number for every pixel: the largest of its channels, and NaN if one is."""
    return numbers if numbers.ndim == 2 else np.asarray(numbers.max(axis=-1))


def _colours(pixels: Array, low: float, high: float) -> Array:
    """Pixels as red, green and blue from 0 to 255; a channel of transparency is left out."""
    values = np.nan_to_num(np.asarray(pixels, dtype=np.float64), nan=low)
    values = 255.0 * np.clip((values - low) / ((high - low) or 1.0), 0.0, 1.0)
    if values.ndim == 2:
        return np.repeat(values[..., None], 3, axis=-1)
    return values[..., :3] if values.shape[-1] >= 3 else np.repeat(values[..., :1], 3, axis=-1)


def _png(colours: Array) -> bytes:
    from matplotlib.image import imsave

    step = -(-max(colours.shape[:2]) // LARGEST)
    stream = io.BytesIO()
    imsave(stream, np.ascontiguousarray(colours[::step, ::step].astype(np.uint8)), format="png")
    return stream.getvalue()
