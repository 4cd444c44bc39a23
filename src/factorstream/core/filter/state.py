"""What the filter carries from one sample to the next, and the facts it reports about the samples it has taken in."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np

from ..linalg import Array
from ..place import Tall
from .groups import Groups

EPS = float(np.finfo(np.float64).eps)

Count = TypeVar("Count", float, Array)


def sample_weight(k: Count) -> Count:
    """The weight of a new sample in the running moments after k samples: (k + 2) / (1 + 2 + … + (k + 2)).

    The start counts as sample 1, so a moment is the mean of all samples, each weighted by its number. The early
    samples meet a dictionary that is still a random guess; with weights that grow linearly the moment at k leans on
    the samples since k/2, depends on no setting, and is the same however the stream is cut.
    """
    return 2.0 / (k + 3.0)


def sample_noise(lam: float, fitted: float, n: int, doubt: float) -> float:
    """λ_k, the noise that a sample counts with where C is doubted: λ (1 + fitted/|Ω|) + the median of xᵀV_i x.

    A sample says less about C while its own x is uncertain (on average over the observed entries, c_iᵀΣc_i + tr(V_iΣ)
    is λ fitted/|Ω|), and while the dictionary, by which x was found, is.
    """
    return lam * (1.0 + fitted / n) + doubt


def noise_information(doubt: Count) -> Count:
    """The weight of a sample in the learned noise variance, where C is doubted: (1 + doubt)⁻², ``doubt`` = xᵀVx/λ.

    An innovation has the variance σ² + a, of which a comes from not knowing C, and its information about σ² is
    proportional to 1/(σ² + a)². Early samples have a large a that is itself only a guess. With equal weights they would
    make the noise look small.
    """
    return (1.0 + doubt) ** -2


EQUAL_SHARE = 0.75
"""Derived: n samples with the weights 1, 2, …, n say as much about a variance as (Σ k)²/Σ k² ≈ ¾n of equal weight."""


FEWEST = 4.0
"""Degrees of freedom below which intervals are no longer made wider: they would say nothing.

Measured by ``benchmarks/coverage.py``: of 47 sizes the one whose 95% intervals hold least holds .928 with 1, .926 with
4 and .905 with 6; at 15 rows they hold .96 to 1.00 with 1, and .95 to 1.00 with 4."""


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
    """Running weighted mean of ‖e‖² / (1 + xᵀVx/λ): the numerator of the learned noise variance."""
    noise_dof: float
    """Running weighted mean of the degrees of freedom that went into ``noise_sum``."""
    k: int
    """Samples taken in so far."""
    age: int
    """Samples taken in since G was last computed from C."""

    @property
    def noise(self) -> float:
        """The learned noise variance σ²."""
        return max(self.noise_sum / self.noise_dof, EPS * self.lam)

    @property
    def noise_freedom(self) -> float:
        """Degrees of freedom with which σ² is known, at least FEWEST."""
        return max(EQUAL_SHARE * self.k * self.noise_dof, FEWEST)


def copy_arrays(state: SmallState) -> SmallState:
    """A copy whose matrices may be updated in place."""
    G, S, T, xbar, lam, noise_sum, noise_dof, k, age = state
    return SmallState(G.copy("F"), S.copy("F"), T.copy("F"), xbar.copy(), lam, noise_sum, noise_dof, k, age)


class FilterState(NamedTuple):
    """The whole filter between two samples: enough to save, resume and continue exactly.

    Three of its arrays have a feature axis; they are where the data live (``tall.places.place_of(state.C)``).
    """

    C: Tall
    """The dictionary's posterior mean (m × q), in coordinates where ``origin`` is zero."""
    origin: Tall
    """Subtracted from every sample (m); it only keeps the numbers small."""
    unseen: Tall | None
    """Features that have had no value yet (m, boolean), or None when all have: their origin is yet to be set."""
    small: SmallState
    groups: Groups | None = None
    """Where every feature has its own doubt: which share a covariance. None: all share the one of ``small``."""


class FilterRecord(NamedTuple):
    """Facts about a run of samples, one entry per sample that had data."""

    innovation: Array
    """‖e‖², the squared innovation over the observed entries."""
    n_observed: Array
    """|Ω|, how many entries were observed."""
    dictionary_share: Array
    """xᵀVx / (λ + xᵀVx): the share of the predictive variance that comes from not knowing C."""

    @staticmethod
    def join(parts: list[FilterRecord]) -> FilterRecord:
        """Concatenate the records of consecutive runs."""
        if len(parts) == 1:
            return parts[0]
        if not parts:
            return FilterRecord(np.empty(0), np.empty(0), np.empty(0))
        return FilterRecord(*(np.concatenate(column) for column in zip(*parts, strict=True)))
