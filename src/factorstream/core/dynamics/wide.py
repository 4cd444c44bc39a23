"""What features have in common where there are fewer rows than features: no matrix (m, m) is made, nor decomposed.

A covariance of T rows is ZᵀZ, and what `axes` and `start` need of it follows from products with Z (T, m), and from ZZᵀ.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..linalg import Array


class RowCovariance(NamedTuple):
    """The covariance of few rows: S_ij = Σ_t z_ti z_tj off the diagonal, `diag` on it."""

    Z: Array  # (n, m)
    diag: Array  # (m,)


def row_covariance(Y: Array) -> RowCovariance:
    """The covariance of rows Y (T, m) about zero, NaN = missing. O(T m).

    With n_ij pairs, S_ij would be Σ_t y_ti y_tj / n_ij. Sums over rows can be divided by products n_i n_j only, so
    n_ij is taken as n_i n_j / c, with the c that makes both add up to the same over all i and j. That is exact without
    gaps, and where whole rows are missing; and right on average where features have their gaps apart from each other.
    """
    seen = np.isfinite(Y)
    n = seen.sum(0).astype(float)
    y = np.where(seen, Y, 0.0)
    some = np.maximum(n, 1.0)
    return RowCovariance(y * (np.sqrt(rows_of_all(seen)) / some), (y * y).sum(0) / some)


def rows_of_all(seen: Array) -> float:
    """(Σ_t k_t)² / Σ_t k_t² for k_t entries seen in row t: how many rows they are, if all were complete."""
    k = seen.sum(1).astype(float)
    return float(k.sum() ** 2 / max(float(k @ k), 1.0))


def excess_of_rows(D: Array, lag: float, margin: float) -> Array:
    """By what part eigenvalues of the correlations of changes D (n, m) exceed `margin` times the edge of chance.

    As in `start.common_changes`. With W the columns of D at length 1, and zero where a change is missing, WᵀW has the
    eigenvalues w of WWᵀ (n, n). As in `row_covariance`, n_ij pairs are taken as n_i n_j / c, or n² / c for the mean n
    of all n_i. That multiplies what is off the diagonal of WᵀW by c / n, and leaves the diagonal at 1: the eigenvalues
    are 1 + (w - 1) c / n. O(n² m).
    """
    seen = np.isfinite(D)
    W = np.where(seen, D, 0.0)
    W /= np.maximum(np.sqrt((W * W).sum(0)), np.finfo(float).tiny)
    c, n = max(rows_of_all(seen), 1.0), max(float(seen.sum()) / D.shape[1], 1.0)
    edge = margin * (1.0 + np.sqrt(D.shape[1] / max(n * n / c / lag, 1.0))) ** 2
    excess = (1.0 + (np.linalg.eigvalsh(W @ W.T) - 1.0) * (c / n)) / edge - 1.0
    return np.asarray(excess[excess > 0])


class WideVariograms(NamedTuple):
    """What a start needs of fewer rows than features."""

    lags: Array  # (k,)
    diag: Array  # (k, m) each feature's own variogram
    pairs: Array  # (k, m) pairs of rows behind it
    total: Array  # (m,) variance of each feature
    Y: Array  # (T, m) the standardised rows

    def covariance(self) -> RowCovariance:
        """The covariance of the features."""
        return row_covariance(self.Y)

    def changes(self, k: int) -> RowCovariance:
        """Half the covariance of their changes over the lag number k."""
        Z, diag = row_covariance(_changes(self.Y, int(self.lags[k])))
        return RowCovariance(Z * np.sqrt(0.5), 0.5 * diag)

    def excess(self, k: int, margin: float) -> Array:
        """How far the correlations of these changes exceed chance: see `excess_of_rows`."""
        return excess_of_rows(_changes(self.Y, int(self.lags[k])), float(self.lags[k]), margin)


def measure_wide(Y: Array, lags: tuple[int, ...]) -> WideVariograms:
    """Variograms of standardised Y (T, m), each feature for itself. O(T m)."""
    diag, pairs = np.zeros((2, len(lags), Y.shape[1]))
    for k, h in enumerate(lags):
        D = _changes(Y, h)
        pairs[k] = np.isfinite(D).sum(0)
        diag[k] = 0.5 * np.nansum(D * D, axis=0) / np.maximum(pairs[k], 1.0)
    n = np.maximum(np.isfinite(Y).sum(0), 1.0)
    return WideVariograms(np.asarray(lags, dtype=float), diag, pairs, np.nansum(Y * Y, axis=0) / n, Y)


def _changes(Y: Array, h: int) -> Array:
    """Over h rows; none where there are not as many."""
    return Y[h:] - Y[:-h]
