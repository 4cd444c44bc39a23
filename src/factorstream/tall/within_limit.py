"""Functions of a filter and some rows, under the limit on threads."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from ..core.filter.model import FilterModel
from ..core.filter.state import FilterState
from ..core.linalg import Rows
from ..cores.limit import SMALL, limited

P = ParamSpec("P")
R = TypeVar("R")


def within_limit(
    function: Callable[Concatenate[FilterState, FilterModel, Rows, P], R],
) -> Callable[Concatenate[FilterState, FilterModel, Rows, P], R]:
    """Run a function of a filter and some rows under :func:`limited`."""

    @wraps(function)
    def wrapper(state: FilterState, model: FilterModel, X: Rows, /, *args: P.args, **kwargs: P.kwargs) -> R:
        n, m = X.shape
        if n * m * model.q < SMALL:
            return function(state, model, X, *args, **kwargs)
        with limited():
            return function(state, model, X, *args, **kwargs)

    return wrapper
