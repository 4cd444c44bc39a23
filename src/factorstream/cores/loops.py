"""How loops are compiled."""

from __future__ import annotations

from numba import njit

_HOW = {"cache": True, "nogil": True, "error_model": "numpy", "fastmath": {"reassoc", "contract"}}

loops = njit(**_HOW)
"""Sums may be taken in another order, which lets them use vector registers; NaN and infinities keep their meaning."""

inlined = njit(**_HOW, forceinline=True)
"""For a function of many arguments that loops call: to hand them on takes longer than what it does with them."""
