"""The recursions of `levels` row by row in NumPy, with as few operations per row as there can be.

A NumPy operation on a few numbers takes half a microsecond whatever it does, so what does not feed back into the next
row is left to operations on all rows at once, in `levels`. Loadings lie as (r, m), features next to each other, which
is faster for many features too.
"""

from __future__ import annotations

import numpy as np

from ..linalg import Array
from .model import inv

LARGEST_PRECISION = 1e8
"""Largest entry of Q⁻¹ for which covariances are carried as precisions: P⁻¹ is found as a difference of numbers of that
size. Derived: half of the sixteen digits of double precision are left to a P of 1, the variance of a standardised
feature."""


def forward_rows(
    A: Array,
    Q: Array,
    C: Array,
    phi: Array,
    q: Array,
    y: Array,
    R: Array,
    first: tuple[Array, Array, Array, Array, Array],
    B: Array,
    d: Array,
    precision: Array,
    a: Array,
    iw: Array,
) -> None:
    """Filter rows y (T, m); R (T, m) is infinite where y is missing. O(T m r²). The last five arguments are filled.

    With l_i | x ~ N(a_i + b_iᵀx, d_i), an entry has the loading h_i = c_i + b_i and the variance v_i = d_i + R_i given
    x, and with k_i = d_i / v_i the row does this, where eta = P⁻¹ x:

        P⁻¹ ← P⁻¹ + Σ h_i h_iᵀ / v_i,   eta ← eta + Σ h_i (y_i - a_i) / v_i,
        c_i + b_i ← (1 - k_i) h_i + k_i c_i,   a_i ← (1 - k_i)(a_i - y_i) + y_i,   d_i ← (1 - k_i) d_i.

    A time step is x | next x ~ N(S eta + S AᵀQ⁻¹ (next x), S) with S = (P⁻¹ + AᵀQ⁻¹A)⁻¹, so that

        P⁻¹ ← Q⁻¹ - Q⁻¹A S AᵀQ⁻¹,   eta ← Q⁻¹A S eta,
        b_i ← phi_i Q⁻¹A S b_i,   a_i ← phi_i (a_i + etaᵀS b_i),   d_i ← phi_i² (d_i + b_iᵀS b_i) + q_i.

    Both are products with one matrix W = [-AᵀQ⁻¹, -eta, b_1, ..., b_m] and one of loadings [h; a - y].
    `first` has x, P, the mean of l, b and d before the first row; B (T, r, m), d (T, m) and a (T, m) are those after
    each row, `precision` (T, r+1, r+1) has P⁻¹ and, beside it, -eta; `iw` (T, m) is 1 / v, and 0 where y is missing.
    """
    m, r = C.shape
    Qi, CT = inv(Q), np.ascontiguousarray(C.T)
    QiA = Qi @ A
    AtQiA, phi2 = A.T @ QiA, phi * phi
    W, SW, V = np.zeros((r, r + 1 + m)), np.empty((r, r + 1 + m)), np.zeros((r + 1, r + 1 + m))
    W[:, :r] = -QiA.T
    sign, fixed = np.concatenate([-np.ones(r + 1), -phi]), np.zeros_like(V)
    fixed[:r, :r], fixed[:r, r + 1 :] = Qi, CT
    head, eta, b, Sb = W[:, : r + 1].T, W[:, r], W[:, r + 1 :], SW[:, r + 1 :]
    ahead, h, intercept = V[:, : r + 1], V[:, r + 1 :], V[r, r + 1 :]
    hT, scaled, top, last = h.T, np.empty((r + 1, m)), slice(0, r), r
    x, P, level_mean, first_B, var = first
    ahead[:r, :r] = inv(P)
    ahead[:r, r] = ahead[r, :r] = -ahead[:r, :r] @ x
    h[:r], h[r] = first_B.T + CT, level_mean - first_B @ x
    k, ones, before = np.empty(m), np.ones(r), None
    for yt, Rt, Bt, dt, Lt, at, wt in zip(y, R, B, d, precision, a, iw, strict=True):
        if before is not None:
            L, a_before, d_before = before
            eta[:] = L[top, last]
            np.dot(inv(L[top, top] + AtQiA), W, out=SW)
            np.dot(head, SW, out=V)
            Sb *= b
            var = ones.dot(Sb)
            var += d_before
            var *= phi2
            var += q
            intercept -= a_before
            V *= sign
            V += fixed
        intercept -= yt
        np.add(var, Rt, out=wt)
        np.divide(1.0, wt, out=wt)
        np.multiply(h, wt, out=scaled)
        np.add(ahead, scaled.dot(hT), out=Lt)
        np.multiply(var, wt, out=k)
        np.subtract(1.0, k, out=k)
        np.multiply(h, k, out=scaled)
        np.subtract(scaled[top], CT, out=b)
        np.add(scaled[last], yt, out=at)
        np.multiply(var, k, out=dt)
        Bt[:] = b
        before = Lt, at, dt


def backward_rows(
    F: Array,
    E: Array,
    L: Array,
    x0: Array,
    gain: Array,
    beta: Array,
    l0: Array,
    v: Array,
    x: Array,
    P: Array,
    level_mean: Array,
    B: Array,
    d: Array,
    N: Array,
    K: Array,
) -> None:
    """`levels.back` for all rows of a `Kernel`, the last one first. O(T m r²).

    The beliefs (x, P, level_mean, B, d) are of one row more, of which the last is smoothed; the others become so.
    E, beta, B and K are (rows, r, m) here. N and K are filled.
    """
    r, m = E.shape[1:]
    sign, products, PB, Ed = np.repeat([1.0, -1.0], r), np.empty((2 * r, m)), np.empty((r, m)), np.empty((r, m))
    own, crossed = products[:r], products[r:]
    gain2 = gain * gain
    xn, Pn, ln, Bn, dn = x[-1], P[-1], level_mean[-1], B[-1], d[-1]
    rows = (F, E, L, x0, gain, gain2, beta, l0, v, x[:-1], P[:-1], level_mean[:-1], B[:-1], d[:-1], N, K)
    for Ft, Et, Lt, x0t, gt, g2t, bt, l0t, vt, xt, Pt, lt, Bt, dt, Nt, Kt in zip(*(f[::-1] for f in rows), strict=True):
        np.dot(Pn, Bn, out=PB)
        np.dot(Et, Bn.T, out=Nt)
        Nt += Ft
        np.multiply(Et, dn, out=Ed)
        np.dot(Nt, PB, out=Kt)
        Kt += Ed
        np.dot(Nt.dot(Pn), Nt.T, out=Pt)
        Pt += Ed.dot(Et.T)
        Pt += Lt
        np.dot(Ft, xn, out=xt)
        xt += Et.dot(ln)
        xt += x0t
        np.dot(inv(Pt), Kt, out=Bt)
        np.multiply(Bn, PB, out=own)
        np.multiply(Kt, Bt, out=crossed)
        np.dot(sign, products, out=dt)
        dt += dn
        np.maximum(dt, 0.0, out=dt)
        dt *= g2t
        dt += vt
        np.multiply(gt, ln, out=lt)
        lt += xt.dot(bt)
        lt += l0t
        Bt *= gt
        Bt += bt
        xn, Pn, ln, Bn, dn = xt, Pt, lt, Bt, dt
