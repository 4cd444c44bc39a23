"""Products of sparse rows with dense matrices in compiled loops: the twins of what ``sparse_products`` asks SciPy for.

SciPy adds one row of the dense matrix at a time to the result, on one thread, and fetches each from memory anew. Here
four are added at once, so that the result is read and written a quarter as often, and several threads work at once.
Every function does the rows, or entries, from ``start`` to ``stop``, and returns DONE.
"""

from __future__ import annotations

from ...cores.loops import loops
from .packed import DONE


@loops
def add_rows(start, stop, at, ends, limit, indices, values, M, out):  # type: ignore[no-untyped-def]
    """Σ values[e] M[indices[e]] added to ``out`` of every row, over its entries from ``at`` on whose index is below
    the limit; ``at`` is then the first of the others. Those of row k end at ``ends[k]``."""
    p = M.shape[1]
    for k in range(start, stop):
        row, e, last = out[k], at[k], at[k]
        while last < ends[k] and indices[last] < limit:
            last += 1
        at[k] = last
        while e + 4 <= last:
            a, b, c, d = M[indices[e]], M[indices[e + 1]], M[indices[e + 2]], M[indices[e + 3]]
            u, v, w, x = values[e], values[e + 1], values[e + 2], values[e + 3]
            for t in range(p):
                row[t] += (u * a[t] + v * b[t]) + (w * c[t] + x * d[t])
            e += 4
        while e < last:
            a, u = M[indices[e]], values[e]
            for t in range(p):
                row[t] += u * a[t]
            e += 1
    return DONE


@loops
def count_columns(start, stop, indptr, indices, count):  # type: ignore[no-untyped-def]
    """How many entries of these rows each column has, added to ``count`` (m)."""
    for e in range(indptr[start], indptr[stop]):
        count[indices[e]] += 1
    return DONE


@loops
def place_entries(start, stop, indptr, indices, values, at, rows, ordered):  # type: ignore[no-untyped-def]
    """The entries of these rows ordered by column: the next one of column i goes to ``at[i]``, which then moves on.

    ``values`` has several numbers for each entry, one below the other, and so has ``ordered``.
    """
    for k in range(start, stop):
        for e in range(indptr[k], indptr[k + 1]):
            i = indices[e]
            to = at[i]
            at[i] = to + 1
            rows[to] = k
            for v in range(len(values)):
                ordered[v, to] = values[v, e]
    return DONE


@loops
def entry_products(start, stop, indptr, indices, X, C, out):  # type: ignore[no-untyped-def]
    """x_kᵀc_i of every stored entry (k, i) of these rows."""
    q = X.shape[1]
    for k in range(start, stop):
        x = X[k]
        for e in range(indptr[k], indptr[k + 1]):
            c, total = C[indices[e]], 0.0
            for t in range(q):
                total += x[t] * c[t]
            out[e] = total
    return DONE


@loops
def asked_entries(start, stop, rows, columns, X, C, Z, V, Sigma, i, j, mean, variance):  # type: ignore[no-untyped-def]
    """x_kᵀc_i, and Σ_t z_kt v_it + c_iᵀΣ_k c_i, of the entries (rows[e], columns[e]).

    Z and Σ are packed, with the entries off the diagonal counted twice; entry t of Σ is entry (i[t], j[t]).
    """
    for e in range(start, stop):
        x, z, Sigma_k = X[rows[e]], Z[rows[e]], Sigma[rows[e]]
        c, v = C[columns[e]], V[columns[e]]
        total, spread = 0.0, 0.0
        for t in range(x.size):
            total += x[t] * c[t]
        for t in range(z.size):
            spread += z[t] * v[t]
        for t in range(i.size):
            spread += Sigma_k[t] * c[i[t]] * c[j[t]]
        mean[e], variance[e] = total, spread
    return DONE
