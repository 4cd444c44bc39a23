"""What a report is about: a fitted model, the table it is asked about, and what it says of its gaps."""

from __future__ import annotations

import copy
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ..core.absurd import extremes
from ..core.absurd_rows import absurd_beside
from ..core.entries import NO_ENTRIES, Entries, without
from ..core.linalg import is_sparse
from ..core.variational.conformal import CalibrationError
from ..estimators._absurd import known_to
from ..estimators._columns import means_nan
from ..estimators._mixed.encoding import refuse_other_model
from ..estimators._refused_columns import are_times
from ..estimators._times import Table, rebuild_table, split_table
from ..estimators.low_rank_imputer import LowRankImputer
from ..estimators.sequence import SequenceFilter
from ..plot._answers import bounds_by, filled_by
from ..plot._panel import Panel, read_table

Array = NDArray[Any]

MOST_ENTRIES = 200_000_000
"""Entries, gaps included, above which a table is refused: 1.6 GB as float64, of which a report needs several copies."""


class Given(NamedTuple):
    """A fitted model and a table, ready to be asked."""

    model: Any
    panel: Panel
    """The table as numbers; absurd values are missing."""
    names: tuple[str, ...]
    """What its columns are called."""
    gap: Array
    """Which entries are missing (n, m)."""
    table: Table
    """The table without its numbers."""
    absurd: Entries
    unused: tuple[tuple[str, str], ...]
    """Names of columns that the model has not been fitted to, and what they hold."""

    @property
    def in_time(self) -> bool:
        """Whether the rows are known to be in the order of time."""
        return self.panel.dated or isinstance(self.model, SequenceFilter)

    @property
    def has_labels(self) -> bool:
        """Whether rows have names: time stamps, or an index that does not just count them from 0."""
        labels = self.table.labels
        counts = getattr(labels, "start", None) == 0 and labels.step == 1
        return self.table.times is not None or (labels is not None and not counts)

    @property
    def row_word(self) -> str:
        """What rows are called by: the name of a table's index, if it has one."""
        name = getattr(self.table.labels, "name", None)
        return "row" if name is None else str(name)

    def label(self, row: int) -> str:
        """What a row is called: its time stamp, the label of a table's index, or its number."""
        names = self.table.times if self.table.times is not None else self.table.labels
        return str(names[row]) if self.has_labels else f"{row:,}"

    @property
    def asked(self) -> Any:
        """The table as the model is asked about it."""
        return self.asked_without(None)

    def asked_without(self, hidden: Array | None) -> Any:
        """The same with these entries (n, m) missing, too."""
        values = self.panel.values
        return rebuild_table(values if hidden is None else np.where(hidden, np.nan, values), self.table)

    @property
    def is_fitted_to_it(self) -> bool:
        """Whether the model was fitted to this very table."""
        return is_fitted_to(self.model, self.panel.values)


class Answers(NamedTuple):
    """What the model says of the table; all (n, m)."""

    filled: Array
    """NaN in columns that an imputer drops."""
    lower: Array | None
    """None where the table is too small to calibrate intervals of this level."""
    upper: Array | None
    warned: tuple[str, ...]
    """What the model warned of, each sentence once."""


def given(model: Any, X: Any, names: Sequence[str] = ()) -> Given:
    """The model and X; columns of a table that the model was not fitted to are set aside. An array takes ``names``."""
    check_is_fitted(model)
    refuse_other_model(model, "Reports are")
    if is_sparse(X) and X.shape[0] * X.shape[1] > MOST_ENTRIES:
        raise ValueError(f"X has {X.shape[0] * X.shape[1]} entries with its gaps; pass fewer of its rows.")
    X, unused = _columns_of(model, X)
    panel = read_table(X)
    if panel.values.shape[1] != model.n_features_in_:
        raise ValueError(
            f"X has {panel.values.shape[1]} features, and the model was fitted to {model.n_features_in_}; pass those."
        )
    table = Table() if is_sparse(X) else split_table(X)[1]
    if len(names) and not panel.named:
        panel = panel._replace(columns=tuple(names), named=True)
    if isinstance(model, LowRankImputer) and not means_nan(model.state_.parameters["missing_values"]):
        marker = model.state_.parameters["missing_values"]
        panel = panel._replace(values=np.where(panel.values == marker, np.nan, panel.values))
        model = _taking_nan(model)
    seen = known_to(model.state_)
    absurd = NO_ENTRIES if seen is None else absurd_beside(seen, panel.values)
    panel = panel._replace(values=without(panel.values, absurd))
    return Given(model, panel, panel.names, np.isnan(panel.values), table, absurd, unused)


