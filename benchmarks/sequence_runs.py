"""Sequences whose gaps and future are known, and how well `SequenceFilter` fills and forecasts them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from factorstream import SequenceFilter
from factorstream.datasets import DatasetNotFoundError, load_london_air

Array = NDArray[np.float64]
Marks = NDArray[np.bool_]

AHEAD = 10
"""Rows of a forecast."""
ORIGINS = 6
"""Forecasts that follow a fit, AHEAD rows after one another."""
HELD = 1.96
"""Standard deviations on either side of a 95% interval."""


class Sizes(NamedTuple):
    """Rows of the sequences."""

    fitted: int = 240  # more than those up to which every entry is hidden once (``core.dynamics.few``)
    long: int = 1500  # more than the rows on which kinds of models are compared
    stream: int = 1000
    first: int = 520  # rows of a stream after which its answers count: more than the longest warm-up tried
    late: int = 450
    quiet: int = 3000  # rows without a change, in which alarms are false
    shifts: int = 12  # sequences in which the level shifts, after 550 rows


SIZES = Sizes()


class Sequence(NamedTuple):
    """The values as they are, and as they are given to the model: with gaps, and with outliers where there are any."""

    truth: Array
    given: Array


class Judged:
    """Errors and standard deviations of entries, in units of each feature's spread."""

    def __init__(self, truth: Array) -> None:
        self.unit = np.nanstd(truth, axis=0)
        self.found: dict[str, list[Array]] = {"gaps": [], "forecasts": []}

    def add(self, kind: str, truth: Array, answer: tuple[Array, Array], where: Marks) -> None:
        """Judge the entries that `where` marks; an answer is a mean and a standard deviation.

        Entries of features with one value or none, whose standard deviations are infinite, are left out.
        """
        mean, std = answer
        pair = np.array([(mean - truth) / self.unit, std / self.unit])
        self.found[kind].append(pair[:, where & np.isfinite(truth) & np.isfinite(std)])

    def numbers(self) -> Array:
        """Root mean square errors of gaps and forecasts; coverage and mean width of the 95% intervals of both."""
        gaps, forecasts = (np.concatenate(parts, axis=1) for parts in self.found.values())
        error, std = np.concatenate([gaps, forecasts], axis=1)
        rms = [float(np.sqrt(np.mean(part[0] ** 2))) for part in (gaps, forecasts)]
        return np.array([*rms, np.mean(np.abs(error) < HELD * std), np.mean(2.0 * HELD * std)])


# ---------------------------------------------------------------- data


def factors(
    rng: np.random.Generator, T: int, m: int = 6, phi: float = 0.9, step: float = 0.0, nu: float = 0.0
) -> Array:
    """Two autoregressive factors and noise, Gaussian or Student's; `step`: that of a random walk in every feature."""
    x = lfilter([np.sqrt(1 - phi * phi)], [1.0, -phi], rng.standard_normal((T, 2)), axis=0)
    noise = rng.standard_t(nu, (T, m)) if nu else rng.standard_normal((T, m))
    return np.asarray(x @ rng.standard_normal((2, m)) + 0.4 * noise + step * rng.standard_normal((T, m)).cumsum(axis=0))


