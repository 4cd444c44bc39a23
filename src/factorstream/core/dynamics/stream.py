"""One pass over a stream: filter row by row, learn in windows (stepwise EM), follow a drifting C."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from ..linalg import Array
from .choose import choose
from .em import LEARNED, Law, Moments, Prior, add, forget, maximise, recentre, relevance
from .fit import CHOSEN, EVERY, GAUSSIAN, STATES, Fit, Kind, Noise, adapt, expect, fit, weights
from .model import Model, State, StepInfo, filter_rows, initial, predict, update
from .robust import without_spikes

ENOUGH = 100
"""Rows before level and number of components are chosen on held-out entries: two periods of held-out runs."""
SCALE, ACQUAINTED = 3, 8
"""Values from which on a feature has a scale of its own, and after which one that starts late is learned."""
KNOWN = 64
"""Values from which on a feature waits for the end of a window like the others."""
OUT = 0.1
"""Weight below which an entry is an outlier."""


class Change(NamedTuple):
    """What a refresh does to older beliefs: levels move with the loadings, and new features begin at their prior."""

    step: Array  # (m, r) of the loadings, made up for by the levels
    new: Array  # (m,) bool
    p0: Array  # (m,)

    def of(self, s: State) -> State:
        """The belief `s` of a row before the refresh, as the stream after it would put it. O(m r)."""
        lev, B = s.lev - self.step @ s.x, s.B - self.step
        return s._replace(
            lev=np.where(self.new, 0.0, lev), B=np.where(self.new[:, None], 0.0, B), d=np.where(self.new, self.p0, s.d)
        )


class Stream(NamedTuple):
    """Everything a stream remembers: O(m r^2 + warmup m) numbers, whatever its length."""

    rows: int
    shift: Array  # (m,) raw = shift + scale * standardised, fixed when the warm-up ends or, later, the feature is met
    scale: Array  # (m,)
    model: Model | None
    prior: Prior | None
    state: State | None  # filtered belief after the last row
    anchor: State | None  # filtered belief before the first row of `window`
    window: Array  # (k, m) raw rows since the last refresh
    past: Moments | None
    refreshes: int
    epoch: int  # restarts so far: beliefs of different epochs cannot be smoothed together
    change: Change | None = None  # what the last row's refresh did to the beliefs before it


class Options(NamedTuple):
    """Settings of a stream; `decay` forgets: memory of about window / (1 - decay) rows."""

    r: int = 10
    candidates: tuple[Kind, ...] = (CHOSEN, EVERY, STATES)
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

    Rows 1, 2, 4, 8 .. warmup, from the first with data: EM on all rows so far (kept until then). Afterwards every
    `window` rows, and when a feature that is new has 8, 16, 32, 64 values: one E-step over the window, moments added to
    the decayed past, one M-step (stepwise EM). The schedule depends on the rows alone, so any split of the stream gives
    the same result. `StepInfo` is the prediction made BEFORE y was seen, in raw units; None while there is no model.
    """
    if stream.rows and not np.isfinite(stream.window).any() and stream.past is None:  # nothing yet: begin here
        stream = new_stream(len(y))._replace(epoch=stream.epoch)
    rows = stream.rows + 1
    window = np.vstack([stream.window, y])
    stream = stream._replace(rows=rows, window=window, change=None)
    info = None
    new = strange(stream) & np.isfinite(window).any(0)
    if new.any():
        stream = meet(stream, new, opt.noise)
    model = stream.model
    if model is not None:
        z = np.where(new, np.nan, (y - stream.shift) / stream.scale)
        prior = initial(model) if stream.state is None else predict(model, stream.state)
        state, info = update(model, prior, z)
        info = raw_info(info, stream)
        stream = stream._replace(state=state, model=adapt(model, state, z, opt.drift) if opt.drift else model)
    if rows <= opt.warmup:
        if rows & (rows - 1) == 0 or rows == opt.warmup:
            stream = restart(stream, opt)
    else:
        count = np.isfinite(window[:, new]).sum(0)
        due = len(window) >= (2 * opt.window if new.any() else opt.window)
        if due or (count == ACQUAINTED).any() or hardly_known(stream):
            stream = refresh(stream, opt)
    return stream, info


def strange(stream: Stream) -> Array:
    """Features of which nothing had been seen when the last window began, the warm-up being over. (m,) bool."""
    return np.zeros(len(stream.shift), dtype=bool) if stream.past is None else stream.past.N == 0


def hardly_known(stream: Stream) -> bool:
    """Whether a feature with few values so far has doubled their number since the last refresh. O(window)."""
    if stream.past is None:
        return False
    N = stream.past.N
    few = (N > 0) & (N < KNOWN)
    return bool(few.any() and (np.isfinite(stream.window[:, few]).sum(0) >= N[few]).any())


def meet(stream: Stream, new: Array, noise: Noise) -> Stream:
    """Measure strange features by their values so far; noise and level are the usual ones of the others.

    They take no part in the filter until `refresh` has learned their loadings.
    """
    if stream.model is None:
        return stream
    shift, scale = standards(stream.window[:, new], noise)
    count = np.isfinite(stream.window[:, new]).sum(0)
    a, b = stream.shift.copy(), stream.scale.copy()
    a[new], b[new] = np.where(count > 0, shift, a[new]), np.where(count >= SCALE, scale, b[new])
    m, known = stream.model, ~strange(stream)
    known = known if known.any() else new
    R, phi, q, p0 = (np.where(new, np.median(part[known]), part) for part in (m.R, m.phi, m.q, m.p0))
    model = m._replace(R=R, phi=phi, q=q, p0=p0, mean=np.where(new, 0.0, m.mean), C=np.where(new[:, None], 0.0, m.C))
    return stream._replace(shift=a, scale=b, model=model)


