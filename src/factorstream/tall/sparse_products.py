"""What is done to sparse rows: plain functions, which a ``Place`` runs where the features are (see ``products``).

Sparse rows are CSR; the stored entries are the observed ones. A function sees row k of those of its features only.
"""

from __future__ import annotations

import numpy as np

from ..core.linalg import Array, SparseRows, gram
from .products import add_rank_one, row_products


def converted(Y: SparseRows, C: Array) -> SparseRows:
    """The rows in C's dtype."""
    return Y.astype(C.dtype, copy=False)


def n_stored(Y: SparseRows, k: int) -> int:
    """How many entries of row k are observed."""
    return int(Y.indptr[k + 1] - Y.indptr[k])


def n_new(unseen: Array, Y: SparseRows, k: int) -> int:
    """How many features have their first value in row k."""
    return int(np.count_nonzero(unseen[Y.indices[Y.indptr[k] : Y.indptr[k + 1]]]))


def new_gram(C: Array, unseen: Array, Y: SparseRows, k: int) -> Array:
    """The part of CᵀC that belongs to them."""
    seen = Y.indices[Y.indptr[k] : Y.indptr[k + 1]]
    return gram(C[seen[unseen[seen]]])


def settle(C: Array, origin: Array, unseen: Array, Y: SparseRows, k: int) -> tuple[Array, Array, Array]:
    """C, origin and unseen, changed in place where a feature has its first value in row k: see ``filtering``."""
    stored = slice(Y.indptr[k], Y.indptr[k + 1])
    first = unseen[Y.indices[stored]]
    new = Y.indices[stored][first]
    origin[new], C[new], unseen[new] = Y.data[stored][first], 0.0, False
    return C, origin, unseen


def gather(C: Array, origin: Array, Y: SparseRows, k: int) -> tuple[Array, Array, Array]:
    """The observed features of row k, their rows of C (a copy) and the values less the origin."""
    stored = slice(Y.indptr[k], Y.indptr[k + 1])
    seen = Y.indices[stored]
    return seen, C[seen], Y.data[stored] - origin[seen]


def normal_equations(rows: Array, y: Array) -> tuple[Array, Array, float]:
    """C_ΩᵀC_Ω, C_Ωᵀy_Ω and ‖y_Ω‖² of what was gathered."""
    return gram(rows), *row_products(rows, y)


def scatter(C: Array, seen: Array, rows: Array, y: Array, x: Array, g: Array) -> Array:
    """C ← C + e gᵀ in place, over what was gathered."""
    e = y - rows @ x.astype(C.dtype, copy=False)
    C[seen] = add_rank_one(rows, e, g)
    return C
