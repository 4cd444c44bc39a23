"""Between the data of a sequence and the core: what X holds, and answers in its units."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri
from sklearn.utils.validation import check_is_fitted

from ..core.dynamics.filter import forecast
from ..core.dynamics.fit import filtered, smoothed, steps
from ..core.dynamics.logarithms import deviations, into_model, log_slope, means, out_of_model
from ..core.dynamics.model import Answer, Belief, Innovation
from ..core.dynamics.scale import student_factor
from ..core.dynamics.scores import as_they_are
from ..core.dynamics.seasons.ahead import width_at
from ..core.dynamics.seasons.layers import season_before, season_of
from ..core.dynamics.seasons.season import Season
from ..core.dynamics.stream import in_units
from ..core.linalg import Array
from ..cores import limited
from ._absurd import asked
from ._gaps import warn_of_gaps
from ._sequence_attributes import SequenceAttributes
from ._sequence_blend import BlendedLaws, Law
from ._sequence_events import Passed
from ._sequence_known import check_same_known, read_known
from ._sequence_places import rows_after
from ._sequence_state import coming
from ._sequence_steps import Spread, as_given, held, on_common_steps
from ._sequence_units import without_unfit
from ._stored_times import restore_table
from ._times import Table, TableLike, append_times, future_times, split_table
from ._validation import check_count, check_data, check_size_of, refuse_no_table, unchanged_on_error


class _Asked(NamedTuple):
    """Rows that a model is asked about."""

    values: Array  # without absurd ones
    table: Table
    spread: Spread  # the same on the model's steps
    known: Array | None  # columns known in every step


class Coming(NamedTuple):
    """Normal laws of the rows to come, in the units of the model, and what becomes of them in those of the data."""

    mean: Array  # (steps, m)
    width: Array  # factors on the deviations, calibrated
    std: Array  # (steps, m)
    counts: Array  # (m,) values that the features were learned from
    logs: Array | None  # (m,)

    def told(self) -> tuple[Array, Array]:
        """Means and standard deviations; see `SequenceReading._width`."""
        std = self._wide(0.95)
        return means(self.mean, self.std, self.logs), deviations(self.mean, std, self.logs)

    def bounds(self, level: float) -> tuple[Array, Array]:
        """Bounds that hold a value with this probability."""
        width = float(ndtri((1.0 + level) / 2.0)) * self._wide(level)
        return out_of_model(self.mean - width, self.logs), out_of_model(self.mean + width, self.logs)

    def _wide(self, held: float) -> Array:
        return np.asarray(self.width * student_factor(self.counts, held) * self.std)


class PlainLaws:
    """What the model alone says of rows, in the data's units: normal laws in its own."""

    def __init__(self, reading: SequenceReading, answer: Answer) -> None:
        self._reading, self._answer = reading, answer
        self._logs = reading.state_.logs

    def filled(self, where: Array) -> tuple[Array, Array]:
        """Means and standard deviations of the entries that are marked (T, m); of the others too."""
        return self._told()

    def bounds(self, where: Array, level: float) -> tuple[Array, Array]:
        """Bounds that hold an entry with this probability."""
        fill, std = self._reading._in_units(self._answer, held=level)
        width = float(ndtri((1.0 + level) / 2.0)) * std
        return out_of_model(fill - width, self._logs), out_of_model(fill + width, self._logs)

    def denoised(self) -> tuple[Array, Array]:
        """Means and standard deviations of all entries without their noise; of logarithms, means with it, as those of
        gaps are."""
        return self._told(noise=False)

    def _told(self, *, noise: bool = True) -> tuple[Array, Array]:
        fill, std = self._reading._in_units(self._answer, noise=noise)
        if self._logs is None:
            return fill, std
        own = self._reading._in_units(self._answer, calibrated=False)[1]
        return means(fill, own, self._logs), deviations(fill, std, self._logs)


