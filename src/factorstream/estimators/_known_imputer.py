"""``LowRankImputer`` where more is known of rows than their values: its fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import counted
from ..core.absurd import seen_in
from ..core.variational.observed import Known
from . import _bayesian_run
from ._absurd import without_absurd
from ._imputer_state import ImputerState
from ._known_errors import counted_rows, known_moments, known_of, refuse_elsewhere, repeated
from ._mixed.encoding import refuse_other_columns

if TYPE_CHECKING:
    from .low_rank_imputer import LowRankImputer


def fit_known_table(imputer: LowRankImputer, X: Any, sample_weight: Any, variances: Any) -> ImputerState:
    """Learn from rows in memory of which more is known: weights, variances or both."""
    refuse_elsewhere(X)
    refuse_other_columns(X, "sample_weight and variances are")
    values = imputer._check(X, imputer.missing_values, reset=True)
    normal = imputer.marginals if imputer.marginals == "normal" else None
    as_often = repeated(values, sample_weight, variances, robust=imputer.robust, marginals=normal)
    if as_often is not None:
        return imputer._fit_values(as_often)
    values = without_absurd(values)
    known = known_of(X, values, sample_weight, variances)
    assert known is not None  # for the type checker: one of the two is given
    counts = known.times > 0
    values, known = values[counts], Known(known.v[counts], known.times[counts])
    n_observed, mean, scale = known_moments(values, known)
    state = imputer._columns_state(n_observed, mean, scale, np.isnan(values).any(axis=0), seen_in(values), values)
    if not counted(state.varies):
        return state
    rows, v = state.standardised(values), known.v[:, state.varies] / state.scale[state.varies] ** 2
    rows, known = counted_rows(rows, known._replace(v=v))
    with imputer._progress(1.0) as step:
        run = _bayesian_run.fit(X=rows, known=known, step=step, **imputer._factorization())
    return state._replace(factorization=run)
