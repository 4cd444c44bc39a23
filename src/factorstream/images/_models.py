"""Fill damaged pixels by low-rank models: of whole frames, and of patches that look alike."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from ..estimators.bayesian_factorization import BayesianFactorization
from ..estimators.dictionary_filter import DictionaryFilter
from ._patches import PatchGrid, patch_grid

__all__ = ["Filled", "PatchSettings", "Tell", "fill_by_frames", "fill_by_patches"]

Pixels = NDArray[np.floating[Any]]
Tell = Callable[[float], None]
"""Is told the share of the work that is done."""

LARGEST_STEP_SHARE = 2
"""Patches lie at most half their side apart, so that every pixel but those at the edges is in four. Derived."""

PATCHES = 40_000
"""Patches of a picture above which they lie further apart, up to half a side. Not tuned; for speed and memory, and it
costs: 4 pixels apart instead of 2, with as many groups, are worse by 0.2 to 3.4 dB on three parts of photographs of 160
× 160 pixels (flower.jpg at 140, 400, china.jpg at 267, 480 and at 100, 10; ``benchmarks/pictures.py --only
settings``)."""

TO_LEARN = 2000
"""Patches that the model of a group learns from, at most. Not tuned; for speed and memory: 40,000 patches in 40 groups
are 1,000 for each in the mean, so that only large groups leave some out. The first model, of all patches, does too."""

PER_GROUP = 250
"""Patches for every group, at least, in the mean. Seven parts of photographs of 160 × 160 pixels have 23 groups by it.
In their mean, 20 groups are better by 0.01, 0.12 and 0.08 dB where pixels are missing at random, in scratches and in
holes; one group, learned from 2,000 patches, is 0.37 and 0.29 worse and 0.34 better (``benchmarks/pictures.py --only
settings``)."""

MOST_GROUPS = 40
"""Groups at most: with more than 10,000 patches there are no more groups, but larger ones. Not tuned; it saves time. 40
groups instead of 23 change the result by -0.3 to 0.7 dB on the three parts of photographs that ``PATCHES`` names."""

FEWEST_PER_COMPONENT = 4
"""Patches of a group for every component of its model, at least. Not tuned: it stops small groups from being learned
by heart."""

TO_GROUP = 10_000
"""Patches that the groups are formed from, at most. Time only."""

FLAT = 0.02
"""Share of the picture's variance below which a patch is flat: what varies in it less than that is not looked at when
patches are grouped. Not tuned."""

AT_ONCE = 4096
"""Patches filled together. Memory only."""

MOST_COMPONENTS = 40
"""Of whole frames. Not tuned: unneeded ones fade, so that more cost time and memory."""

ROOM = 2**29
"""Bytes for the covariances of whole frames: n_features × n_components² numbers. Above it there are fewer components,
and below ``FEWEST_COMPONENTS`` one pass of `DictionaryFilter` instead. Memory only."""

FEWEST_COMPONENTS = 10
"""See ``ROOM``; the default of `DictionaryFilter`."""


class Filled(NamedTuple):
    """A stack without gaps, and how unsure each filled pixel is; NaN where nothing could be said."""

    values: Pixels
    std: Pixels


class PatchSettings(NamedTuple):
    """How pictures are cut and modelled."""

    depth: int
    """Frames of a patch."""
    side: int
    n_components: int
    """Of the model of a group."""


def fill_by_frames(stack: Pixels, seed: int) -> Filled:
    """Every frame is a row. NaN stays where a pixel is never seen."""
    rows = stack.reshape(len(stack), -1)
    ever = ~np.isnan(rows).all(axis=0)
    n_features = int(ever.sum())
    most = min(MOST_COMPONENTS, max(len(rows) // 3, 1), int(np.sqrt(ROOM / (8 * n_features))))
    model: BayesianFactorization | DictionaryFilter
    if most >= min(FEWEST_COMPONENTS, len(rows) // 3):
        model = BayesianFactorization(max(most, 1), random_state=seed)
    else:
        model = DictionaryFilter(FEWEST_COMPONENTS, random_state=seed)
    seen = rows[:, ever]
    values, std = rows.copy(), np.full_like(rows, np.nan)
    values[:, ever], std[:, ever] = model.fit(seen).impute(seen, return_std=True)
    return Filled(values.reshape(stack.shape), std.reshape(stack.shape))


def fill_by_patches(stack: Pixels, settings: PatchSettings, seed: int, tell: Tell) -> Filled:
    """Patches that look alike share a model, and a pixel is the mean of the patches that it lies in.

    What they look like is seen in a first filling by one model of all patches. In the mean a patch counts by 1/std.
    Measured on seven parts of photographs (``benchmarks/pictures.py --only settings``): where single pixels are
    missing, that is 0.06 dB worse than to count all alike and 0.23 better than 1/std²; where patches lie in a hole,
    2.5 dB better and 1.0 worse. The variance of a pixel is the mean of its patches' variances with the same weights:
    patches share their pixels, so that more of them do not make it surer.
    """
    grid = _grid(stack.shape, settings)
    rng = np.random.default_rng(seed)
    chosen = _chosen(grid, stack, rng)
    first = _fill_groups(grid, stack, [chosen], settings, rng, lambda share: tell(share / 8))
    n_groups = min(len(chosen) // PER_GROUP, MOST_GROUPS)
    if n_groups < 2:
        return first
    seen = np.where(np.isnan(first.values), np.nanmean(stack), first.values).astype(stack.dtype)
    groups = _groups(grid, seen, chosen, n_groups, rng)
    return _fill_groups(grid, stack, groups, settings, rng, lambda share: tell(1 / 8 + 7 / 8 * share))


def _fill_groups(
    grid: PatchGrid,
    stack: Pixels,
    groups: list[NDArray[np.intp]],
    settings: PatchSettings,
    rng: np.random.Generator,
    tell: Tell,
) -> Filled:
    """A model for every group of patches, and their answers put together."""
    total, weight, variance = (np.zeros(stack.shape) for _ in range(3))
    for done, group in enumerate(groups):
        _fill_group(grid, stack, group, settings.n_components, (total, weight, variance), rng)
        tell((done + 1) / len(groups))
    damaged = np.isnan(stack)
    with np.errstate(invalid="ignore", divide="ignore"):  # pixels without any patch that could be filled
        values = np.where(damaged, total / weight, stack)
        std = np.where(damaged, np.sqrt(variance / weight), 0.0)
    return Filled(values.astype(stack.dtype), std.astype(stack.dtype))


def _grid(shape: tuple[int, ...], settings: PatchSettings) -> PatchGrid:
    """As many patches as there is time for."""
    four = (shape[0], shape[1], shape[2], shape[3])
    size = (settings.depth, settings.side, settings.side)
    most = max(settings.side // LARGEST_STEP_SHARE, 1)
    for step in range(min(2, most), most + 1):
        grid = patch_grid(four, size, (1, step, step))
        if len(grid.corners) <= PATCHES:
            break
    return grid


def _chosen(grid: PatchGrid, stack: Pixels, rng: np.random.Generator) -> NDArray[np.intp]:
    """Patches with damage, and of the others, which only help to learn, no more than can be learned from."""
    holes: Pixels = np.any(np.isnan(stack), axis=-1)[..., None].astype(np.float32)
    of_holes = grid._replace(shape=(*grid.shape[:3], 1))
    every = np.arange(len(grid.corners))
    pieces = [every[first : first + AT_ONCE] for first in range(0, len(every), AT_ONCE)]
    damaged = np.concatenate([which[of_holes.rows(holes, which).any(axis=1)] for which in pieces])
    intact = rng.permutation(np.setdiff1d(every, damaged))[: max(MOST_GROUPS * TO_LEARN - len(damaged), 0)]
    return np.sort(np.append(damaged, intact))


def _groups(
    grid: PatchGrid, seen: Pixels, chosen: NDArray[np.intp], n_groups: int, rng: np.random.Generator
) -> list[NDArray[np.intp]]:
    """The patches by likeness of what is in them: lines of one direction, textures, flat areas."""
    variance = float(np.var(seen))
    means = KMeans(n_groups, n_init=1, max_iter=20, random_state=int(rng.integers(2**31)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer kinds of patches than groups: some stay empty
        means.fit(_contrast(grid.rows(seen, rng.permutation(chosen)[:TO_GROUP]), variance))
    pieces = [chosen[first : first + AT_ONCE] for first in range(0, len(chosen), AT_ONCE)]
    labels = np.concatenate([means.predict(_contrast(grid.rows(seen, which), variance)) for which in pieces])
    return [chosen[labels == label] for label in range(n_groups)]


def _contrast(rows: Pixels, variance: float) -> Pixels:
    """What is in a patch, however bright and however strong."""
    centred = rows - rows.mean(axis=1, keepdims=True)
    size = np.sqrt((centred**2).mean(axis=1, keepdims=True) + FLAT * variance)
    contrast: Pixels = np.divide(centred, size, out=np.zeros_like(centred), where=size > 0)
    return contrast


def _fill_group(
    grid: PatchGrid,
    stack: Pixels,
    group: NDArray[np.intp],
    n_components: int,
    sums: tuple[Pixels, Pixels, Pixels],
    rng: np.random.Generator,
) -> None:
    """Learn from a group's patches, and add those with damage to the sums: of weight × value, weight, and
    weight × variance."""
    rows = grid.rows(stack, rng.permutation(group)[:TO_LEARN])
    rows = rows[~np.isnan(rows).all(axis=1)]
    if len(rows) == 0 or np.isnan(rows).all(axis=0).any():  # nothing is known of some pixel of these patches
        return
    most = max(min(n_components, len(rows) // FEWEST_PER_COMPONENT), 1)
    model = BayesianFactorization(most, random_state=int(rng.integers(2**31))).fit(rows)
    smallest = max(float(np.nanmax(np.abs(rows))), 1.0) * 1e-6  # of a standard deviation: rounding in float32
    total, weight, variance = sums
    for first in range(0, len(group), AT_ONCE):
        which = group[first : first + AT_ONCE]
        patches = grid.rows(stack, which)
        gaps = np.isnan(patches)
        which, patches, gaps = which[gaps.any(axis=1)], patches[gaps.any(axis=1)], gaps[gaps.any(axis=1)]
        if len(which):
            values, std = model.impute(patches, return_std=True)
            counts = np.where(gaps, _weights(std, smallest), 0.0)
            grid.add(total, counts * values, which)
            grid.add(weight, counts, which)
            grid.add(variance, counts * std**2, which)


def _weights(std: Pixels, smallest: float) -> Pixels:
    """What an answer counts in the mean."""
    weights: Pixels = 1.0 / np.maximum(std, smallest)
    return weights
