"""Automatic settings from entries hidden on purpose; nothing is tuned by hand or on what is really missing."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .conformal import Calibration, borrowed_gaps, calibrate
from .packed import Array, Mask
from .robust import noise_variance
from .start import long_rank
from .sweep import DEFAULT, Fit, Model, Options, fit


class AutoFit(NamedTuple):
    """A fit to all observed entries, with what the hidden ones taught on the way."""

    fit: Fit
    calibration: Calibration
    options: Options


def hide_share(n_observed: int) -> float:
    """Share of the observed entries to hide: about 2000 of them, between 4% and 15%."""
    return float(np.clip(2000.0 / max(n_observed, 1), 0.04, 0.15))


def candidates(options: Options) -> tuple[Options, ...]:
    """Two readings of the data: relevance left free (few strong components and noise: unneeded ones switch off),
    and relevance held near equal (a long tail of weak components, where free relevance prunes too much)."""
    return (options._replace(kappa=0.0, spare=False), options)


MORE = 1.4  # the second reading is tried if it starts from this many times the components of the first
FEWER = 0.99  # more components must lower the hidden entries' mean absolute error by 1%


def _calibrate(Y: Array, W: Array, hidden: Mask, trial: Fit) -> Calibration:
    """``calibrate`` for a fit that may be robust."""
    model, weights = trial.model, trial.weights
    noise = noise_variance(model.s2, model.nu)
    used = W if weights is None else weights
    return calibrate(Y, used, hidden, model.post, model.s2, model.prior, noise, weights is not None)


def fit_auto(
    Y: Array, W: Array, rng: np.random.Generator, options: Options = DEFAULT, refit_sweeps: int = 6
) -> AutoFit:
    """Hide, fit each candidate without, keep the better one, calibrate on the hidden, then give them back.

    Y (n, m), W (n, m) > 0 where observed. With ``options.r`` given there is one candidate. The hidden entries
    return through warm sweeps. Judged by the mean ABSOLUTE error: a few rare values (a pixel that is almost
    always 0) would decide the squared one. Cost: the candidates' fits and 2 to ``refit_sweeps`` sweeps.
    """
    seen = np.asarray(W > 0)
    hidden = borrowed_gaps(seen, hide_share(int(np.count_nonzero(seen))), rng)
    kept = np.where(hidden, 0.0, W)
    Y0 = np.where(seen, Y, 0.0)
    tried: list[tuple[Model, Calibration, Options]] = []
    for choice in candidates(options) if options.r is None else (options,):
        trial = fit(Y0, kept, choice)
        model, found = trial.model, _calibrate(Y0, kept, hidden, trial)
        if not tried or found.error < tried[-1][1].error * FEWER:
            tried.append((model, found, choice))
        start = trial.history[0].n_components if trial.history else 0
        if long_rank(Y.shape[0], Y.shape[1], float(np.count_nonzero(kept)), start) < MORE * start:
            break  # the other reading would start from hardly more components
    model, found, choice = tried[-1]
    final = fit(Y0, W, choice._replace(max_sweeps=min(refit_sweeps, choice.max_sweeps)), warm=model)
    return AutoFit(final, found, choice)
