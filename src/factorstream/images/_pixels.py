"""Pictures as numbers with NaN where they are damaged, and back to what they were."""

from __future__ import annotations

import warnings
from os import PathLike, fspath
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Stack", "read_stack"]

Damage = ArrayLike | str | None


class Stack(NamedTuple):
    """Pictures of one size, ready to be filled."""

    values: NDArray[np.floating[Any]]
    """(n_frames, height, width, n_channels), NaN where damaged; without alpha."""
    original: NDArray[Any]
    """As they were given."""
    limits: tuple[float, float]
    """What a pixel may be."""
    alpha: bool
    """Whether the last channel of the original says how transparent a pixel is."""

    def rebuilt(self, filled: NDArray[Any]) -> NDArray[Any]:
        """The original with its damaged pixels filled, in its type and within the limits."""
        kind = self.original.dtype
        values = np.clip(filled, *self.limits)
        if kind.kind in "iu":
            values = np.rint(values)
        whole = self.original.copy()
        colours = _with_channels(whole, self.values.shape)
        if self.alpha:
            colours, opaque = colours[..., :-1], colours[..., -1]
            opaque[np.isnan(self.values).any(axis=-1)] = _full(whole)
        damaged = np.isnan(self.values)
        colours[damaged] = values[damaged].astype(kind)
        return whole

    def shaped(self, per_pixel: NDArray[Any]) -> NDArray[Any]:
        """Numbers about every pixel in the shape of the original; an alpha channel has zeros."""
        if self.alpha:
            per_pixel = np.concatenate([per_pixel, np.zeros_like(per_pixel[..., :1])], axis=-1)
        return per_pixel.reshape(self.original.shape)


def read_stack(pictures: ArrayLike, damage: Damage, limits: tuple[float, float] | None, *, single: bool) -> Stack:
    """Check what was given, and mark what is damaged. ``single``: one picture, not a stack of them."""
    _refuse_file_names(pictures)
    original = _one_array(pictures)
    wanted = "(height, width) or (height, width, channels)" if single else "(frames, height, width) or (..., channels)"
    if original.ndim - (not single) not in (2, 3) or 0 in original.shape:
        raise ValueError(f"Expected {'a picture' if single else 'pictures'} of shape {wanted}, not {original.shape}.")
    if original.dtype.kind not in "uif":
        raise ValueError(f"Pixels are numbers, and these are {original.dtype}; convert them, for example to uint8.")
    if limits is not None and not limits[0] < limits[1]:
        raise ValueError(f"Limits are two numbers, the first below the second, and not {limits}.")
    whole = original[None] if single else original
    whole = whole if whole.ndim == 4 else whole[..., None]
    alpha = isinstance(damage, str)
    if alpha and (damage != "alpha" or whole.shape[-1] not in (2, 4)):
        raise ValueError('Damage is a mask, a value, or "alpha" for pictures whose last of 2 or 4 channels is alpha.')
    colours = whole[..., :-1] if alpha else whole
    values = colours.astype(np.result_type(original.dtype, np.float32))  # a copy
    values[~np.isfinite(values)] = np.nan
    if alpha:
        values[whole[..., -1] == 0] = np.nan
    elif damage is not None:
        values[_mask(np.asarray(damage), colours, single)] = np.nan
    if isinstance(pictures, np.ma.MaskedArray):
        masked = _with_channels(np.ma.getmaskarray(pictures), values.shape)
        values[masked[..., : values.shape[-1]]] = np.nan
    if np.isnan(values).all():
        raise ValueError("Every pixel is damaged, so that there is nothing to learn from; check what marks damage.")
    return Stack(values, original, limits or _limits(original.dtype, values), alpha)


def _refuse_file_names(pictures: Any) -> None:
    first = pictures[0] if isinstance(pictures, list | tuple) and pictures else pictures
    if isinstance(first, str | PathLike):
        raise TypeError(
            f"Pictures are arrays of pixels, and {fspath(first)!r:.100} is text; read a file first, as "
            "numpy.asarray(PIL.Image.open(path)) does."
        )


def _one_array(pictures: ArrayLike) -> NDArray[Any]:
    """The pictures as one array, which those of a list can be only if they have one size."""
    if isinstance(pictures, list | tuple):
        shapes = {np.shape(picture): None for picture in pictures if hasattr(picture, "shape")}
        if len(shapes) > 1:
            sizes = " and ".join(map(str, [*shapes][:2]))
            raise ValueError(f"Pictures of a stack have one shape, and these have {sizes}; restore them one by one.")
    return np.asarray(pictures)


def _mask(damage: NDArray[Any], colours: NDArray[Any], single: bool) -> NDArray[np.bool_]:
    """Which entries of the stack are damaged, from a mask or from the value that marks it."""
    if damage.ndim < 2:
        if damage.size not in (1, colours.shape[-1]):
            raise ValueError(
                f"The value that marks damage has {damage.size} numbers and a pixel has {colours.shape[-1]}; give one "
                "number, or one for each channel."
            )
        marked = (colours == damage).all(axis=-1, keepdims=True)
        if not marked.any():
            warnings.warn(f"No pixel has the value {damage.tolist()} that marks damage.", UserWarning, stacklevel=4)
        return np.broadcast_to(marked, colours.shape)
    entries, pixels = colours.shape, colours.shape[:-1]
    if damage.shape in (entries, entries[1:]):  # of every picture, or one for all
        return np.broadcast_to(damage != 0, entries)
    if damage.shape in (pixels, pixels[1:]):
        return np.broadcast_to((damage != 0)[..., None], entries)
    size = colours.shape[1:3] if single else colours.shape[:3]
    raise ValueError(f"The mask has shape {damage.shape} and the pixels {size}; give one entry for every pixel.")


def _with_channels(whole: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """A view with the four axes of a stack."""
    return whole.reshape(*shape[:3], -1)


def _full(whole: NDArray[Any]) -> float:
    """What opaque is in this type."""
    return float(np.iinfo(whole.dtype).max) if whole.dtype.kind in "iu" else 1.0


def _limits(kind: np.dtype[Any], values: NDArray[Any]) -> tuple[float, float]:
    """What a pixel may be: all that its type can hold where that has 8 or 16 bits and no sign; 0 to 1 where all are
    in there; else from the least to the greatest that is seen."""
    if kind.kind == "u" and kind.itemsize <= 2:
        return 0.0, float(np.iinfo(kind).max)
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    return (0.0, 1.0) if kind.kind == "f" and low >= 0 and high <= 1 else (low, high)
