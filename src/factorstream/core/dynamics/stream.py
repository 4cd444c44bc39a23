"""One pass over a stream: filter row by row, learn in windows (stepwise EM), follow a drifting C."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..linalg import Array
from .em import LEARNED, Law, Moments, Prior, add, maximise, recentre, relevance
from .fit import GAUSSIAN, Fit, Noise, adapt, choose, expect, fit, weights
from .model import Model, State, StepInfo, initial, predict, update
from .robust import without_spikes

ENOUGH = 100
"""Rows before level and number of components are chosen on held-out entries: two periods of held-out runs."""


class Stream(NamedTuple):
    """Everything a stream remembers: O(m r^2 + warmup m) numbers, whatever its length."""

    rows: int
    shift: Array  # (m,) raw = shift + scale * standardised, fixed when the warm-up ends
    scale: Array  # (m,)
    model: Model | None
    prior: Prior | None
    state: State | None  # filtered belief after the last row
    anchor: State | None  # filtered belief before the first row of `window`
    window: Array  # (k, m) raw rows since the last refresh
    past: Moments | None
    refreshes: int
    epoch: int  # restarts so far: beliefs of different epochs cannot be smoothed together


class Options(NamedTuple):
    """Settings of a stream; `decay` forgets: memory of about window / (1 - decay) rows."""

    r: int = 10
    candidates: tuple[tuple[bool, bool], ...] = ((True, True), (True, False), (False, False))  # (level, select)
    law: Law = LEARNED
    noise: Noise = GAUSSIAN
    drift: float = 0.0  # Q_V, for models without levels
    warmup: int = 256
    window: int = 128
    decay: float = 0.9
    sweeps: int = 8


def new_stream(m: int) -> Stream:
    """A stream of m features before its first row."""
    return Stream(0, np.zeros(m), np.ones(m), None, None, None, None, np.empty((0, m)), None, 0, 0)


def advance(stream: Stream, y: Array, opt: Options) -> tuple[Stream, StepInfo | None]:
    """Take one raw row (m,), NaN = missing. O(m r^2), plus O(window m r^2) once per window.

    Rows 1, 2, 4, 8 .. warmup: EM on all rows so far (kept until then). Afterwards every `window` rows: one
    E-step over the window, moments added to the decayed past, one M-step (stepwise EM). The schedule depends on
    the row count alone, so any split of the stream gives the same result. `StepInfo` is the prediction made
    BEFORE y was seen, in raw units; None while there is no model.
    """
    rows = stream.rows + 1
    window = np.vstack([stream.window, y])
    stream = stream._replace(rows=rows, window=window)
    info = None
    if stream.model is not None:
        z = (y - stream.shift) / stream.scale
        prior = initial(stream.model) if stream.state is None else predict(stream.model, stream.state)
        state, info = update(stream.model, prior, z)
        info = raw_info(info, stream)
        model = adapt(stream.model, state, z, opt.drift) if opt.drift else stream.model
        stream = stream._replace(state=state, model=model)
    if rows <= opt.warmup:
        if rows & (rows - 1) == 0 or rows == opt.warmup:
            stream = restart(stream, opt)
    elif len(window) >= opt.window:
        stream = refresh(stream, opt)
    return stream, info


def raw_info(info: StepInfo, stream: Stream) -> StepInfo:
    """The same facts in the data's units (log-density included)."""
    seen = np.isfinite(info.z)
    return info._replace(
        logp=info.logp - float(np.log(stream.scale[seen]).sum()),
        mean=stream.shift + stream.scale * info.mean,
        var=stream.scale**2 * info.var,
    )


def standards(Y: Array, noise: Noise = GAUSSIAN) -> tuple[Array, Array]:
    """Mean and standard deviation of each column; a column (nearly) without data or spread borrows the median.

    Where no column has a spread, the size of the values stands for it. Taken in units of a power of two, so that
    no square overflows. Under Student-t noise spikes do not count.
    """
    Y = without_spikes(Y) if np.isfinite(noise.nu) else Y
    seen = np.isfinite(Y)
    n = seen.sum(0)
    y = np.where(seen, Y, 0.0).astype(np.float64)  # a sum of many float32 values loses the mean
    unit = np.frexp(np.abs(y).max(0))[1]
    y = np.ldexp(y, -unit)
    mean = y.sum(0) / np.maximum(n, 1)
    sd = np.sqrt((np.where(seen, y - mean, 0.0) ** 2).sum(0) / np.maximum(n, 1))
    good = (n > 2) & (sd > 1e-12)
    mean, sd = np.ldexp(mean, unit), np.ldexp(sd, unit)
    if not good.any():
        return mean, np.where(mean == 0.0, 1.0, np.abs(mean))
    return np.where(n > 0, mean, np.median(mean[good])), np.where(good, sd, np.median(sd[good]))


def restart(stream: Stream, opt: Options) -> Stream:
    """Fit the warm-up rows from scratch and filter to their end; the buffer is dropped when the warm-up is over."""
    Y = stream.window
    shift, scale = standards(Y, opt.noise)
    Z = (Y - shift) / scale
    level, select = opt.candidates[0]
    if len(Y) > ENOUGH:
        level, select, _ = choose(
            Z, opt.r, law=opt.law, noise=opt.noise, sweeps=opt.sweeps, candidates=opt.candidates, offline=False
        )
    f = fit(Z, opt.r, level=level, law=opt.law, noise=opt.noise, sweeps=opt.sweeps, select=select)
    after = resumed(f, shift, scale, stream.rows, stream.epoch + 1)
    return after if stream.rows >= opt.warmup else after._replace(window=Y, past=None, anchor=None)


def resumed(f: Fit, shift: Array, scale: Array, rows: int, epoch: int = 1) -> Stream:
    """The stream that goes on where a fit ended."""
    return Stream(rows, shift, scale, f.model, f.prior, f.end, f.end, np.empty((0, len(shift))), f.moments, 0, epoch)


def refresh(stream: Stream, opt: Options) -> Stream:
    """Stepwise EM over the last window. O(window m r^2 + m r^3)."""
    if stream.model is None or stream.prior is None or stream.past is None:
        raise ValueError("refresh needs a stream whose warm-up is over")
    model, prior = stream.model, stream.prior
    Z = (stream.window - stream.shift) / stream.scale
    old = stream.past
    w = weights(model, Z, stream.anchor)
    for centred in (True, False) if model.p0.any() else (False,):
        _, mom = expect(model, Z, w, stream.anchor)
        before, past = model.C, add(old, mom, opt.decay)
        model = maximise(model, past, prior, opt.law, centred=centred)
        if centred:  # the levels of the past must follow the loadings
            old = recentre(old, model.C - before)
    prior = prior._replace(alpha=relevance(model)) if len(model.A) else prior
    if opt.drift:  # C has been followed row by row
        model = model._replace(C=stream.model.C, V=stream.model.V)
    return stream._replace(
        model=model, prior=prior, past=past, window=Z[:0], anchor=stream.state, refreshes=stream.refreshes + 1
    )
