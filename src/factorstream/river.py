"""The recursive filter for River: dicts of features that come and go, one at a time or in batches."""

from __future__ import annotations

import copy
import math
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from .estimators._wider import widened
from .estimators.dictionary_filter import DictionaryFilter
from .extras import require

if TYPE_CHECKING:
    from numpy.typing import NDArray

require("river", extra="river")

from river import base  # noqa: E402  (what is missing is said in one sentence before)

__all__ = ["StreamFactorization"]


class StreamFactorization(base.MiniBatchTransformer):
    """Matrix factorisation of a stream of dicts: coefficients, filled gaps, and how strange a sample is.

    Every sample updates a low-rank model by one step of :class:`factorstream.DictionaryFilter`. A feature that is not
    in a dict, or is None or NaN there, is missing. A feature that nobody has seen before makes the model wider from
    then on and changes nothing about the others; it is learned as the filter learns columns that start late, with an
    uncertainty of its own. Questions about unknown features leave these out.

    Parameters
    ----------
    n_components
        Number of components.
    drift
        How much the variance of every loading grows per sample: a stream whose structure changes slowly. In the
        data's units, squared, as in `DictionaryFilter`.
    seed
        Seeds the start.

    Attributes
    ----------
    features
        The features seen so far, in the order in which they came; those that came in one sample are sorted.
    model
        The `DictionaryFilter` behind it, whose columns are ``features``; None before the first sample.

    Examples
    --------
    >>> from river import datasets
    >>> from factorstream.river import StreamFactorization
    >>> model = StreamFactorization(n_components=2)
    >>> for x, _ in datasets.TrumpApproval():
    ...     model.learn_one(x)
    >>> x.pop("gallup")
    43.843213
    >>> round(model.impute_one(x)["gallup"])
    42
    >>> sorted(model.transform_one(x))
    [0, 1]
    >>> strange = x | {"rasmussen": 5.0}
    >>> model.score_one(strange) > model.score_one(x)
    True
    """

    def __init__(self, n_components: int = 5, drift: float = 0.0, seed: int = 0) -> None:
        self.n_components = n_components
        self.drift = drift
        self.seed = seed
        self._columns: dict[Hashable, int] = {}  # of the model, by the names of the features
        self.model: DictionaryFilter | None = None

    @property
    def features(self) -> list[Hashable]:
        """The features seen so far, which are the columns of ``model``."""
        return list(self._columns)

    # ---------------------------------------------------------------- learning

    def learn_one(self, x: Mapping[Hashable, Any]) -> None:
        """Take in one sample. A sample without any number changes nothing."""
        numbers = _numbers(x)
        if numbers:
            with self._unchanged_on_error():
                self._make_room(sorted((name for name in numbers if name not in self._columns), key=str))
                self._learn(self._row(numbers))

    def learn_many(self, X: Any) -> None:
        """Take in the rows of a pandas DataFrame, as `learn_one` would one after another."""
        values = _table(X)
        values = values[~np.isnan(values).all(axis=1)]
        if not len(values):
            return
        names = list(X.columns)
        with self._unchanged_on_error():
            for first, last, new in self._appearances(values, names):
                self._make_room(new)
                self._learn(self._rows(values[first:last], names))

    @contextmanager
    def _unchanged_on_error(self) -> Iterator[None]:
        columns, model = self._columns, self.model
        learned = {} if model is None else model.__dict__.copy()  # a copy of the model would copy all of its state
        try:
            yield
        except BaseException:
            self._columns, self.model = columns, model
            if model is not None:
                model.__dict__ = learned
            raise

    def _appearances(self, values: NDArray[Any], names: list[Hashable]) -> Iterator[tuple[int, int, list[Hashable]]]:
        """Runs of rows (first, last + 1) in whose first row alone there are new features, and these."""
        known = ~np.isnan(values)
        firsts: dict[int, list[Hashable]] = {0: []}
        for column, name in enumerate(names):
            if name not in self._columns and known[:, column].any():
                firsts.setdefault(int(known[:, column].argmax()), []).append(name)
        starts = sorted(firsts)
        for first, last in zip(starts, [*starts[1:], len(values)], strict=True):
            yield first, last, sorted(firsts[first], key=str)

    def _make_room(self, new: list[Hashable]) -> None:
        """Give new features columns behind the others."""
        if not new:
            return
        if self.model is not None:
            wider = copy.copy(self.model)
            wider.state_ = widened(self.model.state_, len(new))
            wider.n_features_in_ = len(self._columns) + len(new)
            self.model = wider
        self._columns = {**self._columns, **{name: column for column, name in enumerate(new, len(self._columns))}}

    def _learn(self, rows: NDArray[Any]) -> None:
        if self.model is None:
            self.model = DictionaryFilter(self.n_components, drift=self.drift, random_state=self.seed)
        self.model.partial_fit(rows)

    # ---------------------------------------------------------------- questions

    def transform_one(self, x: Mapping[Hashable, Any]) -> dict[int, float]:
        """The coefficients of a sample, by the number of the component; zeros before anything was learned."""
        if self.model is None:
            return dict.fromkeys(range(self.n_components), 0.0)
        return dict(enumerate(self.model.transform(self._row(_numbers(x)))[0].tolist()))

    def transform_many(self, X: Any) -> Any:
        """The coefficients of every row of a DataFrame, as a DataFrame with one column per component."""
        require("pandas", extra="river")
        import pandas as pd

        values = _table(X)
        if self.model is None or not len(values):
            return pd.DataFrame(np.zeros((len(values), self.n_components)), index=X.index)
        return pd.DataFrame(self.model.transform(self._rows(values, list(X.columns))), index=X.index)

    def score_one(self, x: Mapping[Hashable, Any]) -> float:
        """How strange a sample is: minus the log-density of its known features, per feature; 0 if there are none.

        Higher is stranger. Ask before learning from the sample.
        """
        row = self._row(_numbers(x)) if self.model is not None else np.empty((1, 0))
        n_known = int(np.isfinite(row).sum())
        if self.model is None or n_known == 0:
            return 0.0
        return -float(self.model.score_samples(row)[0]) / n_known

    def impute_one(self, x: Mapping[Hashable, Any]) -> dict[Hashable, Any]:
        """The sample with every feature that was seen before: those that it lacks are filled in."""
        if self.model is None:
            return dict(x)
        known = _numbers(x)
        filled = self.model.impute(self._row(known))[0].tolist()
        return {**x, **{name: value for name, value in zip(self._columns, filled, strict=True) if name not in known}}

    # ---------------------------------------------------------------- dicts and tables as rows

    def _row(self, numbers: dict[Hashable, float]) -> NDArray[Any]:
        row = np.full((1, len(self._columns)), np.nan)
        for name, value in numbers.items():
            if (column := self._columns.get(name)) is not None:
                row[0, column] = value
        return row

    def _rows(self, values: NDArray[Any], names: list[Hashable]) -> NDArray[Any]:
        rows = np.full((len(values), len(self._columns)), np.nan)
        for place, name in enumerate(names):
            if (column := self._columns.get(name)) is not None:
                rows[:, column] = values[:, place]
        return rows


