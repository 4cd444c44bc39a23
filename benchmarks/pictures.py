"""How well damaged pictures and videos are restored: decibels (PSNR) over the damaged pixels.

Four tables, as docs/jobs/images.md has them:

* pictures: two photographs, grey and in colour, with half of their pixels removed at random, with scratches, and with
  square holes: the mean of the picture, straight lines, biharmonic functions (scikit-image, where it is installed),
  patches of each side, and what `restore_picture` chose;
* settings: other parts of the photographs, of at most 160 × 160 pixels, by patches with another value of one constant;
* video: a camera that moves over a photograph at three speeds, with noise and scratches: every way of `restore_frames`,
  patches of 5 frames, `DictionaryFilter()` on frames as rows, and what was chosen;
* faces: 400 faces with a quarter of their pixels removed, at random or as a square.

The photographs come with scikit-learn. What was removed is never looked at by what is measured.

    python -m benchmarks.pictures [--only pictures settings video faces] [--size N] [--frames N]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import product
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import map_coordinates
from sklearn.datasets import load_sample_image

from factorstream import DictionaryFilter
from factorstream.datasets import load_olivetti
from factorstream.images import _models, _restore, restore_frames, restore_picture
from factorstream.images._patches import PatchGrid, patch_grid
from factorstream.masks import block_mask, random_mask

Array = NDArray[Any]

NOISE = 2.0
"""Standard deviation of the camera's noise, in grey levels."""


def psnr(truth: Array, restored: Array, damaged: Array) -> float:
    """Peak signal-to-noise ratio over the damaged pixels, of 8 bits."""
    return float(10 * np.log10(255**2 / np.mean((restored.astype(float) - truth)[damaged] ** 2)))


def scratches(rng: np.random.Generator, shape: tuple[int, int], n: int) -> Array:
    """Straight lines three pixels wide, of 20 to 120 pixels, in any direction."""
    damaged = np.zeros(shape, dtype=bool)
    for _ in range(n):
        along = np.arange(rng.integers(20, 120))
        angle, start = np.pi * rng.random(), rng.random(2) * shape
        for across in np.ndindex(3, 3):
            line, column = (start[:, None] + np.outer([np.sin(angle), np.cos(angle)], along)).astype(int)
            inside = (line + across[0] < shape[0]) & (column + across[1] < shape[1]) & (line >= 0) & (column >= 0)
            damaged[line[inside] + across[0], column[inside] + across[1]] = True
    return damaged