def answers(found: Given, level: float) -> Answers:
    """Fills and bounds of every gap."""
    lower = upper = None
    too_few = []
    with told() as sentences:
        filled = filled_by(found.model, found.asked)
        try:
            lower, upper = bounds_by(found.model, found.asked, level)
        except CalibrationError as problem:
            too_few.append(str(problem))
    return Answers(filled, lower, upper, tuple(dict.fromkeys(sentences + too_few)))


@contextmanager
def told() -> Iterator[list[str]]:
    """A list that has the warnings of this block when it ends; nothing is shown."""
    sentences: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield sentences
    sentences.extend(str(one.message) for one in caught if issubclass(one.category, UserWarning))


def _columns_of(model: Any, X: Any) -> tuple[Any, tuple[tuple[str, str], ...]]:
    """The columns of X that the model was fitted to, with time stamps where it takes any, and what the others hold."""
    names = getattr(model, "feature_names_in_", None)
    pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
    of_pandas = pandas is not None and isinstance(X, pandas.DataFrame)
    if names is None or not (of_pandas or (polars is not None and isinstance(X, polars.DataFrame))):
        return X, ()
    used = set(names)
    others = [name for name in X.columns if name not in used]
    if isinstance(model, SequenceFilter):
        others = [name for name in others if not _is_time(X[name])]
    held = tuple((str(name), _held(X[name])) for name in others)
    return (X.drop(columns=others) if of_pandas else X.drop(others)) if others else X, held


def _is_time(column: Any) -> bool:
    if hasattr(column, "to_physical"):  # of polars
        return str(column.dtype).startswith("Date")
    return are_times(column)


def _held(column: Any) -> str:
    """In words, what a column holds that the model was not fitted to."""
    if _is_time(column):
        return "time stamps"
    try:
        np.asarray(column.to_numpy(), dtype=np.float64)
    except (TypeError, ValueError):
        return "no numbers"
    return "numbers that the model was not fitted to"


def is_fitted_to(model: Any, values: Array) -> bool:
    """Whether a model was fitted to these very rows.

    A model keeps no rows. It keeps how many there were (an imputer after a fit: how many values a column had) and the
    least and the greatest value of each column: if all of these are the table's, it is taken to be the same.
    """
    return _same_counts(model, np.isnan(values)) and _same_extremes(model, values)


def _same_counts(model: Any, gap: Array) -> bool:
    if isinstance(model, LowRankImputer) and model.state_.reach is None:  # after ``fit``
        return np.array_equal(model.state_.n_observed, (~gap).sum(axis=0))
    counts_empty_rows = isinstance(model, SequenceFilter)
    return bool(model.n_samples_seen_ == (len(gap) if counts_empty_rows else np.count_nonzero(~gap.all(axis=1))))


def _same_extremes(model: Any, values: Array) -> bool:
    """In single precision, which a model may have been fitted in."""
    seen = known_to(model.state_)
    with np.errstate(over="ignore"):
        return seen is not None and all(
            np.array_equal(ours.astype(np.float32), theirs.astype(np.float32))
            for ours, theirs in zip(extremes(values), (seen.low, seen.high), strict=True)
        )


def _taking_nan(model: LowRankImputer) -> LowRankImputer:
    """The same fitted imputer for tables whose missing values are NaN."""
    other = copy.copy(model)
    parameters = {**model.state_.parameters, "missing_values": np.nan}
    other.missing_values, other.state_ = np.nan, model.state_._replace(parameters=parameters)
    return other
