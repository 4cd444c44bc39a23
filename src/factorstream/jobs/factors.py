"""The components of a table in a file, and how much of each is in every row. Writes nothing and prints nothing."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..estimators.low_rank_imputer import LowRankImputer
from ..rotation import PrincipalAxes, principal_axes, standardised
from ..sources.table import Array, NewColumn, TableError
from .quiet import quietly
from .reading import FITTING, Given, Reading, Steps, named, read_given

__all__ = ["FACTORS_ALONE", "FactorSettings", "Factors", "factorize_file"]

FACTORS_ALONE: dict[str, Any] = {"marginals": "linear", "residual": None}
"""Parameters of a `LowRankImputer` of which the components are wanted, and nothing beyond them."""

_Parts = tuple[Array, Array, Array, Array, PrincipalAxes | None]
"""Components, coefficients, mean, shares explained, and the axes that they come from."""


class FactorSettings(NamedTuple):
    """How to factorise."""

    components: int | str = "auto"
    robust: bool = False
    seed: int = 0
    calibrate: bool = False
    """Whether the model will be saved, and asked for intervals later."""
    reading: Reading = Reading()
    verbose: int = 0
    """Whether a fit shows how far it is."""


class Factors(NamedTuple):
    """``coefficients @ components + mean`` is what the model says of the table."""

    components: Array
    """(k, m) along their principal axes, in the data's units; the one that explains most first."""
    coefficients: Array
    """(n, k)"""
    mean: Array
    """(m,)"""
    explained: Array
    """(k,) The share of the variance of all columns, each divided by its own, that each component explains."""
    axes: PrincipalAxes | None
    """Of the columns divided by their deviations; None without components."""
    model: Any
    given: Given

    def table(self) -> list[NewColumn]:
        """The components, one in a row: its number, the share it explains, and its loadings."""
        return [
            NewColumn("component", [f"{k + 1}" for k in range(len(self.components))]),
            NewColumn("explained", [f"{share:.4g}" for share in self.explained]),
            *(NewColumn(name, self.components[:, j].tolist()) for j, name in enumerate(self.given.names)),
        ]

    def files(self) -> dict[str, bytes]:
        """The contents of the files ``components``, ``coefficients`` and ``mean``, in the format of the table."""
        table, names = self.given.table, self.given.names
        numbers = [f"{k + 1}" for k in range(len(self.components))]
        others = [j for j in range(len(table.names)) if j not in table.numeric]
        of_coefficients = [
            *(NewColumn(table.names[j], table.cells(j), j) for j in others),
            *(NewColumn(f"component {k}", self.coefficients[:, at].tolist()) for at, k in enumerate(numbers)),
        ]
        of_mean = [NewColumn(name, [float(self.mean[j])]) for j, name in enumerate(names)]
        return {
            "components": table.encode_new(self.table()),
            "coefficients": table.encode_new(of_coefficients),
            "mean": table.encode_new(of_mean),
        }


def factorize_file(path: Path, settings: FactorSettings, tell: Steps = lambda what: None, model: Any = None) -> Factors:
    """Factorise the columns of numbers of a file, each divided by its deviation; or ask a model that was fitted before.

    Raises
    ------
    TableError
        When the file cannot be read or factorised; the message says why in one sentence.
    """
    tell("reading")
    given = read_given(path, settings.reading, model)
    try:
        with quietly():
            if model is None:
                tell(FITTING)
                model = LowRankImputer(
                    settings.components,
                    **FACTORS_ALONE,
                    robust=settings.robust,
                    calibrate=settings.calibrate,
                    random_state=settings.seed,
                    verbose=settings.verbose,
                ).fit(given.X)
                model.verbose = 0
            tell("asking")
            found = _of_imputer(model, given.X) if isinstance(model, LowRankImputer) else _of_others(model, given.X)
    except (ValueError, TypeError) as problem:
        raise TableError(f"{named(path)} cannot be used: {str(problem).rstrip('.')}.") from None
    return Factors(*found, model, given)


def _of_imputer(model: LowRankImputer, X: Array) -> _Parts:
    """The axes of the standardised features that vary, in the data's units; the others are their means."""
    factorization = model.factorization_
    mean = np.asarray(model.statistics_, dtype=np.float64).copy()
    if factorization is None or not model.n_components_:
        return np.empty((0, len(mean))), np.empty((len(X), 0)), mean, np.empty(0), None
    axes = principal_axes(model, X)
    varies = model.scale_ > 0
    components = np.zeros((len(axes.components), len(mean)))
    components[:, varies] = axes.components * model.scale_[varies]
    mean[varies] += model.scale_[varies] * factorization.mean_
    coefficients = factorization.transform(standardised(model, X)) @ axes.rotation
    return components, coefficients, mean, axes.explained_variance / int(np.sum(varies)), axes


def _of_others(model: Any, X: Array) -> _Parts:
    """The axes of the features divided by their deviations."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of columns without values, whose unit is 1
        deviation = np.nanstd(X, axis=0)
    unit = np.where(deviation > 0, deviation, 1.0)
    axes = principal_axes(model, X, unit=unit)
    coefficients = np.asarray(model.transform(X)) @ axes.rotation
    mean = np.asarray(model.mean_, dtype=np.float64)
    return axes.components, coefficients, mean, axes.explained_variance / max(1, int(np.sum(deviation > 0))), axes
