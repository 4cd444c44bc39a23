"""One sample through the filter where every feature has its own doubt (see ``groups``). Nothing here has length m.

Beside the paper's Algorithm 1, with V_i the covariance of feature i's group:

    x      (C_ΩᵀC_Ω + Σ_{i∈Ω} V_i) x = C_Ωᵀy_Ω     what C cannot carry yet is not asked of it
    λ_k    λ (1 + fitted/|Ω|) + median of xᵀV_i x   a sample says less while x is uncertain or C is
    C      c_i ← c_i + e_i V_i x / (λ_k + xᵀV_i x)

where λ_k takes the place of λ in the update of V_i too, and ``fitted`` are the degrees of freedom that x took.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from ..linalg import Array
from .coefficients import Coefficients
from .groups import Groups, grown, kept_share, mean_root, stack, weighted_median
from .model import FilterModel
from .recursion import filtering_belief, learn, normal_equations, with_mean
from .state import SmallState, sample_noise


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


def drifted(small: SmallState, groups: Groups, drift: Array | None) -> tuple[SmallState, Groups, float]:
    """The state one sample later, and the share that is left of all counts, where the dictionary drifts."""
    if drift is None:
        return small, groups, 1.0
    Q = drift * (small.lam / small.noise)
    share = kept_share(small.S, Q)
    small = small._replace(S=np.asfortranarray(grown(small.S[None], Q)[0]))
    return small, groups._replace(roots=grown(groups.roots, Q).reshape(groups.roots.shape), n=share * groups.n), share


def find(
    small: SmallState, groups: Groups, model: FilterModel, G: Array, b: Array, yy: float, counts: Array
) -> CountedStep:
    """The coefficients of a sample and the gains of the groups, given its normal equations and observed features."""
    roots, n = stack(small.S, groups), int(counts.sum())
    prior = filtering_belief(small, model)._replace(S=mean_root(roots, counts))
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
    n = int(step.counts.sum())
    small = small._replace(S=np.array(roots[0], order="F"))
    small = learn(small, model, step.found, n, float(np.sum(ee / (1.0 + step.xVx / small.lam))))
    return small, groups._replace(roots=roots[1:], n=groups.n + weight), weight
