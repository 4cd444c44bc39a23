"""A table of many kinds of columns as rows of numbers, and answers about these as tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...core.linalg import Array
from ...text import listed
from .._columns import means_nan
from .._elsewhere import brought
from .._infinity import refuse_infinity
from .._source_rows import MAPPED
from .._validation import refuse_no_table, warn_caller
from .cells import FLOAT, PLAIN, TRUTH, Frame, frame_of
from .kinds import KINDS, CarriedColumn, CategoryColumn, Column, NumberColumn, kind_of, like_in_fit


class Encoding(NamedTuple):
    """The columns of a table, in order."""

    names: list[str]
    columns: tuple[NumberColumn | CategoryColumn | CarriedColumn, ...]

    @property
    def starts(self) -> list[int]:
        """Where each begins among the columns of numbers, and where the last ends."""
        return [0, *np.cumsum([column.width for column in self.columns]).tolist()]

    @property
    def categories(self) -> dict[str, CategoryColumn]:
        """The categories, by name."""
        return {name: one for name, one in zip(self.names, self.columns, strict=True) if type(one) is CategoryColumn}

    def groups(self) -> list[Array]:
        """Columns of numbers of each category."""
        each = zip(self.starts, self.columns, strict=False)
        return [np.arange(at, at + one.width) for at, one in each if type(one) is CategoryColumn]

    # ---------------------------------------------------------------- in

    @property
    def of_numbers(self) -> bool:
        """Whether all columns are numbers."""
        return all(map(is_number, self.columns))

    @property
    def others(self) -> list[str]:
        """Names of the columns that are no numbers."""
        return [name for name, one in zip(self.names, self.columns, strict=True) if not is_number(one)]

    def refuse_others(self, what: str) -> None:
        """Refuse what is not made for columns that are no numbers, where there are some."""
        _refuse(self.others, what)

    def is_array(self, X: Any) -> bool:
        """Whether X are rows of numbers already, where all columns of the table are numbers too."""
        return self.of_numbers and frame_of(X) is None

    def rows(self, estimator: Any, X: Any, missing_values: Any, *, reset: bool) -> Array:
        """The table as rows of numbers, where the model works; NaN in gaps, some of which ``missing_values`` marks."""
        frame, marker = frame_of(X), np.nan if means_nan(missing_values) else float(missing_values)
        if frame is None:
            raise TypeError(
                f"This {type(estimator).__name__} was fitted to a table whose columns are not all floats; pass a table "
                "of pandas, polars or Arrow with the same columns."
            )
        _check_columns(estimator, X, frame, reset=reset)
        known = [(j, column) for j, column in enumerate(self.columns) if not isinstance(column, CarriedColumn)]
        parts = [self._encoded(frame, j, column, marker) for j, column in known]
        values = np.ascontiguousarray(np.concatenate(parts, axis=1))
        refuse_infinity(values, lambda at: (at[0], repr(self._name_at(at[1]))))
        rows: Array = brought(estimator, values, reset=reset)
        return rows

    def _encoded(self, frame: Frame, j: int, column: NumberColumn | CategoryColumn, missing_values: float) -> Array:
        cells = frame.cells(j)
        if not cells.missing.all() and not like_in_fit(column, cells.held):
            raise ValueError(
                f"Column {self.names[j]!r} of X holds {cells.held}, and held {column.held} in fit; "
                "pass it as it was then."
            )
        values = column.encode(cells)
        if cells.held in PLAIN and missing_values == missing_values:
            if np.isnan(values).any() and cells.held == FLOAT:
                raise ValueError(
                    f"Column {self.names[j]!r} of X contains NaN, but missing_values is {missing_values!r}; put NaN in "
                    "place of it and leave missing_values out."
                )
            values = np.where(values == missing_values, np.nan, values)
        return values

    def _name_at(self, position: int) -> str:
        return self.names[int(np.searchsorted(self.starts, position, side="right")) - 1]

    # ---------------------------------------------------------------- out

    def missing(self, frame: Frame, values: Array) -> list[Array]:
        """Entries to fill (n,), for each column: numbers that are NaN in ``values``, labels that are not there."""
        starts = self.starts
        return [
            np.isnan(values[:, starts[j]]) if isinstance(column, NumberColumn) else frame.cells(j).missing
            for j, column in enumerate(self.columns)
        ]

    def table(
        self, frame: Frame, kept: Array, make: Callable[[int, Column], Any], more: dict[str, Any] | None = None
    ) -> Any:
        """A table of the library with the columns that ``make`` returns, without those not kept, and with ``more``."""
        starts = self.starts
        some = [j for j, one in enumerate(self.columns) if not one.width or kept[starts[j]]]
        columns = [make(j, self.columns[j]) for j in some]
        more = {} if more is None else more
        return frame.table([*(frame.names[j] for j in some), *more], [*columns, *more.values()], own=some)

    def part(self, Z: Array, j: int) -> Array:
        """The columns of numbers (n, width) that belong to column j."""
        return Z[:, self.starts[j] : self.starts[j + 1]]

    # ---------------------------------------------------------------- about the columns

    def spread(self, limit: Array, otherwise: float) -> Array:
        """One number for each column as one for each column of numbers; only for numbers."""
        parts = [
            np.full(one.width, at if getattr(one, "held", None) in PLAIN else otherwise)
            for at, one in zip(limit, self.columns, strict=True)
        ]
        return np.concatenate(parts)

    def gathered(self, values: Array, otherwise: float, labels: bool) -> Array:
        """Numbers of the columns of numbers as one for each column; ``otherwise`` where there is none.

        ``labels``: whether those of categories mean something.
        """
        told = [one.width > 0 and (labels or isinstance(one, NumberColumn)) for one in self.columns]
        return np.array(
            [values[at] if said else otherwise for at, said in zip(self.starts, told, strict=False)], dtype=values.dtype
        )

    def warn_of_carried(self) -> None:
        """Name the columns that are carried through, and say why."""
        by_reason: dict[str, list[str]] = {}
        for name, column in zip(self.names, self.columns, strict=True):
            if isinstance(column, CarriedColumn):
                by_reason.setdefault(column.why, []).append(name)
        if by_reason:
            which = "; ".join(f"{listed(map(repr, names))} ({why})" for why, names in by_reason.items())
            warn_caller(f"Columns that are returned as they are, gaps included: {which}.")


def encoding_of(X: Any) -> Encoding | None:
    """How a table becomes rows of numbers; None for arrays, and for tables with nothing but floats.

    An Arrow table that is larger than a fit holds in memory is read in blocks instead, as a file is.
    """
    frame = frame_of(X)
    if frame is None or not len(frame.names) or frame.mapped > MAPPED:
        return None
    if all(frame.held(j) == FLOAT for j in range(len(frame.names))):
        return None
    refuse_no_table(X)
    encoding = Encoding(list(map(str, frame.names)), tuple(kind_of(frame.cells(j)) for j in range(len(frame.names))))
    if not encoding.starts[-1]:
        raise ValueError(
            "X has no column of numbers, times or categories, and so nothing to learn from; pass a table with one."
        )
    return encoding


def refuse_other_columns(X: Any, what: str) -> None:
    """Refuse a table with columns that are neither numbers nor true and false, for what is not made for these."""
    frame = frame_of(X)
    if frame is not None:
        others = [j for j in range(len(frame.names)) if frame.held(j) not in (*PLAIN, TRUTH)]
        _refuse([str(frame.names[j]) for j in others if not frame.cells(j).missing.all()], what)


def refuse_other_model(model: Any, what: str) -> None:
    """Refuse a model that was fitted to a table with columns that are no numbers, for what is not made for these."""
    _refuse(other_columns(model), what)


def other_columns(model: Any) -> list[str]:
    """Names of the columns of a model's fit that are no numbers."""
    encoding: Encoding | None = getattr(getattr(model, "state_", None), "encoding", None)
    return [] if encoding is None else encoding.others


