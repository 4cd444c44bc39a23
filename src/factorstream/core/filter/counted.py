"""One sample through the filter where every feature has its own doubt (see ``groups``). Nothing here has length m.

Beside the paper's Algorithm 1, with V_i the covariance of feature i's group:

    x      Σ_{i∈Ω} w_i (c_i c_iᵀ + V_i) x = Σ_{i∈Ω} w_i c_i y_i     what C cannot carry yet is not asked of it
    λ_k    λ (1 + fitted/|Ω|) + median of xᵀV_i x                  a sample says less while x is uncertain or C is
    C      c_i ← c_i + e_i V_i x / (λ_k + xᵀV_i x)

where w_i is less than 1 for features that are known less than most (``trust``), λ_k takes the place of λ in the update
of V_i too, and ``fitted`` are the degrees of freedom that x took.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from ..linalg import Array, matrix_roots, rank_one
from .coefficients import Coefficients
from .covariance import unit_drift
from .groups import Counts, Stacked, covariances, kept_share, mean_root, weighted_median
from .model import FilterModel
from .recursion import learn, with_mean
from .state import Count, SmallState, noise_information, sample_noise


class CountedStep(NamedTuple):
    """What one sample asks of the groups, before C has moved."""

    found: Coefficients
    z: Array
    """The coefficients, a mean's 1 included (q)."""
    f: Array
    """The transposes of the square roots of the groups' covariances, times z (K + 1 × q)."""
    xVx: Array
    """zᵀVz (K + 1)."""
    gains: Array
    """How the features of each group move: c_i ← c_i + e_i g (K + 1 × q)."""
    lam: float
    """λ_k."""
    doubt: float
    """zᵀVz of the median observed feature."""


def drifted(small: SmallState, groups: Stacked, drift: Array | None, counts: Counts) -> float:
    """Make all covariances those of one sample later, in place, where the dictionary drifts; the share left of counts.

    A feature of its own that misses the sample also loses touch with the basis in which its loadings are written. That
    follows the n features that are seen (see ``counts``): the change of basis that fits them best has the variance
    (r/n) Q.
    """
    if drift is None:
        return 1.0
    Q = unit_drift(small, drift) * (small.lam / small.noise)
    share = kept_share(groups.roots[0], Q)
    silent = (groups.shares == 0) & (counts.by_group == 0)
    away = np.where(silent, 1.0 + len(small.T) / counts.n, 1.0)
    groups.roots[...] = matrix_roots(covariances(groups.roots) + away[:, None, None] * Q)
    return share


FEW_GROUPS = 4
"""Groups that are conditioned one after another, not all at once. Measured at q = 11: 1.4 µs per group, or 7 for all of
up to four; speed only."""

TRUST_POWER = 4.0
"""How quickly a feature loses its say in x with the doubt about it.

Measured by ``benchmarks/rare_columns.py``: 1 is the weight of a known variance. The feature's own residual then
already explains itself, and a column seen in 60 of 500 rows, of 20 columns and ten components, is filled with an error
of 1.09 times the variational fit's, beside 1.04 at 2 and 1.03 at 4. Of a column seen in 30 or 150 rows it moves by at
most 1%."""


def expected_doubts(small: SmallState, model: FilterModel, roots: Array) -> Array:
    """E[zᵀVz] over the coefficients so far, by group (K + 1)."""
    Z = np.ones((model.q, model.q))
    Z[: model.r, : model.r] = small.T + np.outer(small.xbar, small.xbar)
    if model.has_mean:
        Z[: model.r, -1] = Z[-1, : model.r] = small.xbar
    doubts: Array = np.einsum("kij,kij->k", roots, Z @ roots)
    return doubts


