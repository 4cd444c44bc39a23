"""The recursions of `levels` row by row in NumPy, with as few operations per row as there can be.

A NumPy operation on a few numbers takes a quarter of a microsecond whatever it does, so what does not feed back into
the next row is left to operations on all rows at once. One on arrays of two shapes, or on a part of a matrix, takes
four times as long: what belongs to features is copied into all rows of a matrix first, by a product with ones.
Loadings lie as (r, m), features next to each other, which is faster for many features too.
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

    `first` has x, P, the mean of l, b and d before the first row; B (T, r, m), d (T, m) and a (T, m) are those after
    each row, `precision` (T, r+1, r+1) has P⁻¹ and, beside it, -eta; `iw` (T, m) is 1 / v, and 0 where y is missing.
    """
    m, r = C.shape
    QiA, CT, phi2 = inv(Q) @ A, np.ascontiguousarray(C.T), phi * phi
    AtQiA, negative_phi = A.T @ QiA, -np.tile(phi, (r + 1, 1))
    Qi0, C0 = np.zeros((r + 1, r + 1)), np.zeros((r + 1, m))
    Qi0[:r, :r], C0[:r] = inv(Q), CT
    G, Sb, b = np.empty((r, r + 1)), np.empty((r, m)), np.empty((r, m))
    G[:, :r] = -QiA.T  # [-AᵀQ⁻¹, -eta]: its product with S G is what a time step takes off, that with S b is -[b; a]
    GT, eta, ahead = G.T, G[:, r], np.zeros((r + 1, r + 1))
    h, scaled, factors = np.empty((r + 1, m)), np.empty((2 * r + 2, m)), np.empty((2, m))  # h is [h; a - y]
    hT, intercept, (precise, kept), (w, k) = h.T, h[r], (scaled[: r + 1], scaled[r + 1 :]), factors
    kept_top, kept_last, copies = kept[:r], kept[r], np.repeat(np.eye(2), r + 1, axis=0)
    x, P, level_mean, first_B, var = first
    ahead[:r, :r] = inv(P)
    ahead[:r, r] = ahead[r, :r] = -ahead[:r, :r] @ x
    h[:r], h[r] = first_B.T + CT, level_mean - first_B @ x
    ones, before = np.ones(r), None
    for yt, Rt, Bt, dt, Lt, at, wt in zip(y, R, B, d, precision, a, iw, strict=True):
        if before is not None:
            L, a_before, d_before = before
            eta[:] = L[:r, r]
            S = inv(L[:r, :r] + AtQiA)
            np.subtract(Qi0, GT.dot(S.dot(G)), ahead)
            S.dot(b, Sb)
            GT.dot(Sb, h)
            Sb *= b
            var = ones.dot(Sb)
            var += d_before
            var *= phi2
            var += q
            intercept -= a_before
            h *= negative_phi
            h += C0
        intercept -= yt
        np.add(var, Rt, w)
        np.divide(1.0, w, w)
        np.multiply(var, w, k)
        np.subtract(1.0, k, k)
        copies.dot(factors, scaled)
        precise *= h
        kept *= h
        np.add(ahead, precise.dot(hT), Lt)
        np.subtract(kept_top, CT, b)
        np.add(kept_last, yt, at)
        np.multiply(var, k, dt)
        Bt[:], wt[:] = b, w
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
    own, crossed, column = products[:r], products[r:], np.ones((r, 1))
    gains, gain2 = np.repeat(gain[:, None, :], r, axis=1), gain * gain
    xn, Pn, ln, Bn, dn = x[-1], P[-1], level_mean[-1], B[-1], d[-1]
    rows = (F, E, L, x0, gain, gains, gain2, beta, l0, v, x[:-1], P[:-1], level_mean[:-1], B[:-1], d[:-1], N, K)
    backwards = zip(*(f[::-1] for f in rows), strict=True)
    for Ft, Et, Lt, x0t, gt, gst, g2t, bt, l0t, vt, xt, Pt, lt, Bt, dt, Nt, Kt in backwards:
        Pn.dot(Bn, PB)
        Et.dot(Bn.T, Nt)
        Nt += Ft
        column.dot(dn[None], Ed)
        Ed *= Et
        Nt.dot(PB, Kt)
        Kt += Ed
        Nt.dot(Pn).dot(Nt.T, Pt)
        Pt += Ed.dot(Et.T)
        Pt += Lt
        Ft.dot(xn, xt)
        xt += Et.dot(ln)
        xt += x0t
        inv(Pt).dot(Kt, Bt)
        np.multiply(Bn, PB, own)
        np.multiply(Kt, Bt, crossed)
        sign.dot(products, dt)
        dt += dn
        np.maximum(dt, 0.0, out=dt)
        dt *= g2t
        dt += vt
        np.multiply(gt, ln, lt)
        lt += xt.dot(bt)
        lt += l0t
        Bt *= gst
        Bt += bt
        xn, Pn, ln, Bn, dn = xt, Pt, lt, Bt, dt
