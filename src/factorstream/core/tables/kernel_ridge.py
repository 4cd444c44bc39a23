"""Smooth functions of many features: ridge regression on a Gaussian kernel at some landmarks (Nyström's method).

With landmarks b and the kernel k(g, g') = exp(-‖g - g'‖² / (2 ℓ² p)) for p features, functions are Σ_b k(g, b) α_b.
They are fitted by ridge regression in coordinates P in which the kernel is the inner product, P Pᵀ ≈ K. One
decomposition of PᵀP serves every strength of the ridge, and what a row is predicted without itself costs no second
fit:

    left-out residual of row i = (y_i - f_i) / (1 - h_i),      h = diag of P (PᵀP + λ)⁻¹ Pᵀ
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from ..linalg import Array

LANDMARKS = 60
"""Landmarks at most. Not tuned: with 150 the error of filled entries falls by 0.4% over 40 real tables, and the time
for it grows threefold."""

LENGTHS = (1.0, 2.0, 4.0)
"""Lengths ℓ to choose from, in units of the features' spread. Not tuned: a factor of two around the usual one."""

RIDGES = tuple(10.0**power for power in range(-2, 4))
"""Strengths λ to choose from. Not tuned: steps of √10 give the same to 0.1%. With the last hardly anything is left."""

FOLDS = 5
"""Parts of the rows, each told by what the others choose. Not tuned: the usual number."""

LEAST = 1e-12
"""Least eigenvalue of the landmarks' kernel, relative to the largest. Derived: above the rounding of eigenvalues."""


class KernelRidge(NamedTuple):
    """Functions of features, one for each target."""

    landmarks: Array  # (b, p)
    rate: Array  # (t,) 1 / (2 ℓ² p)
    alpha: Array  # (b, t)


class KernelFit(NamedTuple):
    """The functions, and what they say of every row that they were fitted to, without this row."""

    model: KernelRidge
    left_out: Array  # (n, t)


class Coordinates(NamedTuple):
    """Rows in coordinates in which the kernel of one length is the inner product, and those are not correlated."""

    rate: float
    P: Array  # (n, b)
    w: Array  # (b,) the sums of their squares
    to_coordinates: Array  # (b, b) from the kernel at the landmarks


class KernelBasis(NamedTuple):
    """What fits of any targets to the same rows have in common."""

    landmarks: Array  # (b, p)
    lengths: list[Coordinates]

    def fit(self, Y: Array) -> KernelFit:
        """Fit targets Y (n, t) by functions of the rows; ℓ and λ by the squared left-out residuals. Cost n b t.

        What is said of a row that is left out comes from the ℓ and λ that rows of other folds would choose: the best of
        many looks better than it is to the rows that have chosen it.
        """
        (n, t), tried = Y.shape, [(length, ridge) for length in self.lengths for ridge in RIDGES]
        shrunk, residual = np.empty((len(tried), len(self.landmarks), t)), np.empty((len(tried), n, t))
        for c, (length, ridge) in enumerate(tried):
            by = 1.0 / (length.w + ridge)
            shrunk[c] = by[:, None] * (length.P.T @ Y)
            h = (length.P * length.P) @ by
            residual[c] = (Y - length.P @ shrunk[c]) / np.maximum(1.0 - h, LEAST)[:, None]
        fold, left_out = np.arange(n) % FOLDS, np.empty((n, t))
        squares = np.stack([np.sum(residual[:, fold == f] ** 2, axis=1) for f in range(FOLDS)])  # (folds, tried, t)
        every = np.arange(t)
        for f in range(FOLDS):
            chosen, rows = np.argmin(squares.sum(axis=0) - squares[f], axis=0), fold == f
            left_out[rows] = Y[rows] - residual[chosen[:, None], rows.nonzero()[0], every[:, None]].T
        best = np.argmin(squares.sum(axis=0), axis=0)
        rate = np.array([tried[c][0].rate for c in best])
        alpha = np.column_stack([tried[c][0].to_coordinates @ shrunk[c, :, k] for k, c in enumerate(best)])
        return KernelFit(KernelRidge(self.landmarks, rate, alpha), left_out)


def kernel_basis(G: Array, rng: np.random.Generator) -> KernelBasis:
    """Prepare fits of functions of G (n, p). Cost n b²."""
    n, p = G.shape
    B = G[np.sort(rng.permutation(n)[:LANDMARKS])]
    far, near = _squares(G, B), _squares(B, B)
    lengths = []
    for length in LENGTHS:
        by = 1.0 / (2.0 * length**2 * p)
        w, U = eigh(np.exp(-by * near))
        to_coordinates = U / np.sqrt(np.maximum(w, LEAST * w[-1]))
        P = np.exp(-by * far) @ to_coordinates
        w, Q = eigh(P.T @ P)
        lengths.append(Coordinates(by, P @ Q, np.maximum(w, 0.0), to_coordinates @ Q))
    return KernelBasis(B, lengths)


def joined_targets(first: KernelRidge, second: KernelRidge) -> KernelRidge:
    """Functions of one basis together: those of the first, then those of the second."""
    rate, alpha = np.concatenate([first.rate, second.rate]), np.hstack([first.alpha, second.alpha])
    return first._replace(rate=rate, alpha=alpha)


def kernel_values(model: KernelRidge, G: Array) -> Array:
    """The functions at the rows of G: (n, t). A row has the same bits whatever rows are beside it."""
    B = model.landmarks
    far = np.einsum("np,np->n", G, G)[:, None] + np.einsum("bp,bp->b", B, B) - 2.0 * np.einsum("np,bp->nb", G, B)
    out = np.empty((len(G), len(model.rate)))
    for rate in np.unique(model.rate):
        some = np.flatnonzero(model.rate == rate)
        out[:, some] = np.einsum("nb,bt->nt", np.exp(-rate * np.maximum(far, 0.0)), model.alpha[:, some])
    return out


def _squares(A: Array, B: Array) -> Array:
    """Squared distances of the rows of A from those of B."""
    D: Array = (A * A).sum(axis=1)[:, None] + (B * B).sum(axis=1) - 2.0 * (A @ B.T)
    return np.maximum(D, 0.0, out=D)
