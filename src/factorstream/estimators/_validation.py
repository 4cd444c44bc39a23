"""The checks at the edge: after these, the core trusts what it is given."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from math import isfinite
from numbers import Integral, Number
from typing import Any, ParamSpec, TypeVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from ..core.linalg import Array, is_sparse
from ..cores import each_of, limited
from ..tall.products import square_sum
from ..tall.rows import Rows, ever_observed
from ..tall.starting import check_range
from ..text import listed
from ._refused_columns import refuse_no_numbers

MAY_CHANGE = ("init", "random_state", "verbose")
"""Parameters that may change during a stream: the first two are read when it begins, the last only prints."""

AT_ONCE = 2**18
"""Entries looked at together where a mask is needed, so that it is never as large as the data.

Not tuned; speed only."""

TOO_FAR_APART = (
    "The data and the given variances are too far apart to be computed with; scale the features to similar units, or "
    'leave noise_variance and prior_covariance at "auto".'
)
"""What leads to an error of linear algebra, in words for the caller."""

Asked = ParamSpec("Asked")
Answered = TypeVar("Answered")

_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


@contextmanager
def unchanged_on_error(estimator: Any) -> Iterator[None]:
    """Give the estimator its attributes back if anything goes wrong, so a failed call changes nothing.

    An error of linear algebra, which says nothing to a caller, becomes a sentence about what leads to it.
    """
    before = dict(vars(estimator))
    try:
        yield
    except BaseException as problem:
        vars(estimator).clear()
        vars(estimator).update(before)
        if isinstance(problem, np.linalg.LinAlgError):
            raise ValueError(TOO_FAR_APART) from problem
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

    return asked


def warn_caller(message: str, kind: type[UserWarning] = UserWarning) -> None:
    """A warning at the line that called this package, past scikit-learn's wrappers around its methods."""
    level, frame = 1, sys._getframe()
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in ("factorstream", "sklearn"):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, kind, stacklevel=level)


