"""The paper's experiment: remove pixels of 400 faces, restore them, and measure what came back.

Nothing here sees the removed entries before the final score: settings come from the paper or from observed
entries that were held out.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ParamSpec

import numpy as np
from numpy.typing import NDArray

from ..masks import block_mask, fraction_for_initial_snr, random_mask
from ..metrics import snr
from .methods import Estimator, Method, Streaming
from .tuning import choose

__all__ = [
    "PAPER_INITIAL_SNR",
    "NothingLeftError",
    "Reading",
    "Restoration",
    "Score",
    "paper_readings",
    "random_reading",
    "run",
]

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
P = ParamSpec("P")

PAPER_INITIAL_SNR = 0.68
"""dB that the paper reports for the faces before restoration."""
N_PICTURES = 9
"""Faces kept for the figure, three by three."""
CHECKPOINTS = (1, 2, 3, 5, 10, 20, 50, 100)
"""Passes after which the first seed is scored, about evenly spaced on the logarithmic axis of the curve."""
ITERATION_CHECKPOINTS = (1, 10, 100)
"""The same for a batch method, which starts anew for each of them."""


@dataclass(frozen=True)
class Reading:
    """One way to read what the paper removed: ``make(n, image_shape, seed)`` is the mask."""

    key: str
    title: str
    make: Callable[[int, tuple[int, int], int], Mask]


class NothingLeftError(ValueError):
    """A mask removed some pixel from every image, so nothing can be learned about it."""


@dataclass(frozen=True)
class Score:
    """One method on one mask: SNR in dB over the removed entries, over all, and with observed ones kept."""

    reading: str
    method: str
    seed: int
    initial: float
    missing: float
    all: float
    filled: float
    seconds: float
    setting: Mapping[str, float]
    passes: int  # over the rows, or, of a method that is fitted by sweeps, these


@dataclass
class Restoration:
    """Everything the experiment found."""

    readings: Sequence[Reading]
    methods: Sequence[Method]
    seeds: Sequence[int]
    scores: list[Score] = field(default_factory=list)
    curves: dict[tuple[str, str], list[tuple[int, float]]] = field(default_factory=dict)
    pictures: dict[tuple[str, str], Array] = field(default_factory=dict)

    def of(self, reading: str, method: str) -> list[Score]:
        """The scores of one method under one reading, one per seed."""
        return [score for score in self.scores if (score.reading, score.method) == (reading, method)]


def random_reading(fraction: float, key: str | None = None, note: str = "") -> Reading:
    """Each pixel is removed with probability ``fraction``.

    >>> random_reading(0.4).title
    '40% of the pixels at random'
    """

    def make(n: int, image_shape: tuple[int, int], seed: int) -> Mask:
        return random_mask((n, image_shape[0] * image_shape[1]), fraction, seed)

    title = f"{100 * fraction:.3g}% of the pixels at random{note}"
    return Reading(key or f"random-{fraction:g}", title, make)


def paper_readings() -> list[Reading]:
    """The three ways to read the paper.

    >>> [reading.title for reading in paper_readings()][2]
    "85.5% of the pixels at random, which matches the paper's initial SNR"
    """

    def block(n: int, image_shape: tuple[int, int], seed: int) -> Mask:
        height, width = image_shape
        return block_mask(n, image_shape, (height // 2, width // 2), seed)

    return [
        random_reading(0.25, "random"),
        Reading("block", "25% of the pixels, one block per face", block),
        random_reading(
            fraction_for_initial_snr(PAPER_INITIAL_SNR),
            "initial-snr",
            ", which matches the paper's initial SNR",
        ),
    ]


def run(
    images: Array,
    readings: Sequence[Reading],
    methods: Sequence[Method],
    seeds: Iterable[int],
    notify: Callable[[str], None] = lambda what: None,
) -> Restoration:
    """Restore ``images`` (n, height, width) by every method under every reading and seed.

    ``notify`` is told what comes next, once for every method, reading and seed. Pictures and curves are kept
    for the first seed.
    """
    image_shape = (images.shape[1], images.shape[2])
    Y = np.asarray(images, dtype=np.float64).reshape(len(images), -1)
    shown = np.linspace(0, len(Y) - 1, min(N_PICTURES, len(Y))).astype(int)
    result = Restoration(readings, methods, list(seeds))
    for reading in readings:
        for seed in result.seeds:
            removed = reading.make(len(Y), image_shape, seed)
            _check_every_pixel_seen(removed, reading)
            X = np.where(removed, np.nan, Y)
            first = seed == result.seeds[0]
            if first:
                result.pictures[reading.key, "corrupted"] = X[shown].reshape(-1, *image_shape)
                result.pictures[reading.key, "original"] = Y[shown].reshape(-1, *image_shape)
            for method in methods:
                notify(f"{method.label} · {reading.title} · seed {seed}")
                score, restored, curve = _evaluate(method, reading.key, Y, X, removed, seed, with_curve=first)
                result.scores.append(score)
                if first:
                    result.pictures[reading.key, method.key] = restored[shown].reshape(-1, *image_shape)
                    result.curves[reading.key, method.key] = curve
    return result


def _check_every_pixel_seen(removed: Mask, reading: Reading) -> None:
    unseen = int(removed.all(axis=0).sum())
    if unseen:
        raise NothingLeftError(
            f"With {reading.title} removed, {unseen} pixels are left in no image at all; remove fewer."
        )


def _evaluate(
    method: Method, reading: str, Y: Array, X: Array, removed: Mask, seed: int, *, with_curve: bool
) -> tuple[Score, Array, list[tuple[int, float]]]:
    """Choose a setting on observed entries, fit, restore, and only then look at the removed ones."""

    def tried(candidate: Mapping[str, float], train: Array) -> Array:
        passes = min(method.passes, method.tuning_passes)
        return _reconstruct(fit_in_passes(method.make(seed=seed, **candidate), train, passes, seed), train)

    setting = choose(tried, method.grid, X, np.random.default_rng([seed, 2]))
    curve: list[tuple[int, float]] = []

    def look(done: int, estimator: Estimator) -> None:
        if with_curve and done in CHECKPOINTS and done < method.passes:
            curve.append((done, snr(Y, _reconstruct(estimator, X), where=removed)))

    clock = Stopwatch()
    estimator = fit_in_passes(method.make(seed=seed, **setting), X, method.passes, seed, clock.paused(look))
    seconds = clock.elapsed()
    if with_curve and method.iterations:
        curve = _iteration_curve(method, setting, Y, X, removed, seed)
    filled = np.asarray(estimator.impute(X), dtype=np.float64)
    score = Score(
        reading=reading,
        method=method.key,
        seed=seed,
        initial=snr(Y, np.where(removed, 0.0, Y)),
        missing=snr(Y, filled, where=removed),
        all=snr(Y, _reconstruct(estimator, X)),
        filled=snr(Y, filled),
        seconds=seconds,
        setting=setting,
        passes=getattr(estimator, "n_iter_", 1) if method.passes == 1 else method.passes,
    )
    return score, filled, [*curve, (score.passes, score.missing)]


def fit_in_passes(
    estimator: Estimator,
    X: Array,
    passes: int,
    seed: int,
    after_pass: Callable[[int, Estimator], None] = lambda done, estimator: None,
) -> Estimator:
    """Pass ``passes`` times over the rows of X in random order; `fit` once where there is nothing to repeat.

    Row after row and pass after pass is what `fit` does with ``n_passes``; going through `partial_fit` allows
    a look at the estimator after each pass.
    """
    if passes == 1 or not isinstance(estimator, Streaming):
        return estimator.fit(X)
    rng = np.random.default_rng([seed, 1])
    for done in range(1, passes + 1):
        estimator.partial_fit(X[rng.permutation(len(X))])
        after_pass(done, estimator)
    return estimator


def _iteration_curve(
    method: Method, setting: Mapping[str, float], Y: Array, X: Array, removed: Mask, seed: int
) -> list[tuple[int, float]]:
    """SNR of a batch method that stops early."""
    curve = []
    for count in ITERATION_CHECKPOINTS:
        if method.iterations and count < method.passes:
            estimator = method.make(seed=seed, **{**setting, method.iterations: count}).fit(X)
            curve.append((count, snr(Y, _reconstruct(estimator, X), where=removed)))
    return curve


def _reconstruct(estimator: Estimator, X: Array) -> Array:
    """The whole reconstruction, observed entries included."""
    return np.asarray(estimator.inverse_transform(estimator.transform(X)), dtype=np.float64)


class Stopwatch:
    """Wall-clock seconds since it was made, without what ran inside `paused`."""

    def __init__(self) -> None:
        self._start = time.perf_counter()
        self._not_counted = 0.0

    def paused(self, call: Callable[P, None]) -> Callable[P, None]:
        """A version of ``call`` whose time does not count."""

        def timed(*args: P.args, **kwargs: P.kwargs) -> None:
            begin = time.perf_counter()
            call(*args, **kwargs)
            self._not_counted += time.perf_counter() - begin

        return timed

    def elapsed(self) -> float:
        """Seconds so far."""
        return time.perf_counter() - self._start - self._not_counted