def with_gaps(rng: np.random.Generator, X: Array, length: int = 8) -> Array:
    """X without a quarter of its entries, in runs of `length` rows."""
    gone = np.zeros(X.shape, dtype=bool)
    for i in range(X.shape[1]):
        for start in rng.integers(0, len(X) - length, max(len(X) // (4 * length), 1)):
            gone[start : start + length, i] = True
    return np.where(gone, np.nan, X)


def with_outliers(rng: np.random.Generator, X: Array) -> Array:
    """X with 5% of its entries eight spreads of their feature off."""
    off = 8.0 * np.nanstd(X, axis=0) * rng.choice([-1.0, 1.0], X.shape)
    return np.where(rng.random(X.shape) < 0.05, X + off, X)


def jumped(rng: np.random.Generator, X: Array, every: int) -> Array:
    """X in which a feature, another one every `every` rows, moves by six spreads of its changes, and stays there."""
    X = X.copy()
    for k, row in enumerate(range(every, len(X), every)):
        i = k % X.shape[1]
        X[row:, i] += 6.0 * np.std(np.diff(X[:, i])) * rng.choice([-1.0, 1.0])
    return X


def sequence(seed: int, T: int, outliers: bool = False, jumps: int = 0, **how: Any) -> Sequence:
    """A made-up sequence with gaps."""
    rng = np.random.default_rng(seed)
    truth = factors(rng, T, **how)
    if jumps:
        truth = jumped(rng, truth, jumps)
    return Sequence(truth, with_gaps(rng, with_outliers(rng, truth) if outliers else truth))


def london(seed: int, T: int) -> Sequence | None:
    """Hours of the six stations that report most, a stretch for every seed; None where the data are not there."""
    try:
        values = load_london_air().values[seed * T : (seed + 1) * T]
    except DatasetNotFoundError:
        return None
    most = np.argsort(np.isnan(values).sum(axis=0), kind="stable")[:6]
    truth = np.asarray(values[:, most], dtype=np.float64)
    return Sequence(truth, with_gaps(np.random.default_rng(seed), truth))


# ---------------------------------------------------------------- measures


def fitted(data: Sequence | None, **settings: Any) -> Array:
    """Gaps filled by `fit` and `impute`, and forecasts from its end on, of 3 components."""
    if data is None:
        return np.full(4, np.nan)
    truth, given = data
    T = len(truth) - AHEAD * ORIGINS
    model, judged = SequenceFilter(3, **settings).fit(given[:T]), Judged(truth)
    judged.add("gaps", truth[:T], model.impute(given[:T], return_std=True), np.isnan(given[:T]))
    for now in range(T, len(truth), AHEAD):
        rows = truth[now : now + AHEAD]
        judged.add("forecasts", rows, model.forecast(AHEAD, return_std=True), np.ones(rows.shape, dtype=bool))
        model.partial_fit(given[now : now + AHEAD])
    return judged.numbers()


def streamed(data: Sequence, first: int, counted: Marks | None = None, **settings: Any) -> Array:
    """Gaps filled and rows forecast as they come, from row `first` on, in the features `counted`."""
    truth, given = data
    model, judged = SequenceFilter(3, **settings).partial_fit(given[:first]), Judged(truth)
    which = np.ones(truth.shape[1], dtype=bool) if counted is None else counted
    for now in range(first, len(truth)):
        if now % AHEAD == 0 and now + AHEAD <= len(truth):
            rows = truth[now : now + AHEAD]
            judged.add("forecasts", rows, model.forecast(AHEAD, return_std=True), np.tile(which, (AHEAD, 1)))
        row = given[now : now + 1]
        filled, std = model.partial_fit(row).recent(return_std=True)
        judged.add("gaps", truth[now : now + 1], (filled[-1:], std[-1:]), np.isnan(row) & which)
    return judged.numbers()


def changing(seed: int) -> Array:
    """A stream whose loadings turn into others from a third to two thirds of it."""
    rng = np.random.default_rng(seed)
    T = SIZES.stream
    turn = np.clip(np.linspace(-1.0, 2.0, T), 0.0, 1.0)[:, None] * np.pi / 2
    x = lfilter([np.sqrt(0.19)], [1.0, -0.9], rng.standard_normal((T, 2)), axis=0)
    C, D = rng.standard_normal((2, 2, 6))
    truth = np.cos(turn) * (x @ C) + np.sin(turn) * (x @ D) + 0.4 * rng.standard_normal((T, 6))
    return streamed(Sequence(truth, with_gaps(rng, truth)), SIZES.first, drift="none")


def late(seed: int, **settings: Any) -> Array:
    """A stream of eight features of which four start late, two of them with 2 and 4 values in the warm-up of 256."""
    data = sequence(seed, SIZES.late, m=8, step=0.05)
    counted = np.arange(8) >= 4
    given = data.given.copy()
    for i, start in zip(np.flatnonzero(counted), (252, 254, 280, 300), strict=True):
        given[:start, i] = np.nan
        given[start : start + 4, i] = data.truth[start : start + 4, i]
    return streamed(data._replace(given=given), 256, counted, **settings)


def moved(seed: int) -> Array:
    """A robust stream without levels, of which two features are somewhere else after 60% of the rows."""
    data = sequence(seed, SIZES.stream, outliers=True)
    shift = np.where(np.arange(SIZES.stream)[:, None] > 0.6 * SIZES.stream, 12.0, 0.0) * (np.arange(6) < 2)
    return streamed(Sequence(data.truth + shift, data.given + shift), SIZES.first, drift="none", robust=True)


def alarms(seed: int, shift: float, nu: float = 0.0) -> Array:
    """False alarms per row where 1 in 100 is asked for; rows until half the features' shift is found, at most 50."""
    rng = np.random.default_rng(seed)
    quiet, before, after = SIZES.quiet, 550, 50
    X = factors(rng, 250 + quiet + SIZES.shifts * (before + after), nu=nu)
    model = SequenceFilter(2, drift="none", calibrate=False, alarm_rate=0.01).fit(X[:250])
    false = float(np.mean(model.alarms(X[250 : 250 + quiet]).fired))
    delays = []
    for rows in X[250 + quiet :].reshape(SIZES.shifts, before + after, X.shape[1]):
        rows = rows + np.where(np.arange(len(rows)) < before, 0.0, shift)[:, None] * (np.arange(X.shape[1]) < 3)
        fired = np.flatnonzero(model.alarms(rows).fired[before:])
        delays.append(fired[0] + 1.0 if len(fired) else after)
    return np.array([false, np.mean(delays)])
