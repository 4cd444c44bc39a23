"""What a fitted sequence model can be asked."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from ..core.absurd_rows import absurd_beside
from ..core.dynamics.filter import entry
from ..core.dynamics.levels import smooth_recent
from ..core.dynamics.logarithms import deviations, into_model, means, not_positive, out_of_model
from ..core.dynamics.lookout import OUTLIER
from ..core.dynamics.model import Answer
from ..core.dynamics.scale import student_factor
from ..core.dynamics.seasons.season import Season
from ..core.entries import Entries, together, without
from ..core.linalg import Array
from ..core.variational.conformal import check_level
from ..text import counted, listed
from ._sequence_events import Event, Events, absurd_events, dated, events_of, in_data_units, named, stamp_of
from ._sequence_reading import SequenceReading
from ._stored_times import restore_table
from ._times import (
    TableLike,
    Times,
    last_rows,
    marked_times,
    rebuild_table,
)
from ._validation import check_size_of, narrowed, refuse_no_table


class Alarms(NamedTuple):
    """The change-point view of a sequence, one number per row, and when alarms were raised.

    ``score`` is NaN and the rest unchanged in a row without data.
    """

    fired: Array
    """Whether the rule raised an alarm at this row."""
    score: Array
    """Normal score of the size of the row's innovations; under the model about N(0, 1). Infinite where a value is
    out of all proportion."""
    up: Array
    """CUSUM of scores above zero: it grows while rows are further off than the model expects. It is what was compared
    with the threshold; after an alarm it starts again from zero."""
    down: Array
    """CUSUM of scores below zero: it grows while rows are closer than the model expects; otherwise as ``up``."""
    when: Times | Array
    """Time stamps of the rows with an alarm, as pandas index or polars series; without time stamps their numbers."""
    events: tuple[Event, ...] = ()
    """What happened, in order: which features moved, by how much and since when, and outliers, which raise no alarm."""

    def __repr__(self) -> str:
        """How many alarms there are, and the first of them, without the numbers of every row."""
        first = f", at {listed(self.when)}" if len(self.when) else ""
        return f"Alarms({counted(len(self.when), 'alarm')} in {counted(len(self.fired), 'row')}{first})"


class SequenceAnswers(SequenceReading):
    """Base of :class:`SequenceFilter`: all that a fitted model can be asked; every answer comes from ``state_`` alone.

    A table given to these methods is a sequence of its own: it begins at the prior and not where the fit ended, and
    at the model last learned. A dictionary that drifts then follows that table; what it has followed in the stream
    counts in ``forecast`` and ``recent`` only.

    ``known``: the known columns of the rows asked about, or to come, where the model was fitted with some.
    """

    # ---------------------------------------------------------------- entries

    def impute(self, X: TableLike, return_std: bool = False, *, known: TableLike | None = None) -> TableLike:
        """X with its NaN filled in; observed entries are kept. A table comes back as a table, with its time stamps.

        With ``return_std`` also the predictive standard deviation of every filled entry, noise included;
        zero where X was observed.
        """
        values, table, laws = self._laws(X, known)
        missing = np.isnan(values)
        fill, std = laws.filled(missing)
        filled = rebuild_table(narrowed(np.where(missing, fill, values), values.dtype, "filled values"), table)
        if not return_std:
            return filled
        return filled, rebuild_table(narrowed(np.where(missing, std, 0.0), values.dtype, "deviations"), table)

    def predict_interval(
        self, X: TableLike, level: float = 0.95, *, known: TableLike | None = None
    ) -> tuple[TableLike, TableLike]:
        """Bounds that hold the true value of a missing entry with probability ``level``.

        Where X is observed both are X. The interval is Gaussian with the predictive standard deviation, under
        Student-t noise too, but for features that were learned from few values, those that are modelled in logarithms,
        and where several models fill gaps together (see the class's notes).
        """
        check_level(level)
        values, table, laws = self._laws(X, known)
        missing = np.isnan(values)
        lower, upper = (np.where(missing, end, values) for end in laws.bounds(missing, level))
        return (
            rebuild_table(narrowed(lower, values.dtype, "bounds"), table),
            rebuild_table(narrowed(upper, values.dtype, "bounds"), table),
        )

    def denoise(self, X: TableLike, return_std: bool = False, *, known: TableLike | None = None) -> TableLike:
        """The noise-free signal of every entry of X, observed or not; a table comes back as a table.

        Where X is missing this is what ``impute`` fills in. Where it is observed the model's part of the value is
        kept and its noise taken away: with ``robust`` an outlier gives way to what its neighbours say. (Where several
        models fill gaps together, or logarithms are modelled, it is what another value in the same place is expected to
        be.) With
        ``return_std`` also the standard deviation of the signal, without the noise.
        """
        values, table, laws = self._laws(X, known)
        signal, std = (narrowed(part, values.dtype, "signals") for part in laws.denoised())
        return (rebuild_table(signal, table), rebuild_table(std, table)) if return_std else rebuild_table(signal, table)

    def forecast(self, steps: int, return_std: bool = False, *, known: TableLike | None = None) -> TableLike:
        """The rows to come after the last one taken in (steps, n_features).

        With ``return_std`` also their predictive standard deviations, noise included. After tables the forecast is
        a table, whose time stamps continue at the inferred step, or at their frequency; datetimes, periods and dates
        each continue as what they are. Without time stamps an index of equally spaced integers goes on counting.
        """
        laws, table = self._ahead(steps, known)
        mean, std = laws.told()
        out = rebuild_table(mean, table)
        return (out, rebuild_table(std, table)) if return_std else out

    def forecast_interval(
        self, steps: int, level: float = 0.95, *, known: TableLike | None = None
    ) -> tuple[TableLike, TableLike]:
        """Bounds that hold each value to come with probability ``level``, like :meth:`predict_interval` for gaps.

        Each is shaped like :meth:`forecast`, with its time stamps. Infinite where a feature has one value or none.
        """
        check_level(level)
        laws, table = self._ahead(steps, known)
        lower, upper = laws.bounds(level)
        return rebuild_table(lower, table), rebuild_table(upper, table)

    def recent(self, return_std: bool = False) -> TableLike:
        """The last ``lag + 1`` rows taken in, oldest first, with their gaps filled from all rows so far.

        The first of them is the fixed-lag estimate, the last the filtered one. There are fewer while the stream
        is younger than that, and after ``fit``, which leaves one. After tables they are a table, with its time stamps.
        """
        check_is_fitted(self)
        state = self.state_
        model, shift, scale = state.fitted.now, state.stream.shift, state.stream.scale
        beliefs = [entry(model, s) for s in smooth_recent(model, state.beliefs)]
        signal, var = (np.array(part) for part in zip(*beliefs, strict=True))
        rows = state.rows[-len(beliefs) :]
        if state.moved is not None:
            shift = shift - state.moved[-len(beliefs) :]
        missing = np.isnan(rows)
        table = last_rows(restore_table(state.table), len(rows))
        if state.seasons is not None:
            season = Season(*(state.seasons[-len(beliefs) :, part] for part in (0, 1)))
            _, signal, var = self._with_season(Answer(signal[:, :0], signal, var), season)
        mean, plain = shift + scale * signal, np.sqrt(np.maximum(var + model.noise.variance, 0.0))
        fill = means(mean, scale * plain, state.logs)
        filled = rebuild_table(np.where(missing, fill, rows), table)
        if not return_std:
            return filled
        std = deviations(mean, self._width() * plain, state.logs)
        return filled, rebuild_table(np.where(missing, std, 0.0), table)

    # ---------------------------------------------------------------- states

    def transform(self, X: TableLike, *, known: TableLike | None = None) -> Array:
        """The state at every time step (n_steps, n_components_), smoothed or filtered.

        An array, for a table too, as scikit-learn has it; ``set_output(transform="pandas")`` makes it a table with
        the index of X.
        """
        values, _, answer = self._ask(X, known)
        return narrowed(answer.x, values.dtype)

    def inverse_transform(self, X: TableLike) -> Array:
        """The rows that these states stand for (n_steps, n_features), without the features' own levels; where
        logarithms are modelled, the middle of what they may be."""
        check_is_fitted(self)
        refuse_no_table(X)
        with np.errstate(over="ignore", invalid="ignore"):  # of infinities, which are refused
            X = check_array(X, dtype=[np.float64, np.float32], ensure_min_features=0)
        stream, emission = self.state_.stream.as_learned, self.state_.model.emission
        if X.shape[1] != emission.C.shape[1]:
            raise ValueError(
                f"X has {X.shape[1]} columns but the model has {emission.C.shape[1]} components; "
                "pass what transform returned."
            )
        check_size_of(X, np.dtype(np.float64))
        rows = stream.shift + stream.scale * (emission.mean + X @ emission.C.T)
        return narrowed(out_of_model(rows, self.state_.logs), X.dtype, "rows")

    # ---------------------------------------------------------------- innovations

    def score_samples(self, X: TableLike, *, known: TableLike | None = None) -> Array:
        """Log-density (see the class's notes) of every row's observed entries given the rows before; 0 without data."""
        return np.array([one.logp for one in self._innovations(*self._given(X), known)])

    def score(self, X: TableLike, y: object = None, *, known: TableLike | None = None) -> float:
        """Mean of :meth:`score_samples`; higher is better."""
        return float(self.score_samples(X, known=known).mean())

    def alarms(self, X: TableLike, *, known: TableLike | None = None) -> Alarms:
        """Where the rows stop behaving as the model says: change points, drift, failing sensors.

        A row's innovations e (observed minus predicted) have covariance S under the model, so eᵀS⁻¹e is
        chi-squared. Its normal score (Wilson and Hilferty), standardised by its own slow mean and variance, is
        ``score``. Cut at ±4 it is summed by a two-sided CUSUM: ``up = max(0, up + score - 1/2)``, ``down = max(0, down
        - score - 1/2)``.
        An alarm is raised when either exceeds the threshold at which independent N(0, 1) scores would raise a quarter
        of ``alarm_rate`` alarms per row (Siegmund's approximation; 1e-4 gives 9.4). For every feature beside that, the
        signed deviations of its entries are added up over each of the last 3 to 64 rows, and an alarm is raised when
        one of these sums is further from zero than half of that rate allows: a level shift of two standard deviations
        is found after about 7 rows. An entry that is rarer than the last quarter is judged by the three values
        after it: where they are back at the forecast that was made before it, it was an outlier, which is an event but
        no alarm; where they are not, the feature has moved. After an alarm the two sums and those of the features that
        have moved start again; after an outlier the two sums do, too. A change that has been told is not told again
        while it stays as it is.
        A row with a value out of all proportion, which all other questions take as missing, is an alarm of its own with
        an infinite ``score``; sums and later rows are as if the value were missing. ``partial_fit`` raises no alarms
        during the first 256 rows of a stream that began without ``fit`` (warm-up).
        ``events`` says of all this which features moved, by how much in the units of the data, since when and when it
        was found.
        Where the model does not hold even without a change, scores are correlated and false alarms more frequent.

        The numbers come as arrays, for a table too; ``when`` has the time stamps of the rows with an alarm.
        """
        values, table = self._given(X)
        state = self.state_
        absurd = self._impossible(values)
        watch = Events(state.counts, student_factor(np.maximum(state.counts, 2.0)), state.thresholds)
        innovations = self._innovations(without(values, absurd), table, known, watch.take)
        at = self._spread(values, table, restore_table(state.table)).rows
        rows = [watch.rows[row] for row in at]
        fired = np.array([one for one, _ in rows])
        score, up, down = (np.array([getattr(one, part) for _, one in rows]) for part in ("score", "up", "down"))
        foretold = [one.mean for one in innovations]
        expected = [out_of_model(foretold[i], state.logs)[j] for i, j in zip(absurd.row, absurd.column, strict=True)]
        fired[absurd.row], score[absurd.row] = True, np.inf

        def place(row: int) -> int:
            return min(int(np.searchsorted(at, row)), len(at) - 1)

        told = [in_data_units(one, foretold[one.since], state.logs) for one in events_of(watch.ended(), place)]
        fired[[one.row for one in told if one.kind != OUTLIER]] = True
        events = told + absurd_events(absurd, np.array(expected))
        names, times = getattr(self, "feature_names_in_", None), table.times
        events = [named(one, names) for one in sorted(events, key=lambda one: (one.row, one.since))]
        if times is not None:
            events = [dated(one, lambda row: stamp_of(times[row])) for one in events]
        return Alarms(fired, score, up, down, marked_times(table, fired), tuple(events))

    def deviations(self, X: TableLike, *, known: TableLike | None = None) -> TableLike:
        """How many standard deviations every entry of X lies from its forecast, which the rows before it make.

        Zero where X is missing. They say which features are to blame for a row that ``alarms`` or ``score_samples``
        find strange. A value out of all proportion, which all other questions take as missing, is infinitely far.
        """
        values, table = self._given(X)
        absurd, logs = self._impossible(values), self.state_.logs
        plain = without(values, absurd)
        innovations = self._innovations(plain, table, known)
        mean, var = (np.array([getattr(one, part) for one in innovations]) for part in ("mean", "var"))
        away = np.where(np.isnan(plain), 0.0, (into_model(plain, logs) - mean) / np.sqrt(var))
        above = absurd.value - out_of_model(mean, logs)[absurd.row, absurd.column]
        away[absurd.row, absurd.column] = np.copysign(np.inf, above)
        return rebuild_table(away, table)

    def _impossible(self, values: Array) -> Entries:
        """The entries out of all proportion, and those that need a logarithm and have none."""
        absurd = absurd_beside(self.state_.seen, values)
        return together([absurd, not_positive(without(values, absurd), self.state_.logs)])
