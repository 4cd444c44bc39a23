"""What is predicted of observed entries from the rest of their rows, as if they had been missing.

An observed entry has a say in its own prediction. What the others alone say of it follows without a second fit: with
the posterior N(x_k, Σ_k) of a row's coefficients, the weight a = w_kj / s2_j of entry j and its residual e, taking
the entry out of the row gives

    h = a c_jᵀ Σ_k c_j        d = e / (1 - h)        x without j = x_k - a d Σ_k c_j

by the Sherman–Morrison formula. Several columns that are known or missing together (the 0 and 1 of a category's
values) are taken out at once: h is then a matrix and 1 - h a system to solve. Two things stay as they are: V_j in the
precision of the row, and the dictionary, into which every entry went as one of many. How much an entry has moved its
own column of the dictionary is its ``pull``, x_kᵀ V_j x_k / s2_j.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .factors import Factors
from .observed import Observations
from .packed import Array, unpack
from .posterior import CoefficientPosterior

LEAST_LEFT = 1e-9
"""Least eigenvalue of 1 - h: an entry without noise says all of itself. Derived: far above rounding."""


class RowsToAsk(NamedTuple):
    """Rows of data with the posterior of their coefficients, ready to be asked about entries left out."""

    Y: Array  # (n, m) values; anything where missing
    weight: Array  # (n, m) w / s2, zero where missing
    fitted: Array  # (n, m) what the whole row says of every entry
    X: Array  # (n, q)
    Sigma: Array  # (n, r, r)
    C: Array  # (m, q)
    V: Array  # (m, q, q)
    s2: Array  # (m,)


class Without(NamedTuple):
    """What the rows say without some columns J."""

    fills: Array  # (n, m) of every column
    variance: Array  # (n, J) of the entries left out, noise included
    pull: Array  # (n, J) share of its own prediction that an observed entry has through the dictionary


def rows_to_leave_out(data: Observations, coef: CoefficientPosterior, factors: Factors, temper: float) -> RowsToAsk:
    """Rows of data in this process; the likelihood has the power ``temper``. Cost n m r, memory n r²."""
    C, r = factors.post.C, factors.r
    weight = temper * data.W / factors.s2
    return RowsToAsk(
        data.Y, weight, coef.X @ C.T, coef.X, unpack(coef.Sigma, r), C, unpack(factors.post.V, r + 1), factors.s2
    )


def without(rows: RowsToAsk, J: list[int]) -> Without:
    """Leave the columns J out of every row in which they are observed. Cost n J r (r + m)."""
    r = rows.Sigma.shape[1]
    C, a = rows.C[:, :r], rows.weight[:, J]  # (n, J)
    SC = rows.Sigma @ C[J].T  # (n, r, J)
    h = np.einsum("jr,nrk->njk", C[J], SC)  # c_j' Σ c_k
    left = np.eye(len(J)) - h * a[:, None, :]
    if len(J) == 1:
        d = (rows.Y - rows.fitted)[:, J] / np.maximum(left[:, 0], LEAST_LEFT)
        spread = h[:, :, 0] / np.maximum(left[:, 0], LEAST_LEFT)
    else:
        left = left + LEAST_LEFT * np.eye(len(J))
        d = np.linalg.solve(left, (rows.Y - rows.fitted)[:, J, None])[:, :, 0]
        spread = np.einsum("njj->nj", np.linalg.solve(left, h))
    d = np.where(a > 0, d, 0.0)
    fills = rows.fitted - np.einsum("nrk,nk->nr", SC, a * d) @ C.T
    own = np.einsum("nq,jqp,np->nj", rows.X, rows.V[J], rows.X, optimize=True)
    doubt = np.einsum("jrs,nrs->nj", rows.V[J][:, :r, :r], rows.Sigma, optimize=True)
    return Without(fills, rows.s2[J] + own + spread + doubt, own / rows.s2[J])
