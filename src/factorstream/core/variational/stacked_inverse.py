"""Inverses of a stack of positive definite matrices, for arrays of any library."""

from __future__ import annotations

from ...arrays import Array, inverse_of_factored, namespace, raising_as_numpy


def inverse_and_logdet(A: Array) -> tuple[Array, Array]:
    """A⁻¹ (N × q × q) and log det A⁻¹ (N) of every matrix of a stack; LinAlgError if one is not positive definite."""
    xp = namespace(A)
    with raising_as_numpy():
        L = xp.linalg.cholesky(A)  # also the check that the matrices are positive definite
        return inverse_of_factored(A, L), -2.0 * xp.sum(xp.log(xp.linalg.diagonal(L)), axis=-1)
