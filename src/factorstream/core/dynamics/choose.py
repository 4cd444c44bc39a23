"""What hidden observed entries say: which kind of model to fit, and how much wider its errors are than it claims."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from ..linalg import Array
from ..telling import Tell, silent
from .drift import with_drift
from .em import LEARNED, DynamicsSpec
from .filter import filter_rows
from .fit import ALL_LEVELS, LEVELS, WALKS, Kind, filtered, fit, smoothed
from .model import Answer, SequenceModel, Smoothed
from .noise import GaussianSpec, NoiseSpec
from .scale import LEAST_KNOWN, student_factor

COMPARED_ROWS = 1024
"""Rows on which kinds of models are compared, to bound the cost. Not tuned: at 512 errors do not move and intervals are
0.9% narrower. It matters at 2048, where all of 1440 rows are compared and some sequences get another kind of model: 22%
more error in gaps, 7% in forecasts, intervals 10.5% wider (``benchmarks/sequence_defaults.py``)."""
HORIZON = 10
"""Steps ahead over which forecasts are judged. Not tuned: between 5 and 20 the width of intervals moves by at most
0.9%, their coverage by 0.2 points (``benchmarks/sequence_defaults.py``, as all figures of this kind)."""
HIDDEN_RUN, HIDDEN_PERIOD, HIDDEN_SHIFT = 10, 50, 17
"""Rows of a hidden run, rows from one run to the next, and rows by which the runs of the next feature are shifted: a
fifth of the entries are hidden, and as 17 and 50 have no common divisor the runs of 50 features all differ. Not tuned,
and they matter: which kind of model is taken depends on what is hidden. In 240 rows of six features, runs of 5 or 20
rows: up to 2.2% more error in gaps and 2.6% in forecasts, intervals up to 6% wider; 30 rows from run to run: 2% more in
gaps; 75: 11% more in gaps where there are levels, intervals 5% wider; shifts of 7 or 29 rows: 2.4% more in gaps and
1.9% in forecasts, intervals up to 3% wider (``benchmarks/sequence_defaults.py``)."""
MIN_Z = 1.5
"""Standard errors by which straight lines must be beaten. Not tuned: between a coin's toss and a test at 5%. It
matters: at 2.5 they are taken more often: in London's air 2.5% more error in gaps, 5% in forecasts and intervals 16%
wider, in random walks with noise 3% more error in gaps. At 1 less often: 1.9% more error in gaps in London's air, 2.2%
less and intervals 5% narrower in random walks with noise (``benchmarks/sequence_defaults.py``)."""
MIN_STRETCH = 0.9
"""Calibration may widen intervals without limit, but narrow them by no more than this. Not tuned: at 0.8 intervals are
up to 0.6% narrower, at 1 up to 1.5% wider (``benchmarks/sequence_defaults.py``)."""
WIDE, USUAL = 0.95, 0.8
"""Shares of the errors that set the width of intervals: that of an interval of 95%, and under Student-t noise one that
few outliers reach. The second is not tuned: where levels jump beside 5% of outliers, intervals are 4% narrower at 0.7
and 3% wider at 0.9, and hold 0.4 points less and more; elsewhere they move by at most 0.4%
(``benchmarks/sequence_defaults.py``)."""
PARTS = 3
"""One part in this many, the last rows, is predicted by what the others teach. Not tuned: after a fit, forecasts have
up to 2.3% more error at 2 and 1.3% at 5, and the width of intervals moves by up to 2.4%, their coverage by 0.5 points.
It matters where a stream chooses its kind of model: gaps have 15% more error at 2 and 23% more at 5, forecasts 6%, and
intervals hold 2 and 3 points less (``benchmarks/sequence_defaults.py``)."""
TRIAL_SWEEPS = 8
"""Sweeps of a fit on whose errors something is judged, at most: see ``sweeps`` of `choose`."""
PRIOR_COUNT = 100.0
"""Pseudo-count that shrinks the factor on intervals to 1, so that few entries do not decide. Not tuned: between 30 and
300 the width moves by +0.6% to -0.9%, the coverage by at most 0.3 points (``benchmarks/sequence_defaults.py``)."""


class HiddenRuns(NamedTuple):
    """Observed entries that are hidden, and what is said of them beside the model that is judged."""

    hide: Array  # (T, m) bool
    run: Array  # number of the run that each hidden entry belongs to
    beside: Array | float = 0.0  # (T, m) variance of what was taken off the rows before, in their units


def held_out(
    Y: Array, length: int = HIDDEN_RUN, period: int = HIDDEN_PERIOD, like: Array | None = None
) -> tuple[Array, Array]:
    """Observed entries to hide: in each feature a run of `length` rows every `period` rows; nothing random.

    `like` (m,): the number of the feature in whose rows each one is hidden; None: its own.
    Returns (T, m) bool, and the number of the run that each hidden entry belongs to.
    """
    T, m = Y.shape
    place = np.arange(T)[:, None] + ((np.arange(m) if like is None else like) * HIDDEN_SHIFT) % period
    hide = np.asarray((place % period < length) & np.isfinite(Y))
    return hide, (place // period * m + np.arange(m))[hide]


class Choice(NamedTuple):
    """What held-out entries say: the kind of model, and how much wider its errors are than it claims."""

    kind: Kind
    stretch: float = 1.0
    turns: bool = False  # beside cycles


class _Candidate(NamedTuple):
    choice: Choice
    model: SequenceModel
    errors: Array  # of every hidden run


def choose(
    Y: Array,
    r: int,
    candidates: Sequence[Kind],
    *,
    dynamics: DynamicsSpec = LEARNED,
    noise: NoiseSpec = GaussianSpec(),  # noqa: B008  an immutable tuple
    drift: float | None = None,
    follow_by: Callable[[SequenceModel, Array], Answer] = smoothed,
    sweeps: int = TRIAL_SWEEPS,
    rows: int = COMPARED_ROWS,
    offline: bool = True,
    hidden: HiddenRuns | None = None,
    cycles: Array | None = None,
    tell: Tell = silent,
) -> Choice:
    """The kind whose fit predicts held-out OBSERVED runs of the last `rows` rows best. One fit each.

    `offline`: judge what a smoother fills in (with a `drift` of C: what `follow_by` does, `smoothed` or `filtered`) or,
    for streams, what the filter does in the last third with what the first two thirds taught: common shapes of random
    walks fit the past, not the future. `hidden`: the runs of all of Y, where others than `held_out` are asked for.
    Errors count by the `loss` of the noise asked for, so that an outlier under Student-t noise does not decide.
    `cycles`: the first candidate is tried beside them too, and wins unless it is clearly worse than the best without.
    Random walks win unless another kind is better by MIN_Z standard errors. Exception: if the first candidate fills no
    worse and predicts rows better by 2 MIN_Z, it wins. `sweeps` bounds the cost and is not tuned: with 16, errors move
    by at most 0.1%; with 4, another kind is chosen for some sequences, up to 2.4% more error in gaps
    (``benchmarks/sequence_defaults.py``).
    """
    Y = Y[-rows:]
    hide, run, beside = hidden or HiddenRuns(*held_out(Y))
    Z = np.where(hide, np.nan, Y)
    learn = Z if offline else Z[: (PARTS - 1) * len(Z) // PARTS]
    judged = np.nonzero(hide)[0] >= (0 if offline else len(learn))
    if not judged.any():
        return Choice(candidates[0])
    _, run = np.unique(run[judged], return_inverse=True)
    found: list[_Candidate] = []
    specs = [(kind, dynamics) for kind in candidates]
    if cycles is not None:
        specs.append((candidates[0], dynamics._replace(cycles=cycles)))
    for kind, spec in specs:
        turns = spec is not dynamics
        if kind == ALL_LEVELS and found and found[0].choice.kind == LEVELS and _has_all(found[0].model, r):
            found.append(found[0]._replace(choice=found[0].choice._replace(kind=kind)))  # the same fit
            continue
        f = fit(learn, r, kind, dynamics=spec, noise=noise, sweeps=sweeps, tell=tell)
        answer: Answer | Smoothed
        if offline:
            answer = f.smoothed if drift is None else follow_by(with_drift(f.model, drift), Z)
        else:
            answer = filtered(with_drift(f.model, drift), Z)
        off = np.abs(answer.signal - Y)[hide][judged]
        R = np.broadcast_to(f.model.noise.R, Y.shape)
        size = f.model.noise.normal_size(off, (answer.var + beside)[hide][judged], R[hide][judged])
        N = np.isfinite(learn).sum(0)
        wider, known = (np.broadcast_to(part, Y.shape)[hide][judged] for part in (student_factor(N), N >= LEAST_KNOWN))
        size = (size / wider)[known]
        errors = np.bincount(run, weights=noise.loss(off))
        found.append(_Candidate(Choice(kind, stretch(size, noise), turns), f.model, errors))
    return _best(found, Z)


def _has_all(model: SequenceModel, r: int) -> bool:
    """Whether changes have shown as many components as there may be, so that asking for all of them changes nothing."""
    m, found = model.emission.C.shape
    return bool(found == min(r, m))


def _best(found: Sequence[_Candidate], Z: Array) -> Choice:
    """The candidate with the least errors; that beside cycles if it is not clearly beaten, and else random walks if
    they are not (see `choose`)."""
    if found[-1].choice.turns:
        *found, turning = found
        least = min(found, key=lambda one: float(one.errors.sum()))
        if not clearly(np.sqrt(turning.errors) - np.sqrt(least.errors), MIN_Z):
            return turning.choice
    best = min(found, key=lambda one: float(one.errors.sum()))
    for walk in found:
        if walk.choice.kind == WALKS and not clearly(np.sqrt(walk.errors) - np.sqrt(best.errors), MIN_Z):
            first = found[0]
            worse = clearly(np.sqrt(first.errors) - np.sqrt(walk.errors), MIN_Z)
            noisy = not worse and clearly(surprises(walk.model, Z) - surprises(first.model, Z), 2 * MIN_Z)
            return first.choice if noisy else walk.choice
    return best.choice


def clearly(gain: Array, by: float) -> bool:
    """Whether the mean gain is above zero by more than `by` of its standard errors."""
    return len(gain) > 0 and bool(gain.mean() > by * gain.std() / np.sqrt(len(gain)))


def surprises(model: SequenceModel, Y: Array) -> Array:
    """Squared errors of the observed entries of Y as the rows before them predict them."""
    innovations = filter_rows(model, Y)[1]
    return (np.array([one.mean for one in innovations])[1:] - Y[1:])[np.isfinite(Y[1:])] ** 2


def stretch(size: Array, noise: NoiseSpec) -> float:
    """The factor on standard deviations at which errors of `size` (see `normal_size`) are as large as they should be.

    It is the 95% quantile over that of a Gaussian (see `width` of the noise), drawn towards 1 as if PRIOR_COUNT more
    entries had been right; at least MIN_STRETCH, since gaps shorter or longer than the hidden runs may need the width
    that those do not. Gaps of all features share one: with factors of their own, what intervals of single features held
    was as far from 95% on average, within half a point (London's air, hourly rentals, made-up sequences).
    """
    if not len(size):
        return 1.0
    wide, usual = (float(np.quantile(size, held) / ndtri((1.0 + held) / 2.0)) for held in (WIDE, USUAL))
    factor = noise.width(wide, usual)
    return float(max(factor, MIN_STRETCH) ** (len(size) / (len(size) + PRIOR_COUNT)))
