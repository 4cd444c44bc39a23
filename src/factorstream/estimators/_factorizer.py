"""What every fitted factorisation can be asked: the methods of the estimators, over the Protocols of ``_answers``."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..arrays import as_type, beside, dtype_of, is_here, namespace, read_only
from ..core.linalg import Array
from ..core.variational.conformal import check_level
from ..cores import PASS, TINY, Tile, each_tile, limited
from ..tall.rows import Rows, dense
from ._absurd import asked, check_answers_fit
from ._answers import Dictionary, PosteriorDictionary
from ._columns import like_table
from ._elsewhere import beside_model, like
from ._lazily import by_chunk
from ._pairs import check_pairs
from ._stateful import Stateful
from ._types import MatrixLike, Seed
from ._validation import check_coefficients, check_count, check_data, check_size_of, narrowed, question

AT_ONCE = 2**13
"""Numbers of a row that are worked on at once. Derived: 64 kilobytes stay in the cache, and are memory that a process
keeps; what is asked of the system for every piece, and given back, makes all threads wait. Speed only."""


class Factorizer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Stateful):
    """Base of all factorisations: coefficients, reconstructions and filled rows."""

    _takes_sparse: ClassVar[bool] = True
    _takes_devices: ClassVar[bool] = False
    """Whether rows on a device are worked on there."""

    @abstractmethod
    def _dictionary(self) -> Dictionary:
        """The fitted dictionary, ready for questions."""

    # ---------------------------------------------------------------- what was fitted

    @property
    def components_(self) -> Array:
        """The dictionary, one component per row (n_components_, n_features); read-only."""
        return self._told(self._dictionary().components)

    @property
    def mean_(self) -> Array:
        """What is predicted of a row before any of it is seen (n_features,); read-only."""
        return self._told(self._dictionary().mean)

    @property
    def n_components_(self) -> int:
        """How many components the dictionary has."""
        return int(self._dictionary().components.shape[0])

    @property
    def history_(self) -> list[dict[str, float]]:
        """What happened while fitting, oldest first."""
        return [dict(record) for record in self._learned().history]

    def _told(self, values: Array) -> Array:
        """An attribute: it cannot be written through, and is beside the rows that were learned from."""
        told: Array = read_only(beside_model(self, values))
        return told

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = self._takes_sparse
        tags.array_api_support = self._takes_devices
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    # ---------------------------------------------------------------- answers

    @question
    @by_chunk()
    def transform(self, X: MatrixLike) -> Array:
        """Coefficients of every row under the fitted dictionary (n_samples, n_components_)."""
        rows = self._rows_to_fill(X)
        answer: Array = like(narrowed(self._dictionary().coefficients(rows), dtype_of(rows)), X)
        return answer

    @question
    @by_chunk(probe=0.0)
    def inverse_transform(self, X: MatrixLike) -> Array:
        """The rows that these coefficients stand for (n_samples, n_features)."""
        check_is_fitted(self)
        x, dictionary = check_coefficients(self, X), self._dictionary()
        components = dictionary.components
        if x.shape[1] != components.shape[0]:
            raise ValueError(
                f"X has {x.shape[1]} columns but the dictionary has {components.shape[0]} components; "
                "pass what transform returned."
            )
        check_size_of(x, dtype_of(x))
        wider = np.promote_types(dtype_of(x), dtype_of(components))  # PyTorch multiplies matrices of one type only
        rows: Array = like(as_type(x, wider) @ as_type(beside(components, x), wider) + beside(dictionary.mean, x), X)
        return rows

    @question
    @by_chunk()
    def impute(self, X: MatrixLike) -> Any:
        """X with its NaN filled in; observed entries are kept. A table comes back as a table.

        Sparse rows come back dense: pass as many at a time as memory has room for.
        """
        rows = dense(self._rows_to_fill(X))
        return like_table(self._dictionary().fill(rows), X)

    def _rows_to_fill(self, X: MatrixLike) -> Rows:
        """The rows of a question with their absurd values missing."""
        rows = self._given(X)
        with limited(rows.shape[0] * rows.shape[1]):
            return self._check_size(asked(vars(self)["state_"], rows))

    def _rows_to_score(self, X: MatrixLike) -> Rows:
        """The rows of a question about how odd they are, as they are."""
        return self._check_size(self._given(X))

    def _given(self, X: MatrixLike) -> Rows:
        check_is_fitted(self)
        return check_data(self, X, reset=False, accept_sparse=self._takes_sparse)

    def _check_size(self, rows: Rows) -> Rows:
        dtype = dtype_of(rows)
        check_size_of(rows, min(self._computes_in(), dtype, key=lambda kind: kind.itemsize))
        check_answers_fit(vars(self)["state_"], dtype)
        return rows

    def _computes_in(self) -> np.dtype[Any]:
        """The type in which values have to have squares."""
        return np.dtype(np.float64)


class PosteriorFactorizer(Factorizer):
    """Base of the factorisations that know how sure they are."""

    @abstractmethod
    def _dictionary(self) -> PosteriorDictionary:
        """The fitted dictionary, ready for questions."""

    @property
    def covariance_(self) -> Array:
        """Posterior covariance between the components of the dictionary; read-only."""
        return self._told(self._dictionary().covariance)

    @property
    def coefficient_covariance_(self) -> Array:
        """How the coefficients vary from row to row, as it was learned (n_components_, n_components_); read-only."""
        return self._told(self._dictionary().coefficient_covariance)

    @property
    def noise_variance_(self) -> float | Array:
        """The noise variance in the data's units, as given or as learned; an array is read-only."""
        noise = self._dictionary().noise
        return noise if isinstance(noise, float) else self._told(noise)

    @question
    @by_chunk()
    def impute(self, X: MatrixLike, return_std: bool = False) -> Any:
        """X with its NaN filled in; observed entries are kept. A table comes back as a table.

        With ``return_std`` also the predictive standard deviation of every filled entry, noise included; zero where
        X was observed. Where the noise variance is learned it is the scale of a Student-t law, whose quantiles
        ``predict_interval`` takes: with ν degrees of freedom that law itself has √(ν / (ν - 2)) times this standard
        deviation, 3.5% more where ν is 30. Sparse rows come back dense: pass as many at a time as memory has room for.
        """
        rows = dense(self._rows_to_fill(X))
        if not return_std:
            return like_table(self._dictionary().fill(rows), X)
        filled, variance = self._dictionary().predict(rows)
        return like_table(filled, X), like_table(_reach(variance, 1.0, dtype_of(rows)), X)

    @question
    def predict_entries(
        self, X: MatrixLike, rows: Any, columns: Any, return_std: bool = False, level: float | None = None
    ) -> Any:
        """What ``impute`` would have at the entries (rows[j], columns[j]) of X: one number for each.

        X are rows as in ``impute``, best sparse ones; ``rows`` and ``columns`` number rows and columns of it. An entry
        that is observed comes back as it is. With ``return_std`` also the standard deviation of each, zero where it was
        observed; with a ``level`` also the lower and upper bounds that ``predict_interval`` would have there.
        :class:`BayesianFactorization` makes nothing dense for it; :class:`DictionaryFilter` takes as long as
        ``impute`` of the rows that are asked for, but only a few of them at a time.
        """
        given = self._rows_to_fill(X)
        row, column = check_pairs(rows, columns, given.shape)
        if level is not None:
            check_level(level)
        dictionary = self._dictionary()
        values, variance = dictionary.entries(given, row, column)
        answers, std = [values], np.sqrt(variance)
        if return_std:
            answers.append(std)
        if level is not None:
            width = dictionary.half_width(level)
            reach = std * (width[column] if isinstance(width, np.ndarray) and width.ndim else width)
            answers += [values - reach, values + reach]
        found = tuple(like(as_type(some, dtype_of(given)), X) for some in answers)
        return found if len(found) > 1 else found[0]

    @question
    @by_chunk()
    def predict_interval(self, X: MatrixLike, level: float = 0.95) -> tuple[Any, Any]:
        """Bounds that hold the true value of a missing entry with probability ``level``.

        Where X is observed both are X: set an entry to NaN to get its interval from the rest of its row. Both are
        tables where X is one.
        """
        rows = dense(self._rows_to_fill(X))
        check_level(level)
        dictionary = self._dictionary()
        width = dictionary.half_width(level)
        filled, variance = dictionary.predict(rows)
        reach = _reach(variance, width, dtype_of(rows))
        lower, upper = _bounds(filled, reach)
        return like_table(lower, X), like_table(upper, X)

    @question
    def sample_imputations(self, X: MatrixLike, n_draws: int = 5, random_state: Seed = None) -> Array:
        """Draws of X with its gaps filled, for multiple imputation (n_draws, n_samples, n_features).

        Within one draw all entries share one dictionary, and the entries of a row one coefficient vector, so that
        what is computed from a draw varies as it should.
        """
        rows = dense(self._rows_to_fill(X))
        check_count("n_draws", n_draws)
        seed = check_random_state(random_state).randint(2**31 - 1)
        answer: Array = like(self._dictionary().draw(rows, int(n_draws), np.random.default_rng(seed)), X)
        return answer

    @question
    @by_chunk()
    def score_samples(self, X: MatrixLike) -> Array:
        """Log-density of every row's observed entries, coefficients integrated out (n_samples,).

        The lowest are the oddest rows. A fit that sweeps over odd rows until they fit learns them as well: look for
        them with one pass of ``DictionaryFilter``, or with a fit that has not seen them.
        """
        rows = self._rows_to_score(X)
        answer: Array = like(self._dictionary().log_density(rows), X)
        return answer

    def score(self, X: MatrixLike, y: object = None) -> float:
        """Mean of :meth:`score_samples`; higher is better."""
        densities = self.score_samples(X)
        return float(namespace(densities).mean(densities))


