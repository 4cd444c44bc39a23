"""Online matrix factorisation by Broyden's rule: the filter whose V never changes."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval, StrOptions

from ..core.filter.gains import BroydenGain
from ..estimators._filter_run import FilterSettings, filter_settings
from ..estimators._streaming import RecursiveFactorizer
from ..estimators._types import Seed


class BroydenFactorization(RecursiveFactorizer):
    """Matrix factorisation by Broyden updates: g = Vx / (λ + xᵀVx) with V fixed (V = I in the paper).

    Parameters and attributes are those of :class:`factorstream.DictionaryFilter`, as far as they are here. V is never
    conditioned on the data and so says nothing about uncertainty: there are no standard deviations, intervals,
    draws or densities.

    Examples
    --------
    >>> import numpy as np
    >>> from factorstream import BroydenFactorization
    >>> X = np.random.default_rng(0).normal(size=(50, 8))
    >>> BroydenFactorization(n_components=2, random_state=0).fit_transform(X).shape
    (50, 2)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **RecursiveFactorizer._parameter_constraints,
        "noise_variance": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "prior_covariance": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither"), "array-like"],
    }

    def __init__(
        self,
        n_components: int = 10,
        *,
        noise_variance: str | float = "auto",
        prior_covariance: str | ArrayLike = "auto",
        coefficients: str = "least_squares",
        fit_mean: bool = True,
        init: str | ArrayLike = "random",
        n_passes: int = 1,
        shuffle: bool = True,
        batch_size: str | int = "auto",
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.noise_variance = noise_variance
        self.prior_covariance = prior_covariance
        self.coefficients = coefficients
        self.fit_mean = fit_mean
        self.init = init
        self.n_passes = n_passes
        self.shuffle = shuffle
        self.batch_size = batch_size
        self.random_state = random_state
        self.verbose = verbose

    def _settings(self, **common: Any) -> FilterSettings:
        return filter_settings(
            **common,
            gain=BroydenGain(),
            noise_variance=self.noise_variance,
            prior_covariance=self.prior_covariance,
        )
