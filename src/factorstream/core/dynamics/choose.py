"""What hidden observed entries say: which kind of model to fit, and how much wider its errors are than it claims."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from ..linalg import Array
from .em import LEARNED, Law
from .fit import GAUSSIAN, Kind, Noise, fit
from .model import Model, entry, filter_rows, forecast, noise_variance
from .robust import normal_size

ROWS = 1024
"""Rows on which kinds of models are compared."""
HORIZON = 10
"""Steps ahead over which forecasts are judged."""
BY = 1.5
"""Standard errors by which straight lines must be beaten."""
LEAST = 0.9
"""Calibration may widen intervals without limit, but narrow them by no more than this."""
RIGHT = 100.0
"""Entries that count as having been right: few entries must not decide on the width of an interval."""


def held_out(Y: Array, run: int = 10, period: int = 50) -> tuple[Array, Array]:
    """Observed entries to hide: in feature i a run of `run` rows every `period` rows, shifted with i; nothing random.

    Returns (T, m) bool, and the number of the run that each hidden entry belongs to.
    """
    T, m = Y.shape
    place = np.arange(T)[:, None] + (np.arange(m) * 17) % period
    hide = np.asarray((place % period < run) & np.isfinite(Y))
    return hide, (place // period * m + np.arange(m))[hide]


class Choice(NamedTuple):
    """What held-out entries say: the kind of model, and how much wider its errors are than it claims."""

    kind: Kind
    stretch: float = 1.0


def choose(
    Y: Array,
    r: int,
    candidates: Sequence[Kind],
    *,
    law: Law = LEARNED,
    noise: Noise = GAUSSIAN,
    sweeps: int = 8,
    rows: int = ROWS,
    offline: bool = True,
) -> Choice:
    """The kind whose fit predicts held-out OBSERVED runs of the last `rows` rows best. One fit each.

    `offline`: judge what a smoother fills in or, for streams, what the filter does in the last
    third with what the first two thirds taught: common shapes of random walks fit the past, not the future.
    Errors count squared, or by their size where the noise is Student-t: an outlier must not decide.
    Random walks, where they are a candidate, must be beaten clearly, so that what a straight line fills as well is
    filled by it, unless the first candidate fills no worse and clearly predicts rows better: there is noise then.
    """
    Y = Y[-rows:]
    hide, run = held_out(Y)
    Z = np.where(hide, np.nan, Y)
    learn = Z if offline else Z[: 2 * len(Z) // 3]
    judged = np.nonzero(hide)[0] >= (0 if offline else len(learn))
    if not judged.any():
        return Choice(candidates[0])
    _, run = np.unique(run[judged], return_inverse=True)
    found: list[tuple[Choice, Model, Array]] = []
    for kind in candidates:
        f = fit(learn, r, law=law, noise=noise, sweeps=sweeps, **kind._asdict())
        guess, var = f.smoothed.signal, f.smoothed.var
        if not offline:
            beliefs = [entry(f.model, s) for s in filter_rows(f.model, Z)[0]]
            guess, var = (np.array(part) for part in zip(*beliefs, strict=True))
        off = np.abs(guess - Y)[hide][judged]
        R = np.broadcast_to(f.model.R, Y.shape)
        size = normal_size(off, var[hide][judged], R[hide][judged], f.model.nu)
        errors = np.bincount(run, weights=off if np.isfinite(noise.nu) else off**2)
        found.append((Choice(kind, stretch(size, noise)), f.model, errors))
    best, _, least = min(found, key=lambda one: float(one[2].sum()))
    for choice, walk, errors in found:
        if choice.kind.walk and not clearly(np.sqrt(errors) - np.sqrt(least), BY):
            plain, model, others = found[0]
            worse = clearly(np.sqrt(others) - np.sqrt(errors), BY)
            return plain if not worse and clearly(surprises(walk, Z) - surprises(model, Z), 2 * BY) else choice
    return best


def clearly(gain: Array, by: float) -> bool:
    """Whether the mean gain is above zero by more than `by` of its standard errors."""
    return len(gain) > 0 and bool(gain.mean() > by * gain.std() / np.sqrt(len(gain)))


def surprises(model: Model, Y: Array) -> Array:
    """Squared errors of the observed entries of Y as the rows before them predict them."""
    infos = filter_rows(model, Y)[1]
    return (np.array([info.mean for info in infos])[1:] - Y[1:])[np.isfinite(Y[1:])] ** 2


def stretch(size: Array, noise: Noise) -> float:
    """The factor on standard deviations at which errors of `size` (as `normal_size`) are as large as they should be.

    It is the 95% quantile over that of a Gaussian, drawn towards 1 as if RIGHT more entries had been right; at least
    LEAST, since gaps shorter or longer than the hidden runs may need the width that those do not.
    Under Student-t noise it is the 80% quantile where the other is out of all proportion: hidden outliers are not for
    the intervals to hold.
    """
    wide, usual = (float(np.quantile(size, held) / ndtri((1.0 + held) / 2.0)) for held in (0.95, 0.8))
    factor = usual if np.isfinite(noise.nu) and wide > 1.5 * usual else wide
    return float(max(factor, LEAST) ** (len(size) / (len(size) + RIGHT)))


def forecast_stretch(
    Y: Array, r: int, kind: Kind, *, law: Law = LEARNED, noise: Noise = GAUSSIAN, sweeps: int = 8
) -> float:
    """`stretch` of forecasts up to HORIZON steps in the last third of Y, by a fit of the rest; at least 1. One fit.

    Beyond the data every error in the dynamics counts, which gaps between data hardly show.
    """
    Y = Y[-ROWS:]
    n = 2 * len(Y) // 3
    f = fit(Y[:n], r, law=law, noise=noise, sweeps=sweeps, **kind._asdict())
    states = filter_rows(f.model, Y)[0]
    sizes = []
    for now in range(n, len(Y), HORIZON):
        rows = Y[now : now + HORIZON]
        mean, var = forecast(f.model, states[now - 1], len(rows))
        signal, R = var - noise_variance(f.model), np.broadcast_to(f.model.R, rows.shape)
        sizes.append(normal_size(rows - mean, signal, R, f.model.nu)[np.isfinite(rows)])
    size = np.concatenate(sizes)
    return max(stretch(size, noise), 1.0) if len(size) else 1.0
