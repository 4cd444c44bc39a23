"""What stays fixed while samples pass."""

from __future__ import annotations

from typing import NamedTuple

from ..linalg import Array
from .coefficients import CoefficientStep
from .gains import Gain


class FilterModel(NamedTuple):
    """Sizes, the two exchangeable rules (coefficients, gain) and what is learned along the way.

    Plain values describe it: numbers, booleans, one matrix, the ``name`` of the step and the fields of the gain.
    """

    r: int
    """Number of components."""
    q: int
    """Number of columns of C: r, or r + 1 with a mean."""
    step: CoefficientStep
    """How x is found from one sample."""
    gain: Gain
    """How C and V then move."""
    learn_noise: bool
    """Whether σ² is learned; otherwise it is λ."""
    track_noise: bool
    """Whether λ follows the learned σ², which keeps a given V0 in the data's units."""
    min_observed: int
    """Observed entries from which on a sample's coefficients need no prior."""
    rcond: float
    """Gram matrices with a smaller reciprocal condition number are treated as singular."""
    drift: Array | None = None
    """Q_V (q × q), by which V grows before every sample; None for a dictionary that does not drift."""

    row_mean: bool = False
    """Whether the last of the r components is the mean of the row: its loadings are known."""

    @property
    def has_mean(self) -> bool:
        """Whether the last column of C is a mean, whose coefficient is always 1."""
        return self.q > self.r