class SequenceReading(SequenceAttributes):
    """Base of :class:`SequenceAnswers`: reads X, asks the core, and turns what it says into the data's units."""

    def _read(self, X: TableLike, *, reset: bool) -> tuple[Array, Table]:
        """The numbers of X, and the rest of it."""
        refuse_no_table(X)
        numbers, table = split_table(X)
        return np.asarray(check_data(self, numbers, reset=reset)), table

    def _on_steps(self, values: Array, table: Table, last: Table, *, follows: bool = False) -> Spread:
        """Rows on the steps of the model, `last` being those taken in before; `follows`: X goes on after these.

        Warns of steps that are left out.
        """
        spread = self._spread(values, table, last, follows=follows)
        warn_of_gaps(append_times(last, spread.table) if follows else spread.table, len(spread.values))
        return spread

    def _spread(self, values: Array, table: Table, last: Table, *, follows: bool = False) -> Spread:
        if self.state_.parameters["spacing"] == "time" and last.times is not None:
            return on_common_steps(values, table, last, follows=follows)
        return as_given(values, table)

    def _given(self, X: TableLike) -> tuple[Array, Table]:
        check_is_fitted(self)
        return self._read(X, reset=False)

    def _standardised(self, values: Array) -> Array:
        """Rows in the units of the model, standardised."""
        stream = self.state_.stream.as_learned
        with np.errstate(over="ignore"):
            Z = (values - stream.shift) / stream.scale
        check_size_of(Z, np.dtype(np.float64))
        return np.asarray(Z)

    def _known(self, known: TableLike | None, rows: int, table: Table) -> Array | None:
        """The known columns of rows that a model is asked about: those it was fitted with."""
        K, names = (None, None) if known is None else read_known(known, rows, table)
        check_same_known(self.state_.known, names)
        return K

    def _ask(self, X: TableLike, known: TableLike | None = None) -> tuple[Array, Table, Answer]:
        """X without absurd values, what it was besides its numbers, and what the model says about its entries, in
        standardised units."""
        asked = self._asked(X, known)
        with unchanged_on_error(self), limited(), self._progress():
            return asked.values, asked.table, self._answer(asked)

    def _laws(self, X: TableLike, known: TableLike | None = None) -> tuple[Array, Table, PlainLaws | BlendedLaws]:
        """The same, with what fills gaps: the model alone, or others with it."""
        asked = self._asked(X, known)
        state = self.state_
        with unchanged_on_error(self), limited(), self._progress():
            answer = self._answer(asked)
            if state.blend is None:
                return asked.values, asked.table, PlainLaws(self, answer)
            laws: list[Law] = [(as_they_are(), state.model, answer)]
            answers, Z = smoothed if state.parameters["smooth"] else filtered, self._standardised(asked.spread.values)
            for scores, model in state.blend.readings:
                said = answers(model, scores.of(Z))
                laws.append((scores, model, Answer(*(part[asked.spread.rows] for part in said))))
            units = state.stream.as_learned.shift, state.stream.scale
            return asked.values, asked.table, BlendedLaws(state.blend, laws, units, state.counts)

    def _asked(self, X: TableLike, known: TableLike | None) -> _Asked:
        """What X holds that the model is asked about."""
        values, table = self._given(X)
        K = self._known(known, len(values), table)
        values = without_unfit(asked(self.state_, values), self.state_.logs)
        spread = self._on_steps(values, table, restore_table(self.state_.table))
        return _Asked(values, table, spread, None if K is None else held(K, spread))

    def _answer(self, asked: _Asked) -> Answer:
        """What the model says about the entries of rows, in standardised units."""
        spread = asked.spread
        Y = into_model(spread.values, self.state_.logs)
        season = self._season(Y, spread.table, asked.known)
        Z = self._standardised(Y if season is None else Y - season.signal)
        answer = (smoothed if self.state_.parameters["smooth"] else filtered)(self.state_.model, Z)
        return Answer(*(part[spread.rows] for part in self._with_season(answer, season)))

    def _season(self, values: Array, table: Table, known: Array | None, *, smooth: bool | None = None) -> Season | None:
        """What is known of the season of values in the units of the model, by all of them or by the rows before; None
        where there is none.

        Time stamps say where the first row stands in the periods; without them it stands where the first row of the
        fit did.
        """
        state = self.state_
        if not state.layers:
            return None
        smooth = bool(state.parameters["smooth"]) if smooth is None else smooth
        after = rows_after(restore_table(state.table), table)
        place = 0 if after is None else state.n_rows - 1 + after
        return (season_of if smooth else season_before)(state.layers, values.astype(np.float64), place, known)

    def _with_season(self, answer: Answer, season: Season | None) -> Answer:
        """The answer about what the season leaves, in standardised units, as one about the rows themselves."""
        if season is None:
            return answer
        scale = self.state_.stream.scale
        return answer._replace(signal=answer.signal + season.signal / scale, var=answer.var + season.var / scale**2)

    def _innovations(
        self, values: Array, table: Table, known: TableLike | None, take: Callable[[Passed], None] | None = None
    ) -> list[Innovation]:
        """The facts about every row of values as the filter takes it: log-densities in the data's units, all else in
        those of the model before it standardises. `take` gets each of the rows on the steps of the model before that,
        without its season."""
        K = self._known(known, len(values), table)
        spread = self._on_steps(values, table, restore_table(self.state_.table))
        K, logs = None if K is None else held(K, spread), self.state_.logs
        given = without_unfit(spread.values, logs)
        Y, slope = into_model(given, logs), log_slope(given, logs)
        with unchanged_on_error(self), limited(), self._progress(len(Y)) as step:
            season = self._season(Y, spread.table, K, smooth=False)
            Z = self._standardised(Y if season is None else Y - season.signal)
            passed = []
            stream = self.state_.stream.as_learned
            shift, scale = stream.shift, stream.scale
            before: Belief | None = None
            for z, (model, after, innovation) in zip(Z, steps(self.state_.model, Z), strict=True):
                if take is not None:
                    take(Passed(model, before, after, z, innovation, shift, scale))
                before = after
                passed.append(in_units(innovation, stream))
                step(len(passed))
            if season is not None:
                passed = [
                    one._replace(mean=one.mean + signal, var=one.var + var)
                    for one, signal, var in zip(passed, *season, strict=True)
                ]
            if logs is not None:
                passed = [one._replace(logp=one.logp + float(more)) for one, more in zip(passed, slope, strict=True)]
            return [passed[row] for row in spread.rows]

    def _in_units(
        self, answer: Answer, *, noise: bool = True, calibrated: bool = True, held: float = 0.95
    ) -> tuple[Array, Array]:
        """Predictive mean and standard deviation of every entry, or of its noise-free part, in the units of the model;
        `calibrated` or as the model says; `held`: see `_width`."""
        state = self.state_
        shift, scale = state.stream.as_learned.shift, state.stream.scale
        var = answer.var + state.model.noise.variance if noise else answer.var
        var = np.maximum(var, 0.0)  # rounding, where a row is far from everything
        width = self._width(held) if calibrated else scale
        std = np.where(np.isinf(width), np.inf, np.where(np.isinf(width), 1.0, width) * np.sqrt(var))
        return shift + scale * answer.signal, std

    def _width(self, held: float = 0.95) -> Array:
        """Factors (m,) that turn standard deviations of standardised features into those that are reported.

        They contain the scale of the data, the calibration, and a factor for few values: Student's quantile over the
        normal one for intervals of probability ``held``. Normal intervals of the reported deviations then hold it.
        """
        state = self.state_
        return np.asarray(state.gap_scales * student_factor(state.counts, held) * state.stream.scale)

    def _ahead(self, steps: int, known: TableLike | None = None) -> tuple[Coming, Table]:
        """The laws of the rows to come, and what they are besides their numbers."""
        check_is_fitted(self)
        check_count("steps", steps)
        with self._progress():
            return self._coming(int(steps), known)

    def _coming(self, steps: int, known: TableLike | None) -> tuple[Coming, Table]:
        state = self.state_
        table = future_times(restore_table(state.table), steps)
        K = self._known(known, steps, table)
        if state.ahead_scale is not None:  # there are seasons
            mean, std = coming(state, steps, K)
            return Coming(mean, width_at(state.ahead_scale, steps), std, state.counts, state.logs), table
        shift, scale = state.stream.shift, state.stream.scale
        mean, var = forecast(state.fitted.now, state.fitted.belief, steps)
        return Coming(
            shift + scale * mean, state.forecast_scales, scale * np.sqrt(var), state.counts, state.logs
        ), table
