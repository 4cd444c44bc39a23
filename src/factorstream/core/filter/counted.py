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

from ..linalg import Array, matrix_roots
from .coefficients import Coefficients
from .covariance import predict, unit_drift
from .groups import Groups, covariances, kept_share, mean_root, weighted_median
from .model import FilterModel
from .recursion import belief, learn, normal_equations, with_mean
from .state import SmallState, noise_information, sample_noise


class CountedStep(NamedTuple):
    """What one sample asks of the groups, before C has moved."""

    found: Coefficients
    z: Array
    """The coefficients, a mean's 1 included (q)."""
    roots: Array
    """Square roots of the groups' covariances (K + 1 × q × q)."""
    f: Array
    """Their transposes times z (K + 1 × q)."""
    xVx: Array
    """zᵀVz (K + 1)."""
    gains: Array
    """How the features of each group move: c_i ← c_i + e_i g (K + 1 × q)."""
    lam: float
    """λ_k."""
    counts: Array
    """Observed features of each group (K + 1)."""
    doubt: float
    """zᵀVz of the median observed feature."""


def drifted(small: SmallState, groups: Groups, drift: Array | None, counts: Array) -> tuple[SmallState, Groups, float]:
    """The state one sample later, and the share that is left of all counts, where the dictionary drifts.

    A feature of its own that misses the sample also loses touch with the basis in which its loadings are written. That
    follows the n features that are seen (see ``counts``): the change of basis that fits them best has the variance
    (r/n) Q.
    """
    if drift is None:
        return small, groups, 1.0
    Q = unit_drift(small, drift) * (small.lam / small.noise)
    share = kept_share(small.S, Q)
    silent = (groups.shares == 0) & (counts[1:] == 0)
    away = np.where(silent, 1.0 + len(small.T) / counts.sum(), 1.0)
    roots = matrix_roots(covariances(groups.roots) + away[:, None, None] * Q)
    small = small._replace(S=predict(small.S, Q))
    return small, groups._replace(roots=roots, n=share * groups.n), share


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


def trust(small: SmallState, model: FilterModel, roots: Array, counts: Array, n_levels: int) -> Array:
    """What a value counts in the search for x, by group (K + 1): 1, or less for a feature of its own that is doubted.

    With a_i = E[zᵀV_i z] over the coefficients so far, and a that of the median observed feature: ((λ + a)/(λ + a_i))⁴
    where a_i is larger than a. Were it 1, a feature that is hardly known would pull x to where it fits.
    """
    weights = np.ones(len(roots))
    if len(roots) == n_levels + 1:
        return weights
    doubts = expected_doubts(small, model, roots)
    alone = doubts[n_levels + 1 :]
    middle = weighted_median(doubts, counts)
    weights[n_levels + 1 :] = ((small.lam + middle) / (small.lam + np.maximum(alone, middle))) ** TRUST_POWER
    return weights


def weighted_root(roots: Array, counts: Array, weights: Array) -> Array:
    """S with SSᵀ = Σ w_i V_i / n over the n observed features."""
    heard = counts * weights
    return mean_root(roots, heard) * sqrt(heard.sum() / counts.sum())


def find(
    small: SmallState, model: FilterModel, roots: Array, G: Array, b: Array, yy: float, counts: Array, weights: Array
) -> CountedStep:
    """The coefficients of a sample and the gains of the groups, given its normal equations and observed features.

    ``weights`` are those of ``trust``, with which the normal equations were made.
    """
    n = int(counts.sum())
    prior = belief(small, model)._replace(S=weighted_root(roots, counts, weights))
    found = model.step.find(normal_equations(model, G, b, yy, n), prior)
    z = with_mean(model, found.x)
    f = z @ roots
    xVx = np.einsum("kj,kj->k", f, f)
    doubt = weighted_median(xVx, counts)
    lam = sample_noise(small.lam, found.fitted, n, doubt)
    gains = (f[:, None, :] @ roots.transpose(0, 2, 1))[:, 0] / (lam + xVx)[:, None]
    return CountedStep(found, z, roots, f, xVx, gains, lam, counts, doubt)


def learned(
    small: SmallState, groups: Groups, model: FilterModel, step: CountedStep, ee: Array
) -> tuple[SmallState, Groups, float]:
    """The state after the sample, and the weight with which it counts: λ/λ_k.

    A level is conditioned on every sample with its share as weight, a feature of its own where it was seen (Potter's
    form, see ``covariance``). ``ee`` is Σ e_i² per group.
    """
    share = np.ones(len(step.counts))
    share[1:] = groups.shares
    alone = groups.n_levels + 1
    share[alone:] = step.counts[alone:] > 0
    s = step.lam + share * step.xVx  # conditioned with the noise λ_k/ρ, and all of it times ρ, which may be zero
    part = share * (step.lam + step.xVx) / (s + sqrt(step.lam) * np.sqrt(s))
    roots = step.roots
    columns = roots.transpose(0, 2, 1)  # as they are in memory: see ``stack``
    columns -= step.f[:, :, None] * (part[:, None] * step.gains)[:, None, :]
    weight = small.lam / step.lam
    small = small._replace(S=np.array(roots[0], order="F"))
    doubt = step.xVx / small.lam
    says = noise_information(doubt)
    free = float(1.0 - step.found.fitted / step.counts.sum()) * float(says @ step.counts)
    small = learn(small, model, step.found, float(np.sum(says * ee / (1.0 + doubt))), free)
    return small, groups._replace(roots=roots[1:], n=groups.n + weight), weight
