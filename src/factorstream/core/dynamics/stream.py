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
from .widths import Foretold, Width, begin_width


class StreamOptions(NamedTuple):
    """Settings of a stream; `decay` forgets: memory of about window / (1 - decay) rows.

    The numbers of rows and the decay are not tuned: powers of two, and a memory of ten windows. They matter. Errors
    of gaps, with slow levels and where the loadings change, relative to those by these values, measured before a
    stream weighed several kinds of models: warm-up 128: +3% and +3%, 512: +10% and -17%; window 64: -8% and -10%, 256:
    +17% and +10%; decay 0.8: -2% and -3%, 0.95: +1% and +1%; sweeps 4: +1% and -6%, 16: -6% and 0%. Those of forecasts
    move by -4% to +7%, widths by -6% to +2%, and coverage by -3 to +2 points (``benchmarks/sequence_defaults.py``).
    """

    r: int = 10
    candidates: tuple[Kind, ...] = (LEVELS, ALL_LEVELS, STATES)
    dynamics: DynamicsSpec = LEARNED
    noise: NoiseSpec = GaussianSpec()
    drift: float | None = None  # Q_V asked for; whether a model's dictionary drifts is in its emission
    warmup: int = 256
    window: int = 128
    decay: float = 0.9
    sweeps: int = 8  # of a fit of the warm-up
    keep: int = 1  # last rows whose beliefs are kept


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


class Candidate(NamedTuple):
    """One of the kinds of models that a stream weighs against each other, with all that it has learned so far."""

    kind: Kind
    fitted: Fitted
    shadow: Belief  # after the last row, of a filter from which some observed entries are hidden
    recent: tuple[Belief, ...]  # filtered, of the last rows, at most `keep`; the last one is that of `fitted`
    learning: Learning | None = None  # None: the warm-up goes on
    would_learn: Learning | None = None  # what it would go on from if the warm-up ended now; None: it is over
    score: float = 0.0  # log-density of what came, as it was foretold; what is long ago counts less
    calm: float = 0.0  # the same before the last row or, while entries are under suspicion, before the first of these
    gaps: Width = begin_width(0)
    ahead: Width = begin_width(0)
    foretold: Foretold | None = None  # a forecast whose rows have not all come yet


class Task(NamedTuple):
    """How far one candidate has come in a `Job`."""

    kind: Kind
    model: SequenceModel | None = None  # as learned so far; None: not begun
    prior: LoadingPrior | None = None
    anchor: Belief | None = None  # before the first row; None: the model's prior
    past: Moments | None = None  # of earlier rows, which count with those of the job; None: a new fit
    moments: Moments | None = None  # behind the model
    change: Array | None = None  # (m, r) by which loadings have moved so far; None: there are no levels, or a new fit
    w: Array | None = None  # (rows, m) weights of the entries; None: the noise gives none
    turn: int = 0  # sweeps over the rows that are done; -1: weights are still to be found
    at: int = 0  # rows that this sweep has passed
    belief: Belief | None = None  # filtered, after these; None: there are none
    total: Moments | None = None  # of these
    logp: float = 0.0  # log-density of these
    bounds: tuple[float, ...] = ()  # of the last two sweeps
    caught: Candidate | None = None  # the learned model on its way from the first row to the last
    end: Belief | None = None  # filtered by the learned model, after the job's rows


class Job(NamedTuple):
    """Learning that is under way: every row does a piece of it (see `spread`)."""

    rows: int  # the first rows of the window, from which is learned
    known: float  # share of these rows that the models so far have learned from; 1 after the warm-up
    shift: Array  # (m,) units that hold when it is done
    scale: Array  # (m,)
    fresh: bool  # a fit from scratch, or stepwise EM on what is known
    new: Array  # (m,) bool: features of which nothing was known before
    muted: Array  # (m,) bool: features with too few values to learn anything of them
    tasks: tuple[Task, ...]


class Stream(NamedTuple):
    """Everything a stream remembers: O(m r² + warmup m) numbers, whatever its length."""

    rows: int
    # raw = shift + scale · standardised, both fixed when the warm-up ends or the feature's first values come
    shift: Array  # (m,)
    scale: Array  # (m,)
    window: Array  # (k, m) raw rows since those that were last learned from; in the warm-up all rows
    bank: tuple[Candidate, ...] = ()  # empty: no row yet
    leader: int = 0  # the candidate that answers
    job: Job | None = None  # None: there is nothing to learn at the moment
    known: int = 0  # first rows of the window that the candidates have learned from; none after the warm-up
    fits: int = 0  # rows that the last fit of the warm-up learns from
    refreshes: int = 0
    moved: Array | None = None  # (m,) of `shift`: by how much features have moved since; None: none has

    @property
    def as_learned(self) -> Stream:
        """The stream in the units in which its model was last learned."""
        return self if self.moved is None else self._replace(shift=self.shift - self.moved, moved=None)

    @property
    def fitted(self) -> Fitted | None:
        """That of the candidate that answers; None: no row yet."""
        return self.bank[self.leader].fitted if self.bank else None

    @property
    def learning(self) -> Learning | None:
        """That of the candidate that answers; None: the warm-up goes on."""
        return self.bank[self.leader].learning if self.bank else None


