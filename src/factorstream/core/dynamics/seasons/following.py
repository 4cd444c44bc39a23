"""New layers of a stream follow its rows from the first one on, a piece at a time (see `relearning`); on their way a
damping is chosen for their trends."""

from __future__ import annotations

import numpy as np

from ...linalg import Array
from ..choose import COMPARED_ROWS, HORIZON, PARTS
from ..stream import StreamOptions
from .anew import Anew, Damped
from .damping import DAMPINGS, LEAST_BLOCKS, chosen
from .layers import SeasonLayer, restarted, take
from .trends import TrendLayer

FOLLOWED_AT_ONCE = 32
"""Rows that the new layers follow at one row of the stream. Derived: some 3 milliseconds."""


def followed(anew: Anew, W: Array, m: int, opt: StreamOptions, keep: int) -> Anew:
    """The new layers have followed some more of the rows W (k, m + p)."""
    if anew.at == 0 and anew.trends != "none" and anew.damped is None and anew.left is None:
        anew = _with_dampings_to_find(anew, m)
    rows = W[anew.at : min(anew.at + FOLLOWED_AT_ONCE, len(W))]
    layers, damped = anew.layers, anew.damped
    left, seasons = [], []
    for t, w in enumerate(rows, anew.at):
        known = w[m:] if len(w) > m else None
        after, signal, var = take(layers, w[:m], known)
        if damped is not None and t >= (PARTS - 1) * anew.rows // PARTS and t < anew.rows:
            damped = _judged(damped, layers, w, m, opt)
        layers = after
        if t + 1 == anew.rows:
            layers = _as_learned(layers, anew.trend)
        left.append(w[:m] - signal)
        seasons.append([signal, var])
    at = anew.at + len(rows)
    before, said = ([] if part is None else [part] for part in (anew.left, anew.seasons))
    anew = anew._replace(
        layers=layers,
        damped=damped,
        at=at,
        left=np.concatenate([*before, left])[-COMPARED_ROWS:],
        seasons=np.concatenate([*said, seasons])[-keep:],
    )
    return _with_damping(anew) if anew.damped is not None and at >= anew.rows else anew


def _as_learned(layers: tuple[SeasonLayer, ...], trend: TrendLayer | None) -> tuple[SeasonLayer, ...]:
    """The layers with coefficients that count no row twice: those of the rows that they were learned from."""
    if trend is None:
        return layers
    return tuple(one.with_coefficients_of(trend) if isinstance(one, TrendLayer) else one for one in layers)


def _with_dampings_to_find(anew: Anew, m: int) -> Anew:
    """Forecasts of the last third will choose the dampings of trends."""
    return anew._replace(damped=Damped(np.zeros((0, 2, m)), np.zeros((0, 1 + len(DAMPINGS), m))))


def _before_trend(layers: tuple[SeasonLayer, ...], w: Array) -> tuple[TrendLayer, Array]:
    """The layer of trends, and what those before it leave of the row w."""
    rest = w.copy()
    for layer in layers:
        if isinstance(layer, TrendLayer):
            return layer, rest
        rest[layer.columns] -= layer.now()[0]
    raise AssertionError("There is a layer of trends.")


def _judged(damped: Damped, layers: tuple[SeasonLayer, ...], w: Array, m: int, opt: StreamOptions) -> Damped:
    """What was said HORIZON rows ago of the row w, less its season, is compared with it; lines before it are kept."""
    layer, row = _before_trend(layers, w)
    level, slope, known = layer.line(row[None])
    levels = np.concatenate([damped.levels, [[level, slope]]])[-HORIZON:]
    if len(levels) < HORIZON:
        return damped._replace(levels=levels)
    sums = [0.0, *(float((phi ** np.arange(1, HORIZON)).sum()) for phi in DAMPINGS)]
    off = [row[:m] - levels[0, 0] - far * levels[0, 1] - known[0] for far in sums]
    return Damped(levels, np.concatenate([damped.losses, [np.sqrt(opt.noise.loss(np.abs(off)))]]))


def _with_damping(anew: Anew) -> Anew:
    """The dampings are known. Where features turn out to have no trend, what is left of the rows is found once more."""
    assert anew.damped is not None  # for the type checker
    assert anew.trend is not None
    losses, auto = anew.damped.losses, anew.trends == "auto"
    if len(losses) < LEAST_BLOCKS * HORIZON:
        damping = np.full(losses.shape[2], np.nan if auto else 1.0)
    else:
        base, *others = losses.transpose(1, 0, 2)
        damping = chosen(base, others, HORIZON, auto=auto)
    trend = anew.trend._replace(damping=damping)
    layers = tuple(one._replace(damping=damping) if isinstance(one, TrendLayer) else one for one in anew.layers)
    anew = anew._replace(trend=trend, layers=layers, damped=None)
    if np.isfinite(damping).all():
        return anew
    if np.isnan(damping).all() and not len(trend.shift):
        anew = anew._replace(layers=tuple(one for one in layers if not isinstance(one, TrendLayer)), trend=None)
    return anew._replace(layers=restarted(anew.layers), trends="none", at=0, left=None, seasons=None)
