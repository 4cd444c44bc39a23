"""What a sequence estimator needs around its answers: settings in the core's words, and a stream's bookkeeping."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..core.dynamics.alarm import Alarm, threshold, watch
from ..core.dynamics.em import Law
from ..core.dynamics.fit import CHOSEN, EVERY, GAUSSIAN, STATES, STUDENT, Kind, Noise
from ..core.dynamics.model import State, filter_rows
from ..core.dynamics.stream import Options, Stream, advance
from ..core.linalg import Array
from ._validation import as_covariance

ALARMS_KEPT = 1000
WARM_UP = Options().warmup


class Alarms(NamedTuple):
    """The change-point view of a sequence, one number per row, and when alarms were raised.

    ``score`` is NaN and the rest unchanged in a row without data.
    """

    fired: Array
    """Whether the rule raised an alarm at this row."""
    score: Array
    """Normal score of the size of the row's innovations; under the model about N(0, 1)."""
    up: Array
    """Sum of surprises, zero after an alarm: it grows when rows are further off than they should be."""
    down: Array
    """Sum of quietness, zero after an alarm: it grows when rows are closer than they should be."""
    when: Any
    """Time stamps of the rows with an alarm, as pandas index or polars series; without time stamps their numbers."""


class Progress(NamedTuple):
    """A stream with what the estimator keeps beside it; O(lag) rows, whatever its length."""

    stream: Stream
    states: tuple[State, ...]  # filtered beliefs of the last rows, at most lag + 1
    rows: Array  # (k, m) those rows
    alarm: Alarm
    alarms: tuple[int, ...]  # numbers of the rows at which alarms were raised
    seen: int  # rows taken in


def options(estimator: Any, m: int) -> Options:
    """The estimator's parameters, checked, as the core wants them."""
    r, drift = int(estimator.n_components), float(estimator.dictionary_drift)
    law = _law(estimator.dynamics, estimator.process_noise, r)
    if drift and estimator.level is True:
        raise ValueError("dictionary_drift needs level='auto' or False: a level takes up what a drift would explain.")
    candidates: tuple[Kind, ...] = (CHOSEN, EVERY, STATES)
    if drift or estimator.level is False:
        candidates = candidates[2:]
    elif estimator.level is True:
        candidates = candidates[:2]
    if isinstance(law.A, np.ndarray) or isinstance(law.Q, np.ndarray):  # matrices fix the number of components
        if r > m:
            raise ValueError(f"A matrix of dynamics needs n_components of at most n_features={m}; got {r}.")
        candidates = tuple(kind for kind in candidates if not kind.select)
    robust = estimator.robust
    noise = GAUSSIAN if robust is False else STUDENT if robust is True else Noise(float(robust), learned=False)
    return Options(r=r, candidates=candidates, law=law, noise=noise, drift=drift)


def _law(dynamics: Any, process_noise: Any, r: int) -> Law:
    Q = None if isinstance(process_noise, str) else _process_noise(process_noise, r)
    if isinstance(dynamics, str):
        return Law("full" if dynamics == "auto" else dynamics, None, Q)  # type: ignore[arg-type]
    if np.ndim(dynamics) == 0:
        return Law("fixed", float(dynamics), Q)
    A = np.array(dynamics, dtype=np.float64)
    A = np.diag(A) if A.ndim == 1 else A
    if A.shape != (r, r) or not np.isfinite(A).all():
        raise ValueError(f"dynamics must be finite and have shape ({r}, {r}); got shape {np.shape(dynamics)}.")
    radius = float(np.abs(np.linalg.eigvals(A)).max())
    if radius > 1.0 + 1e-9:
        raise ValueError(f"dynamics must not grow: its spectral radius is {radius:.4g}, and may be 1 at most.")
    return Law("fixed", A, Q)


def _process_noise(value: Any, r: int) -> Any:
    Q = float(value) if np.ndim(value) == 0 else as_covariance(value, r, "process_noise", definite=True)
    sizes = np.linalg.eigvalsh(np.atleast_2d(Q))
    least = 1e-12 * max(1.0, sizes[-1])
    if sizes[0] < least:
        raise ValueError(
            f"process_noise must be at least {least:.2g}, or rounding takes it away; got {sizes[0]:.3g}, "
            "but 1e-12 already stands for states that do not move by themselves."
        )
    return Q


def same(a: Options, b: Options) -> bool:
    """Whether a stream that began with one may go on with the other."""

    def plain(opt: Options) -> Any:
        law = [None if part is None else np.asarray(part).tolist() for part in (opt.law.A, opt.law.Q)]
        return opt._replace(law=opt.law._replace(A=None, Q=None)), law

    return bool(plain(a) == plain(b))


def begin(stream: Stream, end: State | None, row: Array, seen: int) -> Progress:
    """A stream before its first row, or after a fit that ended with ``row``."""
    return Progress(stream, () if end is None else (end,), row, Alarm(), (), seen)


def take_in(p: Progress, Y: Array, opt: Options, lag: int, rate: float) -> Progress:
    """Pass the rows Y through the stream; alarms are watched for once the warm-up is over."""
    h = threshold(rate)
    stream, states, rows, alarm, alarms, seen = p
    for y in Y:
        before = stream
        stream, info = advance(before, y, opt)
        rows = np.vstack([rows, y])[-lag - 1 :]
        seen += 1
        assert stream.state is not None  # for the type checker: a stream has a belief from its first row
        if stream.epoch == before.epoch:
            earlier = states if stream.change is None else map(stream.change.of, states)
            states = (*earlier, stream.state)[-lag - 1 :]
        elif lag:  # the rows so far were fitted anew
            Z = (np.vstack([before.window, y]) - stream.shift) / stream.scale
            assert stream.model is not None
            states = tuple(filter_rows(stream.model, Z)[0][-lag - 1 :])
        else:
            states = (stream.state,)
        if info is not None and stream.rows > WARM_UP:
            alarm, fired, _ = watch(alarm, info, h)
            alarms = (*alarms, seen - 1)[-ALARMS_KEPT:] if fired else alarms
    return Progress(stream, states, rows, alarm, alarms, seen)
