"""Medians of the observed values of features, and their spread by medians."""

from __future__ import annotations

import numpy as np

from ....arrays import at_least, is_here, namespace
from ...robust_scale import MAD_TO_STD, median_and_scale
from ..observed import column_count
from ..packed import Array, Mask


def medians(Y: Array, W: Array) -> tuple[Array, Array]:
    """Median and squared robust scale of every feature; zeros for one without values."""
    if not is_here(Y):
        return _sorted_medians(Y, W)
    offset, own = np.zeros(Y.shape[1]), np.zeros(Y.shape[1])
    for i in range(Y.shape[1]):
        offset[i], scale = median_and_scale(Y[W[:, i] > 0, i])
        own[i] = scale**2
    return offset, own


def _sorted_medians(Y: Array, W: Array) -> tuple[Array, Array]:
    """The same of all features at once, where there are no loops over them."""
    count = column_count(W)
    offset = _middle(Y, W, count)
    scale = MAD_TO_STD * _middle(namespace(Y).abs(Y - offset), W, count)
    return offset, scale**2


def _middle(values: Array, W: Array, count: Array) -> Array:
    """The median of the observed values of each column (m), zero without any."""
    xp = namespace(values)
    ordered = xp.sort(xp.where(W > 0, values, float("inf")), axis=0)
    count = xp.astype(at_least(count, 1.0), xp.int64)
    low, high = (xp.take_along_axis(ordered, which[None, :], axis=0)[0, :] for which in ((count - 1) // 2, count // 2))
    middle = 0.5 * (low + high)
    return xp.where(xp.isfinite(middle), middle, 0.0)


def mad_scale_of_seen(R: Array, seen: Mask) -> Array:
    """``mad_scale`` of the entries that are seen, all of which are in one array."""
    xp = namespace(R)
    sizes = xp.sort(xp.abs(R[seen]))
    N = sizes.shape[0]
    return (0.5 * MAD_TO_STD) * (sizes[(N - 1) // 2] + sizes[N // 2]) if N else xp.sum(sizes)
