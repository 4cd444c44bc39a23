"""What hidden observed entries say: which kind of model to fit, and how much wider its errors are than it claims."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from ..linalg import Array
from .em import LEARNED, Law
from .fit import GAUSSIAN, Noise, fit
from .model import entry, filter_rows, forecast, noise_variance

ROWS = 1024
"""Rows on which kinds of models are compared."""
HORIZON = 10
"""Steps ahead over which forecasts are judged."""
RIGHT = 100.0
"""Entries that count as having been right: few entries must not decide on the width of an interval."""


def held_out(Y: Array, run: int = 10, period: int = 50) -> Array:
    """Observed entries to hide: in feature i a run of `run` rows every `period` rows, shifted with i. (T, m) bool.

    Of many features about a fifth lose their runs at the same time, and nothing is random.
    """
    T, m = Y.shape
    shift = (np.arange(m) * 17) % period
    return np.asarray((((np.arange(T)[:, None] + shift) % period) < run) & np.isfinite(Y))


class Choice(NamedTuple):
    """What held-out entries say: the kind of model, and how much wider its errors are than it claims."""

    level: bool
    select: bool
    stretch: float = 1.0


def choose(
    Y: Array,
    r: int,
    *,
    law: Law = LEARNED,
    noise: Noise = GAUSSIAN,
    sweeps: int = 8,
    rows: int = ROWS,
    offline: bool = True,
    candidates: tuple[tuple[bool, bool], ...] = ((True, True), (True, False), (False, False)),
) -> Choice:
    """(level, select) whose fit predicts held-out OBSERVED runs of the last `rows` rows best. One fit each.

    Candidates: levels with as many components as the changes show; levels with r components; no levels.
    `offline`: judge what a smoother fills in or, for streams, what the filter does in the last
    third with what the first two thirds taught: common shapes of random walks fit the past, not the future.
    Errors count squared, or by their size where the noise is Student-t: an outlier must not decide.
    `stretch` is that of the winner.
    """
    Y = Y[-rows:]
    hide = held_out(Y)
    Z = np.where(hide, np.nan, Y)
    learn = Z if offline else Z[: 2 * len(Z) // 3]
    if not offline:
        hide[: len(learn)] = False
    if not hide.any():
        return Choice(*candidates[0])
    best, error = Choice(*candidates[0]), np.inf
    for level, select in candidates:
        f = fit(learn, r, level=level, select=select, law=law, noise=noise, sweeps=sweeps)
        guess, var = f.smoothed.signal, f.smoothed.var
        if not offline:
            beliefs = [entry(f.model, s) for s in filter_rows(f.model, Z)[0]]
            guess, var = (np.array(part) for part in zip(*beliefs, strict=True))
        off = np.abs((guess - Y)[hide])
        e = float((off if np.isfinite(noise.nu) else off**2).mean())
        if e < error:
            size = off / np.sqrt(var + noise_variance(f.model))[hide]
            best, error = Choice(level, select, stretch(size, noise)), e
    return best


def stretch(size: Array, noise: Noise) -> float:
    """The factor on standard deviations at which errors of `size` (in their units) are as large as they should be.

    It is the 95% quantile over that of a Gaussian, drawn towards 1 as if RIGHT more entries had been right.
    Under Student-t noise it is the 80% quantile: hidden outliers are not for the intervals to hold.
    """
    held = 0.8 if np.isfinite(noise.nu) else 0.95
    factor = float(np.quantile(size, held) / ndtri((1.0 + held) / 2.0))
    return float(max(factor, 1e-3) ** (len(size) / (len(size) + RIGHT)))


def forecast_stretch(
    Y: Array, r: int, *, level: bool, select: bool, law: Law = LEARNED, noise: Noise = GAUSSIAN, sweeps: int = 8
) -> float:
    """`stretch` of forecasts up to HORIZON steps in the last third of Y, by a fit of the rest; at least 1. One fit.

    Beyond the data every error in the dynamics counts, which gaps between data hardly show.
    """
    Y = Y[-ROWS:]
    n = 2 * len(Y) // 3
    f = fit(Y[:n], r, level=level, select=select, law=law, noise=noise, sweeps=sweeps)
    states = filter_rows(f.model, Y)[0]
    sizes = []
    for now in range(n, len(Y), HORIZON):
        rows = Y[now : now + HORIZON]
        mean, var = forecast(f.model, states[now - 1], len(rows))
        sizes.append((np.abs(rows - mean) / np.sqrt(var))[np.isfinite(rows)])
    size = np.concatenate(sizes)
    return max(stretch(size, noise), 1.0) if len(size) else 1.0
