"""Trees as arrays: they are walked by NumPy, kept in a file, and need nobody's classes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..linalg import Array

STEPS = 3
"""Steps down the trees until rows that have come to a leaf are looked for. Speed only."""


class Forest(NamedTuple):
    """Trees, the nodes of all of them one after another. A leaf is its own child."""

    roots: Array  # (trees,) positions of the first nodes
    feature: Array  # (nodes,) the feature that is compared
    threshold: Array  # (nodes,) up to here a row goes left
    left: Array  # (nodes,) positions of the children
    right: Array
    value: Array  # (nodes, t)


def forest_values(forest: Forest, G: Array) -> Array:
    """Mean of what the trees say of the rows of G: (n, t). Features are compared in single precision."""
    values = G.astype(np.float32).ravel()
    starts = np.arange(len(G)) * G.shape[1]  # where the rows begin
    children = np.column_stack([forest.left, forest.right]).ravel()
    total = np.zeros((len(G), forest.value.shape[1]))
    for root in forest.roots:
        total += forest.value.take(_leaves(forest, int(root), values, starts, children), axis=0)
    return total / len(forest.roots)


def _leaves(forest: Forest, root: int, values: Array, starts: Array, children: Array) -> Array:
    """The leaf of every row. Rows that have come to one are left out after every few steps."""
    leaf, node = np.full(len(starts), root), np.full(len(starts), root)
    on = np.arange(len(starts))  # rows that have not come to a leaf
    while on.size:
        at = node
        for _ in range(STEPS):
            at, node = node, _next(forest, node, values, starts, children)
        going = node != at
        leaf[on] = node
        on, node, starts = on[going], node[going], starts[going]
    return leaf


def _next(forest: Forest, node: Array, values: Array, starts: Array, children: Array) -> Array:
    """The children that rows go on to."""
    right = values.take(starts + forest.feature.take(node)) > forest.threshold.take(node)
    found: Array = children.take(2 * node + right)
    return found


def joined(trees: list[Forest]) -> Forest:
    """One forest of several."""
    shift = np.cumsum([0, *(len(tree.feature) for tree in trees[:-1])])
    roots, left, right = (
        np.concatenate([part + s for part, s in zip(parts, shift, strict=True)])
        for parts in zip(*((tree.roots, tree.left, tree.right) for tree in trees), strict=True)
    )
    feature, threshold, value = (
        np.concatenate(parts) for parts in zip(*((t.feature, t.threshold, t.value) for t in trees), strict=True)
    )
    return Forest(roots, feature, threshold, left, right, value)