def _refuse(others: list[str], what: str) -> None:
    if others:
        raise ValueError(
            f"{what} for tables of numbers, and not for other columns ({listed(map(repr, others))}); pass the columns "
            "of numbers to an imputer of their own."
        )


def is_number(column: Column) -> bool:
    """Whether a column is filled with numbers as they are."""
    return isinstance(column, NumberColumn) and column.held in PLAIN


def is_array(X: Any) -> bool:
    """Whether an array of numbers could hold X, gaps included."""
    frame = frame_of(X)
    return frame is None or frame.is_array


def _check_columns(estimator: Any, X: Any, frame: Frame, *, reset: bool) -> None:
    """Compare number and names of the columns with those of the fit, as scikit-learn does, or keep them."""
    from sklearn.utils.validation import _check_feature_names, _check_n_features

    refuse_no_table(X)
    if not len(frame.names):
        raise ValueError("X has no column; pass the columns of the fit.")
    twice = [name for name, n in Counter(frame.names).items() if n > 1]
    if twice:
        which = listed(map(repr, twice))
        raise ValueError(f"X has more than one column of the same name ({which}); give every column a name of its own.")
    _check_feature_names(estimator, X, reset=reset)
    _check_n_features(estimator, X, reset=reset)
    if not frame.cells(0).missing.size:
        raise ValueError(f"Found 0 sample(s) in X while a minimum of 1 is required by {type(estimator).__name__}.")


ENCODING_TYPES = (Encoding, *KINDS)
"""Every NamedTuple of an encoding. Derived."""
