"""A run of the variational factorisation: fit all rows, or take a stream of them in lots of fixed size."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..arrays import as_type, beside, copied, dtype_of
from ..core.absurd import Seen, seen_in
from ..core.absurd_rows import absurd_entries
from ..core.entries import without
from ..core.memory import FORGETFUL, Memory
from ..core.place import Place
from ..core.variational.fit import FitOptions, SweepInfo
from ..core.variational.observed import Known
from ..core.variational.posterior import STREAM_ARRAYS
from ..core.variational.relevance import n_learned
from ..progress import Step, say_nothing
from ..tall.places import place_of
from ..tall.rows import Rows, few_rows, observed_by_feature, stack
from ..tall.starting import warm_up
from ._absurd import first_rows, next_rows
from ._html import STREAMED, Facts, noise_words, observed_words
from ._known_errors import n_counted
from ._observing import check_values
from ._records import HISTORY, Record, Tell
from ._source_rows import LOOK_TYPES, Look
from ._telling import SweepProgress
from ._variational import SWEEP_TYPES, VariationalState, absorb_rows, check_rows
from ._variational_answers import VariationalDictionary

if TYPE_CHECKING:
    from ._variational_fits import Sweeps

ON_THE_WAY: tuple[type, ...] = (*LOOK_TYPES, *SWEEP_TYPES)
"""Every NamedTuple that a fit to a source finds before its state. Derived."""

NO_ROWS = np.empty(0, dtype=np.intp)

AUTO_COMPONENTS = 50
"""Components that a stream with ``n_components="auto"`` is given room for. Not tuned: a round number."""

MAX_START_LOTS = 10
"""A stream starts after this many lots at the latest. Not tuned: a round number."""

ENTRIES_PER_PARAMETER = 2.0
"""Observed entries for every free parameter that a stream starts from. Not tuned: on synthetic streams the error of
later fills is up to 56% higher with 1, up to 1.4% higher with 1.5, and up to 0.6% lower with 3, which waits up to twice
as long (``benchmarks/variational_defaults.py``)."""


class BayesianRun(NamedTuple):
    """Everything that an answer or the next row depends on: ``state_`` of the estimator."""

    parameters: dict[str, Any]
    """The estimator's parameters when the run began."""
    options: FitOptions
    """The same in the core's words."""
    seed: int
    """Every fit of a stream's start begins with the same random numbers."""
    settled: VariationalState | None
    """The posterior after the last whole lot of rows; None while a stream is still starting."""
    current: VariationalState | None
    """The posterior with the rows since then as well; None while a stream is still starting."""
    pending: Rows
    """Rows since the last whole lot; before the start, all rows as they came."""
    seen: Seen | None
    """What tells absurd values; None while a stream is still starting: its first rows are judged together."""
    n_samples: int
    """Rows taken in, those without any observed entry left out."""
    n_iter: int
    """Sweeps that ``fit`` has made."""
    history: tuple[Record, ...]

    @property
    def home(self) -> Place:
        """Where rows are brought to: the device of the model's rows, the shards of its features, or here."""
        return place_of(self.pending if self.current is None else self.current.origin)

    @property
    def dictionary(self) -> VariationalDictionary:
        """What the rows so far say, ready for questions; while a stream is starting, they are fitted when asked."""
        if self.current is None:
            return VariationalDictionary(_fit_first(self, without(self.pending, absurd_entries(self.pending))))
        return VariationalDictionary(self.current)

    def facts(self, n_features: int) -> Facts:
        """What was learned, in words; nothing is fitted for it."""
        facts = {"rows": f"{self.n_samples:,}", "features": f"{n_features:,}"}
        if self.current is None:
            return {**facts, "components": "none yet: the stream needs more rows"}
        current = self.current
        counts = place_of(current.origin).get(current.n_observed, 0)
        return {
            **facts,
            "components": f"{current.factors.r}",
            "sweeps": f"{self.n_iter}" if self.n_iter else STREAMED,
            "noise": noise_words(self.dictionary.noise),
            "observed": observed_words(counts / max(self.n_samples, 1)),
            "intervals": "as the model says, not calibrated"
            if current.scores is None
            else "calibrated on hidden entries",
        }


def fit(
    parameters: dict[str, Any],
    options: FitOptions,
    X: Rows,
    *,
    calibrate: bool,
    seed: int,
    tell: Tell,
    step: Step,
    name: str,
    seen: Seen | None = None,
    known: Known | None = None,
) -> BayesianRun:
    """Sweep over all rows of X, each of which has data; ``step`` is told how far the estimator of this name is.

    What tells absurd values may have been ``seen`` already, and more may be ``known`` of the rows.
    """
    from ._variational_fits import fit_rows, planned_sweeps  # only fits need it

    shown = SweepProgress(name, step, planned_sweeps(X.shape[0], options, calibrate))
    state, sweeps = fit_rows(X, options, calibrate, np.random.default_rng(seed), shown, known)
    records = _records(sweeps, tell)
    rest, seen, n = few_rows(X, NO_ROWS), seen_in(X) if seen is None else seen, n_counted(X, known)
    return BayesianRun(parameters, options, seed, state, state, rest, seen, n, len(sweeps), records)


