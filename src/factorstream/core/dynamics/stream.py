"""What a stream of rows carries from row to row, and how one row changes it; learning is in `learning`."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np

from ..linalg import Array
from .drift import follow, with_drift
from .em import LEARNED, DynamicsSpec, LoadingPrior
from .filter import predict, update
from .fit import ALL_LEVELS, LEVELS, STATES, Kind, SequenceFit, steps
from .model import Belief, Emission, Innovation, LevelBelief, SequenceModel
from .moments import Moments
from .noise import GaussianSpec, NoiseSpec


class StreamOptions(NamedTuple):
    """Settings of a stream; `decay` forgets: memory of about window / (1 - decay) rows.

    The numbers of rows and the decay are not tuned: powers of two, and a memory of ten windows. They matter. Errors
    of gaps, with slow levels and where the loadings change, relative to those by these values: warm-up 128: +3% and
    +3%, 512: +10% and -17%; window 64: -8% and -10%, 256: +17% and +10%; decay 0.8: -2% and -3%, 0.95: +1% and +1%;
    sweeps 4: +1% and -6%, 16: -6% and 0%. Those of forecasts move by -4% to +7%, widths by -6% to +2%, and
    coverage by -3 to +2 points (``benchmarks/sequence_defaults.py``).
    """

    r: int = 10
    candidates: tuple[Kind, ...] = (LEVELS, ALL_LEVELS, STATES)
    dynamics: DynamicsSpec = LEARNED
    noise: NoiseSpec = GaussianSpec()
    drift: float | None = None  # Q_V asked for; whether a model's dictionary drifts is in its emission
    warmup: int = 256
    window: int = 128
    decay: float = 0.9
    sweeps: int = 8  # of a fit of the warm-up, which is repeated at every power of two


class Fitted(NamedTuple):
    """The model of a stream, and the belief after the last row."""

    model: SequenceModel  # as it was last learned
    prior: LoadingPrior
    belief: Belief
    followed: Emission | None = None  # the dictionary as rows have moved it since; None: it does not drift

    @property
    def now(self) -> SequenceModel:
        """The model with its dictionary as it is after the last row."""
        return self.model if self.followed is None else self.model._replace(emission=self.followed)


def begun(model: SequenceModel, prior: LoadingPrior, belief: Belief) -> Fitted:
    """A model just learned: where its dictionary drifts, it is followed from here."""
    return Fitted(model, prior, belief, None if model.emission.drift is None else model.emission)


class Learning(NamedTuple):
    """What learning goes on from once the warm-up is over."""

    anchor: Belief  # filtered, before the first row of the window
    past: Moments  # of the rows before the window, decayed


class Stream(NamedTuple):
    """Everything a stream remembers: O(m r² + warmup m) numbers, whatever its length."""

    rows: int
    # raw = shift + scale · standardised, both fixed when the warm-up ends or the feature's first values come
    shift: Array  # (m,)
    scale: Array  # (m,)
    window: Array  # (k, m) raw rows since the last refresh; in the warm-up all rows
    fitted: Fitted | None = None  # None: no row yet
    learning: Learning | None = None  # None: the warm-up goes on
    refreshes: int = 0


class LevelChange(NamedTuple):
    """What a refresh did to older beliefs: levels move with the loadings, and new features begin at their prior."""

    step: Array  # (m, r) change of the loadings; levels move by −step·x
    new: Array  # (m,) bool
    p0: Array  # (m,)

    def apply(self, s: Belief) -> Belief:
        """The belief `s` of a row before the refresh, as the stream after it would put it. O(m r)."""
        if s.levels is None:
            return s
        mean, B, d = s.levels
        mean, B = mean - self.step @ s.x, B - self.step
        new = self.new
        levels = LevelBelief(np.where(new, 0.0, mean), np.where(new[:, None], 0.0, B), np.where(new, self.p0, d))
        return s._replace(levels=levels)


class Step(NamedTuple):
    """A row was filtered, and nothing was learned. The innovation is None in the first row of a stream."""

    innovation: Innovation | None


class Restart(NamedTuple):
    """A row was filtered, and all rows of the warm-up so far were fitted anew.

    `rows` are those fitted; where the stream began with rows without data, the last of these may come before them.
    """

    innovation: Innovation | None
    rows: Array
    widths: tuple[float, float] = (1.0, 1.0)  # factors on the standard deviations of gaps and of forecasts


class Refresh(NamedTuple):
    """A row was filtered, and the model learned from the last window; `change` is what that did to older beliefs."""

    innovation: Innovation | None
    change: LevelChange | None


Event = Step | Restart | Refresh


def new_stream(m: int) -> Stream:
    """A stream of m features before its first row."""
    return Stream(0, np.zeros(m), np.ones(m), np.empty((0, m)))


def resumed(f: SequenceFit, shift: Array, scale: Array, Y: Array, opt: StreamOptions) -> Stream:
    """The stream that goes on where a fit of the raw rows Y ended; its warm-up goes on too where Y was short."""
    end = f.smoothed.end
    warm = Stream(len(Y), shift, scale, Y, begun(with_drift(f.model, opt.drift), f.prior, end))
    return warm if len(Y) < opt.warmup else warm._replace(window=Y[:0], learning=Learning(end, f.moments))


def followed(stream: Stream, Z: Array) -> Stream:
    """The stream after its dictionary has followed the standardised rows Z that it was fitted to. O(T m r²)."""
    if stream.fitted is None or stream.fitted.followed is None:
        return stream
    ((model, end, _),) = deque(steps(stream.fitted.model, Z), maxlen=1)  # one dictionary at a time, not all of them
    fitted = stream.fitted._replace(belief=end, followed=model.emission)
    learning = None if stream.learning is None else stream.learning._replace(anchor=end)
    return stream._replace(fitted=fitted, learning=learning)


def filter_row(stream: Stream, fitted: Fitted, z: Array) -> tuple[Stream, Innovation]:
    """Take one standardised row (m,) through the filter; the innovation comes in the data's units. O(m r²)."""
    model = fitted.now
    belief, innovation = update(model, predict(model, fitted.belief), z)
    fitted = fitted._replace(belief=belief)
    if fitted.followed is not None:
        fitted = fitted._replace(followed=follow(model, belief, z).emission)
    return stream._replace(fitted=fitted), in_units(innovation, stream)


def in_units(innovation: Innovation, stream: Stream) -> Innovation:
    """The same facts in the data's units (log-density included)."""
    with np.errstate(over="ignore"):  # the square of a large unit
        var = stream.scale**2 * innovation.var
    return innovation._replace(
        logp=innovation.logp - float(np.log(stream.scale[innovation.seen]).sum()),
        mean=stream.shift + stream.scale * innovation.mean,
        var=var,
    )
