"""Answers to questions about a Dask array: arrays of Dask too, whose chunks are answered when they are asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dask.array as da
import numpy as np

from .chunks import alone, checked, held, whole_rows


def answer(ask: Callable[[Any, Any], Any], model: Any, X: Any, probe: float, there: Any = None) -> Any:
    """What ``ask(model, X)`` says of every chunk of rows: an array of Dask, or a tuple of them where it returns one.

    ``model`` is not changed from now on. It is asked about one row full of ``probe``, so that a question that cannot be
    answered is refused at once, and the shape of the answers is known. ``there`` is a task for it, if there is one.
    """
    X = whole_rows(checked(X, type(model).__name__))
    like = ask(model, np.full((1, X.shape[1]), probe, X.dtype))
    several, first = isinstance(like, tuple), like[0] if isinstance(like, tuple) else like
    shape = (X.chunks[0], *((length,) for length in first.shape[1:]))
    kinds = {"dtype": first.dtype, "meta": np.empty((0,) * (first.ndim + several), first.dtype)}
    if several:
        kinds |= {"new_axis": 0, "chunks": ((len(like),), *shape)}
    elif first.ndim == 1:
        kinds |= {"drop_axis": 1, "chunks": shape}
    else:
        kinds |= {"chunks": shape}
    found = da.map_blocks(
        _asked, X, name=None, token="answer", ask=ask, model=held(model) if there is None else there, **kinds
    )
    return tuple(found[i] for i in range(len(like))) if several else found


def _asked(rows: Any, ask: Callable[[Any, Any], Any], model: Any) -> Any:
    found = alone(ask, model, rows)
    return np.stack(found) if isinstance(found, tuple) else found
