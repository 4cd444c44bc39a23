"""A second place for the features, to show that the package does not care where they are: two arrays of this process.

``pytest --place split`` brings all NumPy and SciPy rows here, and with them every filter that starts from them.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy import sparse

from factorstream.core.place import HERE
from factorstream.tall.places import place_of, register


class Split:
    """An array whose features are divided among ``parts``. No tuple: those of tall arrays are passed as they are."""

    def __init__(self, parts):
        self.parts = tuple(parts)


class SplitPlace:
    """The first half of the features in one array, the rest in another. A single feature is not divided."""

    room = HERE.room
    keeps_sparse, lag, works_ahead, far = True, 1, False, False

    def put(self, values, axis):
        if values is None or isinstance(values, Split):
            return values
        if isinstance(values, tuple):
            return _rebuilt(values, [self.put(value, axis) for value in values])
        m = values.shape[axis]
        cuts = [0, m // 2, m] if m > 1 else [0, m]
        return Split(_part(values, axis, a, b) for a, b in pairwise(cuts))

    def get(self, values, axis):
        return np.concatenate(values.parts, axis=axis)

    def each(self, function, *arguments):
        return _gathered(self._results(function, arguments))

    def total(self, function, *arguments):
        return _summed(self._results(function, arguments))

    by_row = total

    def rows(self, function, *arguments):
        return function(*arguments)

    def empty(self, *shape):
        return HERE.empty(*shape)

    def _results(self, function, arguments):
        n_parts = next(len(part.parts) for part in _splits(arguments))
        return [function(*(_of(argument, i) for argument in arguments)) for i in range(n_parts)]


def _part(values, axis, start, stop):
    if sparse.issparse(values):
        return sparse.csr_array(values)[:, start:stop]
    return np.ascontiguousarray(values[(slice(None),) * axis + (slice(start, stop),)])


def _splits(arguments):
    for argument in arguments:
        if isinstance(argument, Split):
            yield argument
        elif isinstance(argument, tuple):
            yield from _splits(argument)


def _of(argument, i):
    """Part i of an argument: tall ones are taken apart, also within tuples, others passed whole."""
    if isinstance(argument, Split):
        return argument.parts[i]
    if isinstance(argument, tuple):
        return _rebuilt(argument, [_of(value, i) for value in argument])
    return argument


def _rebuilt(like, values):
    """A tuple, or a NamedTuple of the same kind, of other values."""
    return type(like)(*values) if hasattr(like, "_fields") else tuple(values)


def _gathered(results):
    """The parts' results as tall ones; tuples become tuples of tall ones."""
    first = results[0]
    if isinstance(first, tuple):
        return _rebuilt(first, [_gathered(column) for column in zip(*results, strict=True)])
    n_none = sum(result is None for result in results)
    assert n_none in (0, len(results)), "a result is None for all pieces or for none: see Place.each"
    return None if n_none else Split(results)


def _summed(results):
    first = results[0]
    if isinstance(first, tuple):
        return _rebuilt(first, [_summed(column) for column in zip(*results, strict=True)])
    return sum(results[1:], first)


SPLIT = SplitPlace()
register(Split, SPLIT)


def fetched(values, axis=0):
    """An array of this process, wherever ``values`` are; of a tuple, a tuple of them."""
    if isinstance(values, tuple):
        return _rebuilt(values, [fetched(value, axis) for value in values])
    place = place_of(values)
    return values if place is HERE else place.get(values, axis)
