"""Leading singular values and vectors of filled rows Z (n, m), from whichever side of Z is smaller.

The exact ones from the Gram matrix of that side, as long as it has at most EXACT rows; else the leading ones by
subspace iteration that starts from the vectors of the last call, 8 n m width flops.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import sqrt

import numpy as np

from ...arrays import at_least, full_like, is_here, namespace, to_host, zeros_beside
from ...cores import product
from ..place import Place, Tall
from .observed import together
from .packed import Array

EXACT = 1500
"""Up to this smaller side the whole spectrum is computed: eigenvalues of a 1500 x 1500 matrix take a second or two.
Speed only, but for the components beyond WIDTH."""

WIDTH = 256
"""Leading components that subspace iteration follows, and so the most that "auto" finds. Not tuned: a round number,
well above what sweeps of m q³ flops can afford on data that large."""

FIRST_STEPS = 4
"""Subspace iterations of the first call, which has no vectors to start from; later ones take one. Not tuned: what is
left of the error is corrected in the passes that follow."""

Decompose = Callable[[Tall, "Tall | None", int, Place], tuple[Array, Tall]]
Factorise = Callable[[Tall, Tall, Array, Array, Place], tuple[Array, Tall]]


def decomposition(n: int, m: int) -> tuple[Decompose, Factorise]:
    """(decompose, factors) for rows of this shape.

    decompose(Z, guess, width, place): squared singular values, descending, and the singular vectors U of the smaller
    side. factors(Z, U, g2, g, place): X (n, r) with XᵀX = n I and B (r, m) tall, so that X B is the reconstruction of Z
    from its leading r singular values √g2, shrunk by the factors g; the largest entry of every column of X is positive.
    """
    if n <= m:
        return partial(_decompose_wide, n), _wide_factors
    return partial(_decompose_long, m), _long_factors


def _eigen(G: Array) -> tuple[Array, Array]:
    """Eigenvalues of a Gram matrix, descending, without negative rounding; and its vectors."""
    xp = namespace(G)
    g2, U = xp.linalg.eigh(G)
    if is_here(G):
        return np.maximum(g2[::-1], 0.0), U[:, ::-1]  # the same as below, in fewer calls
    return at_least(xp.flip(g2), 0.0), xp.flip(U, axis=1)


def _signs(X: Array) -> Array:
    """1 or -1 of every column: that of its largest entry. Libraries choose signs of singular vectors as they like."""
    xp = namespace(X)
    if X.shape[1] == 0:
        return zeros_beside(X, 0)
    if is_here(X):
        largest = X[np.abs(X).argmax(axis=0), np.arange(X.shape[1])]
        return np.where(largest < 0, -1.0, 1.0)
    largest = xp.take_along_axis(X, xp.argmax(xp.abs(X), axis=0)[None, :], axis=0)[0, :]
    return xp.where(largest < 0, full_like(largest, -1.0), 1.0)


def with_signs(U: Array) -> Array:
    """U with columns whose largest entries are positive."""
    return U * _signs(U)


def _orthonormal(A: Array) -> Array:
    """An orthonormal basis of A's columns."""
    return namespace(A).linalg.qr(A)[0]


# ------------------------------------------------------------------ n ≤ m: vectors over the samples


def _decompose_wide(n: int, Z: Tall, guess: Array | None, width: int, place: Place) -> tuple[Array, Array]:
    if n <= EXACT:
        g2, U = place.rows(_eigen, place.by_row(_gram, Z))
        return to_host(g2), U
    Q = place.by_row(_gram_with, Z, -(-n // width)) if guess is None else guess
    for _ in range(FIRST_STEPS if guess is None else 1):
        Q = place.rows(_orthonormal, place.by_row(_gram_times, Z, Q))
    g2, U = place.rows(_eigen, place.by_row(_projected_gram, Z, Q))
    return to_host(g2), Q @ U


def _wide_factors(Z: Tall, U: Array, g2: Array, g: Array, place: Place) -> tuple[Array, Tall]:
    U = place.rows(with_signs, U[:, : g.size])
    return U * sqrt(U.shape[0]), place.each(_wide_loadings, Z, U, g)


def _gram(Z: Array) -> Array:
    return product(Z, Z.T)


def _gram_with(Z: Array, step: int) -> Array:
    """The Gram matrix's columns of every ``step``-th sample."""
    return product(Z, Z[::step, :].T)


def _gram_times(Z: Array, Q: Array) -> Array:
    return product(Z, product(Z.T, Q))


def _projected_gram(Z: Array, Q: Array) -> Array:
    B = product(Q.T, Z)
    return product(B, B.T)


def _wide_loadings(Z: Array, U: Array, g: Array) -> Array:
    return (g[:, None] / sqrt(Z.shape[0])) * product(U.T, Z)


# ------------------------------------------------------------------ n > m: vectors over the features, tall


def _decompose_long(m: int, Z: Tall, guess: Tall | None, width: int, place: Place) -> tuple[Array, Tall]:
    if m <= EXACT:
        g2, U = place.rows(_eigen_of_features, together(Z, 1, place))
        return to_host(g2), place.put(U, 0)
    Q = guess
    if Q is None:
        some = together(Z, 1, place)[:, :: -(-m // width)]  # features at equal distances
        Q = place.each(_transposed_times, Z, some)
    for _ in range(FIRST_STEPS if guess is None else 1):
        Q = place.each(_transposed_times, Z, place.by_row(_times, Z, Q))
        Q = place.put(place.rows(_orthonormal, together(Q, 0, place)), 0)  # over all features together
    g2, U = place.rows(_eigen_of_features, place.by_row(_times, Z, Q))
    return to_host(g2), place.each(product, Q, U)


def _long_factors(Z: Tall, U: Tall, g2: Array, g: Array, place: Place) -> tuple[Array, Tall]:
    U = place.each(_leading, U, g.size)
    X = place.by_row(_times, Z, U)
    n, sign = X.shape[0], to_host(place.rows(_signs, X))
    return place.rows(_scaled, X, sign * (n / g2) ** 0.5), place.each(_long_loadings, U, sign * g * (g2 / n) ** 0.5)


def _eigen_of_features(Z: Array) -> tuple[Array, Array]:
    """``_eigen`` of ZᵀZ, all features together."""
    return _eigen(product(Z.T, Z))


def _scaled(X: Array, by: Array) -> Array:
    return X * by


def _times(Z: Array, Q: Array) -> Array:
    return product(Z, Q)


def _transposed_times(Z: Array, S: Array) -> Array:
    return product(Z.T, S)


def _leading(U: Array, r: int) -> Array:
    return U[:, :r]


def _long_loadings(U: Array, scale: Array) -> Array:
    return scale[:, None] * U.T
