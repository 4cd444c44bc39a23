"""Inverses of a stack of positive definite matrices, for arrays of any library.

Libraries for GPUs multiply stacks of matrices of some forty rows at several times the speed at which they factor them.
So each matrix of a large stack is cut in two, and only its halves are factored:

    A = [[P, Q], [Qᵀ, R]]        S = R − Qᵀ P⁻¹ Q        log det A = log det P + log det S
    A⁻¹ = [[P⁻¹ + P⁻¹Q S⁻¹ QᵀP⁻¹, −P⁻¹Q S⁻¹], [−S⁻¹ QᵀP⁻¹, S⁻¹]]

P and S are positive definite where A is, and as well conditioned at the least.
"""

from __future__ import annotations

from ...arrays import Array, factored, inverse_of_factored, namespace

HALF = 24
"""Rows of the largest matrix of a large stack that is not cut. Not tuned; speed and rounding only."""

LARGE = 2**23
"""Numbers of a stack from which on it is worth more calls, each of which makes less work: 5000 matrices of 41 rows. Not
tuned; speed and rounding only."""


def inverse_and_logdet(A: Array) -> tuple[Array, Array]:
    """A⁻¹ (N × q × q) and log det A⁻¹ (N) of every matrix of a stack.

    A matrix that is not positive definite is an error, or its log-determinant is not finite: see ``factored``.
    """
    xp, (N, q, _) = namespace(A), A.shape
    if q <= HALF or N * q * q < LARGE:
        L = factored(A)
        return inverse_of_factored(A, L), -2.0 * xp.sum(xp.log(xp.linalg.diagonal(L)), axis=-1)
    h = q // 2
    Q = A[:, :h, h:]
    P_inverse, P_logdet = inverse_and_logdet(A[:, :h, :h])
    PQ = P_inverse @ Q
    S_inverse, S_logdet = inverse_and_logdet(A[:, h:, h:] - xp.matrix_transpose(Q) @ PQ)
    T = PQ @ S_inverse
    out = xp.empty_like(A)
    out[:, :h, :h] = P_inverse + T @ xp.matrix_transpose(PQ)
    out[:, :h, h:] = -T
    out[:, h:, :h] = -xp.matrix_transpose(T)
    out[:, h:, h:] = S_inverse
    return out, P_logdet + S_logdet
