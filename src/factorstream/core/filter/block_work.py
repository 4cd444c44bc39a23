"""What a block of complete samples works on and fills in, besides the small state."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..linalg import Array


class Records(NamedTuple):
    """What the samples of a block did, filled in as they come."""

    x: Array
    """Coefficients, a mean's 1 included (B × q)."""
    g: Array
    """Gains (B × q)."""
    ee: Array
    """‖e‖² (B)."""
    share: Array
    """xᵀVx / (λ + xᵀVx) (B)."""
    weight: Array
    """λ/λ_k, what each sample counts (B)."""
    growth: Array
    """CᵀC grows by this times g gᵀ, sample by sample (B)."""

    @classmethod
    def of(cls, B: int, q: int) -> Records:
        """Room for B samples."""
        return cls(np.ones((B, q)), np.empty((B, q)), *np.empty((4, B)))


class Work(NamedTuple):
    """What changes with every sample of a block, beside the small state: see ``recursion.run_block``."""

    root: Array
    """Sᵀ (q × q)."""
    H: Array
    """C_kᵀy_i, for every sample i that is still to come (B × q)."""
    N: Array
    """YYᵀ (B × B), which does not change."""
    U: Array
    """x_jᵀg_i below the diagonal, and anything on it and above (B × B)."""

    @classmethod
    def of(cls, S: Array, K: Array, N: Array) -> Work:
        """Before the first sample of a block."""
        return cls(np.array(S.T, order="C"), np.array(K.T, order="C"), N, np.empty(N.shape))


class Whitened(NamedTuple):
    """What else changes with every sample of a run."""

    P: Array
    """The inverse of C̃ᵀC̃, or of what stands for it where C is doubted (r × r)."""
    C_mu: Array
    """C̃ᵀμ, μ the mean column (r; or 0, without a mean)."""
    grown: Array
    """The trace of C̃ᵀC̃ − I, or of M − I (1)."""