def trust(small: SmallState, model: FilterModel, groups: Stacked, counts: Counts) -> Array | None:
    """What a value counts in the search for x, by group (K + 1): 1, or less for a feature of its own that is doubted.

    With a_i = E[zᵀV_i z] over the coefficients so far, and a that of the median observed feature: ((λ + a)/(λ + a_i))⁴
    where a_i is larger than a. Were it 1, a feature that is hardly known would pull x to where it fits. None where all
    values count alike.
    """
    first = groups.n_levels + 1
    if groups.n_groups == first:
        return None
    doubts = expected_doubts(small, model, groups.roots)
    middle = weighted_median(doubts, counts)
    alone = np.maximum(doubts[first:], middle)
    if not (alone > middle).any():
        return None
    weights = np.ones(groups.n_groups)
    weights[first:] = ((small.lam + middle) / (small.lam + alone)) ** TRUST_POWER
    return weights


def weighted_root(groups: Stacked, counts: Counts, weights: Array | None) -> Array:
    """S with SSᵀ = Σ w_i V_i / n over the n observed features, w_i being the weights of :func:`trust`."""
    if counts.only is not None and weights is None:
        root: Array = groups.roots[counts.only]
        return root
    heard = counts.by_group if weights is None else counts.by_group * weights
    return mean_root(groups.roots, heard) * sqrt(heard.sum() / counts.n)


def step_of(small: SmallState, model: FilterModel, groups: Stacked, counts: Counts, found: Coefficients) -> CountedStep:
    """The gains of the groups, given the coefficients of a sample and its observed features."""
    z = with_mean(model, found.x)
    f = groups.lines.dot(z).reshape(-1, model.q)
    xVx = (f * f).sum(axis=1)
    doubt = weighted_median(xVx, counts)
    lam = sample_noise(small.lam, found.fitted, counts.n, doubt)
    gains = (f[:, None, :] @ groups.roots.transpose(0, 2, 1))[:, 0] / (lam + xVx)[:, None]
    return CountedStep(found, z, f, xVx, gains, lam, doubt)


def condition(groups: Stacked, step: CountedStep, counts: Counts) -> None:
    """The groups' covariances after the sample, in place (Potter's form, see ``covariance``).

    A level is conditioned on every sample with its share as weight, a feature of its own where it was seen.
    """
    first, shares = groups.n_levels + 1, groups.shares
    if groups.n_groups > first:
        shares = shares.copy()
        shares[first:] = counts.by_group[first:] > 0
    if groups.n_groups <= FEW_GROUPS:
        for k, (share, xVx) in enumerate(zip(shares.tolist(), step.xVx.tolist(), strict=True)):
            rank_one(groups.roots[k], step.gains[k], step.f[k], -potter_share(share, xVx, step.lam))
        return
    part = potter_share(shares, step.xVx, step.lam)
    columns = groups.roots.transpose(0, 2, 1)
    columns -= step.f[:, :, None] * (part[:, None] * step.gains)[:, None, :]


def potter_share(share: Count, xVx: Count, lam: float) -> Count:
    """t in S ← S − t g fᵀ, with which V is conditioned on a sample of the weight ``share``, which may be zero.

    That is a sample of the noise λ_k/ρ; all of it is taken times ρ.
    """
    s = lam + share * xVx
    part: Count = share * (lam + xVx) / (s + sqrt(lam) * s**0.5)
    return part


def learned(small: SmallState, model: FilterModel, step: CountedStep, counts: Counts, ee: Array | float) -> SmallState:
    """The noise and the coefficients' prior after the sample. ``ee`` is Σ e_i² per group, or of the only one."""
    if counts.only is not None:
        doubt = step.doubt / small.lam
        known = noise_information(doubt)
        due = known * float(ee) / (1.0 + doubt)
        return learn(small, model, step.found, due, known * (counts.n - step.found.fitted))
    doubts = step.xVx / small.lam
    says = noise_information(doubts)
    free = (1.0 - step.found.fitted / counts.n) * float(says.dot(counts.by_group))
    return learn(small, model, step.found, float(says.dot(ee / (1.0 + doubts))), free)
