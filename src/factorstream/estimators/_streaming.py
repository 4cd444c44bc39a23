"""``fit`` and ``partial_fit`` of the estimators that run the recursive filter."""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from math import isfinite
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from ..arrays import dtype_of, is_dask, to_host
from ..core.absurd import Seen
from ..core.filter.coefficients import DOUBTING
from ..core.filter.column_noise import ColumnNoise
from ..core.filter.gains import BroydenGain, KalmanGain
from ..core.filter.groups import Groups
from ..core.filter.model import FilterModel
from ..core.filter.state import FilterState, SmallState
from ..cores import limited
from ..progress import say_nothing
from ..sources.rows.opening import open_rows
from ..sources.rows.source import Source
from ..tall.places import place_of
from ..tall.products import square_sum
from ..tall.rows import ever_observed, with_data
from ..text import counted
from . import _filter_run
from ._absurd import without_absurd
from ._checkpoint import CheckpointLike, FitMemory, Resumable, refuse_checkpoint, remembering
from ._factorizer import Factorizer
from ._filter_columns import Columns
from ._filter_run import FilterRun, FilterSettings
from ._html import STREAMED, Facts, noise_words, observed_words
from ._in_shards import InShards, shards_for, take_columns
from ._source_rows import (
    Numbered,
    reading,
    refuse_single_pass,
    source_of,
    take_columns_of,
    warn_of_others,
    without_values,
)
from ._types import MatrixLike, Seed, SourceLike
from ._validation import (
    check_data,
    check_next,
    check_same_parameters,
    check_something_observed,
    current_parameters,
    unchanged_on_error,
)

if TYPE_CHECKING:
    from ._filter_answers import FilterDictionary


