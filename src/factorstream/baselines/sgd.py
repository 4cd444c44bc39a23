"""Matrix factorisation by stochastic gradient descent on the dictionary."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, ClassVar, Literal

from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval, StrOptions

from ..core.filter.gains import SGDGain
from ..estimators._filter_run import FilterSettings, filter_settings
from ..estimators._streaming import RecursiveFactorizer
from ..estimators._types import Seed


class SGDFactorization(RecursiveFactorizer):
    """Stochastic gradient matrix factorisation: C ← C + γ_k (y − Cx) xᵀ.

    Parameters
    ----------
    step_size : "auto", float or callable, default="auto"
        γ_k = step_size / k**decay, k counting samples from 1. "auto" stands for one over the running mean of ‖x‖²,
        which makes the step independent of the data's scale. A function gets (k, ‖x‖²); with ``decay=0`` the function
        ``lambda k, xx: 1 / (lam + xx)`` is Broyden's rule with V = I.
    decay : float, default=0.5
        Power of k by which the step falls.

    The other parameters and attributes are those of :class:`factorstream.DictionaryFilter`, as far as they are here.
    There is no posterior of the dictionary, and so there are no standard deviations, intervals, draws or densities.

    Examples
    --------
    >>> import numpy as np
    >>> from factorstream import SGDFactorization
    >>> X = np.random.default_rng(0).normal(size=(50, 8))
    >>> SGDFactorization(n_components=2, step_size=0.1, random_state=0).fit_transform(X).shape
    (50, 2)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **RecursiveFactorizer._parameter_constraints,
        "step_size": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither"), callable],
        "decay": [Interval(Real, 0, None, closed="left")],
    }
    _state_types: ClassVar[tuple[type, ...]] = (*RecursiveFactorizer._state_types, SGDGain)

    def __init__(
        self,
        n_components: int = 10,
        *,
        step_size: Literal["auto"] | float | Callable[[int, float], float] = "auto",
        decay: float = 0.5,
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
        self.step_size = step_size
        self.decay = decay
        self.coefficients = coefficients
        self.fit_mean = fit_mean
        self.init = init
        self.n_passes = n_passes
        self.shuffle = shuffle
        self.batch_size = batch_size
        self.random_state = random_state
        self.verbose = verbose

    def _settings(self, **common: Any) -> FilterSettings:
        return filter_settings(**common, gain=SGDGain(self.step_size, float(self.decay)))
