"""How loops are compiled."""

from __future__ import annotations

from numba import njit

loops = njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
"""Sums may be taken in another order, which lets them use vector registers; NaN and infinities keep their meaning."""

inlined = njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"}, forceinline=True)
"""The same for a function that loops call with many arguments: to hand them on takes longer than what it does."""
