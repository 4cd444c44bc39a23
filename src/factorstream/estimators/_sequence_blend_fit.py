"""Which models fill gaps together with the one that was chosen, and with what weights: hidden entries say it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core.absurd import extremes
from ..core.dynamics.blend import Reading, Told, kept, weights_of, worth_it
from ..core.dynamics.choose import COMPARED_ROWS, HIDDEN_PERIOD, HIDDEN_SHIFT, TRIAL_SWEEPS, held_out, stretch
from ..core.dynamics.drift import with_drift
from ..core.dynamics.few import FEW_ROWS, FOLDS, folds, ranked_stretch
from ..core.dynamics.fit import ALL_LEVELS, STATES, WALKS, Kind, filtered, fit, smoothed
from ..core.dynamics.model import Answer, Smoothed
from ..core.dynamics.noise import GaussianSpec
from ..core.dynamics.scale import LEAST_KNOWN, student_factor
from ..core.dynamics.scores import as_they_are, normal_scores
from ..core.dynamics.stream import StreamOptions
from ..core.linalg import Array
from ..core.telling import Tell
from ._column_limits import shown_limits
from ._sequence import Parameter
from ._sequence_blend import Blend, Law, told

TRIED_ROWS = 2 * COMPARED_ROWS
"""The last rows by whose hidden entries models are weighed, to bound the cost. Not tuned: twice those by which one kind
is chosen, as weights and widths ask for more than a choice."""


MOST_COLUMNS, MOST_ENTRIES = 100, 10**6
"""Columns, and entries of all columns, up to which models are weighed. Not tuned: the first as for tables; more entries
take minutes."""
MORE_STATES = 2
"""How many times as many states the model of scores without levels may have, so that it errs otherwise than the others.
Not tuned: the next whole number; hidden entries decide how much it counts."""


class Candidate(NamedTuple):
    """A kind of model, of the values or of their scores."""

    kind: Kind
    scored: bool
    r: int  # states at most


def check_marginals(given: dict[str, Parameter], *, known: bool) -> None:
    """Refuse normal scores beside what is taken off the values."""
    layered = given["period"] is not None or given["trend"] is not False or known
    if given["marginals"] == "normal" and layered:
        raise ValueError(
            "marginals='normal' cannot go with period, trend or known columns, which are taken off the values; leave "
            "them out, or use marginals='auto', 'linear' or 'log'."
        )


def candidates(kind: Kind, opt: StreamOptions, given: dict[str, Parameter], shape: tuple[int, int]) -> list[Candidate]:
    """The models to weigh beside the one chosen, which comes first where values are read; one where nothing is."""
    kinds = [kind]
    if kind != WALKS:
        kinds += [other for other in (STATES if kind != STATES else ALL_LEVELS,) if other in opt.candidates]
    if given["marginals"] == "normal":
        return [Candidate(one, True, opt.r) for one in kinds]
    T, m = shape
    alone = (
        given["marginals"] in ("linear", "log")
        or T <= FEW_ROWS
        or m > MOST_COLUMNS
        or T * m > MOST_ENTRIES
        or kind == WALKS
    )
    if alone or opt.drift is not None or not isinstance(opt.noise, GaussianSpec):
        return [Candidate(kind, False, opt.r)]
    given_matrix = isinstance(opt.dynamics.A, np.ndarray) or isinstance(opt.dynamics.Q, np.ndarray)
    more = opt.r if given_matrix else MORE_STATES * opt.r
    scored = [Candidate(one, True, more if one == STATES else opt.r) for one in kinds]
    return [*(Candidate(one, False, opt.r) for one in kinds), *scored]


def planned_trials(shape: tuple[int, int], opt: StreamOptions, given: dict[str, Parameter]) -> list[tuple[int, int]]:
    """The sweeps that each fit of `learn_blend` may make, and their rows."""
    most = max(len(candidates(kind, opt, given, shape)) for kind in opt.candidates)
    normal, last, T = given["marginals"] == "normal", given["max_iter"], shape[0]
    assert isinstance(last, int)  # for the type checker: scikit-learn has checked it
    if most == 1 and not normal:
        return []
    parts = FOLDS if T <= FEW_ROWS else 1
    return [(TRIAL_SWEEPS, min(T, TRIED_ROWS))] * (most * parts) + [(last, T)] * (most - (not normal))


def learn_blend(
    Z: Array, Y: Array, kind: Kind, opt: StreamOptions, given: dict[str, Parameter], tell: Tell
) -> Blend | None:
    """What fills gaps of rows Y (T, m), standardised Z, together with a first model of this kind; None where that one
    is as good alone. A fit for each candidate, and another one for each that gets weight."""
    tried, m = candidates(kind, opt, given, Z.shape), Z.shape[1]
    normal, sweeps, tol = given["marginals"] == "normal", given["max_iter"], given["tol"]
    assert isinstance(sweeps, int)  # for the type checker: scikit-learn has checked them
    assert isinstance(tol, int | float)
    if len(tried) == 1 and not normal:
        return None
    how: dict[str, Any] = {"dynamics": opt.dynamics, "noise": opt.noise, "tell": tell}
    answers = smoothed if given["smooth"] else filtered
    last, few = Z[-TRIED_ROWS:], len(Z) <= FEW_ROWS
    trials = [_trial(last, hide, tried, opt, answers, how) for hide in (folds(Z) if few else [held_out(last)[0]])]
    trials = [one for one in trials if len(one.truth)]
    weights = _weights(trials, m, len(tried), at_once=normal)
    if weights is None:
        return None
    width, spread = _stretches(trials, weights, opt, few=few) if given["calibrate"] and trials else (1.0, 1.0)
    others = [k for k in np.flatnonzero(weights.any(axis=0)) if normal or k]
    readings = []
    for one in (tried[k] for k in others):
        scores = normal_scores(Z) if one.scored else as_they_are()
        found = fit(scores.of(Z), one.r, one.kind, sweeps=sweeps, tol=float(tol), **how)
        readings.append(Reading(scores, with_drift(found.model, opt.drift)))
    first = np.zeros(m) if normal else weights[:, 0]
    return Blend(tuple(readings), np.column_stack([first, weights[:, others]]), width, spread, *_limits(Y))


def _weights(trials: Sequence[_Trial], m: int, K: int, *, at_once: bool) -> Array | None:
    """Weights (m, K) of the candidates; None where the first is as good alone, unless it is to be weighed at once."""
    if not trials:
        return np.full((m, K), 1.0 / K) if at_once else None
    errors = np.hstack([one.law.means() - one.truth for one in trials])
    column, run = (np.concatenate(part) for part in zip(*((one.law.column, one.run) for one in trials), strict=True))
    if not at_once and not worth_it(errors, column, run, m):
        return None
    some = kept(weights_of(errors, column, m))
    weights = np.zeros((m, K))
    weights[:, some] = weights_of(errors[some], column, m)
    return weights if at_once or weights[:, 1:].any() else None


class _Trial(NamedTuple):
    """What the candidates say of hidden entries of columns with values enough."""

    law: Told
    truth: Array
    wider: Array  # Student's law of their columns
    run: Array  # the number of the run that each is in, those of the columns one after another


def _trial(
    Z: Array, hide: Array, tried: list[Candidate], opt: StreamOptions, answers: Any, how: dict[str, Any]
) -> _Trial:
    left = np.where(hide, np.nan, Z)
    N = np.isfinite(left).sum(0)
    scored = normal_scores(left)
    laws: list[Law] = []
    for one in tried:
        scores = scored if one.scored else as_they_are()
        S = scores.of(left)
        found = fit(S, one.r, one.kind, sweeps=TRIAL_SWEEPS, **how)
        answer: Answer | Smoothed = found.smoothed
        if opt.drift is not None or answers is not smoothed or not isinstance(opt.noise, GaussianSpec):
            answer = answers(with_drift(found.model, opt.drift), S)
        laws.append((scores, found.model, answer))
    where = hide & (N >= LEAST_KNOWN)
    column, row = np.nonzero(where.T)
    run = (row + column * HIDDEN_SHIFT % HIDDEN_PERIOD) // HIDDEN_PERIOD * Z.shape[1] + column  # as `held_out` counts
    return _Trial(told(where, laws), Z[row, column], student_factor(N)[column], run)


def _stretches(trials: list[_Trial], weights: Array, opt: StreamOptions, *, few: bool) -> tuple[float, float]:
    """The factors on bounds and on standard deviations with which they hold what they should of the hidden entries."""
    bounds, spreads = [], []
    for law, truth, wider, _ in trials:
        bounds.append(law.sizes(truth, weights) / wider)
        off = np.abs(law.mixed(law.means(), weights) - truth)
        spreads.append(off / law.mixed(law.spreads(), weights) / wider)
    of = ranked_stretch if few else stretch
    return of(np.concatenate(bounds), opt.noise), of(np.concatenate(spreads), opt.noise)


def _limits(Y: Array) -> tuple[Array, Array]:
    """What the columns of Y (T, m) can be, as they show it themselves; zero is a limit only of those that come near it:
    within their standard deviation."""
    least, greatest = extremes(Y)
    low, high = shown_limits(least, greatest, Y)
    spread = np.array([y[np.isfinite(y)].std() if np.isfinite(y).any() else 0.0 for y in Y.T])
    far_above, far_below = (low == 0.0) & (least > spread), (high == 0.0) & (greatest < -spread)
    return np.where(far_above, -np.inf, low), np.where(far_below, np.inf, high)