def fit_all(
    parameters: dict[str, Any],
    options: FitOptions,
    found: Look,
    over_all: Sweeps,
    *,
    calibrate: bool,
    seed: int,
    tell: Tell,
    step: Step,
    name: str,
    memory: Memory = FORGETFUL,
) -> BayesianRun:
    """Sweep over all rows, given what a first look has ``found``."""
    some = found.some
    from ._variational_fits import fit_all_blocks, planned_sweeps_over_blocks  # only fits need it

    shown = SweepProgress(name, step, planned_sweeps_over_blocks(some.shape[0], found.n_rows, options, calibrate))
    begun_with = memory.once("seed", lambda: seed)
    rng = np.random.default_rng(begun_with)
    state, sweeps, n = fit_all_blocks(over_all, some, found.moments, options, calibrate, rng, shown, memory)
    rest = few_rows(some, NO_ROWS)
    return BayesianRun(
        parameters, options, begun_with, state, state, rest, found.seen, n, len(sweeps), _records(sweeps, tell)
    )


def _records(sweeps: Iterable[SweepInfo], tell: Tell) -> tuple[Record, ...]:
    records = []
    for number, sweep in enumerate(sweeps, 1):
        records.append({"sweep": float(number), "bound": sweep.bound, "n_components": float(sweep.n_components)})
        tell(records[-1])
    return tuple(records)


def begin(
    parameters: dict[str, Any], options: FitOptions, X: Rows, seed: int, tell: Tell, step: Step = say_nothing
) -> BayesianRun:
    """A stream after its first rows, each of which has data."""
    check_rows(X, options, bool(parameters.get("calibrate")), arrays=STREAM_ARRAYS)
    return go_on(BayesianRun(parameters, options, seed, None, None, copied(X[:0, :]), None, 0, 0, ()), X, tell, step)


def go_on(run: BayesianRun, X: Rows, tell: Tell, step: Step = say_nothing) -> BayesianRun:
    """The stream after the rows of X, each of which has data."""
    run = _absorb(run._replace(n_samples=run.n_samples + X.shape[0]), X, step)
    step(X.shape[0])
    record = {"n_samples": float(X.shape[0])}
    if run.current is not None:
        record["n_components"] = float(run.current.factors.r)
        record["noise"] = float(np.mean(run.dictionary.noise))
    tell(record)
    return run._replace(history=(*run.history[-HISTORY + 1 :], record))


def _absorb(run: BayesianRun, X: Rows, step: Step) -> BayesianRun:
    """The run with the rows of X in its posterior.

    Whole lots are settled for good. The rows after the last one are kept, and each call counts them anew, so that the
    division of a stream into calls does not matter.
    """
    lot, settled, seen, dtype = _lot(run.options), run.settled, run.seen, dtype_of(run.pending)
    if settled is None or seen is None:
        first = first_rows(run.pending, X, np.arange(X.shape[0]), dtype)
        check_values(first.clean)
        settled, n = _started(run, first.kept, lot)
        if settled is None:
            return run._replace(pending=copied(first.kept))
        start, rows = first.kept[:n, :], first.kept[n:, :]
        seen, rows = next_rows(seen_in(without(start, absurd_entries(start))), rows, dtype, tell=False)
    else:
        seen, rows = next_rows(seen, X, dtype)
        rows = stack(run.pending, as_type(rows, dtype))
    while rows.shape[0] >= lot:
        settled, rows = absorb_rows(settled, rows[:lot, :]), rows[lot:, :]
        step(X.shape[0] - rows.shape[0])
    current = absorb_rows(settled, rows) if rows.shape[0] else settled
    return run._replace(settled=settled, current=current, pending=copied(rows), seen=seen)


def _lot(options: FitOptions) -> int:
    """Rows that a stream takes in together, and starts from at the least."""
    return 2 * warm_up(options.r or AUTO_COMPONENTS)


def _started(run: BayesianRun, rows: Rows, lot: int) -> tuple[VariationalState | None, int]:
    """The fit that the stream starts from, and of how many rows; None where the rows so far say too little.

    Asked after every whole lot: are there ENTRIES_PER_PARAMETER observed entries for every free parameter, of which r
    components have r (m + n - r), and the mean m; and does the fit have as many components as asked for? With 10
    components or more a lot has 2 r rows, for which the first cannot be true: two lots are needed at the least. At the
    latest the start is over after MAX_START_LOTS lots.
    """
    options, m = run.options, rows.shape[1]
    r = min(options.r or 1, m)
    asked = run.pending.shape[0] // lot  # in earlier calls
    for n in range((asked + 1) * lot, rows.shape[0] + 1, lot):
        last = n >= MAX_START_LOTS * lot
        needed = ENTRIES_PER_PARAMETER * (r * (m + n - r) + m)
        if last or float(observed_by_feature(rows[:n, :]).sum()) >= needed:
            state = _fit_first(run, without(rows[:n, :], absurd_entries(rows[:n, :])))
            if last or n_learned(state.factors.prior) >= r:
                return state, n
    return None, 0


def _fit_first(run: BayesianRun, rows: Rows) -> VariationalState:
    """The fit of a stream's first rows, calibrated if that was asked for.

    They know little of what comes: components are dropped only where their number is to be found. No rows at all are
    fitted as one of zeros.
    """
    options, calibrate = run.options, bool(run.parameters.get("calibrate"))
    if rows.shape[0] == 0:
        rows = beside(np.zeros((1, rows.shape[1]), dtype_of(rows)), rows)
    from ._variational_fits import fit_rows  # only fits need it

    state, _ = fit_rows(rows, options._replace(prune=options.r is None), calibrate, np.random.default_rng(run.seed))
    return state._replace(options=options)