def refuse_no_table(X: Any) -> None:
    """Refuse the name of a file, a table with two columns of one name, and what has lost its second dimension."""
    if isinstance(X, str | os.PathLike):
        raise TypeError(
            f"X is text, {os.fspath(X)!r:.100}, and no table; read a file first, as pandas.read_csv does, and pass "
            "what it holds."
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
    """X as a float32 or float64 matrix without infinities; NaN marks a missing entry.

    A sparse X comes back as CSR whose stored entries are the observed ones; what a masked array masks is missing.
    """
    given = X
    if reset or not _as_expected(estimator, X):
        refuse_no_table(X)
        refuse_no_numbers(X)
        if isinstance(X, np.ma.MaskedArray):
            X = np.ma.filled(X.astype(np.result_type(X.dtype, np.float32)), np.nan)
        X = validate_data(
            estimator,
            X,
            reset=reset,
            dtype=[np.float64, np.float32],
            ensure_all_finite=False,
            accept_sparse="csr" if accept_sparse else False,
        )
    if is_sparse(X):
        entries = X.tocoo()
        _refuse_infinity(entries.data, lambda at: (entries.row[at[0]], entries.col[at[0]]))
        keep = ~np.isnan(entries.data)  # a stored NaN is missing like an entry that is not stored
        places = (entries.row[keep], entries.col[keep])
        return sparse.csr_array((entries.data[keep], places), shape=X.shape)
    _refuse_infinity(X, lambda at: (at[0], repr(given.columns[at[1]]) if hasattr(given, "columns") else at[1]))
    return X


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


def _refuse_infinity(values: Array, where: Callable[[Array], tuple[int, int | str]]) -> None:
    step = max(1, AT_ONCE // max(1, values[:1].size))
    with limited(values.size):
        suspicious = not isfinite(square_sum(values))  # one cheap pass; NaN and very large numbers land here too
        firsts = list(range(0, len(values) if suspicious else 0, step))
        found = each_of(lambda first: bool(np.isinf(values[first : first + step]).any()), firsts)
    for first, infinite in zip(firsts, found, strict=True):
        if infinite:
            at = np.argwhere(np.isinf(values[first : first + step]))[0]
            row, column = where(at + np.eye(values.ndim, dtype=int)[0] * first)
            raise ValueError(
                f"X contains infinity at row {row}, column {column}; "
                "replace it by NaN to mark the entry as missing, or by a finite number."
            )


def check_size_of(X: Rows, dtype: np.dtype[Any]) -> None:
    """Refuse rows with values that cannot be squared in this ``dtype``."""
    values = X.data if is_sparse(X) else X
    with limited(values.size):
        bound = square_sum(values)  # one cheap pass, which is enough where nothing is missing
    if values.size and not bound < float(np.finfo(dtype).max) ** 0.5:
        largest = np.fmax.reduce([np.fmax.reduce(np.abs(some), axis=None, initial=0.0) for some in _parts(values)])
        check_range(float(largest), dtype, smallest=0.0)


def narrowed(answer: Array, dtype: np.dtype[Any], what: str = "coefficients") -> Array:
    """An answer in the type of the rows that it was asked for with; refused where that cannot hold it.

    Infinite bounds are infinite in every type.
    """
    if answer.dtype != dtype:
        largest = float(np.abs(answer, where=np.isfinite(answer), out=np.zeros_like(answer)).max(initial=0.0))
        if largest > float(np.finfo(dtype).max):
            raise ValueError(f"X has {what} of size {largest:.3g}, too large for {dtype}; pass float64.")
    return answer.astype(dtype, copy=False)


def _parts(values: Array) -> Iterator[Array]:
    """Some rows at a time, so that no copy is as large as the data."""
    step = max(1, AT_ONCE // max(1, values[:1].size))
    for first in range(0, len(values), step):
        yield values[first : first + step]


def check_every_feature_observed(estimator: BaseEstimator, X: Rows) -> None:
    """Refuse data in which nothing, or nothing of some feature, was ever observed."""
    seen = ever_observed(X)
    if not seen.any():
        raise ValueError("X has no observed entry: every value is NaN; pass data with some numbers in it.")
    if not seen.all():
        columns = np.flatnonzero(~seen)
        streams = hasattr(estimator, "partial_fit")
        remedy = ", or stream the data with partial_fit, which waits for their first value" if streams else ""
        raise ValueError(
            f"X has {len(columns)} feature(s) without any observed value (column {listed(columns)}); drop them{remedy}."
        )


def as_numbers(value: Any, name: str) -> Array:
    """A parameter as an array of its own (float64)."""
    try:
        return np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a number or an array of numbers; got {value!r:.50}.") from None


def as_covariance(value: Any, r: int, name: str, *, definite: bool) -> Array:
    """A number, a diagonal (r) or a matrix (r × r) as a checked covariance matrix (r × r)."""
    if isinstance(value, int | float) and isfinite(value) and (value > 0 or (value == 0 and not definite)):
        return float(value) * np.eye(r)
    M = as_numbers(value, name)
    if not np.isfinite(M).all():
        raise ValueError(f"{name} must be finite.")
    if M.ndim == 0:
        M = M * np.eye(r)
    elif M.ndim == 1 and len(M) == r:
        M = np.diag(M)
    elif M.shape != (r, r):
        raise ValueError(f"{name} must be a number or have shape ({r},) or ({r}, {r}); got shape {M.shape}.")
    if not np.allclose(M, M.T, rtol=1e-10, atol=0.0):
        raise ValueError(f"{name} must be symmetric; pass (M + M.T) / 2 if the difference is rounding.")
    values = np.linalg.eigvalsh(M)
    floor = -1e-12 * max(abs(values[0]), abs(values[-1]))
    if values[0] < floor or (definite and values[0] <= 0.0):
        need = "positive definite" if definite else "positive semi-definite"
        raise ValueError(f"{name} must be {need}; its smallest eigenvalue is {values[0]:.3g}.")
    return (M + M.T) / 2.0


def check_init(init: Any, r: int, m: int) -> Array:
    """A user's start, checked (r × m)."""
    start = as_numbers(init, "init")  # a copy: a stream may start from it more than once
    if start.shape != (r, m):
        raise ValueError(
            f"init must be 'random', 'uniform' or an array shaped like components_, ({r}, {m}); "
            f"got shape {start.shape}."
        )
    if not np.isfinite(start).all():
        raise ValueError("init must be finite.")
    return start


def check_count(name: str, value: int) -> None:
    """Refuse a number that is not a whole number of at least 1."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be a whole number of at least 1; got {value!r}.")


def current_parameters(estimator: BaseEstimator) -> dict[str, Any]:
    """The parameters that shape what is learned, as they are now; arrays and frames are copied into arrays."""
    names = type(estimator)._get_param_names()
    return {name: _copied(getattr(estimator, name)) for name in names if name not in MAY_CHANGE}


def _copied(value: object) -> object:
    return np.array(value) if hasattr(value, "__array__") and np.ndim(value) else value


def check_same_parameters(estimator: BaseEstimator, begun_with: Mapping[str, Any]) -> None:
    """Refuse to go on with a stream whose parameters have been changed since it began."""
    for name, before in begun_with.items():
        now = getattr(estimator, name)
        if now is not before and not _equal(now, before):
            raise ValueError(
                f"partial_fit cannot go on with {name}={_shown(now, 'array(...)')}: the stream began with "
                f"{_shown(before, 'other numbers')}; "
                "set it back, or call fit to start again."
            )


def _shown(value: object, instead_of_array: str) -> str:
    """A parameter in a sentence; an array may be too long for one."""
    return instead_of_array if isinstance(value, np.ndarray | list | tuple) else repr(value)


def _equal(a: object, b: object) -> bool:
    """Whether two parameters say the same; NaN equals NaN."""
    if isinstance(b, np.ndarray | list | tuple):
        try:
            return np.array_equal(np.asarray(a), np.asarray(b))
        except ValueError:  # a ragged list
            return False
    if hasattr(a, "__len__") and not isinstance(a, str):
        return False
    same_kind = isinstance(a, bool | np.bool_) == isinstance(b, bool | np.bool_)  # True is not the number 1 here
    return same_kind and bool(a == b or (a != a and b != b))
