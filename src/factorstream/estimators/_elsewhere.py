"""Arrays of other libraries at the edge: where a model works, and the kind in which its answers come back.

Rows of PyTorch or CuPy on a device stay there: a model that is fitted to them has its features there, and works there.
NumPy rows that such a model is asked about are brought to it. A tensor of PyTorch on the host is an array of NumPy for
all but its answers, which are tensors again.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.utils.validation import _check_feature_names, _check_n_features

from ..arrays import (
    as_type,
    beside,
    dtype_of,
    is_torch,
    is_torch_on_host,
    refuse_without_float64,
    stays,
    to_host,
    widened,
    words_for,
)
from ..core.linalg import Array, is_sparse
from ..core.place import HERE, Place
from ..tall.array_place import ArrayPlace, place_beside
from ..tall.places import place_to_start
from ..tall.rows import Rows

TOO_LITTLE_MEMORY = "The device has too little memory for this; pass fewer rows per call, or lower n_components."


def on_host(X: Any) -> Any:
    """X, or the array of NumPy that shares the memory of a tensor of PyTorch on the host."""
    if type(X).__module__.startswith("cupyx.scipy.sparse"):
        raise TypeError("X is a sparse matrix of CuPy; pass X.get(), which is one of SciPy, or dense rows with NaN.")
    if is_torch(X) and "sparse" in str(X.layout):
        raise TypeError("X is a sparse tensor of PyTorch; pass dense rows with NaN, or a matrix of scipy.sparse.")
    return to_host(X) if is_torch_on_host(X) else X


def home_of(estimator: Any) -> Place:
    """Where a model works: on the device of its rows, or here."""
    home: Place = getattr(vars(estimator).get("state_"), "home", HERE)
    return home


def rows_elsewhere(estimator: Any, X: Array, *, reset: bool | None) -> Rows:
    """Rows that stay where they are as a matrix of float32 or float64, or a sentence about why they cannot be used.

    ``reset``: whether they begin a model; None where their columns are no features.
    """
    name = type(estimator).__name__
    if not getattr(estimator, "_takes_devices", False):
        raise TypeError(f"{name} computes in the memory of the host, and X are {words_for(X)}; pass NumPy rows.")
    refuse_without_float64(X)
    if len(X.shape) != 2:
        raise ValueError(f"Found array with dim {len(X.shape)}, while dim 2 is required by {name}.")
    for length, what in zip(X.shape, ("sample", "feature"), strict=True):
        if length == 0 and not (what == "feature" and reset is None):  # no component may be left
            raise ValueError(
                f"Found array with 0 {what}(s) (shape={tuple(X.shape)}) while a minimum of 1 is required by {name}."
            )
    if reset is not None:
        _check_feature_names(estimator, X, reset=reset)
        _check_n_features(estimator, X, reset=reset)
    if not reset and place_beside(X) != home_of(estimator):
        _refuse_other_place(estimator, X)
    X = widened(X.detach() if hasattr(X, "detach") else X)  # nothing is learned by gradients here
    return as_type(X, _float_for(X))


def _float_for(X: Array) -> np.dtype[Any]:
    """The type in which numbers are computed with."""
    dtype = dtype_of(X)
    if dtype.kind == "c":
        raise ValueError("Complex data not supported; pass real numbers.")
    return dtype if dtype.kind == "f" else np.dtype(np.float64)


def brought(estimator: Any, rows: Rows, *, reset: bool) -> Rows:
    """Rows of the host, for a model that works on a device there; otherwise as they are."""
    if not getattr(estimator, "_takes_devices", False):
        return rows
    home = place_to_start() if reset else home_of(estimator)
    if not isinstance(home, ArrayPlace):
        return rows
    if not reset and get_config().get("array_api_dispatch"):  # scikit-learn's convention is stricter than ours
        _refuse_other_place(estimator, rows)
    return home.put(rows if is_sparse(rows) else np.ascontiguousarray(rows), 1)  # one layout, so one rounding


def _refuse_other_place(estimator: Any, X: Any) -> None:
    home = home_of(estimator)
    there = words_for(home.empty(0)) if isinstance(home, ArrayPlace) else words_for(None)
    raise ValueError(
        f"Inputs passed to {type(estimator).__name__}.{_method(estimator)}() must use the same namespace and device as "
        f"those passed to fit: the model works with {there}, and X are {words_for(X)}; pass {there}, or ask a copy of "
        "the model that works where X is, factorstream.moved(model, X)."
    )


def _method(estimator: Any) -> str:
    """The public method that the caller has called."""
    name, frame = "fit", sys._getframe()
    while frame.f_back:
        frame = frame.f_back
        if frame.f_locals.get("self") is estimator and callable(getattr(type(estimator), frame.f_code.co_name, None)):
            name = frame.f_code.co_name
    return name


def like(answer: Any, X: Any) -> Any:
    """An answer as an array of the same kind as X, on the same device."""
    if type(X) is np.ndarray and type(answer) is np.ndarray:  # almost always
        return answer
    return beside(answer, X) if stays(X) or is_torch_on_host(X) else to_host(answer)


def beside_model(estimator: Any, values: Any) -> Any:
    """Numbers of a model as arrays of the kind of its rows; NumPy's where ``places.using`` has brought the rows."""
    home = home_of(estimator)
    return home.put(values, 0) if isinstance(home, ArrayPlace) and home != place_to_start() else to_host(values)


def memory_in_words(problem: BaseException) -> None:
    """Raise a sentence in the stead of a device's error that it has no memory left, whose library is not imported."""
    if any(kind.__name__ == "OutOfMemoryError" for kind in type(problem).__mro__):
        raise MemoryError(TOO_LITTLE_MEMORY) from problem
