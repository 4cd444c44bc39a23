"""``BayesianFactorization`` where more is known of rows than their values: its fit, and its answers."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, Self

from numpy.typing import ArrayLike

from ..core.linalg import Array
from ..tall.rows import ever_observed
from . import _bayesian_run
from ._absurd import without_absurd
from ._bayesian_run import BayesianRun
from ._factorizer import PosteriorFactorizer
from ._known_errors import checked_variances, counted_rows, known_of, refuse_elsewhere, repeated
from ._types import MatrixLike, Seed
from ._validation import check_data, check_something_observed

if TYPE_CHECKING:
    from .bayesian_factorization import BayesianFactorization


def fit_known(model: BayesianFactorization, X: Any, sample_weight: Any, variances: Any) -> BayesianRun:
    """Learn from rows in memory of which more is known: weights, variances or both."""
    refuse_elsewhere(X)
    rows = check_data(model, X, reset=True, accept_sparse=True)
    as_often = repeated(rows, sample_weight, variances, robust=model.robust, fit_row_mean=model.fit_row_mean)
    if as_often is not None:
        return model._fit_checked(as_often)
    rows = without_absurd(rows)
    known = known_of(X, rows, sample_weight, variances)
    assert known is not None  # for the type checker: one of the two is given
    check_something_observed(model, ever_observed(rows))
    rows, known = counted_rows(rows, known)
    with model._progress(1.0) as step:
        return _bayesian_run.fit(X=rows, known=known, step=step, **model._wanted())


class KnownErrorsFactorizer(PosteriorFactorizer):
    """Base of the factorisations that can be asked about rows whose errors are known.

    ``variances`` of the entries of X, in the data's units, say how much each observed one counts in finding the row's
    coefficients. They change nothing else: bounds of a missing entry are for its true value and ordinary noise,
    ``noise_variance_``.
    """

    _asked_variances: Array | None = None
    """Those of the rows of a question, in the copy of the model that answers it."""

    def _knowing(self, X: Any, variances: Any) -> Self:
        """The model that answers about rows with these variances."""
        if variances is None:
            return self
        refuse_elsewhere(X)
        model = copy(self)
        model._asked_variances = checked_variances(variances, self._given(X))
        return model

    def transform(self, X: MatrixLike, *, variances: ArrayLike | None = None) -> Array:
        """Coefficients of every row under the fitted dictionary (n_samples, n_components_).

        ``variances`` (n_samples, n_features) are those of the known errors of X, if it has any.
        """
        return PosteriorFactorizer.transform(self._knowing(X, variances), X)

    def fit_transform(
        self,
        X: MatrixLike,
        y: object = None,
        *,
        sample_weight: ArrayLike | None = None,
        variances: ArrayLike | None = None,
    ) -> Array:
        """``fit``, then ``transform`` of the same rows."""
        fitted = self.fit(X, y, sample_weight=sample_weight, variances=variances)
        answer: Array = fitted.transform(X, variances=variances)
        return answer

    def impute(self, X: MatrixLike, return_std: bool = False, *, variances: ArrayLike | None = None) -> Any:
        """X with its NaN filled in; observed entries are kept. A table comes back as a table.

        With ``return_std`` also the predictive standard deviation of every filled entry, noise included; zero where
        X was observed. Where the noise variance is learned it is the scale of a Student-t law, whose quantiles
        ``predict_interval`` takes: with ν degrees of freedom that law itself has √(ν / (ν - 2)) times this standard
        deviation, 3.5% more where ν is 30. Sparse rows come back dense: pass as many at a time as memory has room for.

        ``variances`` (n_samples, n_features) are those of the known errors of X, if it has any.
        """
        return PosteriorFactorizer.impute(self._knowing(X, variances), X, return_std)

    def predict_interval(
        self, X: MatrixLike, level: float = 0.95, *, variances: ArrayLike | None = None
    ) -> tuple[Any, Any]:
        """Bounds that hold the true value of a missing entry, with ordinary noise, with probability ``level``.

        Where X is observed both are X: set an entry to NaN to get its interval from the rest of its row. Both are
        tables where X is one. ``variances`` (n_samples, n_features) are those of the known errors of X, if it has any.
        """
        bounds: tuple[Any, Any] = PosteriorFactorizer.predict_interval(self._knowing(X, variances), X, level)
        return bounds

    def sample_imputations(
        self,
        X: MatrixLike,
        n_draws: int = 5,
        random_state: Seed = None,
        *,
        variances: ArrayLike | None = None,
    ) -> Array:
        """Draws of X with its gaps filled, for multiple imputation (n_draws, n_samples, n_features).

        Within one draw all entries share one dictionary, and the entries of a row one coefficient vector, so that
        what is computed from a draw varies as it should. ``variances`` (n_samples, n_features) are those of the known
        errors of X, if it has any.
        """
        return PosteriorFactorizer.sample_imputations(self._knowing(X, variances), X, n_draws, random_state)
