"""Nonnegative matrix factorisation by multiplicative updates that ignore missing entries."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import nnls
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from ..core.absurd import Seen, seen_in
from ..core.linalg import Array
from ..estimators._absurd import without_absurd
from ..estimators._factorizer import Factorizer
from ..estimators._given_numbers import check_init
from ..estimators._html import Facts
from ..estimators._types import MatrixLike, Seed
from ..estimators._validation import (
    check_data,
    check_every_feature_observed,
    check_size_of,
    current_parameters,
    narrowed,
    unchanged_on_error,
)
from ..progress import Step

__all__ = ["MaskedNMF"]

_CHECK_EVERY = 10  # iterations between two looks at the objective
_ROWS_AT_ONCE = 256  # rows copied to double precision together


class NMFState(NamedTuple):
    """Everything that an answer depends on."""

    parameters: dict[str, Any]
    """Those of the estimator when it was fitted."""
    components: Array
    seen: Seen
    """What tells absurd values."""
    n_iter: int
    history: tuple[dict[str, float], ...]


class NonnegativeDictionary(NamedTuple):
    """Answers from a nonnegative dictionary H (r × m)."""

    components: Array

    @property
    def mean(self) -> Array:
        return np.zeros_like(self.components[0])

    def coefficients(self, X: Array) -> Array:
        return nonnegative_coefficients(X, self.components)

    def fill(self, X: Array) -> Array:
        return np.where(np.isnan(X), self.coefficients(X) @ self.components, X)


class MaskedNMF(Factorizer):
    """Nonnegative matrix factorisation of data with holes (batch; the paper's benchmark).

    Minimises Σ (y_ij − (WH)_ij)² over the observed entries with W, H ≥ 0 by the multiplicative updates of
    Lee and Seung with the mask M written in,

        W ← W ∘ (Y Hᵀ) / ((M ∘ WH) Hᵀ)         H ← H ∘ (Wᵀ Y) / (Wᵀ (M ∘ WH)),

    where missing entries of Y count as zero. Neither step ever increases the objective. One iteration costs
    about 12·n·m·r operations for n samples, m features and r components.

    The coefficients that `transform` returns are not the last W but the exact nonnegative least-squares
    solution for the fitted dictionary, so they do not depend on which samples are transformed together. A
    sample without any observed entry gets zeros. There is no posterior, and so there are no standard deviations,
    intervals, draws or densities.

    Parameters
    ----------
    n_components : int, default=10
        The rank r.
    max_iter : int, default=1000
        Batch iterations; the paper's number.
    tol : float, default=0.0
        Stop when ten iterations lower the objective by less than this share of it; 0 runs all of them.
    init : {"random", "uniform"} or array of shape (n_components, n_features), default="random"
        Start of the dictionary: absolute Gaussians on the scale of the data, numbers in [0, 1), or the array.
    random_state : int, RandomState or None, default=None
        Seeds the start.
    verbose : int, default=0
        1 shows how far ``fit`` has come, once it takes longer than two seconds: a bar in a terminal (with rich
        installed) or a notebook, lines in a log. 2 prints the objective every ten iterations as well.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        The dictionary H.
    reconstruction_err_ : float
        Root of the objective after the last iteration.
    n_iter_ : int
        Iterations done.
    n_features_in_ : int
        Features seen in `fit`.
    history_ : list of dict
        ``{"iteration": ..., "objective": ...}``, every ten iterations and at the end.
    state_ : NMFState
        Everything that an answer depends on.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.outer([1.0, 2.0, 3.0, 4.0], [1.0, 1.0, 5.0])
    >>> X[1, 2] = np.nan
    >>> MaskedNMF(1, random_state=0).fit(X).impute(X)[1].round(3)
    array([ 2.,  2., 10.])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "init": [StrOptions({"random", "uniform"}), "array-like"],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }
    _takes_sparse: ClassVar[bool] = False
    _state_types: ClassVar[tuple[type, ...]] = (NMFState, Seen)
    state_: NMFState

    def __init__(
        self,
        n_components: int = 10,
        *,
        max_iter: int = 1000,
        tol: float = 0.0,
        init: str | ArrayLike = "random",
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.init = init
        self.random_state = random_state
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Learn the dictionary from nonnegative data, one sample per row, NaN where missing."""
        with unchanged_on_error(self):
            Y = without_absurd(self._nonnegative(X, reset=True))
            check_size_of(Y, Y.dtype)
            check_every_feature_observed(Y)
            with self._progress(int(self.max_iter)) as step:
                self.state_ = self._fit(Y, step)
        return self

    def _fit(self, Y: Array, step: Step) -> NMFState:
        observed, seen = ~np.isnan(Y), seen_in(Y)
        M = observed.astype(Y.dtype)
        Y = np.where(observed, Y, 0).astype(Y.dtype, copy=False)
        W, H = self._start(Y, M)
        history: list[dict[str, float]] = []
        n_iter, gained, tol = 0, True, float(self.tol)
        while n_iter < self.max_iter and gained:
            for _ in range(min(_CHECK_EVERY, self.max_iter - n_iter)):
                W, H = update_factors(Y, M, W, H)
                n_iter += 1
            before = history[-1]["objective"] if history else np.inf
            objective = masked_objective(Y, M, W, H)
            history.append({"iteration": float(n_iter), "objective": objective})
            self._tell(history[-1])
            step(n_iter, f"MaskedNMF, objective {objective:.6g}")
            gained = tol == 0 or before - objective > tol * objective
        return NMFState(current_parameters(self), H, seen, n_iter, tuple(history))

    @property
    def reconstruction_err_(self) -> float:
        """Root of the objective after the last iteration."""
        return float(np.sqrt(self._learned().history[-1]["objective"]))

    @property
    def n_iter_(self) -> int:
        """Iterations done."""
        return int(self._learned().n_iter)

    def _facts(self) -> Facts:
        return {
            "features": f"{self.n_features_in_:,}",
            "components": f"{self.n_components_}",
            "iterations": f"{self.n_iter_:,}",
            "root of the squared errors": f"{self.reconstruction_err_:.4g}",
            "units": "those of the data",
        }

    def _dictionary(self) -> NonnegativeDictionary:
        return NonnegativeDictionary(self._learned().components)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags

    def _given(self, X: MatrixLike) -> Array:
        check_is_fitted(self)
        return self._nonnegative(X, reset=False)

    def _nonnegative(self, X: MatrixLike, *, reset: bool) -> Array:
        Y: Array = check_data(self, X, reset=reset)
        if (Y < 0).any():
            row, column = np.argwhere(Y < 0)[0]
            raise ValueError(
                f"Negative values in data passed to MaskedNMF: the first is {Y[row, column]:g} in row {row}, "
                f"column {column}; shift or clip the data first."
            )
        return Y

    def _start(self, Y: Array, M: Array) -> tuple[Array, Array]:
        """Random nonnegative W and H, with init="random" on the scale of the data."""
        rng = check_random_state(self.random_state)
        n, m = Y.shape
        r = self.n_components
        scale = np.sqrt(Y.sum(dtype=np.float64) / M.sum(dtype=np.float64) / r)
        W = scale * np.abs(rng.standard_normal((n, r)))
        if isinstance(self.init, str):
            H = scale * np.abs(rng.standard_normal((r, m))) if self.init == "random" else rng.random_sample((r, m))
        else:
            H = check_init(self.init, r, m)
            if (H < 0).any():
                raise ValueError(f"init must have no negative entries; the least is {H.min():.6g}.")
        return W.astype(Y.dtype), H.astype(Y.dtype)  # astype copies: the caller's init is never changed


def update_factors(Y: Array, M: Array, W: Array, H: Array) -> tuple[Array, Array]:
    """One multiplicative update of W, then of H; Y (n×m) is zero where the mask M (n×m, 0 or 1) is."""
    tiny = np.finfo(Y.dtype).tiny  # 0/0 becomes 0: what was zero stays zero
    W = W * ((Y @ H.T) / np.maximum((M * (W @ H)) @ H.T, tiny))
    H = H * ((W.T @ Y) / np.maximum(W.T @ (M * (W @ H)), tiny))
    return W, H


def masked_objective(Y: Array, M: Array, W: Array, H: Array) -> float:
    """Sum of squared errors over the observed entries."""
    residual = Y - M * (W @ H)
    return float(np.sum(residual * residual, dtype=np.float64))


def nonnegative_coefficients(Y: Array, H: Array) -> Array:
    """Minimise ‖y_Ω − H_Ωᵀ w‖² over w ≥ 0 for every row y of Y (NaN = missing), exactly.

    With the eigendecomposition H_Ω H_Ωᵀ = Q Λ Qᵀ the problem is ‖Λ^½Qᵀ w − Λ^−½Qᵀ H_Ω y_Ω‖²: r equations
    instead of |Ω|.
    """
    H64 = H.astype(np.float64)
    W = np.zeros((len(Y), len(H)))
    for start in range(0, len(Y), _ROWS_AT_ONCE):
        block = Y[start : start + _ROWS_AT_ONCE].astype(np.float64)
        observed = ~np.isnan(block)
        right = np.where(observed, block, 0.0) @ H64.T
        for k, (seen, b) in enumerate(zip(observed, right, strict=True)):
            if b.any():
                W[start + k] = _solve_nonnegative(H64[:, seen] @ H64[:, seen].T, b)
    return narrowed(W, Y.dtype)


def _solve_nonnegative(gram: Array, b: Array) -> Array:
    values, Q = np.linalg.eigh(gram)
    keep = values > values[-1] * len(b) * np.finfo(np.float64).eps
    root = np.sqrt(values[keep])
    w, _ = nnls(root[:, None] * Q[:, keep].T, (Q[:, keep].T @ b) / root)
    return np.asarray(w)
