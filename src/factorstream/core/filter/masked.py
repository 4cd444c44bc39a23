"""Missing data with one shared V, as in the paper's experiments.

The masked residual is orthogonal to the masked dictionary, so the full Gram matrix keeps its cheap
update (see ``recursion.absorb``) and a sample's own C_ΩᵀC_Ω follows from whichever rows are fewer.
"""

from __future__ import annotations

import numpy as np

from ..linalg import Array, gram

CANCELLATION = 1e-6
"""Below this share of a diagonal entry the subtraction G − (missing part) has lost too many digits."""


def observed_gram(C: Array, G: Array, gone: Array) -> Array:
    """C_ΩᵀC_Ω from the observed rows, or as G minus the missing rows' part: the cheaper of the two.

    Shapes  C (m × q), G = CᵀC (q × q), gone the indices of the missing rows. Cost O(min(|Ω|, m − |Ω|) q²).
    """
    if len(gone) == 0:
        return G
    if 2 * len(gone) < len(C):
        rest = G - gram(C.take(gone, axis=0))
        if (rest.diagonal() > CANCELLATION * G.diagonal()).all():
            return rest
    return gram(np.delete(C, gone, axis=0))