def _reach(variance: Array, width: float | Array, dtype: np.dtype[Any]) -> Array:
    """So many standard deviations (n × m); their number is one for all features or one for each.

    They take the place of the variances, where these have the same ``dtype``: new memory costs as much as the roots.
    """
    if not is_here(variance):
        found: Array = as_type(beside(width, variance) * namespace(variance).sqrt(variance), dtype)
        return found
    if variance.size < TINY:
        return (width * np.sqrt(variance)).astype(dtype, copy=False)
    out = variance if variance.dtype == dtype else np.empty(variance.shape, dtype)

    def fill(some: Tile) -> None:
        times = width[some[1]] if np.ndim(width) else width  # type: ignore[index]
        if out is variance:
            np.sqrt(out[some], out=out[some])
            out[some] *= times
        else:  # rounded to a shorter type once, at the end
            out[some] = times * np.sqrt(variance[some])

    with limited(variance.size):
        each_tile(fill, variance.shape, 3 * PASS * variance.size)
    return out


def _bounds(filled: Array, reach: Array) -> tuple[Array, Array]:
    """``filled`` − ``reach`` and ``filled`` + ``reach``, which here take the place of the two."""
    if not is_here(filled):
        return filled - reach, filled + reach

    def fill(some: Tile) -> None:
        rows, columns = some
        for j in range(len(filled))[rows]:
            for first in range(columns.start, columns.stop, AT_ONCE):
                few = slice(first, min(first + AT_ONCE, columns.stop))
                middle, width = filled[j, few], reach[j, few]
                lower = middle - width
                np.add(middle, width, out=width)
                middle[...] = lower

    with limited(filled.size):
        each_tile(fill, filled.shape, 2 * PASS * filled.size)
    return filled, reach
