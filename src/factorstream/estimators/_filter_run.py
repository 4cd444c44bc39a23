"""A run of the recursive filter: begin, pass over rows, go on. The estimators that use it add parameters and words."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import copied, dtype_of, taken, to_host
from ..core.absurd import Seen, seen_in
from ..core.filter.coefficients import COEFFICIENT_STEPS, DOUBTING
from ..core.filter.gains import Gain
from ..core.filter.model import FilterModel
from ..core.filter.state import FilterRecord, FilterState
from ..core.linalg import Array, is_sparse
from ..core.place import Place, Tall
from ..progress import Step, say_nothing
from ..tall.places import place_of
from ..tall.rows import Rows, rows_with_data, stack
from ..tall.starting import in_units, measure, start, warm_up
from ._absurd import first_rows, next_rows
from ._column_units import first_values, looked, with_few_values, with_late_units
from ._filter_columns import Columns, new_columns, with_noise
from ._given_numbers import as_covariance, check_init, check_row_mean
from ._kept_rows import kept, rows_to_look
from ._records import Lots, Record, Tell, filter_record, latest, with_record

MIN_OBSERVED = 5
"""Observed entries per component below which, where the noise is learned, a row's coefficients get the learned prior.

Least squares is defined from one on, and that is what given numbers mean, but it follows the noise there: 5 instead of
1 takes 6 to 21% off the error on three small tables and a wide matrix, and more than 5 changes no error by more than 1%
(``benchmarks/defaults.py``)."""

SMALLEST_BLOCK, LARGEST_BLOCK = 32, 256
"""Rows per block: twice the components, within these bounds. Larger blocks make the products faster and the recursion
slower. Not tuned; speed and memory only."""

GATHERED = 16_384
"""Sparse rows brought into a random order together: C is copied once for each lot. Not tuned; speed only."""

GATHERED_VALUES = 2**17
"""Values of dense rows brought into a random order together, at least four blocks of rows: one megabyte. Not tuned;
speed and memory only."""

NO_ROWS = np.empty(0, dtype=np.intp)


class FilterSettings(NamedTuple):
    """What a run was begun with, checked and in the core's words; it never changes."""

    model: FilterModel
    """Sizes and rules of the recursion."""
    noise_variance: float | None
    """λ. None: λ is a share of the data's variance, and the noise variance σ² is learned."""
    prior_covariance: Array | None
    """V0 (r × r). None: it is a share of the data's variance."""
    init: str | Array
    """The random start, "random" or "uniform", or the start itself (r × m)."""
    seed: int
    """Of the random start."""
    dtype: np.dtype[Any]
    """Of the dictionary."""
    block_size: int
    """Rows handled together."""
    scale: bool
    """Whether columns have units of their own: not where a variance or a drift is given in those of the data."""

    @property
    def measures(self) -> bool:
        """Whether something follows from the data's scale."""
        return self.noise_variance is None or self.prior_covariance is None

    @property
    def keeps_rows(self) -> bool:
        """Whether the noise, or the unit, of single columns is to be learned."""
        return self.model.learn_noise and not self.model.row_mean and (self.model.step.doubts or self.scale)


def filter_settings(
    *,
    n_components: int,
    n_features: int,
    gain: Gain,
    coefficients: str,
    fit_mean: bool,
    init: str | ArrayLike,
    batch_size: str | int,
    seed: int,
    dtype: np.dtype[Any],
    noise_variance: str | float = "auto",
    prior_covariance: str | ArrayLike = "auto",
    drift: float | ArrayLike = 0.0,
    covariance: str = "shared",
    scale: bool = False,
    fit_row_mean: bool = False,
) -> FilterSettings:
    """An estimator's parameters in the core's words, or one sentence about the one that cannot be used."""
    given_r = int(n_components)
    r = given_r + bool(fit_row_mean)
    noise = None if isinstance(noise_variance, str) else float(noise_variance)
    prior: Array | None = None
    if not isinstance(prior_covariance, str):
        prior = as_covariance(prior_covariance, given_r, "prior_covariance", definite=True)
    if fit_row_mean:
        check_row_mean(coefficients, covariance, bool(fit_mean), drift)
        coefficients = "map"  # rows have too few values for least squares
    model = FilterModel(
        r=r,
        q=r + bool(fit_mean),
        step=COEFFICIENT_STEPS[DOUBTING[coefficients] if covariance == "counted" else coefficients],
        gain=gain,
        learn_noise=noise is None,
        track_noise=noise is None and prior is not None,
        min_observed=n_features + 1 if fit_row_mean else MIN_OBSERVED * r if noise is None else r,
        rcond=float(r * np.finfo(np.float64).eps),  # what rounding leaves of a Gram matrix of r columns
        drift=_drift(drift, r, bool(fit_mean)),
        row_mean=bool(fit_row_mean),
    )
    start = init if isinstance(init, str) else check_init(init, given_r, n_features)
    size = min(max(2 * r, SMALLEST_BLOCK), LARGEST_BLOCK) if isinstance(batch_size, str) else int(batch_size)
    given = noise is not None or prior is not None or model.drift is not None  # numbers in the data's units
    return FilterSettings(model, noise, prior, start, seed, dtype, size, bool(scale) and not given and not fit_row_mean)


