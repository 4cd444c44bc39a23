"""A run of the variational factorisation: fit all rows, or take a stream of them in lots of fixed size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..core.variational.fit import FitOptions
from ..tall.rows import Rows, observed_by_feature, stack
from ..tall.starting import warm_up
from ._variational import VariationalState, absorb_rows, check_rows, fit_rows
from ._variational_answers import VariationalDictionary

CHOOSING = 50
"""Components that a stream with ``n_components="auto"`` is given room for. Not tuned: a round number."""

LONGEST = 10
"""Lots after which a stream's start is over, however little they say. Not tuned: a round number."""

Record = dict[str, float]


class BayesianRun(NamedTuple):
    """Everything that an answer or the next row depends on: ``state_`` of the estimator."""

    parameters: dict[str, Any]
    """The estimator's parameters when the run began."""
    seed: int
    """Every fit of a stream's start begins with the same random numbers."""
    settled: VariationalState | None
    """The posterior after the last whole lot of rows; None while a stream is still starting."""
    current: VariationalState
    """The posterior with the rows since then as well: what answers come from."""
    pending: Rows
    """These rows; all rows while a stream is still starting."""
    n_fitted: int
    """How many of them ``current`` was fitted to, while a stream is still starting."""
    n_samples: int
    """Rows taken in, those without any observed entry left out."""
    n_iter: int
    """Sweeps that ``fit`` has made."""
    history: tuple[Record, ...]

    @property
    def dictionary(self) -> VariationalDictionary:
        """What the rows so far say, ready for questions."""
        return VariationalDictionary(self.current)


def fit(
    parameters: dict[str, Any],
    options: FitOptions,
    X: Rows,
    *,
    calibrate: bool,
    seed: int,
    tell: Callable[[Record], None],
) -> BayesianRun:
    """Sweep over all rows of X, each of which has data."""
    state, sweeps = fit_rows(X, options, calibrate, np.random.default_rng(seed))
    records = []
    for number, sweep in enumerate(sweeps, 1):
        records.append({"sweep": float(number), "bound": sweep.bound, "n_components": float(sweep.n_components)})
        tell(records[-1])
    return BayesianRun(parameters, seed, state, state, X[:0].copy(), 0, X.shape[0], len(sweeps), tuple(records))


def begin(parameters: dict[str, Any], options: FitOptions, X: Rows, seed: int) -> BayesianRun:
    """A stream after its first rows, each of which has data."""
    check_rows(X, options)
    nothing = _fit_first(options, np.zeros((1, X.shape[1]), X.dtype), seed)
    return go_on(BayesianRun(parameters, seed, None, nothing, X[:0].copy(), 0, 0, 0, ()), X)


def go_on(run: BayesianRun, X: Rows) -> BayesianRun:
    """The stream after the rows of X, each of which has data.

    Whole lots are settled for good. The rows after the last one are kept, and each call counts them anew, so that
    the division of a stream into calls does not matter.
    """
    rows = stack(run.pending, X.astype(run.current.dtype, copy=False))
    run = run._replace(n_samples=run.n_samples + X.shape[0])
    lot, settled = _lot(run.current.options), run.settled
    if settled is None:
        settled, rows = _started(run, rows, lot)
        if settled is None:
            return _provisional(run, rows)
    while rows.shape[0] >= lot:
        settled, rows = absorb_rows(settled, rows[:lot]), rows[lot:]
    current = absorb_rows(settled, rows) if rows.shape[0] else settled
    return run._replace(settled=settled, current=current, pending=rows.copy(), n_fitted=0)


def _lot(options: FitOptions) -> int:
    """Rows that a stream takes in together, and starts from at the least."""
    return 2 * warm_up(options.r or CHOOSING)


def _started(run: BayesianRun, rows: Rows, lot: int) -> tuple[VariationalState | None, Rows]:
    """The fit that the stream starts from, and the rows after it; None where the rows so far say too little.

    Asked after every whole lot: are there two observed entries for every number to be learned, and does the fit have
    as many components as asked for? At the latest the start is over after LONGEST lots.
    """
    options, m = run.current.options, rows.shape[1]
    r = options.r or 1
    asked = run.pending.shape[0] // lot  # in earlier calls
    for n in range((asked + 1) * lot, rows.shape[0] + 1, lot):
        last = n >= LONGEST * lot
        if last or float(observed_by_feature(rows[:n]).sum()) >= 2.0 * r * (m + n):
            state = _fit_first(options, rows[:n], run.seed)
            if last or state.factors.r >= min(r, m):
                return state, rows[n:]
    return None, rows


def _provisional(run: BayesianRun, rows: Rows) -> BayesianRun:
    """The stream with all its rows kept, and a fit of at least two thirds of them for the time being.

    The fit is made at 1, 2, 3, 5, 8, 12, ... rows, so that rows that come one by one cost a few times what they cost
    together.
    """
    n = 1
    while (more := n + (n + 1) // 2) <= rows.shape[0]:
        n = more
    run = run._replace(pending=rows.copy())
    if rows.shape[0] == 0 or n == run.n_fitted:
        return run
    return run._replace(current=_fit_first(run.current.options, rows[:n], run.seed), n_fitted=n)


def _fit_first(options: FitOptions, rows: Rows, seed: int) -> VariationalState:
    """The first rows know little of what comes: components are dropped only where their number is to be found."""
    state, _ = fit_rows(rows, options._replace(prune=options.r is None), False, np.random.default_rng(seed))
    return state._replace(options=options)