def _numbers(x: Mapping[Hashable, Any]) -> dict[Hashable, float]:
    """The features that have a value."""
    numbers = {}
    for name, value in x.items():
        if value is None:
            continue
        if not isinstance(value, Real | np.bool_):
            raise ValueError(
                f"The feature {name!r} is no number; put river.compose.SelectType(int, float) before the model."
            )
        try:
            number = float(value)
        except OverflowError:  # an integer beyond 1.8e308
            raise ValueError(f"The feature {name!r} is too large a number; give its logarithm, or None.") from None
        if math.isinf(number):
            raise ValueError(f"The feature {name!r} is infinite; give None where its value is not known.")
        if not math.isnan(number):
            numbers[name] = number
    return numbers


def _table(X: Any) -> NDArray[Any]:
    """The numbers of a DataFrame."""
    if not X.columns.is_unique:
        twice = X.columns[X.columns.duplicated()][0]
        raise ValueError(f"Two columns are called {twice!r}; give every column a name of its own.")
    wrong = [name for name in X.columns if X[name].dtype.kind not in "iufb"]
    if wrong:
        raise ValueError(f"The column {wrong[0]!r} has no numbers; leave it out before the model.")
    values = np.asarray(X, dtype=np.float64)
    if (infinite := np.isinf(values).any(axis=0)).any():
        name = X.columns[int(infinite.argmax())]
        raise ValueError(f"The feature {name!r} is infinite; give NaN where its value is not known.")
    return values
