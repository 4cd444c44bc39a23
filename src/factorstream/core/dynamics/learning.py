"""Learning in one pass over a stream: fit the warm-up anew, then stepwise EM in windows; features may start late."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..absurd_rows import absurd_entries
from ..entries import without
from ..linalg import Array
from .choose import HIDDEN_PERIOD, choose
from .em import maximise
from .few import FEWEST_ROWS, choose_few, stretches
from .filter import filter_rows
from .fit import Kind, fit, smoothed, with_relevance
from .model import Belief, Emission, Levels, SequenceModel, with_R
from .moments import Moments, add, exchanged, forget, recentre
from .noise import NoiseSpec
from .outliers import expect, weights
from .scale import MIN_SCALE_VALUES, standards, student_factor
from .stream import (
    Event,
    Fitted,
    Learning,
    LevelChange,
    Refresh,
    Restart,
    Step,
    Stream,
    StreamOptions,
    begun,
    filter_row,
    new_stream,
    resumed,
)

MIN_ROWS_TO_CHOOSE = 2 * HIDDEN_PERIOD
"""Rows up to which the kind of model is chosen by hiding every entry once, and from which on by some held-out runs: two
periods of these. Not tuned: at 60, tables of 80 rows have 3% less error in gaps and 1% less in forecasts, and intervals
2% wider. It matters at 200: those of 150 rows have 12% more in gaps and 5% more in forecasts, and intervals 3% narrower
that hold 2 points less (``benchmarks/sequence_defaults.py``, as all figures of this kind)."""
MIN_VALUES = 8
"""Values after which a feature that starts late is learned; learned again at every doubling. Not tuned: between 4 and
16 the errors in such features move by at most 1.5%; with levels, intervals are 3% wider at 4
(``benchmarks/sequence_defaults.py``)."""
SETTLED_VALUES = 64
"""Values from which on a feature waits for the end of a window like the others: half a window. Not tuned: between 32
and 128 the errors in late features move by at most 0.5% (``benchmarks/sequence_defaults.py``)."""
OUTLIER_WEIGHT = 0.1
"""Weight below which an entry is an outlier: at nu = 4, from seven standard deviations on. Not tuned: errors move by at
most 0.06% between 0.05 and 0.2 (``benchmarks/sequence_defaults.py``)."""
NEW_FEATURE_TURNS = 4
"""Turns of EM over a window in which a feature is new, so that its loadings settle. Not tuned, and it matters: with
levels, 2 turns give 8% more error in gaps of such features and intervals 4% wider, 8 turns 1.4% less and intervals 3%
narrower; without, all give the same errors within 0.1% (``benchmarks/sequence_defaults.py``)."""


def advance(stream: Stream, y: Array, opt: StreamOptions, calibrate: bool = False) -> tuple[Stream, Event]:
    """Take one raw row (m,), NaN = missing, and say what happened. O(m r²), plus O(window m r²) once per window.

    Rows 1, 2, 4, 8 .. warmup, from the first with data: EM on all rows so far (kept until then). Afterwards every
    `window` rows, and when a feature that is new has 8, 16, 32, 64 values: one E-step over the window, moments added to
    the decayed past, one M-step (stepwise EM). Only rows with data decay the past, and nothing is learned or forgotten
    of a feature without data in the window. The schedule depends on the rows alone, so any split of the stream gives
    the same result. The event's innovation is about the prediction made BEFORE y was seen, in raw units. `calibrate`:
    see `restart`.
    """
    before = stream.window
    if stream.rows and stream.learning is None and not np.isfinite(stream.window).any():  # no data yet: begin here
        stream = new_stream(len(y))
    window = np.vstack([stream.window, y])
    stream = stream._replace(rows=stream.rows + 1, window=window)
    new = unseen(stream) & np.isfinite(window).any(0)
    if new.any():
        stream = init_new(stream, new, opt.noise)
    innovation = None
    if stream.fitted is not None:
        z = np.where(new, np.nan, (y - stream.shift) / stream.scale)
        stream, innovation = filter_row(stream, stream.fitted, z)
    rows = stream.rows
    if rows <= opt.warmup:
        if rows & (rows - 1) == 0 or rows == opt.warmup:
            stream, widths = restart(stream, opt, calibrate)
            return stream, Restart(innovation, np.vstack([before, y]), widths)
        return stream, Step(innovation)
    count = np.isfinite(window[:, new]).sum(0)
    due = len(window) >= (2 * opt.window if new.any() else opt.window)
    if due and stream.learning is not None and stream.fitted is not None and not np.isfinite(window).any():
        learning = stream.learning._replace(anchor=stream.fitted.belief)  # where the next window begins
        return stream._replace(learning=learning, window=window[:0]), Step(innovation)
    if due or (count == MIN_VALUES).any() or needs_refresh(stream):
        stream, change = refresh(stream, opt)
        return stream, Refresh(innovation, change)
    return stream, Step(innovation)


def restart(stream: Stream, opt: StreamOptions, calibrate: bool = False) -> tuple[Stream, tuple[float, float]]:
    """Fit the warm-up rows from scratch and filter to their end; the buffer is dropped when the warm-up is over.

    The rows are judged together: what the first of them could not show to be absurd is missing from here on. With
    `calibrate`, also the factors on the standard deviations of gaps and forecasts where rows are few; they are 1
    below FEWEST_ROWS and above MIN_ROWS_TO_CHOOSE.
    """
    Y = without(stream.window, absurd_entries(stream.window))
    shift, scale = standards(Y, opt.noise)
    Z = (Y - shift) / scale
    if len(Y) >= opt.warmup:
        Z[:, np.isfinite(Z).sum(0) < MIN_SCALE_VALUES] = np.nan  # too few values: unseen until more come
    kind, widths = _kind(Z, opt, calibrate)
    f = fit(Z, opt.r, kind, dynamics=opt.dynamics, noise=opt.noise, sweeps=opt.sweeps)
    return resumed(f, shift, scale, Y, opt), widths


def _kind(Z: Array, opt: StreamOptions, calibrate: bool) -> tuple[Kind, tuple[float, float]]:
    """The kind of model that the standardised rows Z of a warm-up ask for, by hidden entries, and its widths."""
    how: dict[str, Any] = {"dynamics": opt.dynamics, "noise": opt.noise, "drift": opt.drift, "sweeps": opt.sweeps}
    if len(Z) > MIN_ROWS_TO_CHOOSE:
        some = len(opt.candidates) > 1
        kind = choose(Z, opt.r, opt.candidates, offline=False, **how).kind if some else opt.candidates[0]
        return kind, (1.0, 1.0)
    kind, hidden = choose_few(Z, opt.r, opt.candidates, answers=smoothed, **how)
    if not calibrate or len(Z) < FEWEST_ROWS:
        return kind, (1.0, 1.0)
    return kind, stretches(Z, opt.r, kind, answers=smoothed, hidden=hidden, **how)


def refresh(stream: Stream, opt: StreamOptions) -> tuple[Stream, LevelChange | None]:
    """Stepwise EM over the last window. O(window m r² + m r³), a few times that where features are new."""
    if stream.fitted is None or stream.learning is None:
        raise ValueError("refresh needs a stream whose warm-up is over")
    anchor, old = stream.learning
    Z = (stream.window - stream.shift) / stream.scale
    Z[:, unseen(stream) & (np.isfinite(Z).sum(0) < MIN_SCALE_VALUES)] = np.nan  # too few values: still unseen
    w = weights(stream.fitted.now, Z, anchor)
    if w is not None and (elsewhere := relocated(w, Z) & ~unseen(stream)).any():  # begin again where they are now
        there = np.where(elsewhere & (w >= OUTLIER_WEIGHT), np.nan, stream.window)
        forgot = stream._replace(learning=Learning(anchor, forget(old, elsewhere)), window=there)
        return refresh(init_new(forgot, elsewhere, opt.noise), opt)
    new = unseen(stream) & np.isfinite(Z).any(0)
    model, past, change, anchor = _learn(stream.fitted, stream.learning, Z, w, new, opt)
    prior = with_relevance(stream.fitted.prior, model)
    if stream.fitted.followed is not None:  # C has been followed row by row
        model = model._replace(emission=_kept(model.emission, stream.fitted.followed, new))
    belief = stream.fitted.belief if change is None else change.apply(stream.fitted.belief)
    model = widened(model, past.N)
    if new.any():
        belief = filter_rows(model, Z, anchor)[0][-1]
    learned = stream._replace(
        fitted=begun(model, prior, belief),
        learning=Learning(belief, past),
        window=Z[:0],
        refreshes=stream.refreshes + 1,
    )
    return learned, change


def _learn(
    fitted: Fitted, learning: Learning, Z: Array, w: Array | None, new: Array, opt: StreamOptions
) -> tuple[SequenceModel, Moments, LevelChange | None, Belief]:
    """The model, the moments, the change of older beliefs and the anchor after EM over the window Z."""
    model, prior = fitted.now, fitted.prior
    anchor, old = learning.anchor, forget(learning.past, new)
    change = None
    if model.levels is not None:
        change = LevelChange(np.zeros_like(model.emission.C), new, model.levels.p0)
        anchor = change.apply(anchor)
    silent = np.asarray(np.isnan(Z).all(0))
    decay = opt.decay ** (np.isfinite(Z).any(1).sum() / opt.window)
    for centred in ((False,) if change is None else (True, False)) * (NEW_FEATURE_TURNS if new.any() else 1):
        _, mom = expect(model, Z, w, anchor)
        before, past = model.emission.C, exchanged(add(old, mom, decay), old, silent)
        model = maximise(model, past, prior, opt.dynamics, centred=centred)
        if centred and change is not None:  # the levels, those of the past too, must follow the loadings
            step = model.emission.C - before
            old = recentre(old, step)
            anchor = change._replace(step=step, new=np.zeros_like(new)).apply(anchor)
            change = change._replace(step=change.step + step)
    return model, past, change, anchor


def _kept(learned: Emission, before: Emission, new: Array) -> Emission:
    """The learned emission with the loadings that were there before, but for features that are new."""
    V = learned.V
    if V is not None and before.V is not None:
        V = np.where(new[:, None, None], V, before.V)
    return learned._replace(C=np.where(new[:, None], learned.C, before.C), V=V)


def widened(model: SequenceModel, N: Array) -> SequenceModel:
    """The model with variances that were learned from few values, N (m,), made as wide as Student's quantiles."""
    wide = np.where(N < SETTLED_VALUES, student_factor(np.maximum(N, 2.0)) ** 2, 1.0)
    model = with_R(model, wide * model.noise.R)
    if model.levels is None:
        return model
    return model._replace(levels=model.levels._replace(q=wide * model.levels.q))


