"""Restore pictures and frames: mark what is damaged, choose a way to fill it, fill it, and give the pictures back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..cores import limited
from ..progress import progress
from ._interpolation import between_frames, within_frames
from ._models import Filled, PatchSettings, Tell, fill_by_frames, fill_by_patches
from ._pixels import Damage, Stack, read_stack
from ._trials import Trial, Way, try_ways

__all__ = ["Restoration", "restore_frames", "restore_picture"]

Pixels = NDArray[np.floating[Any]]

SIDES = (8, 16, 12)
"""Of patches, in pixels, in the order in which they are tried. Of two photographs each is the best for one or another
kind of damage, by up to 2.2 dB: small patches for single pixels, large ones for holes. 12 is tried only where 16 is no
worse than 8, to save time: of seven cases in which 8 was better than 16, 12 was the best in one, by 0.2 dB. Both from
``benchmarks/pictures.py --only pictures --size 160``, which prints decibels for every side."""

COMPONENTS = 16
"""Of the model of a group of patches. 24 are better by 0.06, 0.20 and 0.02 dB where pixels are missing at random, in
scratches and in holes, in the mean of seven parts of photographs (``benchmarks/pictures.py --only settings``), and take
longer."""

DEPTH = 3
"""Frames of a patch of a video. 5 are 0.8 dB worse where the camera moves fast, the same where it is slow, and 0.6 dB
better where it is nearly still (``benchmarks/pictures.py --only video --frames 12``)."""

TRIALS = 0.5
"""Share of the progress that trials are shown as. Only shown."""


class Restoration(NamedTuple):
    """Restored pictures, and how they were restored."""

    pixels: NDArray[Any]
    """The picture or the stack with its damage filled, in the shape and type that were given."""
    std: NDArray[np.floating[Any]]
    """Standard deviation of every filled pixel, from the errors on hidden pixels; 0 where nothing was damaged. NaN at
    filled pixels if none could be hidden, as in a picture of a few pixels: nobody knows how far they are off."""
    damaged: NDArray[np.bool_]
    """What was filled, in the shape of the pixels."""
    method: str
    """The way that filled hidden pixels best, and was taken; "none" where nothing was damaged."""
    errors: dict[str, float]
    """Root mean squared error of every way on the hidden pixels, the best first; empty if there were none to hide."""
    n_filled: int
    """Pixels that were damaged, in one of their channels or in all."""

    def __repr__(self) -> str:
        """What was done, without the pixels."""
        errors = ", ".join(f"{name!r}: {error:.3g}" for name, error in self.errors.items())
        return (
            f"Restoration(n_filled={self.n_filled}, method={self.method!r}, errors={{{errors}}}, "
            f"pixels={self.pixels.dtype} of shape {self.pixels.shape})"
        )


def restore_picture(
    picture: ArrayLike,
    damage: Damage = None,
    *,
    limits: tuple[float, float] | None = None,
    random_state: int = 0,
    verbose: int = 0,
) -> Restoration:
    """Fill the damaged pixels of one picture from the rest of it.

    The picture is cut into overlapping patches, patches that look alike share a low-rank model
    (:class:`factorstream.BayesianFactorization`), and a pixel is the mean of all patches that it lies in, weighted by
    how sure each is. Patches of several sizes and straight lines between the pixels around are tried first, on pixels
    that are known and hidden for the trial in the shape of the damage; the best of them restores the picture.

    Parameters
    ----------
    picture : array (height, width) or (height, width, n_channels)
        Of any integer or floating type; NaN is damage.
    damage : array of bool, number, colour or "alpha", optional
        What is damaged besides NaN: a mask of shape (height, width), or of the picture's shape, that is not 0 where a
        pixel is damaged; the value (or one value per channel) that marks damaged pixels; or "alpha", pixels whose
        alpha, the last channel, is 0, and which come back opaque. A warning says so if no pixel has the value, or if
        many nearly have it, as in a JPEG, which changes colours.
    limits : (low, high), optional
        What a pixel may be; fills are clipped to it. By default all that uint8 or uint16 can hold; for other types 0 to
        1 if all known pixels are in there, otherwise their range.
    random_state : int, default=0
        Seeds the choice of hidden pixels and the models.
    verbose : int, default=0
        Whether to show progress.

    Returns
    -------
    restoration : Restoration
        ``pixels``, ``std``, ``damaged``, ``method``, ``errors`` and ``n_filled``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_sample_image
    >>> from factorstream.images import restore_picture
    >>> picture = load_sample_image("china.jpg")[100:164, 200:264]  # a piece of a photograph, in colour
    >>> scratch = np.zeros((64, 64), dtype=bool)
    >>> scratch[30:33, 5:60] = True
    >>> restored = restore_picture(np.where(scratch[..., None], 0, picture).astype(np.uint8), damage=scratch)
    >>> restored.pixels.shape, restored.pixels.dtype
    ((64, 64, 3), dtype('uint8'))
    >>> error = restored.pixels[scratch].astype(float) - picture[scratch]
    >>> bool(np.sqrt(np.mean(error**2)) < 25)
    True
    """
    stack = read_stack(picture, damage, limits, single=True)
    return _restored(stack, _picture_ways(stack.values, random_state), random_state, verbose)


def restore_frames(
    frames: ArrayLike,
    damage: Damage = None,
    *,
    limits: tuple[float, float] | None = None,
    random_state: int = 0,
    verbose: int = 0,
) -> Restoration:
    """Fill the damaged pixels of pictures of one size: the frames of a video, or a stack of similar pictures.

    Which way is best depends on what moves, so that all are tried on pixels that are known and hidden for the trial:
    every frame as a row of a low-rank model; overlapping patches of one frame, or of three that follow each other;
    straight lines from frame to frame, or within a frame.

    Parameters
    ----------
    frames : array (n_frames, height, width) or (n_frames, height, width, n_channels)
        Of any integer or floating type, in the order of time if they have one; NaN is damage.
    damage : array of bool, number, colour or "alpha", optional
        As in `restore_picture`; a mask is for all frames, or has one for each.
    limits : (low, high), optional
        What a pixel may be, as in `restore_picture`.
    random_state : int, default=0
        Seeds the choice of hidden pixels and the models.
    verbose : int, default=0
        Whether to show progress.

    Returns
    -------
    restoration : Restoration
        ``pixels``, ``std``, ``damaged``, ``method``, ``errors`` and ``n_filled``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from factorstream.images import restore_frames
    >>> from factorstream.masks import block_mask
    >>> images = load_digits().images[:300]
    >>> removed = block_mask(300, (8, 8), (3, 3), rng=0).reshape(images.shape)
    >>> restored = restore_frames(images, damage=removed)
    >>> restored.method
    'frames as rows'
    >>> bool(restored.pixels.max() <= 16)
    True
    """
    stack = read_stack(frames, damage, limits, single=False)
    ways = _picture_ways(stack.values, random_state)
    if len(stack.values) > 1:
        ways += _frame_ways(stack.values, random_state)
    return _restored(stack, ways, random_state, verbose)


def _picture_ways(values: Pixels, seed: int) -> list[Way]:
    """Ways that look at each picture on its own."""
    ways = [Way("straight lines in the picture", _unsure(within_frames), False, knows_std=False)]
    patches = [_patch_way(f"patches of {side} × {side}", 1, side, seed) for side in _sides(values)]
    if len(patches) == len(SIDES):
        patches[-1] = patches[-1]._replace(unless=(patches[0].name, patches[1].name))
    return ways + patches


def _frame_ways(values: Pixels, seed: int) -> list[Way]:
    """Ways that look from one picture to the others."""

    def by_frames(stack: Pixels, tell: Tell) -> Filled:
        return fill_by_frames(stack, seed)

    ways = [Way("straight lines in time", _unsure(between_frames), True, knows_std=False)]
    ways.append(Way("frames as rows", by_frames, True))
    if len(values) >= DEPTH:
        sides = _sides(values)[:1]  # more frames are what helps
        ways += [_patch_way(f"patches of {DEPTH} frames of {side} × {side}", DEPTH, side, seed) for side in sides]
    return ways


def _sides(values: Pixels) -> list[int]:
    """Those that fit twice into a picture; in smaller ones there is nothing that repeats."""
    return [side for side in SIDES if 2 * side <= min(values.shape[1:3])]


def _patch_way(name: str, depth: int, side: int, seed: int) -> Way:
    settings = PatchSettings(depth, side, COMPONENTS)

    def fill(stack: Pixels, tell: Tell) -> Filled:
        return fill_by_patches(stack, settings, seed, tell)

    return Way(name, fill, False)


def _unsure(fill: Callable[[Pixels], Pixels]) -> Callable[[Pixels, Tell], Filled]:
    """Straight lines do not say how far they are off: 1 everywhere, which the trial multiplies by what it found."""

    def filled(stack: Pixels, tell: Tell) -> Filled:
        return Filled(fill(stack), np.isnan(stack).astype(stack.dtype))

    return filled


def _restored(stack: Stack, ways: list[Way], seed: int, verbose: int) -> Restoration:
    damaged = np.isnan(stack.values)
    if not damaged.any():
        std = stack.shaped(np.zeros_like(stack.values))
        return Restoration(stack.original.copy(), std, stack.shaped(damaged), "none", {}, 0)
    with limited(), progress("restoring", 1.0, show=bool(verbose)) as step:
        rng = np.random.default_rng(seed)
        trials = try_ways(stack.values, ways, rng, lambda share: step(TRIALS * share, "trying ways to fill"))
        lines = next((trial for trial in trials if trial.way is ways[0]), Trial(ways[0], np.nan, np.nan))
        best = trials[0] if trials else lines
        filled = best.way.fill(stack.values, lambda share: step(TRIALS + (1 - TRIALS) * share, best.way.name))
    values, std = filled.values, np.where(damaged, best.factor * filled.std, 0.0)  # without a trial the factor is NaN
    left = damaged & ~(np.isfinite(values) & np.isfinite(std))
    if left.any():  # a pixel that no frame shows, or a hole larger than a patch
        values = np.where(left, within_frames(np.where(left, np.nan, values).astype(values.dtype)), values)
        std = np.where(left, lines.factor, std)
    errors = {trial.way.name: trial.rmse for trial in trials}
    n_filled = int(damaged.any(axis=-1).sum())
    std, filled_here = stack.shaped(std.astype(stack.values.dtype)), stack.shaped(damaged)
    return Restoration(stack.rebuilt(values), std, filled_here, best.way.name, errors, n_filled)
