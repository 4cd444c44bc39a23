"""A place that keeps the features in two arrays: whatever runs here never looks at all of them at once."""

from __future__ import annotations

import numpy as np
from scipy import sparse


class Pieces:
    """A tall array in two pieces, without shape, items and arithmetic, so that nobody can use it as an array."""

    def __init__(self, parts):
        self.parts = tuple(parts)


class SplitPlace:
    """The first third of the features in one array, the rest in another."""

    def put(self, values, axis):
        if isinstance(values, Pieces):
            return values
        at = max(1, values.shape[axis] // 3)
        if sparse.issparse(values):
            assert axis == 1
            return Pieces((values[:, :at].tocsr(), values[:, at:].tocsr()))
        return Pieces(part.copy() for part in np.split(values, [at], axis=axis))

    def get(self, values, axis):
        return np.concatenate(values.parts, axis=axis)

    def each(self, function, *arguments):
        return _join([function(*(_part(a, i) for a in arguments)) for i in range(2)])

    def total(self, function, *arguments):
        return _add([function(*(_part(a, i) for a in arguments)) for i in range(2)])


def _rebuild(like, parts):
    return type(like)(*parts) if hasattr(like, "_fields") else tuple(parts)


def _part(tree, i):
    if isinstance(tree, Pieces):
        return tree.parts[i]
    if isinstance(tree, tuple):
        return _rebuild(tree, [_part(leaf, i) for leaf in tree])
    return tree


def _join(results):
    first = results[0]
    if isinstance(first, tuple):
        return _rebuild(first, [_join(leaves) for leaves in zip(*results, strict=True)])
    assert isinstance(first, np.ndarray) or sparse.issparse(first)  # what a map returns has features
    return Pieces(results)


def _add(results):
    first = results[0]
    if isinstance(first, tuple):
        return _rebuild(first, [_add(leaves) for leaves in zip(*results, strict=True)])
    assert not sparse.issparse(first)
    return sum(results[1:], first)


def fetched(tree, place):
    """A tree of pieces as a tree of arrays; features along the first axis."""
    if isinstance(tree, Pieces):
        return place.get(tree, 0)
    if isinstance(tree, tuple):
        return _rebuild(tree, [fetched(leaf, place) for leaf in tree])
    return tree
