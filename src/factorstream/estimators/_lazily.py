"""Questions about arrays of Dask: their answers are such arrays too, and nothing is computed yet."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import partial, wraps
from typing import Any, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..arrays import is_dask

Method = TypeVar("Method", bound=Callable[..., Any])


def by_chunk(probe: float = np.nan) -> Callable[[Method], Method]:
    """A question that is answered row by row: about an array of Dask it is asked chunk by chunk.

    ``probe`` is a number that rows of such a question can be full of.
    """

    def decorate(method: Method) -> Method:
        @wraps(method)
        def asked(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
            if not is_dask(X):
                return method(self, X, *args, **kwargs)
            from ..cluster.answers import answer

            check_is_fitted(self)
            return answer(partial(_ask, method.__name__, args, kwargs), deepcopy(self), X, probe)

        return asked  # type: ignore[return-value]

    return decorate


def _ask(name: str, args: tuple[Any, ...], kwargs: dict[str, Any], model: Any, X: Any) -> Any:
    return getattr(model, name)(X, *args, **kwargs)
