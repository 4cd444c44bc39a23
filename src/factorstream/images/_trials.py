"""Which way of filling is best for these pictures: each is tried on pixels that are known and were hidden from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import find_objects, label

from ._models import Filled, Tell

__all__ = ["Trial", "Way", "hidden_pixels", "try_ways", "window_of"]

Pixels = NDArray[np.floating[Any]]

WINDOW = 128
"""Height and width of what is looked at in trials, in pixels. Not tuned: a quarter of the time of a picture of 256 ×
256, and some thousands of hidden pixels."""

FRAMES = 8
"""Frames of that size that are looked at in trials, and more where they are smaller. Not tuned; time only."""

TILE = 16
"""Where a hole goes through most of the picture, as single pixels do that touch each other, pixels are hidden in
squares of this side. Not tuned."""

THROUGH = 0.75
"""Share of the height or width of the window from which on a hole goes through it. Not tuned."""

SHARE = 0.3
"""Of holes, and of those squares, in which pixels are hidden; the others stay as they are to learn from. Not tuned."""

LEVEL, Z = 0.95, 1.96
"""The share of hidden pixels that lie within Z standard deviations after calibration: a normal law's."""

ENOUGH = 100
"""Hidden pixels from which on standard deviations are calibrated. Not tuned: of 100 independent errors 95 ± 2 are below
the 95% quantile (√(100 · 0.95 · 0.05) = 2.2). With fewer a way keeps its own standard deviations, and one that has none
gets its root mean squared error on them."""


class Way(NamedTuple):
    """One way to fill pictures."""

    name: str
    fill: Callable[[Pixels, Tell], Filled]
    whole: bool
    """Whether it has to see all of the pictures; else a window of them tells as much."""
    knows_std: bool = True
    """Whether it says how far it is off; else its standard deviations are 1 at every filled pixel."""
    unless: tuple[str, str] | None = None
    """Names of two ways before it: where the first did better than the second, this one is not tried."""


class Trial(NamedTuple):
    """How a way did on hidden pixels."""

    way: Way
    rmse: float
    factor: float
    """What standard deviations have to be multiplied by."""


def window_of(stack: Pixels) -> tuple[slice, ...]:
    """Frames, rows and columns around the middle of the damage."""
    damaged = np.isnan(stack).any(axis=-1)
    height, width = min(damaged.shape[1], WINDOW), min(damaged.shape[2], WINDOW)
    slices = []
    for axis, length in enumerate((FRAMES * WINDOW**2 // (height * width), height, width)):
        along = np.sum(damaged, axis=tuple(other for other in range(3) if other != axis))
        middle = int(np.searchsorted(np.cumsum(along), along.sum() / 2))
        first = min(max(middle - length // 2, 0), max(damaged.shape[axis] - length, 0))
        slices.append(slice(first, first + length))
    return tuple(slices)


def hidden_pixels(stack: Pixels, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Known pixels to hide in every frame, in holes of the shape that the damage has.

    The holes are those of another frame; where that is damaged at the same pixels, or there is one frame only, the
    frame's own holes moved to other places. Some of these holes are taken, see ``SHARE``.
    """
    damaged = np.isnan(stack)
    hidden = np.zeros_like(damaged)
    others = rng.permutation(len(stack))
    for frame, other in enumerate(others):
        mask = damaged[other]
        if len(stack) == 1 or (mask == damaged[frame]).all():
            mask = _moved(mask, rng)
        hidden[frame] = mask & _some_holes(mask, rng)[..., None] & ~damaged[frame]
    return hidden


def _moved(mask: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.bool_]:
    """The same holes at other places; what would leave the picture on one side comes in on the other."""
    by = [int(rng.integers(length // 4, length - length // 4 + 1)) for length in mask.shape[:2]]
    return np.roll(mask, by, axis=(0, 1))


def _some_holes(mask: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.bool_]:
    """Pixels of some of the holes (height, width). Whole ones, so that they are as hard to fill as those that are."""
    labels, n = label(np.any(mask, axis=-1), np.ones((3, 3)))
    chosen = np.append(False, rng.random(n) < SHARE)
    height, width = labels.shape
    tiles = rng.random((-(-height // TILE), -(-width // TILE))) < SHARE
    inside = tiles.repeat(TILE, axis=0)[:height].repeat(TILE, axis=1)[:, :width]
    through = np.zeros(n + 1, dtype=bool)
    for number, (lines, columns) in enumerate(find_objects(labels), start=1):
        through[number] = lines.stop - lines.start > THROUGH * height or columns.stop - columns.start > THROUGH * width
    some: NDArray[np.bool_] = np.where(through[labels], inside, chosen[labels])
    return some


def try_ways(stack: Pixels, ways: list[Way], rng: np.random.Generator, tell: Tell) -> list[Trial]:
    """Every way on the same hidden pixels, the best first; ways that cannot fill them are left out.

    Empty where there is too little to hide, or no way could fill it.
    """
    window = window_of(stack)
    hidden = np.zeros(stack.shape, dtype=bool)
    hidden[window] = hidden_pixels(stack[window], rng)
    if hidden.sum() < 2 or (np.isnan(stack) | hidden).all():
        return []
    truth, asked = stack[hidden], hidden[window]
    holed = np.where(hidden, np.nan, stack).astype(stack.dtype)
    trials: list[Trial] = []
    for done, way in enumerate(ways):
        if way.unless is not None and _in_order(trials, *way.unless):
            continue

        def tell_part(share: float, done: int = done) -> None:
            tell((done + share) / len(ways))

        if way.whole:
            filled = way.fill(holed, tell_part)
            filled = Filled(filled.values[window], filled.std[window])
        else:
            filled = way.fill(holed[window], tell_part)
        trials.append(_judged(way, truth, filled.values[asked], filled.std[asked]))
        tell_part(1.0)
    return sorted((trial for trial in trials if np.isfinite(trial.rmse)), key=lambda trial: trial.rmse)


def _in_order(trials: list[Trial], first: str, second: str) -> bool:
    """Whether the first way did better than the second, where both were tried."""
    rmse = {trial.way.name: trial.rmse for trial in trials}
    return rmse.get(first, np.nan) < rmse.get(second, np.nan)


def _judged(way: Way, truth: Pixels, values: Pixels, std: Pixels) -> Trial:
    error = np.abs(values.astype(float) - truth)
    rmse = float(np.sqrt(np.mean(error**2)))
    usable = np.isfinite(std) & (std > 0)
    if usable.sum() >= ENOUGH:
        return Trial(way, rmse, float(np.quantile(error[usable] / std[usable], LEVEL)) / Z)
    return Trial(way, rmse, 1.0 if way.knows_std else rmse)