def holes(rng: np.random.Generator, shape: tuple[int, int], side: int = 10) -> Array:
    """Squares on a tenth of the picture, about."""
    damaged = np.zeros(shape, dtype=bool)
    for _ in range(shape[0] * shape[1] // (10 * side**2)):
        line, column = rng.integers(0, shape[0] - side), rng.integers(0, shape[1] - side)
        damaged[line : line + side, column : column + side] = True
    return damaged


DAMAGES: dict[str, Callable[[np.random.Generator, tuple[int, int]], Array]] = {
    "half at random": lambda rng, shape: rng.random(shape) < 0.5,
    "scratches": lambda rng, shape: scratches(rng, shape, shape[0] * shape[1] // 1600),
    "holes": holes,
}


def photographs(size: int) -> dict[str, Array]:
    """Pieces of scikit-learn's photographs."""
    china = load_sample_image("china.jpg")[60 : 60 + size, 180 : 180 + size]
    flower = load_sample_image("flower.jpg")[100 : 100 + size, 200 : 200 + size]
    return {"china": china.mean(axis=2), "flower": flower.mean(axis=2), "china in colour": china.astype(float)}


CORNERS = {
    "china.jpg": ((-160, 0), (-160, -160), (60, -160), (100, 10)),
    "flower.jpg": ((140, 400), (140, 20), (-160, 220)),
}
"""Upper left corners of parts of the photographs. With up to 160 pixels a side, which is all that the table of settings
takes, they have no pixel in common with the table of pictures of the same size. With 256 pixels a side, the flower of
that table overlaps with two of them; and the camera of the videos moves over some of those of china.jpg."""


def other_parts(size: int) -> dict[str, Array]:
    """Parts of the same photographs by which constants are chosen."""
    parts = {}
    for name, corners in CORNERS.items():
        picture = load_sample_image(name).mean(axis=2)
        for line, column in corners:
            top, left = line % len(picture), column % len(picture[0])
            parts[f"{name} at {top}, {left}"] = picture[top : top + size, left : left + size]
    return parts


class Line(NamedTuple):
    """One result."""

    data: str
    method: str
    decibels: float


def _no_step(share: float) -> None:
    """Nobody watches."""


def each_way(truth: Array, damaged: Array, ways: list[Any]) -> Iterator[tuple[str, float]]:
    """Every way on the whole stack (n_frames, height, width, n_channels)."""
    stack = np.where(damaged, np.nan, truth).astype(np.float32)
    for way in ways:
        values = way.fill(stack, _no_step).values
        yield way.name, psnr(truth, np.where(np.isnan(values), np.nanmean(stack), values).clip(0, 255), damaged)


def biharmonic(picture: Array, damaged: Array) -> Array | None:
    """scikit-image's, where it is installed."""
    try:
        from skimage.restoration import inpaint_biharmonic
    except ImportError:
        return None
    axis = -1 if picture.ndim == 3 else None
    filled: Array = 255 * inpaint_biharmonic(np.nan_to_num(picture) / 255, damaged, channel_axis=axis)
    return filled


def pictures(size: int, frames: int) -> Iterator[Line]:
    """Photographs, all damages, all ways."""
    for kind, damage in DAMAGES.items():
        for name, truth in photographs(size).items():
            mask = damage(np.random.default_rng(0), (size, size))
            data, everywhere = (
                f"{name}, {kind}",
                np.broadcast_to(mask[(...,) + (None,) * (truth.ndim - 2)], truth.shape),
            )
            broken = np.where(everywhere, np.nan, truth)
            yield Line(data, "mean", psnr(truth, np.full_like(truth, np.nanmean(broken)), everywhere))
            smooth = biharmonic(broken, mask)
            if smooth is not None:
                yield Line(data, "biharmonic", psnr(truth, smooth, everywhere))
            stack = truth.reshape(1, size, size, -1)
            for way, decibels in each_way(stack, everywhere.reshape(stack.shape), _restore._picture_ways(stack, 0)):
                yield Line(data, way, decibels)
            chosen = restore_picture(broken)
            yield Line(data, f"restore_picture: {chosen.method}", psnr(truth, chosen.pixels, everywhere))


def _groups(n: int) -> dict[str, Any]:
    """Constants that make n groups, however many patches there are."""
    return {"PER_GROUP": 1, "MOST_GROUPS": n}


AS_IT_IS = 23
"""Groups of a part of 160 × 160 pixels: 77 × 77 patches that lie 2 pixels apart, divided by ``PER_GROUP``."""

SETTINGS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "every patch alike in the mean": {"power": 0},
    "patches weighted by 1/std²": {"power": 2},
    "one group, learned from 2,000 patches": {"MOST_GROUPS": 1},
    "20 groups": _groups(20),
    "40 groups": _groups(40),
    "80 groups": _groups(80),
    "patches 3 pixels apart, 23 groups": {"step": 3, **_groups(AS_IT_IS)},
    "patches 4 pixels apart, 23 groups": {"step": 4, **_groups(AS_IT_IS)},
    "8 components": {"n_components": 8},
    "24 components": {"n_components": 24},
    "models of at most 500 patches": {"TO_LEARN": 500},
}
"""Constants of ``_models`` by other values, or what they decide: the power of 1/std that patches count by, the step
between patches, the components of a model. One group has all damaged patches and as many others as make 2,000, and its
model learns from that many."""


def _power(power: int, std: Array, smallest: float) -> Array:
    weights: Array = np.maximum(std, smallest) ** -float(power)
    return weights


def _stepped(step: int, shape: tuple[int, ...], given: _models.PatchSettings) -> PatchGrid:
    return patch_grid((shape[0], shape[1], shape[2], shape[3]), (given.depth, given.side, given.side), (1, step, step))


def settings(size: int, frames: int) -> Iterator[Line]:
    """Patches of 8 × 8 with other constants; of 160 × 160 pixels at most, see ``CORNERS``."""
    size = min(size, 160)
    for (part, picture), kind in product(other_parts(size).items(), DAMAGES):
        truth = picture.reshape(1, size, size, 1)
        damaged = DAMAGES[kind](np.random.default_rng(0), (size, size)).reshape(truth.shape)
        stack = np.where(damaged, np.nan, truth).astype(np.float32)
        for name, changed in SETTINGS.items():
            constants = dict(changed)
            given = _models.PatchSettings(1, 8, constants.pop("n_components", _restore.COMPONENTS))
            with ExitStack() as patches:
                if "power" in constants:
                    weights = partial(_power, constants.pop("power"))
                    patches.enter_context(patch.object(_models, "_weights", weights))
                if "step" in constants:
                    grid = partial(_stepped, constants.pop("step"))
                    patches.enter_context(patch.object(_models, "_grid", grid))
                for constant, value in constants.items():
                    patches.enter_context(patch.object(_models, constant, value))
                values = _models.fill_by_patches(stack, given, 0, _no_step).values
            yield Line(f"{part}, {kind}", name, psnr(truth, values.clip(0, 255), damaged))


def moving_camera(n_frames: int, speed: float, shape: tuple[int, int] = (144, 176)) -> Array:
    """A window that swings over a photograph, by parts of pixels too; of 8 bits, with noise."""
    photograph = load_sample_image("china.jpg").mean(axis=2)
    line, column = np.mgrid[: shape[0], : shape[1]]
    video = np.empty((n_frames, *shape))
    for t in range(n_frames):
        at = [line + 140 + 60 * speed * np.sin(t / 40), column + 230 + 120 * speed * np.sin(t / 57)]
        video[t] = map_coordinates(photograph, at, order=1, mode="reflect")
    noisy = video + NOISE * np.random.default_rng(5).standard_normal(video.shape)
    rounded: Array = np.rint(noisy.clip(0, 255))
    return rounded


SPEEDS = {"fast (2 pixels a frame)": 1.0, "slow (0.2)": 0.1, "nearly still (0.04)": 0.02}


def video(size: int, frames: int) -> Iterator[Line]:
    """A moving camera, all ways."""
    for name, speed in SPEEDS.items():
        truth = moving_camera(frames, speed)
        rng = np.random.default_rng(0)
        damaged = np.stack([scratches(rng, truth.shape[1:], max(truth[0].size // 2112, 1)) for _ in truth])
        broken = np.where(damaged, np.nan, truth)
        rows = broken.reshape(frames, -1)
        filled = DictionaryFilter(random_state=0).fit(rows).impute(rows).reshape(truth.shape)
        yield Line(name, "DictionaryFilter() on frames", psnr(truth, filled.clip(0, 255), damaged))
        stack = truth[..., None]
        ways = [*_restore._picture_ways(stack, 0)[:2], *_restore._frame_ways(stack, 0)]
        ways.append(_restore._patch_way("patches of 5 frames of 8 × 8", 5, 8, 0))
        for way, decibels in each_way(stack, damaged[..., None], ways):
            yield Line(name, way, decibels)
        chosen = restore_frames(broken)
        hold = np.mean(np.abs(chosen.pixels - truth)[damaged] <= 1.96 * chosen.std[damaged])
        yield Line(name, f"restore_frames: {chosen.method}, 95% hold {hold:.3f}", psnr(truth, chosen.pixels, damaged))


def faces(size: int, frames: int) -> Iterator[Line]:
    """Pictures that have much in common, and no order."""
    images = load_olivetti().images
    n, height, width = images.shape
    masks = {
        "a quarter at random": random_mask((n, height * width), 0.25, rng=0),
        "a square": block_mask(n, (height, width), (height // 2, width // 2), rng=0),
    }
    for name, mask in masks.items():
        damaged = mask.reshape(images.shape)
        broken = np.where(damaged, np.nan, images)
        rows = broken.reshape(n, -1)
        filled = DictionaryFilter(40, random_state=0).fit(rows).impute(rows).reshape(images.shape)
        yield Line(name, "DictionaryFilter(40)", psnr(images, filled.clip(0, 255), damaged))
        chosen = restore_frames(broken)
        for way, error in chosen.errors.items():
            yield Line(name, f"{way}, on hidden pixels", 20 * np.log10(255 / error))
        hold = np.mean(np.abs(chosen.pixels - images)[damaged] <= 1.96 * chosen.std[damaged])
        yield Line(name, f"restore_frames: {chosen.method}, 95% hold {hold:.3f}", psnr(images, chosen.pixels, damaged))


PARTS = {"pictures": pictures, "settings": settings, "video": video, "faces": faces}


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS), help="only these tables")
    parser.add_argument("--size", type=int, default=256, help="height and width of photographs")
    parser.add_argument("--frames", type=int, default=120, help="of videos")
    given = parser.parse_args(arguments)
    for name in given.only:
        for line in PARTS[name](given.size, given.frames):
            print(f"{line.data:32} {line.method:60} {line.decibels:6.2f}", flush=True)


if __name__ == "__main__":
    main()
