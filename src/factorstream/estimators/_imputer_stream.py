"""``partial_fit`` of the imputer: tables that arrive in pieces."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from ..arrays import counted, namespace, positions, zeros_beside
from ..core.absurd import Seen
from ..core.place import Tall
from ..cores import limited
from ..tall.rows import with_data
from ._imputer_answers import ImputerAnswers
from ._imputer_state import ImputerState
from ._mixed.encoding import Encoding, encoding_of, refuse_other_columns
from ._table_stream import CALIBRATED_FROM, TableStream, go_on, new_stream, reach_of, room
from ._types import MatrixLike
from ._validation import check_same_parameters, current_parameters, unchanged_on_error


def stream_seed(random_state: Any) -> int:
    """What all models of a stream are learned with: a given number, so that each is that of ``fit``, or a drawn one."""
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def _check_goes_on(stream: TableStream | None) -> None:
    """Refuse to go on after a fit that no stream goes on from."""
    if stream is None:
        raise ValueError(
            "partial_fit goes on after a fit to numbers in memory without weights and variances; start a "
            "stream of its own with a new imputer."
        )
    if stream.ended:
        raise ValueError(
            f"partial_fit cannot go on after a fit to {stream.n_rows:,} rows, as it would learn from a sample of "
            f"{room(stream.rows.shape[1]):,} of them; fit again to all rows, or start a stream with a new imputer."
        )


class ImputerStream(ImputerAnswers):
    """Base of :class:`LowRankImputer`: rows that come one after another."""

    missing_values: object
    random_state: Any

    @abstractmethod
    def _fit_clean(self, values: Tall, encoding: Encoding | None = None) -> ImputerState:
        """Learn from rows in memory whose absurd values are missing."""

    def partial_fit(self, X: MatrixLike, y: object = None) -> Self:
        """Take in one row or many, and go on from where the last call, or ``fit`` to rows in memory, ended.

        After a ``fit`` to more rows than are kept it cannot go on: further rows would make the model worse.

        Of the rows so far 2000 are kept, a random sample of all, and fewer of more than 15 columns; a new model is
        learned from them, as ``fit`` learns, whenever the number of rows has grown by an eighth to a quarter. However
        rows are divided into calls, the result is the same. See docs/tables.md.
        """
        state: ImputerState | None = vars(self).get("state_")
        with unchanged_on_error(self), limited():
            if state is None:
                self._validate_params()
            else:
                check_same_parameters(self, state.parameters)
                _check_goes_on(state.stream)
            encoding = encoding_of(X) if state is None else state.encoding
            encoding = None if encoding is None or not encoding.of_numbers else encoding
            if encoding is None or encoding.is_array(X):
                marker = self.missing_values if state is None else state.parameters["missing_values"]
                refuse_other_columns(X, "partial_fit is")
                rows = self._check(X, marker, reset=state is None)
            else:
                rows = encoding.rows(self, X, self.missing_values, reset=state is None)
            self.state_ = self._after(state, with_data(rows))._replace(encoding=encoding)
        return self

    def _after(self, state: ImputerState | None, rows: Tall) -> ImputerState:
        """What is known after these rows, each of which has data."""
        stream = None if state is None else state.stream
        if stream is None:
            stream = new_stream(rows, stream_seed(self.random_state))
        found = go_on(stream, None if state is None else state.seen, rows)
        if found.rows is not None:
            state = self._learned_from(found.rows, found.stream.seed)
        elif state is None:
            state = self._before_any_row(rows, found.seen)
        return state._replace(parameters=current_parameters(self), seen=found.seen, stream=found.stream)

    def _learned_from(self, rows: Tall, seed: int) -> ImputerState:
        """What ``fit`` learns of these rows; bounds are calibrated once there are enough."""
        enough = counted(~namespace(rows).isnan(rows)) >= CALIBRATED_FROM
        calibrate = bool(self.get_params(deep=False)["calibrate"]) and enough
        given = {**self.get_params(deep=False), "random_state": seed, "calibrate": calibrate}
        return type(self)(**given)._fit_clean(rows)._replace(reach=reach_of(rows))

    def _before_any_row(self, rows: Tall, seen: Seen) -> ImputerState:
        """What is known before any value."""
        nothing = zeros_beside(rows, int(rows.shape[1]))
        given = self.get_params(deep=False)
        statistics = nothing if given["keep_empty_features"] else nothing + np.nan
        indicated = positions(nothing > 0) if given["add_indicator"] else None
        return ImputerState({}, nothing, statistics, nothing, seen, None, indicated)

    @property
    def n_samples_seen_(self) -> int:
        """Rows taken in; rows without any observed entry change nothing and are not counted."""
        state = self._learned()
        if state.stream is not None:
            return int(state.stream.n_rows)
        return 0 if state.factorization is None else int(state.factorization.n_samples)