def raw_info(info: StepInfo, stream: Stream) -> StepInfo:
    """The same facts in the data's units (log-density included)."""
    with np.errstate(over="ignore"):  # the square of a large unit
        var = stream.scale**2 * info.var
    return info._replace(
        logp=info.logp - float(np.log(stream.scale[info.seen]).sum()),
        mean=stream.shift + stream.scale * info.mean,
        var=var,
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
    good = (n >= SCALE) & (sd > 1e-12)
    mean, sd = np.ldexp(mean, unit), np.ldexp(sd, unit)
    if not good.any():
        return mean, np.where(mean == 0.0, 1.0, np.abs(mean))
    return np.where(n > 0, mean, np.median(mean[good])), np.where(good, sd, np.median(sd[good]))


def restart(stream: Stream, opt: Options) -> Stream:
    """Fit the warm-up rows from scratch and filter to their end; the buffer is dropped when the warm-up is over."""
    Y = stream.window
    shift, scale = standards(Y, opt.noise)
    Z = (Y - shift) / scale
    if len(Y) >= opt.warmup:
        Z[:, np.isfinite(Z).sum(0) < SCALE] = np.nan  # too little to know them by: strange ones, to be met
    kind = opt.candidates[0]
    if len(Y) > ENOUGH:
        kind, _ = choose(Z, opt.r, opt.candidates, law=opt.law, noise=opt.noise, sweeps=opt.sweeps, offline=False)
    f = fit(Z, opt.r, law=opt.law, noise=opt.noise, sweeps=opt.sweeps, **kind._asdict())
    return resumed(f, shift, scale, Y, opt, stream.epoch + 1)


def resumed(f: Fit, shift: Array, scale: Array, Y: Array, opt: Options, epoch: int = 1) -> Stream:
    """The stream that goes on where a fit of the raw rows Y ended; its warm-up goes on too where Y was short."""
    end = f.smoothed.end
    warm = Stream(len(Y), shift, scale, f.model, f.prior, end, None, Y, None, 0, epoch)
    return warm if len(Y) < opt.warmup else warm._replace(anchor=end, window=Y[:0], past=f.moments)


def refresh(stream: Stream, opt: Options) -> Stream:
    """Stepwise EM over the last window. O(window m r^2 + m r^3), a few times that where features are new."""
    model, prior, state, anchor, old = stream.model, stream.prior, stream.state, stream.anchor, stream.past
    if model is None or prior is None or state is None or anchor is None or old is None:
        raise ValueError("refresh needs a stream whose warm-up is over")
    Z = (stream.window - stream.shift) / stream.scale
    Z[:, strange(stream) & (np.isfinite(Z).sum(0) < SCALE)] = np.nan  # too little to know them by: they stay strange
    w = weights(model, Z, anchor)
    if w is not None and (gone := moved(w, Z) & ~strange(stream)).any():  # met again, where they are now
        there = np.where(gone & (w >= OUT), np.nan, stream.window)
        return refresh(meet(stream._replace(past=forget(old, gone), window=there), gone, opt.noise), opt)
    followed = model
    new = strange(stream) & np.isfinite(Z).any(0)
    change = Change(np.zeros_like(model.C), new, model.p0)
    anchor, old = change.of(anchor), forget(old, new)
    for centred in ((True, False) if model.p0.any() else (False,)) * (4 if new.any() else 1):
        _, mom = expect(model, Z, w, anchor)
        before, past = model.C, add(old, mom, opt.decay ** (len(Z) / opt.window))
        model = maximise(model, past, prior, opt.law, centred=centred)
        if centred:  # the levels, those of the past too, must follow the loadings
            step = model.C - before
            old = recentre(old, step)
            anchor = Change(step, np.zeros_like(new), model.p0).of(anchor)
            change = change._replace(step=change.step + step)
    prior = prior._replace(alpha=relevance(model)) if len(model.A) else prior
    if opt.drift:  # C has been followed row by row
        model = model._replace(
            C=np.where(new[:, None], model.C, followed.C), V=np.where(new[:, None, None], model.V, followed.V)
        )
    state = change.of(state)
    N = np.clip(past.N, 2.0, np.inf)  # variances learned from few values are as wide as Student's quantiles
    wide = np.where(N < KNOWN, (stdtrit(N - 1.0, 0.975) / 1.959964) ** 2, 1.0)
    model = model._replace(R=wide * model.R, q=wide * model.q)
    if new.any():
        state = filter_rows(model, Z, anchor)[0][-1]
    return stream._replace(
        model=model,
        prior=prior,
        past=past,
        window=Z[:0],
        state=state,
        anchor=state,
        refreshes=stream.refreshes + 1,
        change=change,
    )


def moved(w: Array, Z: Array) -> Array:
    """Features most of whose entries in a window were outliers: they are somewhere else now. (m,) bool."""
    seen = np.isfinite(Z)
    return np.asarray((seen.sum(0) >= ACQUAINTED) & ((seen & (w < OUT)).sum(0) > 0.5 * seen.sum(0)))
