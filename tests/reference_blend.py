"""Naive twins of models of sequences that are weighed against each other: numerical optimisers, entry by entry."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq, minimize


def least(M):
    """The weights, not negative and with the sum 1, for which wᵀMw is least: by an optimiser, from some starts."""
    K = len(M)
    M = M / np.trace(M)
    starts = [np.full(K, 1.0 / K), *np.eye(K)]
    sums_to_one = {"type": "eq", "fun": lambda w: w.sum() - 1.0}
    how = {"bounds": [(0.0, 1.0)] * K, "constraints": [sums_to_one], "method": "SLSQP", "options": {"ftol": 1e-14}}
    found = [minimize(lambda w: w @ M @ w, w, jac=lambda w: 2.0 * M @ w, **how) for w in starts]
    return min(found, key=lambda one: one.fun).x


def weights(errors, column, m, equal, common_count):
    """Weights (m, K) of readings, by their errors (K, n): every sum is written out."""
    K, n = errors.shape
    common = sum(np.outer(e, e) for e in errors.T) / n
    size = np.mean([e @ e for e in errors]) / n
    common = common + equal / n * size * np.eye(K)
    out = [least(common)] * m
    for j in set(column):
        own = [e for e, c in zip(errors.T, column, strict=True) if c == j]
        ratio = sum(e @ e for e in own) / len(own) / np.trace(common)
        out[j] = least(sum(np.outer(e, e) for e in own) + common_count * ratio * common)
    return np.array(out)


def value(knots, z):
    """The value with this score: between two knots, or on the line beyond them."""
    if knots is None:
        return z
    values, scores = knots
    last = len(values) - 1
    reach = max(1, round(0.1 * last))
    if z < scores[0]:
        return values[0] + (z - scores[0]) * (values[reach] - values[0]) / (scores[reach] - scores[0])
    if z > scores[last]:
        a = last - reach
        return values[last] + (z - scores[last]) * (values[last] - values[a]) / (scores[last] - scores[a])
    return np.interp(z, scores, values)


def size(truth, laws, weights):
    """How many standard deviations of the scores the truth is from the middle of laws (knots, mean, std): a root."""

    def mixed(s):
        return sum(w * value(knots, z + s * std) for w, (knots, z, std) in zip(weights, laws, strict=True))

    side = 1.0 if truth >= mixed(0.0) else -1.0
    return 0.0 if truth == mixed(0.0) else brentq(lambda s: mixed(side * s) - truth, 0.0, 64.0, xtol=1e-12)