def _drift(drift: float | ArrayLike, r: int, fit_mean: bool) -> Array | None:
    """Q_V with the mean's part, or None for a dictionary that does not drift. A number lets the mean drift too."""
    Q = as_covariance(drift, r, "drift", definite=False)
    if not Q.any():
        return None
    if fit_mean:
        drift = to_host(drift)
        of_mean = float(np.asarray(drift)) if np.ndim(drift) == 0 else 0.0
        Q = np.block([[Q, np.zeros((r, 1))], [np.zeros((1, r)), of_mean]])
    return Q


class FilterRun(NamedTuple):
    """Everything that an answer or the next row depends on: ``state_`` of the estimators."""

    parameters: dict[str, Any]
    """The estimator's parameters when the run began."""
    settings: FilterSettings
    filter: FilterState
    """In units of the columns."""
    columns: Columns
    """What is known of the columns beside the dictionary."""
    warm_rows: Rows | None
    """The first rows of a stream, kept until they are enough to measure the scale; None from then on."""
    seen: Seen | None
    """What tells absurd values; None while the first rows are kept, which are judged together."""
    n_samples: int
    """Rows taken in, those without any observed entry left out."""
    n_passes: int
    """Passes that ``fit`` has made."""
    records: Lots

    @property
    def home(self) -> Place:
        """Where rows are brought to."""
        return place_of(self.filter.C)

    @property
    def unit(self) -> Tall | None:
        """The units of the columns (m); None where they are those of the data."""
        return self.columns.unit

    @property
    def history(self) -> tuple[Record, ...]:
        """What happened, oldest first."""
        return latest(self.records)


def begin(parameters: dict[str, Any], settings: FilterSettings, X: Rows, tell: Tell, step: Step) -> FilterRun:
    """A stream after its first rows, X."""
    state, columns, warm_rows, seen, X = _warm_up(settings, copied(X[:0, :]), X)
    return _filtered(FilterRun(parameters, settings, state, columns, warm_rows, seen, 0, 0, ()), X, tell, step)


def fit(
    parameters: dict[str, Any],
    settings: FilterSettings,
    X: Rows,
    *,
    n_passes: int,
    shuffle: bool,
    stop_below: float,
    rng: np.random.RandomState,
    tell: Tell,
    step: Step,
    name: str,
) -> FilterRun:
    """Pass over X ``n_passes`` times, or until the dictionary's share of the variance is small; step by step."""
    run: FilterRun | None = None
    for k in range(n_passes):
        order = rng.permutation(X.shape[0]) if shuffle else np.arange(X.shape[0])
        if run is None:
            first = X if settings.measures else taken(X, order[: warm_up(settings.model.r)])
            run = FilterRun(parameters, settings, *_start(settings, first), None, seen_in(X), X.shape[0], 0, ())
        run, dictionary_share = _pass(run, X, order, tell, step, f"{name}, pass {k + 1} of {n_passes}")
        run = run._replace(n_passes=run.n_passes + 1)
        if dictionary_share < stop_below:
            break
    assert run is not None  # for the type checker: n_passes is at least 1
    return run._replace(columns=with_noise(run.columns, run.filter, settings.model))


def go_on(run: FilterRun, X: Rows, tell: Tell, step: Step) -> FilterRun:
    """The stream after the next rows.

    Until enough rows have arrived to measure the scale they are kept, and each call starts over from them, so that
    the division of a stream into calls does not matter.
    """
    if run.warm_rows is not None:
        state, columns, warm_rows, seen, X = _warm_up(run.settings, run.warm_rows, X, place_of(run.filter.C))
        return _filtered(run._replace(filter=state, columns=columns, warm_rows=warm_rows, seen=seen), X, tell, step)
    assert run.seen is not None  # for the type checker: the first rows are over
    seen, X = next_rows(run.seen, X, run.settings.dtype)
    return _filtered(run if seen is run.seen else run._replace(seen=seen), X, tell, step)


def _warm_up(
    settings: FilterSettings, warm_rows: Rows, X: Rows, place: Place | None = None
) -> tuple[FilterState, Columns, Rows | None, Seen | None, Rows]:
    """The filter after the rows kept so far, its scale measured on X as well; columns; what to keep; ``seen``; X."""
    wanted = warm_up(settings.model.r) if settings.model.has_mean or settings.measures else 0
    more = rows_with_data(X)[: max(wanted - warm_rows.shape[0], 0)] if wanted else NO_ROWS
    first = first_rows(warm_rows, X, more, settings.dtype)
    start, columns = _start(settings, first.clean, place)
    before = first.clean[: warm_rows.shape[0], :]
    state, columns, _ = _taken_in(start, columns, settings, before)
    if first.kept.shape[0] < wanted:
        return state, columns, first.kept, None, first.X
    n = int(more[-1]) + 1 if len(more) else 0
    rest = first.X[n:, :]
    seen, clean = next_rows(seen_in(first.clean), rest, settings.dtype, first=n)
    return state, columns, None, seen, first.X if clean is rest else stack(first.X[:n, :], clean)


