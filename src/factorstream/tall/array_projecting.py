"""The functions of ``projecting_products`` for arrays of other libraries than NumPy (see ``array_products``)."""

from __future__ import annotations

from ..arrays import Array, device_of, namespace, picked
from . import projecting_products as products
from .array_products import Some, clear_gaps, double, gram, instead_of, there

instead_of(products.as_float64)(double)


@instead_of(products.block_without_gaps)
def block_without_gaps(Y: Array, origin: Array) -> tuple[Array, Array]:
    """Y − origin in double precision with zeros at the gaps, and where these are (both B × m)."""
    block = double(Y) - origin
    return block, clear_gaps(block)


@instead_of(products.row_squares)
def row_squares(block: Array) -> Array:
    """‖y‖² of every row (B)."""
    return namespace(block).vecdot(block, block)


@instead_of(products.grams)
def grams(C: Array, missing: Array, of_missing: Array) -> Array:
    """For every row of ``missing`` (B × m) the Gram matrix of the rows of C where it is ``of_missing`` (B × q × q)."""
    chosen = missing == of_missing[:, None]
    return namespace(C).stack([gram(C[chosen[j, :]]) for j in range(missing.shape[0])])


@instead_of(products.indices)
def indices(missing: Array, j: int) -> Some:
    """Where row j is missing."""
    mask = missing[j, :]
    return Some(mask, namespace(missing).nonzero(mask)[0])


@instead_of(products.line)
def line(block: Array, j: int) -> Array:
    """Row j."""
    return block[j, :]


@instead_of(products.row_sizes)
def row_sizes(C: Array, r: int) -> Array:
    """‖c_i‖² of every feature (m), without a mean's column."""
    xp = namespace(C)
    return xp.sum(C[:, :r] * C[:, :r], axis=1, dtype=xp.float64)


@instead_of(products.noise_of_all)
def noise_of_all(ratio: Array, sizes: Array) -> tuple[Array, Array]:
    """Σ κ_i²‖c_i‖² and Σ ‖c_i‖²."""
    xp = namespace(sizes)
    return xp.sum(ratio * sizes), xp.sum(sizes)


@instead_of(products.noise_at)
def noise_at(ratio: Array, sizes: Array, some: Some) -> tuple[Array, Array]:
    """The same over some features."""
    return noise_of_all(picked(ratio, some.idx), picked(sizes, some.idx))


@instead_of(products.set_variances)
def set_variances(
    out: Array,
    missing: Array,
    C: Array,
    F: Array,
    common: Array,
    group: Array | None,
    ratio: Array | None,
    scale: Array | None,
) -> Array:
    """Into ``out`` (B × m) where ``missing``: κ_i² ``common`` of the feature's group + ‖Fᵀc_i‖², times ``scale``."""
    xp, r = namespace(C), F.shape[1]
    for j in range(F.shape[0]):
        mask = missing[j, :]
        variance = xp.sum((C[mask][:, :r] @ F[j, :, :]) ** 2, axis=1)
        shared = common[j, 0] if group is None else picked(common[j, :], group[mask])
        variance += shared if ratio is None else ratio[mask] * shared
        if scale is not None:
            variance *= scale[mask]
        row = xp.zeros(mask.shape, dtype=out.dtype, device=device_of(out))
        row[mask] = there(variance, out)
        out[j, :] = row
    return out


@instead_of(products.mean)
def mean(C: Array, origin: Array, center: Array | None) -> Array:
    """origin + C · center (m); ``center`` None stands for zeros."""
    return origin if center is None else origin + (C @ there(center, C)[:, None])[:, 0]


@instead_of(products.set_gaps)
def set_gaps(out: Array, C: Array, mu: Array, X: Array, unit: Array | None) -> Array:
    """``out`` (B × m) with the predictions (X Cᵀ + mu) · unit where it is NaN; X (B × r)."""
    xp = namespace(C)
    predicted = there(X, C) @ C[:, : X.shape[1]].T
    predicted += there(mu, C)
    if unit is not None:
        predicted = predicted * unit
    return xp.where(xp.isnan(out), there(predicted, out), out)


@instead_of(products.drawn_dictionaries)
def drawn_dictionaries(C: Array, normal: Array, V_roots: Array, group: Array | None) -> Array:
    """Draws of the dictionary (d × m × q) from as many standard normal numbers, by the features' groups."""
    xp, C = namespace(C), double(C)
    if group is None:
        return C + normal @ V_roots[0, :, :].T
    moved = picked(V_roots, group, axis=0) @ xp.permute_dims(normal, (1, 2, 0))  # m × q × d
    return C + xp.permute_dims(moved, (2, 0, 1))


@instead_of(products.drawn_entries)
def drawn_entries(C: Array, origin: Array, some: Some, x: Array) -> Array:
    """Some entries of one row under d dictionaries C (d × m × q) with coefficients x (d × r), without noise."""
    xp, r = namespace(C), x.shape[1]
    rows = picked(C, some.idx, axis=1)
    drawn = xp.sum(rows[:, :, :r] * x[:, None, :], axis=2) + picked(origin, some.idx)
    return drawn + rows[:, :, r] if C.shape[2] > r else drawn
