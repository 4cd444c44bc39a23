"""Straight lines between neighbours, in time and in the picture: what every model is held to."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import LinearNDInterpolator, NearestNDInterpolator
from scipy.ndimage import binary_dilation
from scipy.spatial import QhullError

__all__ = ["between_frames", "within_frames"]

Pixels = NDArray[np.floating[Any]]


def between_frames(stack: Pixels) -> Pixels:
    """Each pixel from the frames before and after in which it is seen; NaN stays where it never is."""
    seen = ~np.isnan(stack)
    n = len(stack)
    when = np.arange(n).reshape(-1, 1, 1, 1)
    before = np.maximum.accumulate(np.where(seen, when, -1))
    after = np.minimum.accumulate(np.where(seen, when, n)[::-1])[::-1]
    ever = seen.any(axis=0)
    first, last = np.where(before < 0, after, before), np.where(after >= n, before, after)
    first, last = np.where(ever, first, 0), np.where(ever, last, 0)
    share = (when - first) / np.maximum(last - first, 1)
    left, right = np.take_along_axis(stack, first, 0), np.take_along_axis(stack, last, 0)
    filled: Pixels = np.where(seen, stack, left + share.astype(stack.dtype) * (right - left))
    return filled


def within_frames(stack: Pixels) -> Pixels:
    """Each frame on its own: planes over triangles of pixels around the damage, the nearest pixel outside of them.

    A channel of a frame without any pixel gets the mean of that channel in all frames.
    """
    filled = stack.copy()
    for frame in filled:
        damaged = np.isnan(frame)
        if (damaged == damaged[..., :1]).all():
            _fill_plane(frame, damaged[..., 0])
        else:
            for channel in range(frame.shape[-1]):
                _fill_plane(frame[..., channel : channel + 1], damaged[..., channel])
    empty = np.isnan(filled)
    if empty.any():
        of_all = np.nanmean(stack)
        counts = (~np.isnan(stack)).sum(axis=(0, 1, 2))
        means = np.where(counts, np.nansum(stack, axis=(0, 1, 2)) / np.maximum(counts, 1), of_all)
        filled = np.where(empty, means.astype(stack.dtype), filled)
    return filled


def _fill_plane(plane: Pixels, damaged: NDArray[np.bool_]) -> None:
    """Fill one plane (height, width, channels) in place; its channels are damaged at the same pixels."""
    if not damaged.any() or damaged.all():
        return
    known = binary_dilation(damaged, np.ones((3, 3), bool)) & ~damaged  # others lie in no triangle with damage
    points, asked = np.argwhere(known), np.argwhere(damaged)
    answer = NearestNDInterpolator(points, plane[known])(asked)
    try:
        inside = LinearNDInterpolator(points, plane[known])(asked)
        answer = np.where(np.isnan(inside), answer, inside)
    except QhullError:  # fewer than three pixels around the damage, or all in one line
        pass
    plane[damaged] = answer
