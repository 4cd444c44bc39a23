"""How loops are compiled."""

from __future__ import annotations

from numba import njit

loops = njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
"""Sums may be taken in another order, which lets them use vector registers; NaN and infinities keep their meaning."""
