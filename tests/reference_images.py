"""Naive twins of what `factorstream.images` does to arrays: loops over patches and pixels."""

from __future__ import annotations

import numpy as np


def starts(length, side, step):
    """Where patches begin along one axis; the last one ends at the edge."""
    found = list(range(0, length - side + 1, step))
    return found if found[-1] == length - side else [*found, length - side]


def cut(stack, size, step):
    """Patches of (n_frames, height, width, n_channels) as rows, and their corners."""
    rows, corners = [], []
    for t in starts(stack.shape[0], size[0], step[0]):
        for i in starts(stack.shape[1], size[1], step[1]):
            for j in starts(stack.shape[2], size[2], step[2]):
                rows.append(stack[t : t + size[0], i : i + size[1], j : j + size[2]].ravel())
                corners.append((t, i, j))
    return np.array(rows), corners


def put_back(rows, weights, corners, size, shape):
    """Weighted mean of the patches at every pixel."""
    total, count = np.zeros(shape), np.zeros(shape)
    for row, weight, (t, i, j) in zip(rows, weights, corners, strict=True):
        block = (*size, shape[3])
        total[t : t + size[0], i : i + size[1], j : j + size[2]] += (row * weight).reshape(block)
        count[t : t + size[0], i : i + size[1], j : j + size[2]] += weight.reshape(block)
    return total / count


def between_frames(stack):
    """Straight lines in time, pixel by pixel."""
    filled, when = stack.copy(), np.arange(len(stack))
    for pixel in np.ndindex(stack.shape[1:]):
        series = filled[(slice(None), *pixel)]
        known = ~np.isnan(series)
        if known.any():
            series[~known] = np.interp(when[~known], when[known], series[known])
    return filled
