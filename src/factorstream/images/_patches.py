"""Overlapping patches of pictures as rows, and rows as pictures again."""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike, NDArray

__all__ = ["PatchGrid", "patch_grid", "picture_to_rows", "rows_to_picture"]

Pixels = NDArray[np.floating[Any]]


class PatchGrid(NamedTuple):
    """Which patches of a stack of pictures there are; pictures are (n_frames, height, width, n_channels)."""

    shape: tuple[int, int, int, int]
    """Of the stack."""
    size: tuple[int, int, int]
    """Of a patch: frames, height, width. It has all channels."""
    corners: NDArray[np.intp]
    """The first frame, row and column of every patch (n_patches, 3)."""

    def rows(self, stack: Pixels, which: NDArray[Any]) -> Pixels:
        """The patches ``which`` as rows; the channels of a pixel are neighbours."""
        windows = sliding_window_view(stack, self.size, axis=(0, 1, 2))
        chosen = windows[tuple(self.corners[which].T)]  # channels come first here
        rows: Pixels = np.moveaxis(chosen, 1, -1).reshape(len(chosen), prod(self.size) * self.shape[3])
        return rows

    def add(self, stack: Pixels, rows: Pixels, which: NDArray[Any]) -> None:
        """Add the rows to the stack, each where its patch lies."""
        blocks = rows.reshape(len(rows), *self.size, self.shape[3])
        corners = self.corners[which].T
        for within in np.ndindex(*self.size):  # at one place within their patches, no two patches share a pixel
            frame, line, column = (corner + step for corner, step in zip(corners, within, strict=True))
            stack[frame, line, column] += blocks[:, *within]


def patch_grid(shape: tuple[int, int, int, int], size: tuple[int, int, int], step: tuple[int, int, int]) -> PatchGrid:
    """Patches ``step`` apart in frames, rows and columns, and the last ones at the edges, so that all is covered."""
    size = (min(size[0], shape[0]), min(size[1], shape[1]), min(size[2], shape[2]))
    starts = [_starts(length, side, apart) for length, side, apart in zip(shape[:3], size, step, strict=True)]
    corners = np.stack(np.meshgrid(*starts, indexing="ij"), axis=-1).reshape(-1, 3)
    return PatchGrid(shape, size, corners)


def _starts(length: int, side: int, step: int) -> NDArray[np.intp]:
    last = length - side
    return np.unique(np.append(np.arange(0, last + 1, step), last))


def picture_to_rows(picture: ArrayLike, side: int = 8, step: int = 4) -> Pixels:
    """Every overlapping patch of a picture as a row, for an estimator of your choice.

    Parameters
    ----------
    picture : array (height, width) or (height, width, n_channels)
        NaN where a pixel is missing.
    side : int, default=8
        Height and width of a patch, in pixels; at most those of the picture.
    step : int, default=4
        Pixels from one patch to the next. The last patches lie at the edges, so that every pixel is in one.

    Returns
    -------
    rows : array (n_patches, side * side * n_channels)

    Examples
    --------
    >>> import numpy as np
    >>> from factorstream.images import picture_to_rows, rows_to_picture
    >>> picture = np.arange(30.0).reshape(5, 6)
    >>> rows = picture_to_rows(picture, side=4, step=2)
    >>> rows.shape
    (4, 16)
    >>> bool(np.allclose(rows_to_picture(rows, picture.shape, side=4, step=2), picture))
    True
    """
    values = np.asarray(picture)
    values = values.astype(np.result_type(values.dtype, np.float32), copy=False)
    grid = _picture_grid(values.shape, side, step)
    return grid.rows(values.reshape(grid.shape), np.arange(len(grid.corners)))


def rows_to_picture(
    rows: ArrayLike, shape: tuple[int, ...], side: int = 8, step: int = 4, weights: ArrayLike | None = None
) -> Pixels:
    """The picture whose overlapping patches are these rows: where several have a pixel, their mean.

    Parameters
    ----------
    rows : array (n_patches, side * side * n_channels)
        As from `picture_to_rows` with the same ``side`` and ``step``.
    shape : tuple of int
        Of the picture.
    side, step : int
        Size of a patch, and pixels from one to the next.
    weights : array like ``rows``, optional
        How much every entry counts in the mean, for example ``1 / std**2``. All the same by default.

    Returns
    -------
    picture : array of that shape
    """
    given = np.asarray(rows)
    values = given.astype(np.result_type(given.dtype, np.float32), copy=False)
    grid = _picture_grid(tuple(shape), side, step)
    n_entries = grid.size[1] * grid.size[2] * grid.shape[3]
    if values.shape != (len(grid.corners), n_entries):
        raise ValueError(
            f"A picture of shape {tuple(shape)} has {len(grid.corners)} patches of {n_entries} entries, and the rows "
            f"have shape {values.shape}; pass the side and step that made them."
        )
    weight = (
        np.ones_like(values) if weights is None else np.broadcast_to(np.asarray(weights, values.dtype), values.shape)
    )
    total, count, every = np.zeros(grid.shape), np.zeros(grid.shape), np.arange(len(values))
    grid.add(total, weight * values, every)
    grid.add(count, weight, every)
    picture: Pixels = (total / count).reshape(shape).astype(values.dtype, copy=False)
    return picture


def _picture_grid(shape: tuple[int, ...], side: int, step: int) -> PatchGrid:
    if len(shape) not in (2, 3) or 0 in shape:
        raise ValueError(f"A picture has the shape (height, width) or (height, width, channels), not {shape}.")
    if not 1 <= step <= side or side > min(shape[:2]):
        raise ValueError(
            f"Patches of side {side} every {step} pixels do not cover a picture of {shape[0]} × {shape[1]}; take a "
            "side that fits into it, and a step of at most the side."
        )
    return patch_grid((1, shape[0], shape[1], shape[2] if len(shape) == 3 else 1), (1, side, side), (1, step, step))
