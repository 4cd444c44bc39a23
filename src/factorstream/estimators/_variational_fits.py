"""Variational fits to all rows: in memory, or block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from ..arrays import Array, dtype_of, namespace, total
from ..core.memory import FORGETFUL, Memory
from ..core.place import HERE, Place, Tall
from ..core.telling import Tell, silent
from ..core.variational.auto import REFIT_SWEEPS, fit_auto
from ..core.variational.blockwise import BlockFit, fit_blocks
from ..core.variational.conformal import Scores
from ..core.variational.factors import Factors, rescale
from ..core.variational.fit import FitOptions, SweepInfo, VariationalFit, fit
from ..core.variational.noise.law import ColumnMoments
from ..core.variational.observed import Known, Observations, entry_counts
from ..core.variational.posterior import STREAM_ARRAYS
from ..cores import limited
from ..tall.places import place_to_start
from ..tall.rows import Rows
from ._observing import observe
from ._variational import VariationalState, check_rows


def fit_rows(
    X: Rows,
    options: FitOptions,
    calibrate: bool,
    rng: np.random.Generator,
    tell: Tell = silent,
    known: Known | None = None,
) -> tuple[VariationalState, tuple[SweepInfo, ...]]:
    """Fit all rows; with ``calibrate``, or components to be chosen, on the evidence of hidden entries.

    ``known``, of dense rows of this process, says more about them.
    """
    check_rows(X, options, calibrate)
    place = place_to_start(X) if known is None else HERE
    with limited(X.shape[0] * X.shape[1] * (options.r or 1)):
        data = observe(X, place)._replace(known=known)
        fitted, temper, scores, _ = _fitted(data, options, calibrate, rng, place, tell)
        count = entry_counts(data, place)
        factors, origin = _with_origin(fitted.factors, count, options, place)
    state = VariationalState(factors, origin, count, fitted.spent, None, temper, scores, options, dtype_of(X))
    return state, fitted.history


Sweeps = Callable[[Factors, ColumnMoments, Observations, FitOptions, Place, Tell], BlockFit]
"""Sweeps over all rows from a fit to some: ``blockwise.fit_blocks`` but for its first argument, the rows."""


def over_blocks(blocks: Callable[[], Iterable[Rows]], memory: Memory = FORGETFUL) -> Sweeps:
    """Sweeps over blocks of rows, one after another; ``memory`` has what was found before a stop."""

    def fit_them(
        warm: Factors, moments: ColumnMoments, some: Observations, options: FitOptions, place: Place, tell: Tell
    ) -> BlockFit:
        def observed() -> Iterable[Observations]:
            return (observe(rows, place) for rows in blocks())

        return fit_blocks(observed, warm, moments, some, options, place, tell, memory)

    return fit_them


def fit_all_blocks(
    sweeps: Sweeps,
    some: Rows,
    moments: ColumnMoments,
    options: FitOptions,
    calibrate: bool,
    rng: np.random.Generator,
    tell: Tell = silent,
    memory: Memory = FORGETFUL,
) -> tuple[VariationalState, tuple[SweepInfo, ...], int]:
    """Fit ``some`` rows as ``fit_rows`` does, go on from there with ``sweeps`` over all rows, and count them.

    ``moments`` are of all rows. Components are chosen, and intervals calibrated, on ``some`` of them.
    """
    check_rows(some, options, calibrate, arrays=STREAM_ARRAYS)
    place = place_to_start(some)
    with limited(some.shape[0] * some.shape[1] * (options.r or 1)):
        data = observe(some, place)

        def begun() -> tuple[Factors, float, Scores | None, FitOptions]:
            found, temper, scores, chosen = _fitted(data, options, calibrate, rng, place, tell)
            return found.factors, temper, scores, chosen

        warm, temper, scores, chosen = memory.once("begun", begun)
        found = sweeps(warm, moments, data, chosen, place, tell)
        factors, origin = _with_origin(found.factors, moments.count, options, place)
    state = VariationalState(factors, origin, moments.count, found.spent, None, temper, scores, options, dtype_of(some))
    return state, found.history, found.n


def _fitted(
    data: Observations, options: FitOptions, calibrate: bool, rng: np.random.Generator, place: Place, tell: Tell
) -> tuple[VariationalFit, float, Scores | None, FitOptions]:
    """The fit; where it is calibrated, the power of the likelihood and the scores; the options it was made with."""
    if not calibrate and options.r is not None:
        return fit(data, options, place=place, tell=tell), 1.0, None, options
    found = fit_auto(data, rng, options, place=place, tell=tell)
    if not calibrate:
        return found.fit, 1.0, None, found.options
    return found.fit, found.calibration.temper, found.calibration.scores, found.options


def _with_origin(factors: Factors, count: Tall, options: FitOptions, place: Place) -> tuple[Factors, Tall]:
    """The factors in coordinates where the mean is zero, and the mean; that of the others for features without data."""
    origin, shift = place.each(_mean_column, factors.post.C)
    if not options.row_mean:
        origin = place.each(_where_seen, origin, count, *place.total(_weighted, origin, count))
    return rescale(factors, shift, 1.0, place), origin


def planned_sweeps(n_rows: int, options: FitOptions, calibrate: bool) -> list[tuple[int, int]]:
    """The sweeps that each fit of ``fit_rows`` may make, and the rows they go over."""
    fits = [options.max_sweeps] * (2 if options.r is None else 1)
    if calibrate or options.r is None:
        fits.append(min(REFIT_SWEEPS, options.max_sweeps))
    return [(most, n_rows) for most in fits]


def planned_sweeps_over_blocks(n_some: int, n_rows: int, options: FitOptions, calibrate: bool) -> list[tuple[int, int]]:
    """The same for ``fit_all_blocks``."""
    return [*planned_sweeps(n_some, options, calibrate), (options.max_sweeps, n_rows)]


def _mean_column(C: Array) -> tuple[Array, Array]:
    """What is predicted before anything of a row is seen, and its negative."""
    return namespace(C).asarray(C[:, -1], copy=True), -C[:, -1]


def _weighted(origin: Array, count: Array) -> tuple[float, float]:
    return float(total(count * origin)), float(total(count))


def _where_seen(origin: Array, count: Array, sums: float, n: float) -> Array:
    """The origin, or the mean of all observed entries for features without any."""
    return namespace(origin).where(count > 0, origin, sums / max(n, 1.0))