class RecursiveFactorizer(Resumable, Factorizer):
    """Base of the estimators that take rows one after another. A subclass has parameters, and says how C moves.

    What is "auto" follows from the data's scale. ``fit`` measures it on all of X; a stream has only its first
    ``max(n_components, 10)`` rows for that. Until they have arrived they are kept, and each call to ``partial_fit``
    starts over from them, so that the division of the rows into calls does not matter.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "coefficients": [StrOptions(set(DOUBTING))],
        "fit_mean": ["boolean"],
        "init": [StrOptions({"random", "uniform"}), "array-like"],
        "n_passes": [Interval(Integral, 1, None, closed="left")],
        "shuffle": ["boolean"],
        "batch_size": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }
    _state_types: ClassVar[tuple[type, ...]] = (
        FilterRun, Columns, ColumnNoise, Seen, FilterSettings, FilterModel, FilterState, Groups, SmallState, KalmanGain,
        BroydenGain,
    )  # fmt: skip

    _takes_devices: ClassVar[bool] = True

    n_components: int
    coefficients: str
    fit_mean: bool
    init: str | ArrayLike
    n_passes: int
    shuffle: bool
    batch_size: str | int
    random_state: Seed
    verbose: int
    state_: FilterRun

    @abstractmethod
    def _settings(self, **common: Any) -> FilterSettings:
        """The parameters in the core's words; ``common`` are those that all subclasses have."""

    def _stop_below(self) -> float:
        """Share of the dictionary in the predictive variance at which ``fit`` makes no further pass; 0: never."""
        return 0.0

    # ---------------------------------------------------------------- fitting

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: SourceLike, y: object = None, *, checkpoint: CheckpointLike = None) -> Self:
        """Learn the dictionary from X (n_samples, n_features), NaN = missing, in ``n_passes`` passes.

        X may also be rows that do not fit into memory: a path, or anything else that :func:`factorstream.open_rows`
        takes. Their blocks are streamed as ``partial_fit`` would: in their order, whatever ``shuffle`` says, with the
        scale measured on the first rows. What can be read only once is enough for one pass.

        With ``checkpoint``, a path or a :class:`Checkpoint`, such a fit saves how far it has come; the same call goes
        on from there after it was stopped or killed, and learns the same, bit for bit.
        """
        with unchanged_on_error(self), limited(), np.errstate(over="ignore", invalid="ignore"):
            if isinstance(X, InShards):
                refuse_checkpoint(checkpoint)
                self.state_ = self._stream_shards(X)
                return self
            source = source_of(X)
            memory = remembering(checkpoint, self, source)
            if source is not None:
                take_columns_of(self, source)
                warn_of_others(source)
                self.state_ = memory.finished(lambda: self._stream(source, memory))
                check_something_observed(self, ~without_values(self.state_))
                return self
            rows = without_absurd(check_data(self, X, reset=True, accept_sparse=True))
            check_something_observed(self, ever_observed(rows))
            rng = check_random_state(self.random_state)
            settings, rows = self._begin(int(rows.shape[1]), dtype_of(rows), rng), with_data(rows)
            with self._progress(int(self.n_passes) * int(rows.shape[0])) as step:
                self.state_ = _filter_run.fit(
                    current_parameters(self),
                    settings,
                    rows,
                    n_passes=self.n_passes,
                    shuffle=self.shuffle,
                    stop_below=self._stop_below(),
                    rng=rng,
                    tell=self._tell,
                    step=step,
                    name=type(self).__name__,
                )
            _check_finite(self.state_)
        return self

    def partial_fit(self, X: MatrixLike | InShards, y: object = None) -> Self:
        """Take in one row or many, NaN = missing, and go on from where the last call ended."""
        if isinstance(X, InShards) or is_dask(X):
            return self._go_on_by_chunk(X)
        run: FilterRun | None = vars(self).get("state_")
        limit = limited(X.size) if isinstance(X, np.ndarray) else limited()  # set once, not by every step on its own
        with unchanged_on_error(self), limit, np.errstate(over="ignore", invalid="ignore"):
            if run is None:
                self._validate_params()
            else:
                check_same_parameters(self, run.parameters)
            if run is None or run.seen is None:
                rows = check_data(self, X, reset=run is None, accept_sparse=True)
            else:
                rows = check_next(self, X)
            with self._progress(int(rows.shape[0])) as step:
                if run is None:
                    rng = check_random_state(self.random_state)
                    settings = self._begin(int(rows.shape[1]), dtype_of(rows), rng)
                    self.state_ = _filter_run.begin(current_parameters(self), settings, rows, self._tell, step)
                else:
                    self.state_ = _filter_run.go_on(run, rows, self._tell, step)
            _check_finite(self.state_)
        return self

    def _go_on_by_chunk(self, X: Any) -> Self:
        """Take in the chunks of a Dask array, one after another: all of them or, where one is refused, none."""
        with unchanged_on_error(self):
            run: FilterRun | None = vars(self).get("state_")
            if (shards := shards_for(self, X)) is None:
                for block in open_rows(X).blocks():
                    self.partial_fit(block.values)
                return self
            if run is None:
                self._validate_params()
            else:
                check_same_parameters(self, run.parameters)
            with limited(), np.errstate(over="ignore", invalid="ignore"):
                self.state_ = self._stream_shards(shards, run)
        return self

    def _stream_shards(self, X: InShards, run: FilterRun | None = None) -> FilterRun:
        """Pass over rows whose features are in shards: in a stream once, in a fit ``n_passes`` times."""
        take_columns(self, X.array, reset=run is None)
        n_passes = 1 if run is not None else int(self.n_passes)
        settings = (
            self._begin(X.shape[1], X.dtype, check_random_state(self.random_state)) if run is None else run.settings
        )
        with self._progress(n_passes * X.shape[0]) as step:
            done = 0

            def told(run: FilterRun, rows: Any) -> FilterRun:
                nonlocal done
                _check_finite(run)
                done += int(rows.shape[0])
                step(done)
                return run

            def begin(rows: Any) -> FilterRun:
                return told(_filter_run.begin(current_parameters(self), settings, rows, self._tell, say_nothing), rows)

            def go_on(run: FilterRun, rows: Any) -> FilterRun:
                return told(_filter_run.go_on(run, rows, self._tell, say_nothing), rows)

            for _ in range(n_passes):
                from ._filter_shards import stream  # few need it

                run = stream(run, settings, X, begin, go_on)
        assert run is not None  # for the type checker: there is a pass at least
        return run

    def _stream(self, source: Source, memory: FitMemory) -> FilterRun:
        """Pass over the blocks of a source ``n_passes`` times."""
        if self.n_passes > 1:
            refuse_single_pass(source, f"n_passes={self.n_passes}")
        settings = self._begin(source.n_columns, source.dtype, check_random_state(self.random_state))
        total = None if source.n_rows is None else int(self.n_passes) * source.n_rows
        run: FilterRun | None = None
        with self._progress(total) as step:

            def add(before: int, run: FilterRun | None, part: Numbered) -> FilterRun:
                if run is None:
                    run = _filter_run.begin(current_parameters(self), settings, part.rows, self._tell, say_nothing)
                else:
                    run = _filter_run.go_on(run, part.rows, self._tell, say_nothing)
                _check_finite(run)
                step(before + part.first + int(part.rows.shape[0]))
                return run

            for k in range(memory.once("pass", lambda: 0), int(self.n_passes)):
                before = k * (source.n_rows or 0)
                run = memory.over(f"pass {k}", reading(source, memory=memory), partial(add, before), run)
                memory.put("pass", k + 1)
        if run is None or not run.n_samples:
            raise ValueError("X has no observed entry: every value is NaN; pass data with some numbers in it.")
        return run

    def _begin(self, n_features: int, dtype: np.dtype[Any], rng: np.random.RandomState) -> FilterSettings:
        return self._settings(
            n_components=self.n_components,
            n_features=n_features,
            coefficients=self.coefficients,
            fit_mean=self.fit_mean,
            init=self.init,
            batch_size=self.batch_size,
            seed=int(rng.randint(2**31 - 1)),
            dtype=dtype,
        )

    # ---------------------------------------------------------------- what was fitted

    @property
    def n_samples_seen_(self) -> int:
        """Rows taken in; rows without any observed entry change nothing and are not counted."""
        return int(self._learned().n_samples)

    @property
    def n_passes_(self) -> int:
        """Passes that ``fit`` made."""
        return int(self._learned().n_passes)

    def _facts(self) -> Facts:
        run = self.state_
        facts = {
            "rows": f"{run.n_samples:,}",
            "features": f"{self.n_features_in_:,}",
            "components": f"{self.n_components_}",
            "passes": f"{run.n_passes}" if run.n_passes else STREAMED,
            "noise": noise_words(self._dictionary().noise),
        }
        groups, unit = run.filter.groups, run.unit
        if groups is not None and groups.n:
            shares = place_of(run.filter.C).get(groups.seen, 0) / groups.n
            facts["observed"] = f"{observed_words(shares)} (later rows count more)"
        own = 0 if unit is None else int(np.count_nonzero(to_host(unit) != 1.0))
        facts["units"] = "those of the data"
        if own:
            facts["units"] = f"{counted(own, 'feature')} rescaled inside; answers are in the units of the data"
        return facts

    def _computes_in(self) -> np.dtype[Any]:
        return self.state_.settings.dtype

    def _dictionary(self) -> FilterDictionary:
        from ._filter_answers import FilterDictionary  # only answers need it

        return FilterDictionary(self._learned())


def _check_finite(run: FilterRun) -> None:
    """Refuse what has outgrown all numbers, as gradient descent does where its steps are too long."""
    G = run.filter.small.G
    if not isfinite(square_sum(G)) and not np.isfinite(G).all():  # the first is quicker, and almost always enough
        raise ValueError(
            "The dictionary has grown beyond what can be computed with; divide the data by their size, or take a "
            "smaller step_size."
        )
