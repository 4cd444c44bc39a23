"""The components of a fitted model in a canonical order and sign: along the principal axes of what they explain."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arrays import to_host
from .estimators.low_rank_imputer import LowRankImputer
from .persist import here

__all__ = ["PrincipalAxes", "axes_along", "principal_axes"]

Array = NDArray[np.float64]


class PrincipalAxes(NamedTuple):
    """The components of a model along their principal axes, and the way there from the model's own coefficients."""

    components: Array
    """One axis per row (k, n_features), the one that explains most first; divided by ``unit``, they are orthogonal and
    of length 1."""
    rotation: Array
    """(n_components_, k): ``model.transform(X) @ rotation`` are the coefficients along the axes. They are
    uncorrelated, and ``coefficients @ components + model.mean_`` is what the model reconstructs."""
    explained_variance: Array
    """What each axis explains (k,): the variance of its coefficients, which is that of its part of a row, summed over
    the features."""
    unit: Array
    """What the features were divided by before that (n_features,); ones where no units were given."""


def principal_axes(model: Any, X: Any = None, *, unit: ArrayLike | None = None) -> PrincipalAxes:
    """Rotate the components of a fitted model to the principal axes of what they explain.

    A factorisation determines what its components explain together, and not the basis in which they are written: two
    fits of the same data can agree in every prediction and have components that look nothing alike. Along the principal
    axes they are alike. With Σ the covariance of the coefficients and C = ``components_``, the axes are the
    eigenvectors of CᵀΣC, those with the largest eigenvalues first, and the largest loading of each is positive. The
    model and its predictions stay as they are. Cost O(m r²).

    Parameters
    ----------
    model : fitted estimator
        Of a :class:`LowRankImputer` the axes are those of its standardised features that vary.
    X : array or table (n_samples, n_features), default=None
        Rows whose coefficients say what Σ is. By default Σ is what the model has learned,
        ``coefficient_covariance_``, which the baselines do not have.
    unit : array (n_features,), default=None
        What the features are divided by before their variances are added up, for columns of different units. Axes are
        then orthogonal after that division; the components are in the data's units all the same.

    Returns
    -------
    PrincipalAxes
        ``components``, ``rotation``, ``explained_variance`` and ``unit``; there are as many axes as components, and
        never more than features.

    Examples
    --------
    >>> import numpy as np
    >>> from factorstream import BayesianFactorization, principal_axes
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 2)) @ [[3.0, 3.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]] + 0.1 * rng.normal(size=(100, 4))
    >>> model = BayesianFactorization(2).fit(X)
    >>> axes = principal_axes(model)
    >>> np.abs(axes.components).round(1)
    array([[0.7, 0.7, 0. , 0. ],
           [0. , 0. , 0.7, 0.7]])
    >>> coefficients = model.transform(X) @ axes.rotation
    >>> bool(np.allclose(coefficients @ axes.components + model.mean_, model.inverse_transform(model.transform(X))))
    True
    """
    model, X = here(model), to_host(X)
    if isinstance(model, LowRankImputer):
        if model.factorization_ is None:
            raise ValueError("No feature varies, so there are no components; fit data that vary.")
        if X is not None:
            X = standardised(model, X)
        model = model.factorization_
    return axes_along(model, _covariance(model, X), unit)


def axes_along(model: Any, Sigma: Array, unit: ArrayLike | None = None) -> PrincipalAxes:
    """The axes of a factorisation in this process whose coefficients have the covariance Sigma (r, r)."""
    C = np.asarray(model.components_, dtype=np.float64)
    units = _checked(unit, C.shape[1])
    basis, R = np.linalg.qr((C / units).T)  # C / units = (basis R)ᵀ, and so CᵀΣC = basis (RΣRᵀ) basisᵀ
    variance, turn = np.linalg.eigh(R @ Sigma @ R.T)
    axes = (basis @ turn[:, ::-1]).T
    axes *= np.where(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)] < 0.0, -1.0, 1.0)[:, None]
    return PrincipalAxes(axes * units, (C / units) @ axes.T, np.maximum(variance[::-1], 0.0), units)


def standardised(model: LowRankImputer, X: Any) -> Array:
    """The features of X that vary, as the factorisation of an imputer has them."""
    varies = model.scale_ > 0
    return (np.asarray(X, dtype=np.float64)[:, varies] - model.statistics_[varies]) / model.scale_[varies]


def _covariance(model: Any, X: Any) -> Array:
    if X is not None:
        x = np.asarray(model.transform(X), dtype=np.float64)
        x = x - x.mean(axis=0)
        return np.asarray(x.T @ x / len(x))
    try:
        return np.asarray(model.coefficient_covariance_, dtype=np.float64)
    except AttributeError:
        raise TypeError(
            f"{type(model).__name__} does not learn how its coefficients vary; pass rows X whose coefficients say it."
        ) from None


def _checked(unit: ArrayLike | None, m: int) -> Array:
    units = np.ones(m) if unit is None else np.asarray(to_host(unit), dtype=np.float64)
    if units.shape != (m,) or not (np.isfinite(units) & (units > 0.0)).all():
        raise ValueError(f"unit must have one positive number for each of the {m} features.")
    return units
