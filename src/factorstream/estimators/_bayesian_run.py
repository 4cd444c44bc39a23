"""A run of the variational factorisation: fit all rows, or take a stream of them in lots of fixed size."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..core.variational.fit import FitOptions, SweepInfo
from ..tall.rows import Rows, observed_by_feature, stack
from ..tall.starting import warm_up
from ._variational import VariationalDictionary, VariationalState, absorb_rows, fit_rows

CHOOSING = 50
"""Components that a stream with ``n_components="auto"`` has room to choose from. Not tuned: a round number."""

LONGEST = 10
"""Lots after which a stream's start is over, however little they say. Not tuned: a round number."""


class BayesianRun(NamedTuple):
    """Everything that an answer or the next row depends on: ``state_`` of the estimator."""

    parameters: dict[str, Any]
    """The estimator's parameters when the run began."""
    options: FitOptions
    """The same in the core's words."""
    seed: int
    dtype: np.dtype[Any]
    settled: VariationalState | None
    """The posterior after the last whole lot of rows; None until a stream has started."""
    current: VariationalState
    """The posterior with the rows since then as well: what answers come from."""
    pending: Rows
    """These rows."""
    n_provisional: int
    """Rows behind ``current`` while a stream has not started."""
    n_samples: int
    """Rows taken in, those without any observed entry left out."""
    n_iter: int
    """Sweeps that ``fit`` has made."""
    history: tuple[dict[str, float], ...]

    @property
    def lot(self) -> int:
        """Rows that a stream takes in together."""
        return 2 * warm_up(self.options.r or CHOOSING)


def fit(
    parameters: dict[str, Any], options: FitOptions, X: Rows, calibrate: bool, seed: int
) -> BayesianRun:
    """Sweep over all rows of X."""
    state, sweeps = fit_rows(X, options, calibrate, np.random.default_rng(seed))
    records = tuple(_record(number, sweep) for number, sweep in enumerate(sweeps, 1))
    none = X[:0].copy()
    return BayesianRun(
        parameters, options, seed, X.dtype, state, state, none, 0, X.shape[0], len(sweeps), records
    )


def _record(number: int, sweep: SweepInfo) -> dict[str, float]:
    return {"bound": sweep.bound, "n_components": float(sweep.n_components), "sweep": float(number)}


def begin(parameters: dict[str, Any], options: FitOptions, X: Rows, seed: int) -> BayesianRun:
    """A stream of rows like X before its first row."""
    none = X[:0].copy()
    nothing, _ = _fit_first(options, np.zeros((1, X.shape[1])), seed)
    return BayesianRun(parameters, options, seed, X.dtype, None, nothing, none, 0, 0, 0, ())


def go_on(run: BayesianRun, X: Rows) -> BayesianRun:
    """Take in the rows of X, all of which have data.

    Whole lots are settled for good; the rows after the last one are kept, and each call counts them anew, so that
    the division of a stream into calls does not matter.
    """
    rows = stack(run.pending, X.astype(run.dtype, copy=False))
    run = run._replace(n_samples=run.n_samples + X.shape[0])
    settled = run.settled
    if settled is None:
        settled, rows = _started(run, rows)
        if settled is None:
            return _provisional(run, rows)
    while rows.shape[0] >= run.lot:
        settled, rows = absorb_rows(settled, rows[: run.lot]), rows[run.lot :]
    current = absorb_rows(settled, rows) if rows.shape[0] else settled
    return run._replace(settled=settled, current=current, pending=rows.copy())


def _started(run: BayesianRun, rows: Rows) -> tuple[VariationalState | None, Rows]:
    """The fit that the stream starts from, and the rows after it; None where the rows so far say too little.

    Asked after every whole lot of rows: are there some observed entries for every number to be learned, and does the
    fit have as many components as asked for? At the latest the start is over after LONGEST lots.
    """
    m, r = rows.shape[1], run.options.r or 1
    for n in range(run.lot, rows.shape[0] + 1, run.lot):
        if n <= run.pending.shape[0]:
            continue  # asked in an earlier call
        last = n >= LONGEST * run.lot
        if last or float(observed_by_feature(rows[:n]).sum()) >= 2.0 * r * (m + n):
            state, _ = _fit_first(run.options, rows[:n], run.seed)
            if last or VariationalDictionary(state, run.dtype).components.shape[0] >= min(r, m):
                return state, rows[n:]
    return None, rows


def _provisional(run: BayesianRun, rows: Rows) -> BayesianRun:
    """A fit of the rows so far, or of two thirds of them: made anew whenever their number has grown by half."""
    n = 1
    while (more := n + (n + 1) // 2) <= rows.shape[0]:
        n = more
    run = run._replace(pending=rows.copy())
    if rows.shape[0] == 0 or n == run.n_provisional:
        return run
    state, _ = _fit_first(run.options, rows[:n], run.seed)
    return run._replace(current=state, n_provisional=n)


def _fit_first(options: FitOptions, rows: Rows, seed: int) -> tuple[VariationalState, tuple[SweepInfo, ...]]:
    """The first rows know little of what comes: components are dropped only where their number is to be found."""
    return fit_rows(rows, options._replace(prune=options.r is None), False, np.random.default_rng(seed))