class LevelChange(NamedTuple):
    """What learning did to older beliefs: levels move with the loadings, and new features begin at their prior."""

    step: Array  # (m, r) change of the loadings; levels move by −step·x
    new: Array  # (m,) bool
    p0: Array  # (m,)

    def apply(self, s: Belief) -> Belief:
        """The belief `s` of an earlier row, as the stream afterwards would put it. O(m r)."""
        if s.levels is None:
            return s
        mean, B, d = s.levels
        mean, B = mean - self.step @ s.x, B - self.step
        new = self.new
        levels = LevelBelief(np.where(new, 0.0, mean), np.where(new[:, None], 0.0, B), np.where(new, self.p0, d))
        return s._replace(levels=levels)


class Outcome(NamedTuple):
    """What a row made happen, besides being filtered."""

    innovation: Innovation | None  # of the candidate that answers; None in the first row of a stream
    judged: Array | None = None  # raw rows of the warm-up that were looked at together, as they came
    counts: Array | None = None  # (m,) values of each feature in rows that a model was learned from; None: it was not
    known: float = 1.0  # share of these rows that the models before had learned from; 1: they were not fitted anew


def new_stream(m: int) -> Stream:
    """A stream of m features before its first row."""
    return Stream(0, np.zeros(m), np.ones(m), np.empty((0, m)))


def resumed(f: SequenceFit, kind: Kind, shift: Array, scale: Array, Y: Array, opt: StreamOptions) -> Stream:
    """The stream that goes on where a fit of the raw rows Y ended; its warm-up goes on too where Y was short."""
    end, m = f.smoothed.end, len(shift)
    short = len(Y) < opt.warmup
    go_on = Learning(end, f.moments)
    fitted = begun(with_drift(f.model, opt.drift), f.prior, end)
    width = begin_width(m)
    one = Candidate(kind, fitted, end, (end,), gaps=width, ahead=width)
    one = one._replace(would_learn=go_on) if short else one._replace(learning=go_on)
    known = len(Y) if short else 0
    return Stream(len(Y), shift, scale, Y if short else Y[:0], (one,), known=known, fits=len(Y))


def followed(stream: Stream, Z: Array) -> Stream:
    """The stream after its dictionary has followed the standardised rows Z that it was fitted to. O(T m r²)."""
    if stream.fitted is None or stream.fitted.followed is None:
        return stream
    ((model, end, _),) = deque(steps(stream.fitted.model, Z), maxlen=1)  # one dictionary at a time, not all of them
    one = stream.bank[0]
    learning, later = (each and each._replace(anchor=end) for each in (one.learning, one.would_learn))
    fitted = one.fitted._replace(belief=end, followed=model.emission)
    one = one._replace(fitted=fitted, learning=learning, would_learn=later, shadow=end, recent=(*one.recent[:-1], end))
    return stream._replace(bank=(one,))


def filter_row(c: Candidate, z: Array, hide: Array, keep: int, first: bool = False) -> tuple[Candidate, Innovation]:
    """Take one standardised row (m,) through both filters of a candidate; from one, some is hidden. O(m r²).

    `first`: the row is the first one of a sequence, and the candidate's beliefs are about it.
    """
    model = c.fitted.now
    before, shadow = c.fitted.belief, c.shadow
    if not first:
        before, shadow = predict(model, before), predict(model, shadow)
    belief, innovation = update(model, before, z)
    shadow = update(model, shadow, np.where(hide, np.nan, z))[0]
    fitted = c.fitted._replace(belief=belief)
    if fitted.followed is not None:
        fitted = fitted._replace(followed=follow(model, belief, z).emission)
    return c._replace(fitted=fitted, shadow=shadow, recent=(*c.recent, belief)[-keep:]), innovation


def in_units(innovation: Innovation, stream: Stream) -> Innovation:
    """The same facts in the data's units (log-density included)."""
    with np.errstate(over="ignore"):  # the square of a large unit
        var = stream.scale**2 * innovation.var
    return innovation._replace(
        logp=innovation.logp - float(np.log(stream.scale[innovation.seen]).sum()),
        mean=stream.shift + stream.scale * innovation.mean,
        var=var,
    )