def unseen(stream: Stream) -> Array:
    """Features of which nothing had been seen when the last window began, the warm-up being over. (m,) bool."""
    if stream.learning is None:
        return np.zeros(len(stream.shift), dtype=bool)
    return np.asarray(stream.learning.past.N == 0)


def needs_refresh(stream: Stream) -> bool:
    """Whether a feature with few values so far has doubled their number since the last refresh. O(window)."""
    if stream.learning is None:
        return False
    N = stream.learning.past.N
    few = (N > 0) & (N < SETTLED_VALUES)
    return bool(few.any() and (np.isfinite(stream.window[:, few]).sum(0) >= N[few]).any())


def init_new(stream: Stream, new: Array, noise: NoiseSpec) -> Stream:
    """Measure new features by their values so far; noise and level are the median ones of the others.

    They take no part in the filter until `refresh` has learned their loadings.
    """
    if stream.fitted is None:
        return stream
    shift, scale = standards(stream.window[:, new], noise)
    count = np.isfinite(stream.window[:, new]).sum(0)
    a, b = stream.shift.copy(), stream.scale.copy()
    a[new], b[new] = np.where(count > 0, shift, a[new]), np.where(count >= MIN_SCALE_VALUES, scale, b[new])
    known = ~unseen(stream)
    known = known if known.any() else new

    def usual(part: Array) -> Array:
        return np.where(new, np.median(part[known]), part)

    def blank(emission: Emission) -> Emission:
        return emission._replace(mean=np.where(new, 0.0, emission.mean), C=np.where(new[:, None], 0.0, emission.C))

    model, _, _, followed = stream.fitted
    levels = None if model.levels is None else Levels(*map(usual, model.levels))
    model = with_R(model, usual(model.noise.R))._replace(emission=blank(model.emission), levels=levels)
    fitted = stream.fitted._replace(model=model, followed=None if followed is None else blank(followed))
    return stream._replace(shift=a, scale=b, fitted=fitted)


def relocated(w: Array, Z: Array) -> Array:
    """Features most of whose entries in a window were outliers: they are somewhere else now. (m,) bool."""
    seen = np.isfinite(Z)
    outliers = (seen & (w < OUTLIER_WEIGHT)).sum(0)
    return np.asarray((seen.sum(0) >= MIN_VALUES) & (2 * outliers > seen.sum(0)))
