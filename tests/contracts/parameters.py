"""Another value for every parameter, and where it shows: the same word means the same in every estimator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest


def as_they_are(X: np.ndarray) -> np.ndarray:
    return X


def marked(X: np.ndarray) -> np.ndarray:
    return np.nan_to_num(X, nan=-1.0)


def with_an_empty_feature(X: np.ndarray) -> np.ndarray:
    return np.column_stack([X, np.full(len(X), np.nan)])


def at_uneven_hours(X: np.ndarray) -> Any:
    """A table whose hours move by half an hour at one place: too little to be warned of."""
    pandas = pytest.importorskip("pandas")
    times = pandas.date_range("2024-01-01", periods=2 * len(X), freq="30min")
    return pandas.DataFrame(X, [*times[0:10:2], *times[11 : 2 * len(X) : 2]])


def positive(X: np.ndarray) -> np.ndarray:
    return np.exp(X / 8.0)


def complete(X: np.ndarray) -> np.ndarray:
    return np.nan_to_num(X, nan=8.0)


class Other(NamedTuple):
    """A value that is not the default."""

    value: Any
    beside: dict[str, Any] = {}  # noqa: RUF012
    """Other parameters that give it something to do."""
    data: Callable[[np.ndarray], np.ndarray] = as_they_are
    """Rows in which it has something to do."""
    how: str = "fit"
    """The method that it has something to do in."""
    costs_only: bool = False
    """It changes how much work is done, and no number."""
    here: bool = False
    """It acts only where the features are kept in one array of this process."""


OTHERS = {
    "n_components": Other(1),
    "noise_variance": Other(0.5),
    "prior_covariance": Other(0.5),
    "coefficients": Other("map"),
    "drift": Other(1e-2),
    "covariance": Other("shared"),
    "scale": Other(False),
    "fit_mean": Other(False),
    "fit_row_mean": Other(True),
    "init": Other("uniform"),
    "n_passes": Other(3),
    "shuffle": Other(False),
    "batch_size": Other(1, data=complete, costs_only=True),
    "step_size": Other(0.01),
    "decay": Other(1.0),
    "max_iter": Other(1),
    "tol": Other(0.5, {"max_iter": 200}),
    "marginals": Other("normal", here=True),
    "residual": Other(None, here=True),
    "min_value": Other(1e3),
    "max_value": Other(-1e3),
    "robust": Other(True),
    "calibrate": Other(True),
    "random_state": Other(1),
    "verbose": Other(1),
    "missing_values": Other(-1, data=marked),
    "add_indicator": Other(True),
    "keep_empty_features": Other(True, data=with_an_empty_feature),
    "dynamics": Other("diagonal"),
    "process_noise": Other(0.3),
    "smooth": Other(False),
    "lag": Other(3, how="partial_fit"),
    "period": Other(4),
    "trend": Other(True),
    "spacing": Other("time", data=at_uneven_hours),
    "alarm_rate": Other(0.2),
}
"""What holds for every estimator with a parameter of this name, unless the next table says otherwise."""

SPECIAL = {
    ("DictionaryFilter", "tol"): Other(0.5, {"n_passes": 5}),
    ("BayesianFactorization", "random_state"): Other(1, {"calibrate": True}),  # which entries are hidden
    ("LowRankImputer", "calibrate"): Other(False),
    ("SequenceFilter", "calibrate"): Other(False),
}

AGAIN = [
    ("SequenceFilter", "smooth", Other(False, {"drift": 1e-3})),
    ("SequenceFilter", "marginals", Other("log", data=positive)),
]
"""Parameters that must act beside another setting too, because answers take another way there."""

QUICK = {"SequenceFilter": {"calibrate": False}}
"""Other parameters act without what this turns off, which takes ten times as long as the rest of a fit."""


def other(estimator: Any, parameter: str) -> Other:
    """Another value of an estimator's parameter; a new parameter needs a line above."""
    return SPECIAL.get((type(estimator).__name__, parameter), OTHERS[parameter])
