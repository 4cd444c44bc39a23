"""What was drawn, read back from the artists of a picture."""

from __future__ import annotations

import numpy as np


def line(ax, label):
    """The x and y of the line with this label."""
    (found,) = [one for one in ax.lines if one.get_label() == label]
    return tuple(np.asarray(part, dtype=float) for part in found.get_data())


def labels(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def band(ax, label):
    """The corners of the band with this label, as a set of rounded (x, y)."""
    (found,) = [one for one in ax.collections if one.get_label() == label]
    return {tuple(np.round(corner, 6)) for path in found.get_paths() for corner in path.vertices}


def corners(x, low, high):
    """The corners that a band over x has to have, in the same form."""
    return {tuple(np.round(corner, 6)) for y in (low, high) for corner in zip(x, y, strict=True)}
