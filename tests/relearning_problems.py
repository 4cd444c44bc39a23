"""Rows with seasons, a trend and a known column, and what a stream learns from them."""

from __future__ import annotations

import numpy as np

from factorstream.core.dynamics.seasons.relearning import begun, further

T, M = 150, 3


def season_rows():
    """A season of 8 rows, one of 24, a slope in one feature, and a known column that moves another."""
    rng = np.random.default_rng(0)
    t = np.arange(T)
    K = rng.normal(size=(T, 1)) * 3 + 7
    Y = rng.normal(size=(8, M))[t % 8] * 2 + rng.normal(size=(24, M))[t % 24] + 0.3 * rng.normal(size=(T, M))
    Y[:, 0] += 0.1 * t
    Y[:, 1:2] += K
    Y[rng.random(Y.shape) < 0.1] = np.nan
    return Y, K


def learned(W, periods, trends, opt):
    """All layers, after pieces of learning from rows that are all there."""
    anew, pieces = begun(W, periods, trends), 0
    while not anew.learned:
        anew, pieces = further(anew, W, M, opt, 1)[0], pieces + 1
    return anew, pieces
