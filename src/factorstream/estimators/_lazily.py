"""Questions about arrays of Dask: their answers are such arrays too, and nothing is computed yet."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import partial, wraps
from typing import Any, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..arrays import is_dask
from ..persist.moving import copy_without_state
from ._elsewhere import home_of
from ._in_shards import InShards, is_in_shards

Method = TypeVar("Method", bound=Callable[..., Any])


def by_chunk(probe: float = np.nan) -> Callable[[Method], Method]:
    """A question that is answered row by row: about an array of Dask it is asked chunk by chunk.

    ``probe`` is a number that rows of such a question can be full of.
    """

    def decorate(method: Method) -> Method:
        @wraps(method)
        def asked(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
            if isinstance(X, InShards):
                X = X.array
            if not is_dask(X):
                return method(self, X, *args, **kwargs)
            from ..cluster.answers import answer

            check_is_fitted(self)
            ask = partial(_ask, method.__name__, args, kwargs)
            if not is_in_shards(home_of(self)):
                return answer(ask, deepcopy(self), X, probe)
            model = copy_without_state(self)
            vars(model)["state_"] = vars(self)["state_"]  # nobody writes into it, and shards cannot be copied here
            return answer(ask, model, X, probe, _brought_together(model))

        return asked  # type: ignore[return-value]

    return decorate


def _brought_together(model: Any) -> Any:
    """A task whose result is the model with its features in one array, on the worker that needs it."""
    from ..tall.dask_place import joined

    return joined(partial(_with_state, copy_without_state(model)), vars(model)["state_"])


def _with_state(model: Any, state: Any) -> Any:
    model = copy_without_state(model)
    vars(model)["state_"] = state
    return model


def _ask(name: str, args: tuple[Any, ...], kwargs: dict[str, Any], model: Any, X: Any) -> Any:
    return getattr(model, name)(X, *args, **kwargs)
