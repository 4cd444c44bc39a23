"""What features have in common, for first values: principal factors, by as few and as small decompositions as will do.

Up to FEW_FEATURES features, covariances are matrices (m, m) and are decomposed as they are. Above, only the diagonal
changes from one sweep of `principal_axes` to the next, so that a few products with the matrix lead from the last
vectors to the new ones. Where there are fewer rows than features the matrix itself is never made: see `wide`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..linalg import Array
from .wide import RowCovariance

FACTOR_SWEEPS = 20
"""Sweeps of iterated principal factors; it is only a start. Not tuned: with 5 errors move by -1.2% to +2.7%, with 80 by
-1.7% to +0.6% (``benchmarks/sequence_defaults.py``)."""
FEW_FEATURES = 128
"""Features up to which a covariance is decomposed in every sweep. Derived: below, a decomposition takes a millisecond,
which is what the products would take. Speed and rounding only."""
GUARDS = 10
"""Vectors that are followed beside those asked for: errors shrink with the ratio of the first eigenvalue that is not
followed to the last one asked for. Measured by the tests with DEPTH: loadings within 1e-6 of the exact sweeps."""
DEPTH = 2
"""Products by which the last vectors are extended in a sweep. Without factors, at 1 loadings are off by 4e-5, at 2 by
3e-10, at 3 by 1e-12, in 500 rows of 600 features. Speed and rounding only."""


def principal_axes(S: Array | RowCovariance, r: int, sweeps: int = FACTOR_SWEEPS) -> Array:
    """Loadings (m, r) with C Cᵀ close to S off the diagonal: iterated principal factors.

    O(sweeps m³) up to FEW_FEATURES features, O(m³ + sweeps m² r) for larger matrices, O(T² m + sweeps T m r) for rows.
    """
    if isinstance(S, RowCovariance):
        return _axes_of_rows(S, r, sweeps)
    S = (S + S.T) / 2
    full = np.diag(S).copy()
    off = S - np.diag(full)
    communality = np.minimum(np.abs(off).max(0), full)
    if len(S) > FEW_FEATURES:
        U = np.linalg.eigh(off + np.diag(communality))[1][:, ::-1]
        return _followed(off.dot, U[:, : r + GUARDS], communality, full, r, sweeps)
    C = np.zeros((len(S), r))
    for _ in range(sweeps):
        w, U = np.linalg.eigh(off + np.diag(communality))
        C = U[:, ::-1][:, :r] * np.sqrt(np.maximum(w[::-1][:r], 0.0))
        communality = np.minimum((C**2).sum(1), full)
    return C


def _axes_of_rows(S: RowCovariance, r: int, sweeps: int) -> Array:
    """`principal_axes` from the first vectors of ZᵀZ, which are Zᵀ times those of the small matrix ZZᵀ.

    Communalities begin at the variances: the largest covariance of every feature would take all of them.
    """
    Z, full = S
    own = (Z * Z).sum(0)[:, None]
    U = np.linalg.eigh(Z @ Z.T)[1][:, ::-1]
    X = np.linalg.qr(Z.T @ U[:, : r + GUARDS])[0]
    return _followed(lambda V: Z.T @ (Z @ V) - own * V, X, full, full, r, sweeps)


def _followed(off: Callable[[Array], Array], X: Array, communality: Array, full: Array, r: int, sweeps: int) -> Array:
    """The sweeps of `principal_axes` from vectors X (m, k) on, where `off` is the product with S but for its diagonal.

    Each takes the best vectors in the span of X, KX and K²X (Rayleigh and Ritz), where K is S with the communalities on
    its diagonal.
    """
    C, off_X = np.zeros((len(full), r)), off(X)
    for _ in range(sweeps):
        diagonal, span = communality[:, None], [X, np.linalg.qr(off_X + communality[:, None] * X)[0]]
        while len(span) <= DEPTH:
            span.append(np.linalg.qr(off(span[-1]) + diagonal * span[-1])[0])
        B = np.linalg.qr(np.hstack(span))[0]
        off_B = off(B)
        w, U = np.linalg.eigh(B.T @ (off_B + diagonal * B))
        U = U[:, ::-1][:, : r + GUARDS]
        X, off_X = B @ U, off_B @ U
        n = min(r, X.shape[1])  # one or two rows may span no more
        C[:, :n] = X[:, :n] * np.sqrt(np.maximum(w[::-1][:n], 0.0))
        communality = np.minimum((C**2).sum(1), full)
    return C
