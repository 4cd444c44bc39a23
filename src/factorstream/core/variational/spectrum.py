"""Leading singular values and vectors of filled rows Z (n, m), from whichever side of Z is smaller.

The exact ones from the Gram matrix of that side, as long as it has at most EXACT rows; else the leading ones by
subspace iteration that starts from the vectors of the last call, 8 n m width flops.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ...cores import product
from ..place import Place, Tall
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
    from its leading r singular values √g2, shrunk by the factors g.
    """
    if n <= m:
        return partial(_decompose_wide, n), _wide_factors
    return partial(_decompose_long, m), _long_factors


def _eigen(G: Array) -> tuple[Array, Array]:
    """Eigenvalues of a Gram matrix, descending, without negative rounding; and its vectors."""
    g2, U = np.linalg.eigh(G)
    return np.maximum(g2[::-1], 0.0), U[:, ::-1]


# ------------------------------------------------------------------ n ≤ m: vectors over the samples, in this process


def _decompose_wide(n: int, Z: Tall, guess: Array | None, width: int, place: Place) -> tuple[Array, Array]:
    if n <= EXACT:
        return _eigen(place.total(_gram, Z))
    Q = place.total(_gram_with, Z, -(-n // width)) if guess is None else guess
    for _ in range(FIRST_STEPS if guess is None else 1):
        Q, _ = np.linalg.qr(place.total(_gram_times, Z, Q))
    g2, U = _eigen(place.total(_projected_gram, Z, Q))
    return g2, np.asarray(Q @ U)


def _wide_factors(Z: Tall, U: Array, g2: Array, g: Array, place: Place) -> tuple[Array, Tall]:
    n = len(U)
    U = U[:, : g.size]
    return U * np.sqrt(n), place.each(_wide_loadings, Z, U, g)


def _gram(Z: Array) -> Array:
    return product(Z, Z.T)


def _gram_with(Z: Array, step: int) -> Array:
    """The Gram matrix's columns of every ``step``-th sample."""
    return product(Z, Z[::step].T)


def _gram_times(Z: Array, Q: Array) -> Array:
    return product(Z, product(Z.T, Q))


def _projected_gram(Z: Array, Q: Array) -> Array:
    B = product(Q.T, Z)
    return product(B, B.T)


def _wide_loadings(Z: Array, U: Array, g: Array) -> Array:
    return np.asarray((g[:, None] / np.sqrt(len(Z))) * product(U.T, Z))


# ------------------------------------------------------------------ n > m: vectors over the features, tall


def _decompose_long(m: int, Z: Tall, guess: Tall | None, width: int, place: Place) -> tuple[Array, Tall]:
    if m <= EXACT:
        A = place.get(Z, 1).T  # the m x m Gram matrix needs all features together
        g2, U = _eigen(product(A, A.T))
        return g2, place.put(U, 0)
    Q = guess
    if Q is None:
        some = place.get(Z, 1)[:, :: -(-m // width)]  # features at equal distances
        Q = place.each(_transposed_times, Z, some)
    for _ in range(FIRST_STEPS if guess is None else 1):
        Q = place.each(_transposed_times, Z, place.total(_times, Z, Q))
        Q = place.put(np.linalg.qr(place.get(Q, 0))[0], 0)  # orthogonal over all features together
    B = place.total(_times, Z, Q).T
    g2, U = _eigen(product(B, B.T))
    return g2, place.each(np.matmul, Q, U)


def _long_factors(Z: Tall, U: Tall, g2: Array, g: Array, place: Place) -> tuple[Array, Tall]:
    U = place.each(_leading, U, g.size)
    X = place.total(_times, Z, U)
    n = len(X)
    return X * np.sqrt(n / g2), place.each(_long_loadings, U, g * np.sqrt(g2 / n))


def _times(Z: Array, Q: Array) -> Array:
    return product(Z, Q)


def _transposed_times(Z: Array, S: Array) -> Array:
    return product(Z.T, S)


def _leading(U: Array, r: int) -> Array:
    return U[:, :r]


def _long_loadings(U: Array, scale: Array) -> Array:
    return np.asarray(scale[:, None] * U.T)
