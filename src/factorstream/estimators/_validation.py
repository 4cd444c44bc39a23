"""The checks at the edge: after these, the core trusts what it is given."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from math import prod
from numbers import Integral, Number
from typing import Any, ParamSpec, TypeVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from ..arrays import as_type, dtype_of, is_here, namespace, stays, to_host
from ..core.linalg import Array, is_sparse
from ..cores import TINY, limited
from ..sources.rows.opening import is_path, is_several
from ..tall.rows import Rows, ever_observed
from ..tall.starting import check_range
from ..text import listed
from ._elsewhere import brought, memory_in_words, on_host, rows_elsewhere
from ._in_shards import InShards
from ._infinity import refuse_infinity
from ._refused_columns import refuse_no_numbers
from ._sizes import bound_of, largest_of

MAY_CHANGE = ("init", "random_state", "verbose")
"""Parameters that may change during a stream: the first two are read when it begins, the last only prints."""

TOO_FAR_APART = (
    "The data and the given variances are too far apart to be computed with; scale the features to similar units, or "
    'leave noise_variance and prior_covariance at "auto".'
)
"""What leads to an error of linear algebra, in words for the caller."""

NOTHING_OBSERVED = "X has no observed entry: every value is NaN; pass data with some numbers in it."
"""Why there is nothing to fit."""

MEAN_OF_OTHERS = "the mean of the others, with infinite bounds, and left empty by fill"
"""What a feature without any value is filled with, where features may have any units."""

WITH_ROW_MEANS = "the mean of the others and that of the row, with bounds as wide as the others vary"
"""The same where all have one unit."""

Asked = ParamSpec("Asked")
Answered = TypeVar("Answered")

_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


@contextmanager
def unchanged_on_error(estimator: Any) -> Iterator[None]:
    """Give the estimator its attributes back if anything goes wrong, so a failed call changes nothing.

    An error of linear algebra, which says nothing to a caller, becomes a sentence about what leads to it, and so does
    one of a device without memory.
    """
    before = dict(vars(estimator))
    try:
        yield
    except BaseException as problem:
        vars(estimator).clear()
        vars(estimator).update(before)
        if isinstance(problem, np.linalg.LinAlgError):
            raise ValueError(TOO_FAR_APART) from problem
        memory_in_words(problem)
        raise


def question(method: Callable[Asked, Answered]) -> Callable[Asked, Answered]:
    """A method that answers: an error of linear algebra, which says nothing to a caller, becomes a sentence."""

    @wraps(method)
    def asked(*args: Asked.args, **kwargs: Asked.kwargs) -> Answered:
        try:
            with np.errstate(over="ignore"):  # what is too far away for a number is infinitely far
                return method(*args, **kwargs)
        except np.linalg.LinAlgError as problem:
            raise ValueError(TOO_FAR_APART) from problem
        except Exception as problem:
            memory_in_words(problem)
            raise

    return asked


def warn_caller(message: str, kind: type[UserWarning] = UserWarning) -> None:
    """A warning at the line that called this package, past scikit-learn's wrappers around its methods."""
    level, frame = 1, sys._getframe()
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in ("factorstream", "sklearn"):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, kind, stacklevel=level)


FILL_A_FILE = "fill a file by factorstream.fill(model, path, out), or "
"""What else can be done with the name of a file than to read it."""


def refuse_no_table(X: Any, instead: str = "") -> None:
    """Refuse what is no table, or none yet: the name of a file, several tables, or one with two columns of one name.

    ``instead`` is what else can be done with a file, as the beginning of the advice.
    """
    first = X[0] if is_several(X) else X
    if is_path(first):
        raise TypeError(
            f"X is text, {os.fspath(first)!r:.100}, and no table; {instead}read it first, as pandas.read_csv does, "
            "and pass what it holds."
        )
    if first is not X:
        raise ValueError("X is a list of tables; join them first, as numpy.vstack does, or ask about each on its own.")
    if hasattr(X, "to_dask_array"):
        raise TypeError(
            "X is a table of Dask, which has no values yet; pass X.compute(), or X.to_dask_array(lengths=True)."
        )
    if isinstance(X, InShards):
        raise TypeError(
            "in_shards is for fit and partial_fit of DictionaryFilter and for fit of BayesianFactorization; pass the "
            "Dask array itself here."
        )
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(X, pandas.DataFrame) and not X.columns.is_unique:
        twice = listed(map(repr, X.columns[X.columns.duplicated()].unique()))
        raise ValueError(f"X has more than one column of the same name ({twice}); give every column a name of its own.")
    _refuse_one_dimension(X)