def _filtered(run: FilterRun, X: Rows, tell: Tell, step: Step) -> FilterRun:
    """The run after one pass over X; a call without any data leaves no record."""
    state, columns, info = _taken_in(run.filter, run.columns, run.settings, X, step)
    n = len(info.innovation)  # rows with data
    return _recorded(run._replace(columns=columns), state, info, tell, n) if n else run


def _taken_in(
    state: FilterState, columns: Columns, settings: FilterSettings, X: Rows, step: Step = say_nothing
) -> tuple[FilterState, Columns, FilterRecord]:
    """The filter and what it knows of the columns after the next rows of a stream, and the facts about them."""
    from ..tall.filtering import filter_rows  # only fits need it

    model, size, n = settings.model, settings.block_size, int(X.shape[0])
    infos, start = [], 0
    while start < n:
        k, before = state.small.k, columns
        to_look = rows_to_look(columns, k, model.r)
        columns, rows = first_values(columns, state, X if to_look is None else X[start : min(start + to_look, n), :])
        state, info = filter_rows(state, model, rows, size, n, columns.unit, step, start)
        taken = state.small.k - k
        columns = kept(columns, rows, k, model, None if taken == rows.shape[0] else rows_with_data(rows))
        columns, state = with_late_units(columns, before, state, model)
        if taken == to_look:
            columns, state = looked(columns, state, model)
        infos.append(info)
        start += int(rows.shape[0])
        step(start)
    return state, columns, FilterRecord.join(infos)


def _start(settings: FilterSettings, rows: Rows, place: Place | None = None) -> tuple[FilterState, Columns]:
    """The filter before its first row, and what is known of the columns."""
    model = settings.model
    scale, unit = measure(rows, model.has_mean, place), None
    if settings.scale:
        scale, unit = in_units(scale, dtype_of(rows))
    C0 = settings.init
    if not isinstance(C0, str):
        C0 = C0.T if unit is None else C0.T / unit[:, None]
    given = {"noise_variance": settings.noise_variance, "V0": settings.prior_covariance, "C0": C0}
    common: dict[str, Any] = {**given, "r": model.r, "seed": settings.seed, "dtype": dtype_of(rows)}
    if model.row_mean:
        from ..tall.starting_rows import start_with_row_means  # only fits with a mean for every row need it

        state = start_with_row_means(scale, **common)
    else:
        state = start(scale, **common, fit_mean=model.has_mean, counted=model.step.doubts)
    counts = scale.place.get(scale.freedom, 0) + model.has_mean * scale.place.get(scale.seen, 0)
    return state, with_few_values(new_columns(unit, settings.keeps_rows, rows), rows, counts)


def _pass(run: FilterRun, X: Rows, order: Array, tell: Tell, step: Step, note: str) -> tuple[FilterRun, float]:
    """One pass over X in the given order; returns the dictionary's mean share of the variance (∞: no posterior)."""
    from ..tall.filtering import filter_rows  # only fits need it

    model, size, state, columns = run.settings.model, run.settings.block_size, run.filter, run.columns
    at_once = _rows_at_once(X, size)
    infos = []
    for first in range(0, X.shape[0], at_once):
        rows = taken(X, order[first : first + at_once])
        columns = kept(columns, rows, state.small.k, model)
        state, info = filter_rows(state, model, rows, size, part_of=X.shape[0], unit=columns.unit)
        infos.append(info)
        step(run.n_passes * X.shape[0] + min(first + at_once, X.shape[0]), note)
    run = _recorded(run._replace(columns=columns), state, FilterRecord.join(infos), tell)
    return run, run.records[-1][-1].get("dictionary_share", np.inf)


def _rows_at_once(X: Rows, size: int) -> int:
    """Rows to bring into order together. Whoever gives a block size below ours wants little at a time."""
    if is_sparse(X):
        return GATHERED
    blocks = 4 if size < SMALLEST_BLOCK else max(4, GATHERED_VALUES // (size * X.shape[1]))
    return blocks * size


def _recorded(run: FilterRun, state: FilterState, info: FilterRecord, tell: Tell, n_new: int = 0) -> FilterRun:
    """The run with the filter as it is now and a record of how it came there, ``n_new`` rows further on."""
    record = filter_record(state, run.settings.model, info)
    tell(record)
    return run._replace(filter=state, records=with_record(run.records, record), n_samples=run.n_samples + n_new)
