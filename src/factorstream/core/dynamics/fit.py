"""EM for whole sequences: start, sweep until the bound settles; and what a fitted model says about a sequence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np

from ..linalg import Array
from ..telling import Sweep, Tell, silent
from .cycles import beside_cycles
from .drift import follow
from .em import LEARNED, DynamicsSpec, LoadingPrior, apply_given, maximise, penalty, relevance
from .filter import entry, initial, predict, update
from .levels import smooth_levels
from .model import (
    Answer,
    Belief,
    Dynamics,
    Emission,
    Innovation,
    Levels,
    SequenceModel,
    Smoothed,
)
from .moments import Moments, observed_moments
from .noise import GaussianNoise, GaussianSpec, NoiseSpec
from .outliers import expect, reweigh, weights
from .smoother import smooth, smooth_states
from .start import start_levels, start_states

EARLY = 4
"""Sweeps, with levels, in which each entry is judged by the others only; no bound need rise in them. Not tuned: errors
move by at most 0.05% between 2 and 8 (``benchmarks/sequence_defaults.py``)."""
UNIT_ROOT_SWEEPS = 4
"""First sweeps, in which levels are tested for unit roots; later ones keep them. Not tuned: with slow levels, forecasts
have 2.4% less error at 2 and 0.7% more at 8, and errors in gaps move by at most 0.7%; elsewhere errors move by at most
0.2% (``benchmarks/sequence_defaults.py``)."""
WALK_NOISE = 1e-9
"""Noise variance of a random walk as a part of that of its steps: as good as none, and still to be divided by."""
LEAST_STEP, LEAST_OBSERVED_STEP = 1e-9, 1e-12
"""Variance of a walk's steps where none was seen, and its least where some were; keeps a division by zero away."""
FREE_START = 1e4
"""Variance of a walk's first value in units of what it can reach: as good as free."""

Kind = Literal["levels", "all levels", "states", "walks"]
"""What a model is made of: see the constants."""
LEVELS: Kind = "levels"
"""Shared states and a level per feature; no more states than common changes show."""
ALL_LEVELS: Kind = "all levels"
"""Shared states, as many as asked for, and a level per feature."""
STATES: Kind = "states"
"""Shared states only, as many as asked for."""
WALKS: Kind = "walks"
"""Every feature is a random walk without noise, and nothing is shared."""


class SequenceFit(NamedTuple):
    """What EM found, with the posterior of the data it was found from."""

    model: SequenceModel
    smoothed: Smoothed
    prior: LoadingPrior
    history: list[float]  # log-likelihood, or its bound, of every sweep
    moments: Moments


def fit(
    Y: Array,
    r: int,
    kind: Kind = LEVELS,
    *,
    dynamics: DynamicsSpec = LEARNED,
    noise: NoiseSpec = GaussianSpec(),  # noqa: B008  an immutable tuple
    sweeps: int = 30,
    tol: float = 1e-3,
    tell: Tell = silent,
) -> SequenceFit:
    """EM from the variogram start on standardised Y (T, m), NaN = missing. O(sweeps T m r²).

    Stops when two sweeps raise the bound by less than `tol` nats per observed entry and sweep. `sweeps` and `tol` are
    not tuned: errors move by -1.2% to +0.5% at tol 3e-4, by at most 0.3% at 3e-3, and not at all with 15 or 60 sweeps
    (``benchmarks/sequence_defaults.py``).
    """
    if kind == WALKS:
        return fit_walks(Y)
    model = first_model(noise.without_outliers(Y), r, kind, noise, dynamics.cycles)
    model = model._replace(dynamics=apply_given(model.dynamics, dynamics))
    r = len(model.dynamics.A)
    prior = LoadingPrior(np.full(r, float(max(r, 1))))  # a feature's variance of 1, shared by r columns
    n_obs = max(int(np.isfinite(Y).sum()), 1)
    has_levels = model.levels is not None
    w = weights(model, Y) if has_levels else None  # a level would learn from an outlier that it follows
    early = 0 if w is None else EARLY
    extra = 0.0
    history: list[float] = []
    for k in range(sweeps):
        s, mom = expect(model, Y, w)
        history.append(s.logp + extra - penalty(model, prior))
        tell(Sweep(k + 1, sweeps, len(Y), (history[-1] - history[-2]) / n_obs if k else None, r))
        if len(history) > (early + 2) and history[-1] - history[-3] < 2 * tol * n_obs:
            if has_levels:  # then s has what the last line below would find once more
                return SequenceFit(model, s, prior, history, mom)
            break
        weighed = reweigh(model, noise, Y, s, w, early=k < early)
        if weighed is not None:
            w, model, extra = weighed
            mom = mom if has_levels else observed_moments(Y, s, w)
        model = maximise(model, mom, prior, dynamics, centred=has_levels and k % 2 == 1, unit_root=k < UNIT_ROOT_SWEEPS)
        prior = with_relevance(prior, model)
    s, mom = expect(model, Y, w, entries=True)
    return SequenceFit(model, s, prior, history, mom)