def _refuse_one_dimension(X: Any) -> None:
    """Refuse a row or a column that has lost its second dimension, and say how to keep it; a single number too."""
    if isinstance(X, Number) or (isinstance(X, list | tuple) and len(X) and isinstance(X[0], Number)):
        X = np.asarray(X)
    if len(getattr(X, "shape", (0, 0))) > 1:
        return
    if hasattr(X, "iloc"):
        what, row, column = "table", "df.iloc[[k]]", "df[[name]]"
    elif hasattr(X, "to_frame"):
        what, row, column = "table", "df[k : k + 1]", "df.select(name)"
    else:
        what, row, column = "2D array", "x[None, :]", "x[:, None]"
    raise ValueError(f"Reshape your data to a {what}: pass one row as {row}, or one column as {column}.")


def check_data(estimator: Any, X: Any, *, reset: bool, accept_sparse: bool = False) -> Rows:
    """X as a float32 or float64 matrix without infinities, where the model works; NaN marks a missing entry.

    A sparse X comes back as CSR whose stored entries are the observed ones; what a masked array masks is missing.
    """
    given = X
    if type(X) is not np.ndarray:
        X = on_host(X)
        if stays(X):
            X = _elsewhere(estimator, X, reset=reset)
            refuse_infinity(X)
            return X
    if reset or not _as_expected(estimator, X):
        refuse_no_table(X, FILL_A_FILE)
        refuse_no_numbers(X)
        if isinstance(X, np.ma.MaskedArray):
            X = np.ma.filled(X.astype(np.result_type(X.dtype, np.float32)), np.nan)
        kind = "csr" if accept_sparse else False
        X = validate_data(
            estimator, X, reset=reset, dtype=[np.float64, np.float32], ensure_all_finite=False, accept_sparse=kind
        )
    if is_sparse(X):
        rows = sparse.csr_array((X.data, X.indices, X.indptr), shape=X.shape, copy=False)
        refuse_infinity(
            rows.data, lambda at: (int(np.searchsorted(rows.indptr, at[0], "right")) - 1, rows.indices[at[0]])
        )
        missing = np.isnan(rows.data)  # a stored NaN is missing like an entry that is not stored
        if missing.any() or not rows.has_canonical_format:
            entries = rows.tocoo()
            places = (entries.row[~missing], entries.col[~missing])
            rows = sparse.csr_array((entries.data[~missing], places), shape=X.shape)
        return brought(estimator, rows, reset=reset)
    refuse_infinity(X, lambda at: (at[0], repr(given.columns[at[1]]) if hasattr(given, "columns") else at[1]))
    return brought(estimator, X, reset=reset)


def check_next(estimator: Any, X: Any) -> Rows:
    """The same for the next rows of a stream: where they are on a device, ``_absurd.judged`` looks for infinities."""
    if type(X) is not np.ndarray and stays(there := on_host(X)):
        return _elsewhere(estimator, there, reset=False)
    return check_data(estimator, X, reset=False, accept_sparse=True)


def _elsewhere(estimator: Any, X: Any, *, reset: bool) -> Rows:
    refuse_no_table(X)
    return rows_elsewhere(estimator, X, reset=reset)


def check_coefficients(estimator: Any, X: Any) -> Rows:
    """Coefficients as a matrix of finite numbers, float32 or float64, where the model works."""
    refuse_no_table(X)
    if stays(X):
        x = rows_elsewhere(estimator, on_host(X), reset=None)
        if not bool(namespace(x).all(namespace(x).isfinite(x))):
            raise ValueError("Input X contains NaN or infinity; pass what transform returned.")
        return x
    with np.errstate(over="ignore", invalid="ignore"):  # of infinities, which are refused
        x = check_array(on_host(X), dtype=[np.float64, np.float32], ensure_min_features=0)  # no component may be left
    return brought(estimator, x, reset=False)


def _as_expected(estimator: Any, X: Any) -> bool:
    """Whether X is what scikit-learn's checks would give back as it is; for one row they cost more than the filter."""
    return (
        type(X) is np.ndarray
        and X.dtype in _FLOATS
        and X.ndim == 2
        and len(X) > 0
        and X.shape[1] == getattr(estimator, "n_features_in_", None)
        and not hasattr(estimator, "feature_names_in_")
    )


