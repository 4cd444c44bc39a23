"""Seeded masks of removed entries; in every mask ``True`` means removed.

Rows are samples and columns are features, as everywhere in the package. ``rng`` is a seed or a
`numpy.random.Generator`; the same seed gives the same mask.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["block_mask", "fraction_for_initial_snr", "random_mask", "segment_mask"]

Seed = int | np.random.Generator | None


def random_mask(shape: tuple[int, ...], fraction: float, rng: Seed = None) -> NDArray[np.bool_]:
    """Remove each entry with probability ``fraction``, independently.

    >>> random_mask((400, 100), 0.25, rng=0).mean().round(2)
    np.float64(0.25)
    """
    _check_fraction(fraction)
    return np.random.default_rng(rng).random(shape) < fraction


def block_mask(
    n_samples: int, image_shape: tuple[int, int], block_shape: tuple[int, int] = (32, 32), rng: Seed = None
) -> NDArray[np.bool_]:
    """Remove one rectangle per image, placed uniformly at random; shape ``(n_samples, height * width)``.

    >>> mask = block_mask(3, (64, 64), rng=0)
    >>> mask.shape, mask.mean(axis=1)
    ((3, 4096), array([0.25, 0.25, 0.25]))
    """
    (height, width), (tall, wide) = image_shape, block_shape
    if not (1 <= tall <= height and 1 <= wide <= width):
        raise ValueError(f"A block of {tall}×{wide} does not fit into images of {height}×{width}; shrink block_shape.")
    generator = np.random.default_rng(rng)
    top = generator.integers(height - tall + 1, size=n_samples)[:, None]
    left = generator.integers(width - wide + 1, size=n_samples)[:, None]
    row, column = np.arange(height), np.arange(width)
    in_rows = (row >= top) & (row < top + tall)
    in_columns = (column >= left) & (column < left + wide)
    return (in_rows[:, :, None] & in_columns[:, None, :]).reshape(n_samples, height * width)


def segment_mask(
    shape: tuple[int, int],
    fraction: float,
    length: int = 20,
    rng: Seed = None,
    missing: ArrayLike | None = None,
) -> NDArray[np.bool_]:
    """Remove runs of ``length`` consecutive samples from every feature until ``fraction`` of it is gone.

    Runs may touch or overlap; the last one may overshoot the fraction by less than ``length`` samples.
    Entries that are ``missing`` already are never counted nor marked, so every removed entry has a truth.

    >>> mask = segment_mask((1000, 2), 0.2, rng=0)
    >>> mask.mean(axis=0).round(2)
    array([0.2, 0.2])
    """
    _check_fraction(fraction)
    n_samples, n_features = shape
    if not 1 <= length <= n_samples:
        raise ValueError(f"Runs of {length} samples do not fit into {n_samples} samples; choose another length.")
    present = np.ones(shape, dtype=bool) if missing is None else ~np.asarray(missing, dtype=bool)
    if present.shape != (n_samples, n_features):
        raise ValueError(f"missing has shape {present.shape}, expected {(n_samples, n_features)}.")
    generator = np.random.default_rng(rng)
    mask = np.zeros(shape, dtype=bool)
    for feature in range(n_features):
        there = present[:, feature]
        mask[:, feature] = _cover(there, fraction * there.sum(), length, generator)
    return mask


def _cover(there: NDArray[np.bool_], wanted: float, length: int, generator: np.random.Generator) -> NDArray[np.bool_]:
    """Runs at random starts, without repeating a start, until ``wanted`` present entries are covered."""
    removed, covered = np.zeros(len(there), dtype=bool), 0
    for start in generator.permutation(len(there) - length + 1):
        if covered >= wanted:
            break
        run = slice(start, start + length)
        covered += int(np.count_nonzero(there[run] & ~removed[run]))
        removed[run] = there[run]
    return removed


def fraction_for_initial_snr(db: float) -> float:
    """Fraction to remove at random so that zero-filled data have an SNR of ``db`` decibels.

    Removing each entry with probability f removes the share f of the energy Σy² in expectation, whatever
    the data, so 10·log₁₀(1/f) = db.

    >>> round(fraction_for_initial_snr(0.68), 3)
    0.855
    """
    if not db >= 0:
        raise ValueError(f"Zero-filled data never have a negative SNR; got {db} dB.")
    return math.pow(10.0, -db / 10.0)


def _check_fraction(fraction: float) -> None:
    if not 0 <= fraction <= 1:
        raise ValueError(f"A fraction of removed entries lies between 0 and 1; got {fraction}.")
