"""Missing data with one shared V, as in the paper's experiments.

The masked residual is orthogonal to the masked dictionary, so the full Gram matrix keeps its cheap
update (see ``recursion.absorb``) and a sample's own C_ΩᵀC_Ω follows from whichever rows are fewer.
"""

from __future__ import annotations

import numpy as np

from ...cores import MULTIPLICATION, PASS, sum_of_pieces
from ..linalg import Array, gram
from ..place import Place, Tall

CANCELLATION = 1e-6
"""Below this share of a diagonal entry the subtraction G − (missing part) has lost too many digits.

Derived: six of the sixteen digits of float64 are lost at this share, so that ten remain."""


def observed_gram(place: Place, C: Tall, G: Array, missing_idx: Tall, n_missing: int, m: int) -> Array:
    """C_ΩᵀC_Ω from the observed rows, or as G minus the missing rows' part: the cheaper of the two.

    Shapes  C (m × q), G = CᵀC (q × q), missing_idx the indices of the ``n_missing`` missing rows.
    Cost    O(min(|Ω|, m − |Ω|) q²).
    """
    if n_missing == 0:
        return G
    if 2 * n_missing < m:
        rest = less(G, place.total(gram_of, C, missing_idx))
        if rest is not None:
            return rest
    out: Array = place.total(gram_without, C, missing_idx)
    return out


def less(G: Array, missing: Array) -> Array | None:
    """G less the Gram matrix of the ``missing`` rows; None where that loses too many digits."""
    out: Array = G - missing
    return out if (out.diagonal() > CANCELLATION * G.diagonal()).all() else None


def gram_of(C: Array, idx: Array) -> Array:
    """The Gram matrix of the rows ``idx`` of C."""
    cost = len(idx) * C.shape[1] * (PASS + MULTIPLICATION * C.shape[1])
    return np.asarray(sum_of_pieces(lambda some: gram(C.take(idx[some], axis=0)), len(idx), cost))


def gram_without(C: Array, idx: Array) -> Array:
    """The Gram matrix of all the other rows of C."""
    others = np.delete(np.arange(len(C)), idx)
    return gram_of(C, others)
