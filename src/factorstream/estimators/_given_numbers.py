"""Parameters that are numbers or arrays: covariances and the first dictionary, checked."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

from ..arrays import to_host
from ..core.linalg import Array


def as_numbers(value: Any, name: str) -> Array:
    """A copy of a parameter as an array of float64, so that nobody can change it from outside."""
    try:
        return np.array(to_host(value), dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a number or an array of numbers; got {value!r:.50}.") from None


def as_covariance(value: Any, r: int, name: str, *, definite: bool) -> Array:
    """A number, a diagonal (r) or a matrix (r × r) as a checked covariance matrix (r × r)."""
    if isinstance(value, int | float) and isfinite(value) and (value > 0 or (value == 0 and not definite)):
        return float(value) * np.eye(r)
    M = as_numbers(value, name)
    if not np.isfinite(M).all():
        raise ValueError(f"{name} must be finite.")
    if M.ndim == 0:
        M = M * np.eye(r)
    elif M.ndim == 1 and len(M) == r:
        M = np.diag(M)
    elif M.shape != (r, r):
        raise ValueError(f"{name} must be a number or have shape ({r},) or ({r}, {r}); got shape {M.shape}.")
    if not np.allclose(M, M.T, rtol=1e-10, atol=0.0):
        raise ValueError(f"{name} must be symmetric; pass (M + M.T) / 2 if the difference is rounding.")
    values = np.linalg.eigvalsh(M)
    floor = -1e-12 * max(abs(values[0]), abs(values[-1]))
    if values[0] < floor or (definite and values[0] <= 0.0):
        need = "positive definite" if definite else "positive semi-definite"
        raise ValueError(f"{name} must be {need}; its smallest eigenvalue is {values[0]:.3g}.")
    return (M + M.T) / 2.0


def check_init(init: Any, r: int, m: int) -> Array:
    """A user's start, checked (r × m)."""
    start = as_numbers(init, "init")  # a copy: a stream may start from it more than once
    if start.shape != (r, m):
        raise ValueError(
            f"init must be 'random', 'uniform' or an array shaped like components_, ({r}, {m}); "
            f"got shape {start.shape}."
        )
    if not np.isfinite(start).all():
        raise ValueError("init must be finite.")
    return start


def check_row_mean(coefficients: str, covariance: str, fit_mean: bool, drift: object) -> None:
    """Refuse what cannot be had together with means of rows."""
    drifts = bool(np.any(np.asarray(to_host(drift)) != 0))
    if coefficients == "marginal" or covariance != "counted" or not fit_mean or drifts:
        raise ValueError(
            'fit_row_mean=True needs covariance="counted", fit_mean=True, drift=0 and coefficients="least_squares" or '
            '"map"; set them, or leave fit_row_mean out.'
        )