def check_size_of(X: Rows, dtype: np.dtype[Any]) -> None:
    """Refuse rows with values that cannot be squared in this ``dtype``."""
    values = X.data if is_sparse(X) else X
    if is_here(values) and values.size < TINY:
        check_range(largest_of(values), dtype, smallest=0.0)
        return
    with limited(prod(values.shape)):
        check_range(bound_of(values, float(np.finfo(dtype).max) ** 0.5), dtype, smallest=0.0)


def narrowed(answer: Array, dtype: np.dtype[Any], what: str = "coefficients") -> Array:
    """An answer in the type of the rows that it was asked for with; refused where that cannot hold it.

    Infinite bounds are infinite in every type.
    """
    if dtype_of(answer) == dtype:
        return answer
    if prod(answer.shape):
        xp = namespace(answer)
        largest = float(xp.max(xp.where(xp.isfinite(answer), xp.abs(answer), 0.0)))
        if largest > float(np.finfo(dtype).max):
            raise ValueError(f"X has {what} of size {largest:.3g}, too large for {dtype}; pass float64.")
    out: Array = as_type(answer, dtype)
    return out


def check_something_observed(estimator: BaseEstimator, counts: Array) -> None:
    """Refuse data without any value, and warn of features without any, given how many each has, or whether it has."""
    seen, names = np.asarray(counts) > 0, getattr(estimator, "feature_names_in_", None)
    if not seen.any():
        raise ValueError(NOTHING_OBSERVED)
    if not seen.all():
        columns = np.flatnonzero(~seen)
        filled_with = WITH_ROW_MEANS if getattr(estimator, "fit_row_mean", False) else MEAN_OF_OTHERS
        warn_caller(
            f"X has {len(columns)} feature(s) without any observed value "
            f"(column {listed(columns if names is None else names[columns])}); they are filled with {filled_with}."
        )


def check_every_feature_observed(X: Rows) -> None:
    """Refuse data in which nothing, or nothing of some feature, was ever observed."""
    seen = ever_observed(X)
    if not seen.any():
        raise ValueError(NOTHING_OBSERVED)
    if not seen.all():
        columns = np.flatnonzero(~seen)
        raise ValueError(
            f"X has {len(columns)} feature(s) without any observed value (column {listed(columns)}); drop them."
        )


def check_count(name: str, value: int) -> None:
    """Refuse a number that is not a whole number of at least 1."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be a whole number of at least 1; got {value!r}.")


def current_parameters(estimator: BaseEstimator) -> dict[str, Any]:
    """The parameters that shape what is learned, as they are now; arrays and frames are copied into arrays."""
    names = type(estimator)._get_param_names()
    return {name: _copied(getattr(estimator, name)) for name in names if name not in MAY_CHANGE}


def _copied(value: object) -> object:
    value = to_host(value)
    return np.array(value) if hasattr(value, "__array__") and np.ndim(value) else value


def check_same_parameters(estimator: BaseEstimator, begun_with: Mapping[str, Any]) -> None:
    """Refuse to go on with a stream whose parameters have been changed since it began."""
    for name, before in begun_with.items():
        now = getattr(estimator, name)
        if now is not before and not _equal(now, before):
            raise ValueError(
                f"partial_fit cannot go on with {name}={_shown(now, 'array(...)')}: the stream began with "
                f"{_shown(before, 'other numbers')}; set it back, or call fit to start again."
            )


def _shown(value: object, instead_of_array: str) -> str:
    """A parameter in a sentence; an array may be too long for one."""
    return instead_of_array if isinstance(value, np.ndarray | list | tuple) else repr(value)


def _equal(a: object, b: object) -> bool:
    """Whether two parameters say the same; NaN equals NaN."""
    if isinstance(b, np.ndarray | list | tuple):
        try:
            return np.array_equal(np.asarray(to_host(a)), np.asarray(b))
        except ValueError:  # a ragged list
            return False
    if hasattr(a, "__len__") and not isinstance(a, str):
        return False
    same_kind = isinstance(a, bool | np.bool_) == isinstance(b, bool | np.bool_)  # True is not the number 1 here
    return same_kind and bool(a == b or (a != a and b != b))
