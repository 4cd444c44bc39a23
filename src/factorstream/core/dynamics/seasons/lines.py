"""A trend and what known columns say: a slope and coefficients for every feature, whatever its level does.

One feature, beside p columns x_t that are known in every row, standardised:

    y_t = l_t + βᵀx_t + N(0, R)     l_t = l_{t-1} + b_{t-1} + N(0, q)     b_t = b_{t-1} + N(0, qb)     β_j ~ N(0, v_j)

The level l begins anywhere. It is here so that slope and coefficients are told apart from it, and weighed as the noise
of a series that wanders asks for; it is not taken off the rows: only the sum of the slopes and βᵀx_t are. So a gap is
still filled by what the levels and states of `dynamics` say, and goes on with the slope where data end. Features
without a trend have b = 0.

β never moves. Its posterior needs no state: the filter of (l, b) is run on y and on every column of x at once, with one
gain, and the coefficients are those of a regression of the innovations of y on the innovations of x (de Jong 1991),
whose normal equations are summed up row by row. That is recursive least squares, exact however rows are divided.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...linalg import Array


class LineVariances(NamedTuple):
    """Variances of every feature: (k,) each, v (k, p)."""

    R: Array
    q: Array
    qb: Array
    v: Array


class Running(NamedTuple):
    """Where the filter stands before a row, given the rows before it."""

    M: Array  # (k, 2, 1 + p) level and slope of y, and of every known column
    P: Array  # (k, 2, 2)
    A: Array  # (k, p, p) what the coefficients' precision has gained
    c: Array  # (k, p) A times the least squares coefficients
    begun: Array  # (k,) whether a value has come


def start(slope: Array, spread: Array, p: int) -> Running:
    """Before the first row: slopes (k,) with variances `spread`; levels are free."""
    k = len(slope)
    M, P = np.zeros((k, 2, 1 + p)), np.zeros((k, 2, 2))
    M[:, 1, 0], P[:, 1, 1] = slope, spread
    return Running(M, P, np.zeros((k, p, p)), np.zeros((k, p)), np.zeros(k, dtype=bool))


def innovation(s: Running, R: Array, y: Array, x: Array) -> tuple[Array, Array]:
    """What of [y, x] (k, 1 + p) the rows before did not say, and its variance (k,); zero before the first value."""
    seen = np.isfinite(y) & s.begun
    E = np.empty((len(y), 1 + len(x)))
    E[:, 0], E[:, 1:] = np.where(seen, y, 0.0), x
    return np.where(seen[:, None], E - s.M[:, 0], 0.0), s.P[:, 0, 0] + R


def updated(s: Running, R: Array, y: Array, x: Array) -> Running:
    """After the row y (k,), NaN = missing, with the known row x (p,). A level without a value before is put at it."""
    E, S = innovation(s, R, y, x)
    seen = np.isfinite(y)
    G = np.where((seen & s.begun)[:, None], s.P[:, :, 0] / S[:, None], 0.0)
    M = s.M + G[:, :, None] * E[:, None, :]
    P = s.P - G[:, :, None] * s.P[:, None, 0, :]
    A = s.A + E[:, 1:, None] * E[:, None, 1:] / S[:, None, None]
    c = s.c + E[:, 1:] * E[:, :1] / S[:, None]
    first = seen & ~s.begun
    if first.any():
        M[first, 0, 0], M[first, 0, 1:] = y[first], x
        P[first, 0, 0] = R[first]
    return Running(M, P, A, c, s.begun | seen)


def predicted(s: Running, q: Array, qb: Array) -> Running:
    """Before the next row."""
    M, P = s.M.copy(), s.P.copy()
    M[:, 0] += s.M[:, 1]
    P[:, 0] += s.P[:, 1]
    P[:, :, 0] += P[:, :, 1]
    P[:, 0, 0] += np.where(s.begun, q, 0.0)
    P[:, 0, 1] = P[:, 1, 0] = np.where(s.begun, P[:, 0, 1], 0.0)
    P[:, 1, 1] += np.where(s.begun, qb, 0.0)
    return s._replace(M=M, P=P)


def coefficients(s: Running, v: Array) -> tuple[Array, Array]:
    """Mean (k, p) and covariance (k, p, p) of β; a column whose prior variance is zero says nothing."""
    root = np.sqrt(v)  # β = root · z with z ~ N(0, I): no prior variance is divided by
    inner = np.eye(v.shape[1]) + root[:, :, None] * s.A * root[:, None, :]
    cov = root[:, :, None] * np.linalg.inv(inner) * root[:, None, :]
    return np.einsum("kij,kj->ki", cov, s.c), cov


class Smoothed(NamedTuple):
    """Levels and slopes given all rows and β: means (T, k, 2, 1 + p), covariances (T, k, 2, 2)."""

    M: Array
    P: Array


def passed(variances: LineVariances, s: Running, Y: Array, X: Array) -> tuple[list[Running], Running]:
    """The filter after each of the rows Y (T, k) with X (T, p), and before the row that follows. O(T k p²)."""
    out = []
    for y, x in zip(Y, X, strict=True):
        s = updated(s, variances.R, y, x)
        out.append(s)
        s = predicted(s, variances.q, variances.qb)
    return out, s


def smoothed(variances: LineVariances, filtered: list[Running]) -> Smoothed:
    """The Rauch-Tung-Striebel recursion; where slopes cannot move and are known, their covariance has no inverse."""
    M, P = np.array([s.M for s in filtered]), np.array([s.P for s in filtered])
    for t in range(len(filtered) - 2, -1, -1):
        ahead = predicted(filtered[t], variances.q, variances.qb)
        FP = P[t].copy()
        FP[:, 0] += FP[:, 1]  # F P, whose transpose is P Fᵀ
        J = FP.transpose(0, 2, 1) @ _inverse(ahead.P)
        now = filtered[t].begun[:, None, None]
        M[t] = np.where(now, M[t] + J @ (M[t + 1] - ahead.M), _back(M[t + 1]))
        P[t] = np.where(now, P[t] + J @ (P[t + 1] - ahead.P) @ J.transpose(0, 2, 1), P[t + 1])
    return Smoothed(M, P)


def _back(M: Array) -> Array:
    """Level and slope one row earlier where nothing had been seen: the line goes back."""
    M = M.copy()
    M[:, 0] -= M[:, 1]
    return M


def _inverse(P: Array) -> Array:
    """Inverses of P (k, 2, 2); those of singular ones are pseudo-inverses of the level alone."""
    out = np.zeros_like(P)
    det = P[:, 0, 0] * P[:, 1, 1] - P[:, 0, 1] ** 2
    good = det > np.finfo(float).eps * P[:, 0, 0] * P[:, 1, 1]
    out[good] = np.linalg.inv(P[good])
    alone = ~good & (P[:, 0, 0] > 0)
    out[alone, 0, 0] = 1.0 / P[alone, 0, 0]
    return out
