"""Which place an array with a feature axis belongs to.

Another place for the data (a GPU, a cluster) is one file: it implements ``core.place.Place``, has a type of its own for
what it keeps, and registers that type here; arrays of other libraries than NumPy say themselves where they are. A new
filter starts where its rows are, or at the place that :func:`using` names, and stays there: its place is that of its
dictionary. Rows of this process are brought there by ``put``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from ..core.place import HERE, Place, Placed, Tall
from .array_place import place_beside

_place_by_type: dict[type, Place] = {}

_for_new_filters: ContextVar[Place] = ContextVar("place of new filters", default=HERE)


def register(kept_as: type, place: Place) -> None:
    """From now on, arrays of the type ``kept_as`` belong to ``place``."""
    _place_by_type[kept_as] = place


def place_of(values: Tall) -> Place:
    """The place that keeps ``values``."""
    if type(values) is np.ndarray:
        return HERE
    if isinstance(values, Placed):
        return values.place
    place = next((_place_by_type[t] for t in type(values).__mro__ if t in _place_by_type), None)
    return place or place_beside(values) or HERE


def place_to_start(rows: Any = None) -> Place:
    """The place where new filters and factorisations of these rows start.

    That is where the rows are, if that is another place than this process, and otherwise that of :func:`using`.
    """
    if isinstance(rows, Placed):
        return rows.place
    return place_beside(rows) or _for_new_filters.get()


@contextmanager
def using(place: Place) -> Iterator[None]:
    """Start new filters at ``place``, in this thread and until the end of the ``with`` block."""
    token = _for_new_filters.set(place)
    try:
        yield
    finally:
        _for_new_filters.reset(token)