def first_model(Y: Array, r: int, kind: Kind, noise: NoiseSpec, cycles: Array | None = None) -> SequenceModel:
    """Where EM starts for this kind of model; of its at most r states the first turn, two for every cycle."""
    if kind == WALKS:
        return walks_of(Y)
    if cycles is not None:
        return beside_cycles(Y, cycles, lambda rest: first_model(rest, r - 2 * len(cycles), kind, noise))
    return start_states(Y, r, noise) if kind == STATES else start_levels(Y, r, noise, select=kind == LEVELS)


def with_relevance(prior: LoadingPrior, model: SequenceModel) -> LoadingPrior:
    """The prior whose column precisions follow the model's loadings."""
    return prior._replace(alpha=relevance(model)) if len(model.dynamics.A) else prior


def fit_walks(Y: Array) -> SequenceFit:
    """Random walks without noise or anything shared: the smoother is then linear interpolation. O(T m)."""
    model = walks_of(Y)
    s, mom = smooth_levels(model, Y)
    return SequenceFit(model, s, LoadingPrior(np.zeros(0)), [s.logp], mom)


def walks_of(Y: Array) -> SequenceModel:
    """The random walks of `fit_walks`.

    Between two observed values a walk of variance q per row changes by N(0, q · rows), so the likelihood is largest at
    q_i = mean(change² / rows between them). The first value is left free: its prior is wide.
    """
    m = Y.shape[1]
    q, p0 = np.full(m, LEAST_STEP), np.ones(m)  # a feature without data keeps the prior's variance, 1
    for i, y in enumerate(Y.T):
        at = np.flatnonzero(np.isfinite(y))
        if len(at) > 1:
            q[i] = max(float(np.mean(np.diff(y[at]) ** 2 / np.diff(at))), LEAST_OBSERVED_STEP)
        if len(at):
            p0[i] = FREE_START * (q[i] * len(Y) + 1.0)
    empty = np.zeros((0, 0))
    emission = Emission(np.zeros((m, 0)), np.zeros(m))
    levels = Levels(np.ones(m), q, p0)
    return SequenceModel(Dynamics(empty, empty, empty), emission, GaussianNoise(WALK_NOISE * q), levels)


def smoothed(model: SequenceModel, Y: Array) -> Answer:
    """What the whole of Y says about every entry of it; where C drifts, see `smoothed_states`. O(T m r²)."""
    if model.emission.drift is not None:
        return smoothed_states(model, Y)
    w = weights(model, Y)
    if model.levels is not None:
        return _answer(smooth_levels(model, Y, w)[0])
    try:
        return _answer(smooth(model, Y, w))
    except np.linalg.LinAlgError:  # precisions too far apart for one factor of all rows, as after a change of units
        return smoothed_states(model, Y)


def _answer(s: Smoothed) -> Answer:
    return Answer(s.x, s.signal, s.var)


def smoothed_states(model: SequenceModel, Y: Array) -> Answer:
    """What the states given all of Y, and the dictionary given the rows so far, say about every entry. O(T m r²).

    x_t is smoothed: the filter goes forward while C follows the rows, and the Rauch-Tung-Striebel recursion, which
    needs A and Q only, comes back over its beliefs. C_t and V_t are not: they are what the rows up to t say, as in
    `filtered`. So the variance of an entry is c_tᵀP_t c_t + tr V_t (x_t x_tᵀ + P_t) with x_t, P_t given every row and
    c_t, V_t given rows 1..t, the two taken as independent. The rows are filtered twice, because the V_t of all rows
    at once would be T m r² numbers.
    """
    T, m = Y.shape
    states = smooth_states(model, [s for _, s, _ in steps(model, Y)])
    out = Answer(np.empty((T, len(model.dynamics.A))), np.empty((T, m)), np.empty((T, m)))
    for t, ((now, _, _), s) in enumerate(zip(steps(model, Y), states, strict=True)):
        out.x[t] = s.x
        out.signal[t], out.var[t] = entry(now, s)
    return out


def steps(model: SequenceModel, Y: Array) -> Iterator[tuple[SequenceModel, Belief, Innovation]]:
    """Filter the rows of Y one after another from the prior; C follows the data where it drifts. O(m r²) each."""
    s: Belief | None = None
    for y in Y:
        s, innovation = update(model, initial(model) if s is None else predict(model, s), y)
        model = follow(model, s, y)
        yield model, s, innovation


def filtered(model: SequenceModel, Y: Array) -> Answer:
    """What each row and those before it say about its entries. O(T m r²)."""
    T, m = Y.shape
    out = Answer(np.empty((T, len(model.dynamics.A))), np.empty((T, m)), np.empty((T, m)))
    for t, (now, s, _) in enumerate(steps(model, Y)):
        out.x[t] = s.x
        out.signal[t], out.var[t] = entry(now, s)
    return out
