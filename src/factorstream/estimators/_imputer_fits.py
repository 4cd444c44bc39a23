"""What an imputer learns from: rows in memory, tables of few columns, and rows that are read again and again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import counted, namespace, positions, to_host
from ..core.absurd import Seen, seen_in
from ..core.linalg import Array
from ..core.place import HERE, Tall
from ..persist.moving import state_beside
from ..progress import Step, say_nothing
from ..sources.rows.source import Source
from ..tall.places import using
from ..tall.rows import dense, with_data
from . import _bayesian_run
from ._absurd import without_absurd
from ._bayesian_run import BayesianRun
from ._category_columns import Group, groups_among, links_by_hiding
from ._checkpoint import FitMemory
from ._column_limits import given_limits, joined_limits, shown_limits
from ._columns import enough_rows, moments, robust_moments
from ._imputer_answers import with_gaps
from ._imputer_state import FactorizedColumns, ImputerState
from ._imputer_stream import ImputerStream, stream_seed
from ._mixed.encoding import Encoding
from ._source_rows import clean_rows, look, reading, refuse_single_pass
from ._table_elsewhere import rows_on_host
from ._table_stream import after_fit
from ._types import Seed
from ._validation import current_parameters
from .bayesian_factorization import BayesianFactorization

if TYPE_CHECKING:
    from ._table_fit import TablePlan
    from ._table_model import TableModel


class ImputerFits(ImputerStream):
    """Base of :class:`LowRankImputer`: how its state comes from data. Its parameters are those of the class."""

    n_components: str | int
    marginals: str
    residual: str | None
    robust: bool | float
    calibrate: bool
    min_value: object
    max_value: object
    max_iter: int
    add_indicator: bool
    keep_empty_features: bool
    random_state: Seed

    def _fit_values(self, values: Tall, encoding: Encoding | None = None) -> ImputerState:
        """Learn from rows in memory, which may be a table's ``encoding``."""
        values = without_absurd(values)
        state = self._fit_clean(values, encoding)
        if encoding is not None and not encoding.of_numbers:
            return state
        return state._replace(stream=after_fit(with_data(values), stream_seed(self.random_state)))

    def _fit_clean(self, values: Tall, encoding: Encoding | None = None) -> ImputerState:
        """Learn from rows in memory whose absurd values are missing."""
        n_observed, mean, scale = moments(values)
        if self.robust:
            mean, scale = robust_moments(values, mean, scale)
        gaps = namespace(values).any(namespace(values).isnan(values), axis=0)
        state = self._columns_state(n_observed, mean, scale, gaps, seen_in(values), values, encoding)
        groups: tuple[Group, ...] = ()
        if encoding is not None:
            groups = groups_among(encoding.groups(), *map(to_host, (state.varies, state.statistics, state.scale)))
        if not counted(state.varies):
            return state
        from ._table_fit import TablePlan  # only fits need it

        rows = with_data(state.standardised(enough_rows(values)))
        plan = TablePlan.of(self.marginals, self.residual, bool(self.robust), bool(self.calibrate))
        if plan.suits(rows, groups):
            table, run = self._fit_table(rows, plan, groups)
            links = tuple(group.link for group in table.groups)
            return state._replace(factorization=run, table=table, links=links)
        how = self._factorization()
        with self._progress(1.0) as step:
            state = state._replace(factorization=_bayesian_run.fit(X=rows, step=step, **how))
        if not groups:
            return state

        def without_hidden(some: Tall) -> FactorizedColumns:
            again = {**how, "calibrate": False}
            return FactorizedColumns(_bayesian_run.fit(X=with_data(some), step=say_nothing, **again))

        return state._replace(links=links_by_hiding(state.columns, rows, groups, how["seed"], without_hidden))

    def _fit_table(self, rows: Tall, plan: TablePlan, groups: tuple[Group, ...]) -> tuple[TableModel, BayesianRun]:
        """Learn a table of few columns: every reading of them, and what is beyond these. Last, the factorisation of the
        first reading, where the rows are."""
        bound = sum(len(group.columns) > 1 for group in groups)  # the columns of one category add up to 1
        how = self._factorization(most_components=max(1, rows.shape[1] - 1 - bound), calibrate=False)
        runs = []

        def fit(X: Array, part: Step) -> BayesianRun:
            runs.append(_bayesian_run.fit(X=X, step=part, **how))
            return runs[-1]

        with self._progress(1.0) as step, using(HERE):
            return plan.learn(rows_on_host(rows), fit, how["seed"], step, groups), state_beside(runs[0], rows)

    def _limits(self, m: int, encoding: Encoding | None) -> tuple[Array, Array] | None:
        """What is given of them, for m features."""
        if self.min_value is None and self.max_value is None:
            return None
        m = m if encoding is None else len(encoding.columns)
        low = given_limits(self.min_value, "min_value", m, -np.inf)
        high = given_limits(self.max_value, "max_value", m, np.inf)
        if (low > high).any():
            raise ValueError("min_value must not exceed max_value in any column.")
        return (low, high) if encoding is None else (encoding.spread(low, -np.inf), encoding.spread(high, np.inf))

    def _fit_source(self, source: Source, memory: FitMemory) -> ImputerState:
        """Learn from rows that are read again for every sweep, unless they are few enough to be fitted at once."""
        from ._imputer_source import moments_in, standardised_look  # few need it
        from ._variational_fits import over_blocks

        refuse_single_pass(source, type(self).__name__)
        read = reading(source, lambda rows: with_gaps(dense(rows), self.missing_values), memory)
        found = memory.once("found", lambda: look(read, source.n_columns, source.dtype, memory))
        if found.whole is not None:
            return self._fit_values(found.whole)
        n_observed, mean, scale = moments_in(found, robust=bool(self.robust))
        gaps, some = n_observed < found.n_rows, dense(found.some)
        state = self._columns_state(n_observed, mean, scale, gaps, found.seen, some)
        run = None
        if counted(state.varies):
            with self._progress(1.0) as step:
                run = _bayesian_run.fit_all(
                    found=standardised_look(state, found),
                    over_all=over_blocks(lambda: clean_rows(read, found.seen, state.standardised), memory),
                    step=step,
                    memory=memory,
                    **self._factorization(),
                )
        return state._replace(factorization=run)

    def _columns_state(
        self,
        n_observed: Tall,
        mean: Tall,
        scale: Tall,
        gaps: Tall,
        seen: Seen,
        rows: Tall,
        encoding: Encoding | None = None,
    ) -> ImputerState:
        """What is known of the columns, before anything is factorised.

        ``gaps`` are those that have some, and ``rows`` some rows or all, which show how often a value is seen.
        """
        empty, xp = n_observed == 0, namespace(mean)
        if bool(xp.all(empty)) and not self.keep_empty_features:
            raise ValueError("X has no observed entry: every value is missing; pass data with some numbers in it.")
        statistics = xp.where(empty, 0.0 if self.keep_empty_features else np.nan, mean)
        if encoding is not None:
            gaps = encoding.gathered(to_host(gaps), False, labels=True)
        indicated = positions(gaps) if self.add_indicator else None
        limits = self._limits(int(scale.shape[0]), encoding)
        if self.marginals != "linear":
            limits = joined_limits(limits, shown_limits(seen.low, seen.high, rows))
        parameters = current_parameters(self)
        state = ImputerState(parameters, n_observed, statistics, scale, seen, None, indicated, limits)
        return state._replace(encoding=encoding)

    def _factorization(self, most_components: int | None = None, calibrate: bool | None = None) -> dict[str, Any]:
        """How ``BayesianFactorization`` would fit the standardised columns, without a second look at the data."""
        n_components = self.n_components
        if n_components == "auto" and most_components is not None:
            n_components = most_components
        calibrate = bool(self.calibrate) if calibrate is None else calibrate
        model = BayesianFactorization(
            n_components,
            noise_variance="per_feature",
            robust=self.robust,
            calibrate=calibrate,
            max_iter=self.max_iter,
            random_state=self.random_state,
        )
        return {
            "parameters": current_parameters(model),
            "options": model._options(),
            "calibrate": calibrate,
            "seed": model._seed(),
            "tell": self._tell,
            "name": type(self).__name__,
        }
