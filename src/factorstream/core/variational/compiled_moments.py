"""Second moments of many rows in compiled loops: the twins of what ``packed_moments`` and ``observed`` do with NumPy.

NumPy goes over memory once for every product, sum and choice of entries; a loop goes once for all of them, and several
threads run it at once. Every function does the rows, or columns, from ``start`` to ``stop``, and returns DONE. Matrices
are packed: entry t of a row is entry (i[t], j[t]) of a symmetric matrix.
"""

from __future__ import annotations

from ...cores.loops import loops
from .packed import DONE


@loops
def second_moments(start, stop, X, V, scale, i, j, out):  # type: ignore[no-untyped-def]
    """scale_b (x_b x_bᵀ + V_b)."""
    for b in range(start, stop):
        x, v, row, s = X[b], V[b], out[b], scale[b]
        for t in range(i.size):
            row[t] = s * (x[i[t]] * x[j[t]] + v[t])
    return DONE


@loops
def leading_moments(start, stop, X, Sigma, inside, i, j, out):  # type: ignore[no-untyped-def]
    """x_b x_bᵀ, and Σ_b added to the entries at ``inside``."""
    for b in range(start, stop):
        x, v, row = X[b], Sigma[b], out[b]
        for t in range(i.size):
            row[t] = x[i[t]] * x[j[t]]
        for t in range(inside.size):
            row[inside[t]] += v[t]
    return DONE


@loops
def moment_traces(start, stop, X, V, S, weight, i, j, out):  # type: ignore[no-untyped-def]
    """tr((x_b x_bᵀ + V_b) S_b)."""
    for b in range(start, stop):
        x, v, s = X[b], V[b], S[b]
        total = 0.0
        for t in range(i.size):
            total += weight[t] * (x[i[t]] * x[j[t]] + v[t]) * s[t]
        out[b] = total
    return DONE


@loops
def traces(start, stop, A, B, weight, out):  # type: ignore[no-untyped-def]
    """tr(A_b B_b)."""
    for b in range(start, stop):
        x, y = A[b], B[b]
        total = 0.0
        for t in range(weight.size):
            total += weight[t] * x[t] * y[t]
        out[b] = total
    return DONE


@loops
def leading(start, stop, A, inside, K, out):  # type: ignore[no-untyped-def]
    """The entries of A_b at ``inside``, and K added to them."""
    for b in range(start, stop):
        a, row = A[b], out[b]
        for t in range(inside.size):
            row[t] = a[inside[t]] + K[t]
    return DONE


@loops
def weighted_columns(start, stop, W, Y, wy, square, count):  # type: ignore[no-untyped-def]
    """w y of some columns, and the sums over rows of w y² and of how many w are not zero, added to the last two."""
    for k in range(len(W)):
        w, y, row = W[k, start:stop], Y[k, start:stop], wy[k]
        for c in range(stop - start):
            product = w[c] * y[c]
            row[c] = product
            square[c] += product * y[c]
            count[c] += 1.0 if w[c] != 0.0 else 0.0
    return DONE
