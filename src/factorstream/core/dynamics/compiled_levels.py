"""The recursions of ``levels`` in compiled loops: row by row NumPy spends most of its time on calls, not on numbers.

Both return how many rows they did, or FAILED where a covariance is not positive definite within rounding: then NumPy,
whose elimination goes on all the same, has to do the rows again.
"""

from __future__ import annotations

import numpy as np

from ...cores.loops import loops

FAILED = -1


@loops
def invert(S, out, M):  # type: ignore[no-untyped-def]
    """S⁻¹ of a symmetric S, of which the lower triangle is read, by its Cholesky factor; M is working space."""
    r = len(S)
    for i in range(r):
        for j in range(i + 1):
            rest = S[i, j]
            for k in range(j):
                rest -= M[i, k] * M[j, k]
            if i > j:
                M[i, j] = rest / M[j, j]
            elif rest > 0.0:
                M[i, i] = np.sqrt(rest)
            else:
                return False
    for j in range(r):  # M⁻¹ in place of M, column by column
        M[j, j] = 1.0 / M[j, j]
        for i in range(j + 1, r):
            rest = 0.0
            for k in range(j, i):
                rest += M[i, k] * M[k, j]
            M[i, j] = -rest / M[i, i]
    for i in range(r):
        for j in range(i + 1):
            rest = 0.0
            for k in range(i, r):
                rest += M[k, i] * M[k, j]
            out[i, j] = rest
            out[j, i] = rest
    return True


@loops
def forward(A, Q, C, phi, q, y, seen, R, x, P, level, B, d, xs, Ps, levels, Bs, ds, prior_P, noise, chi2):  # type: ignore[no-untyped-def]
    """``levels.forward``: the filtered beliefs of all rows (xs, Ps, levels, Bs, ds), and what their density needs.

    (x, P, level, B, d) is what is known of the first row before it is seen; it is working space afterwards.
    """
    (T, m), r = y.shape, len(x)
    AP, Pi, J, M, H = np.empty((r, r)), np.empty((r, r)), np.empty((r, r)), np.empty((r, r)), np.empty((m, r))
    h, dx, cross, e, new_x = np.empty(r), np.empty(r), np.empty(r), np.empty(m), np.empty(r)
    for t in range(T):
        if t > 0:  # one time step
            for a in range(r):
                new_x[a] = 0.0
                for b in range(r):
                    new_x[a] += A[a, b] * x[b]
                    AP[a, b] = 0.0
                    for c in range(r):
                        AP[a, b] += A[a, c] * P[c, b]
            for a in range(r):
                x[a] = new_x[a]
                for b in range(a + 1):
                    total = (Q[a, b] + Q[b, a]) / 2
                    for c in range(r):
                        total += (AP[a, c] * A[b, c] + AP[b, c] * A[a, c]) / 2
                    J[a, b] = total
                    J[b, a] = total
            if not invert(J, Pi, M):
                return FAILED
            for i in range(m):
                var = d[i]
                for a in range(r):
                    cross[a] = 0.0
                    square = 0.0
                    for b in range(r):
                        cross[a] += B[i, b] * AP[a, b]
                        square += B[i, b] * P[b, a]
                    cross[a] *= phi[i]
                    var += square * B[i, a]
                var = phi[i] * phi[i] * var + q[i]
                for a in range(r):
                    B[i, a] = 0.0
                    for b in range(r):
                        B[i, a] += cross[b] * Pi[b, a]
                    var -= cross[a] * B[i, a]
                d[i] = max(var, q[i])
                level[i] *= phi[i]
            P[:] = J
        elif not invert(P, Pi, M):
            return FAILED
        prior_P[t] = P
        J[:] = Pi  # one measurement
        h[:] = 0.0
        square = 0.0
        for i in range(m):
            e[i] = y[t, i] - level[i]
            for a in range(r):
                H[i, a] = C[i, a] + B[i, a]
                e[i] -= C[i, a] * x[a]
            noise[t, i] = d[i] + R[t, i]
            if seen[t, i]:
                iw = 1.0 / noise[t, i]
                square += iw * e[i] * e[i]
                for a in range(r):
                    h[a] += iw * e[i] * H[i, a]
                    for b in range(a + 1):
                        J[a, b] += iw * H[i, a] * H[i, b]
        if not invert(J, P, M):
            return FAILED
        for a in range(r):
            dx[a] = 0.0
            for b in range(r):
                dx[a] += P[a, b] * h[b]
            square -= h[a] * dx[a]
            x[a] += dx[a]
        chi2[t] = square
        for i in range(m):
            for a in range(r):
                level[i] += B[i, a] * dx[a]
            if seen[t, i]:
                k = d[i] / noise[t, i]
                rest = e[i]
                for a in range(r):
                    rest -= H[i, a] * dx[a]
                    B[i, a] -= k * H[i, a]
                level[i] += k * rest
                d[i] *= 1.0 - k
        xs[t], Ps[t], levels[t], Bs[t], ds[t] = x, P, level, B, d
    return T


@loops
def backward(L, F, E, x0, gain, beta, l0, v, xs, Ps, levels, Bs, ds, Ns, Ks):  # type: ignore[no-untyped-def]
    """``levels.back`` for n rows, the last one first. The beliefs are of n + 1 rows, of which the last is smoothed."""
    n, m, r = len(L), Bs.shape[1], L.shape[1]
    S, NP, Pi, M = np.empty((r, r)), np.empty((r, r)), np.empty((r, r)), np.empty((r, r))
    BP, KPi = np.empty(r), np.empty(r)
    for t in range(n - 1, -1, -1):
        x, P, N = xs[t], Ps[t], Ns[t]
        next_x, next_P, next_level, next_B, next_d = xs[t + 1], Ps[t + 1], levels[t + 1], Bs[t + 1], ds[t + 1]
        N[:] = F[t]
        x[:] = x0[t]
        S[:] = L[t]
        for i in range(m):
            for a in range(r):
                x[a] += E[t, i, a] * next_level[i]
                for b in range(r):
                    N[a, b] += E[t, i, a] * next_B[i, b]
                    S[a, b] += E[t, i, a] * E[t, i, b] * next_d[i]
        for a in range(r):
            for b in range(r):
                x[a] += F[t, a, b] * next_x[b]
                NP[a, b] = 0.0
                for c in range(r):
                    NP[a, b] += N[a, c] * next_P[c, b]
        for a in range(r):
            for b in range(r):
                P[a, b] = S[a, b]
                for c in range(r):
                    P[a, b] += NP[a, c] * N[b, c]
        if not invert(P, Pi, M):
            return FAILED
        for i in range(m):
            var, mean = next_d[i], l0[t, i] + gain[t, i] * next_level[i]
            for a in range(r):
                BP[a] = 0.0
                for b in range(r):
                    BP[a] += next_B[i, b] * next_P[b, a]
                var += BP[a] * next_B[i, a]
            for a in range(r):
                Ks[t, i, a] = next_d[i] * E[t, i, a]
                for b in range(r):
                    Ks[t, i, a] += BP[b] * N[a, b]
            for a in range(r):
                KPi[a] = 0.0
                for b in range(r):
                    KPi[a] += Ks[t, i, b] * Pi[b, a]
                var -= Ks[t, i, a] * KPi[a]
            for a in range(r):
                mean += beta[t, i, a] * x[a]
                Bs[t, i, a] = beta[t, i, a] + gain[t, i] * KPi[a]
            levels[t, i] = mean
            ds[t, i] = gain[t, i] * gain[t, i] * max(var, 0.0) + v[t, i]
    return n
