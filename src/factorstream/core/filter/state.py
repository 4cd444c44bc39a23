"""What the filter carries forward, and the facts it reports about the samples it has taken in."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..linalg import Array

if TYPE_CHECKING:
    from .coefficients import CoefficientStep


EPS = float(np.finfo(np.float64).eps)


class SmallState(NamedTuple):
    """Everything the recursion needs that has no dimension of length m; always float64.

    q is the number of columns of C: r, or r + 1 when the last column is a mean.
    """

    G: Array
    """CᵀC (q × q)."""
    S: Array
    """Square root of the dictionary's covariance, V = SSᵀ (q × q)."""
    T: Array
    """Running covariance of the coefficients (r × r): with x̄ the prior of a sample that says too little."""
    xbar: Array
    """Their running mean (r); zero when the model has no mean."""
    lam: float
    """λ of the recursion; only its ratio to V matters to C."""
    noise_sum: float
    """Running weighted sum of ‖e‖² / (1 + xᵀVx/λ): the numerator of the learned noise variance."""
    noise_dof: float
    """Running weighted sum of the degrees of freedom that went into ``noise_sum``."""
    k: int
    """Samples absorbed so far."""
    age: int
    """Samples absorbed since G was last computed from C."""

    @property
    def noise(self) -> float:
        """The learned noise variance σ²."""
        return max(self.noise_sum / self.noise_dof, EPS * self.lam)


class FilterState(NamedTuple):
    """The whole filter between two samples: enough to save, resume and continue exactly."""

    C: Array
    """The dictionary's posterior mean (m × q), in coordinates where ``origin`` is zero."""
    origin: Array
    """Subtracted from every sample (m); it only keeps the numbers small."""
    unseen: Array | None
    """Features that have had no value yet (m boolean), or None when all have: their origin is yet to be set."""
    small: SmallState


Gain = Callable[[SmallState, Array, Array], tuple[Array, float]]
"""(state, S, x) ↦ (g, xᵀVx): how far the dictionary moves for one sample; may update S in place."""


class Model(NamedTuple):
    """What stays fixed while samples pass: sizes and the two exchangeable rules."""

    r: int
    """Number of components."""
    q: int
    """Number of columns of C: r, or r + 1 with a mean."""
    coefficients: CoefficientStep
    """How x is found from one sample."""
    gain: Gain
    """How C and V then move."""
    posterior: bool
    """Whether V is a posterior covariance; otherwise it is a constant that says nothing of doubt."""
    learn_noise: bool
    """Whether σ² is learned; otherwise it is λ."""
    learn_prior: bool
    """Whether T and x̄ follow the coefficients; otherwise they stay the identity and zero."""
    track_noise: bool
    """Whether λ follows the learned σ², which keeps a given V0 in the data's units."""
    enough: int
    """Observed entries from which on a sample's coefficients need no prior."""
    rcond: float
    """Gram matrices with a smaller reciprocal condition number are treated as singular."""
    Q: Array | None = None
    """Q_V (q × q), by which V grows before every sample; None for a dictionary that does not drift."""


class StepInfo(NamedTuple):
    """Facts about a run of samples, one entry per absorbed sample."""

    innovation: Array
    """‖e‖², the squared innovation over the observed entries."""
    n_observed: Array
    """|Ω|, how many entries were observed."""
    dictionary_share: Array
    """xᵀVx / (λ + xᵀVx): the share of the predictive variance that is doubt about C."""

    @staticmethod
    def join(parts: list[StepInfo]) -> StepInfo:
        """Concatenate the records of consecutive runs."""
        if len(parts) == 1:
            return parts[0]
        if not parts:
            return StepInfo(np.empty(0), np.empty(0), np.empty(0))
        return StepInfo(*(np.concatenate(column) for column in zip(*parts, strict=True)))
