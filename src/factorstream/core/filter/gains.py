"""The gains: how far the dictionary moves for one sample, C ← C + e gᵀ.

A gain is called with the state and the coefficients x (a mean's 1 included), returns (g, xᵀVx), and may update in place
the state's S, the square root of V. It says of itself whether V is then a posterior covariance and which fast ways
through the filter reproduce it; nothing else has to be changed for another gain.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, Protocol

import numpy as np

from ..linalg import Array
from .covariance import potter_update
from .state import SmallState

CompiledGain = Literal["kalman", "broyden"]
"""The gains that the compiled loops have."""


class GainFacts(NamedTuple):
    """What the rest of the filter has to know about a gain."""

    posterior: bool
    """Whether V = SSᵀ is a posterior covariance; otherwise V says nothing about how well C is known."""
    whitened: bool
    """Whether ``whitened`` moves the dictionary in this way."""
    compiled: CompiledGain | None
    """What the compiled loops call it; None if they don't have it."""


class Gain(Protocol):
    """One way to move the dictionary."""

    def __call__(self, state: SmallState, x: Array) -> tuple[Array, float]:
        """(g, xᵀVx) of a sample with coefficients x (q)."""

    @property
    def facts(self) -> GainFacts:
        """Its properties, as the rest of the filter needs them."""


KALMAN_FACTS = GainFacts(posterior=True, whitened=True, compiled="kalman")
BROYDEN_FACTS = GainFacts(posterior=False, whitened=False, compiled="broyden")
SGD_FACTS = GainFacts(posterior=False, whitened=False, compiled=None)  # any function of k may be its step size


class KalmanGain(NamedTuple):
    """Algorithm 1's gain: g = Vx / (λ + xᵀVx), and V is conditioned on the sample."""

    def __call__(self, state: SmallState, x: Array) -> tuple[Array, float]:
        """See ``covariance.potter_update``."""
        return potter_update(state.S, x, state.lam)

    @property
    def facts(self) -> GainFacts:
        """As in :class:`Gain`."""
        return KALMAN_FACTS


class BroydenGain(NamedTuple):
    """Broyden's rule: the same g with a V = SSᵀ that never changes (V = I in the paper)."""

    def __call__(self, state: SmallState, x: Array) -> tuple[Array, float]:
        """xᵀVx is reported as zero: this V does not measure how uncertain C is."""
        f = x @ state.S
        return (state.S @ f) / (state.lam + float(f @ f)), 0.0

    @property
    def facts(self) -> GainFacts:
        """As in :class:`Gain`."""
        return BROYDEN_FACTS


StepSize = float | Literal["auto"] | Callable[[int, float], float]
"""A number, "auto", or γ_k as a function of (k, ‖x‖²), k counting from 1."""


class SGDGain(NamedTuple):
    """Stochastic gradient: g = γ_k x. With γ_k = 1/(λ + ‖x‖²) it is Broyden's rule with V = I."""

    step_size: StepSize = "auto"
    """γ_k = step_size / k^decay; "auto" stands for 1 / E‖x‖², which makes the step independent of the data's scale."""
    decay: float = 0.5
    """Power of k by which the step falls."""

    def __call__(self, state: SmallState, x: Array) -> tuple[Array, float]:
        """E‖x‖² is the running second moment of the coefficients, with the 1 of a mean."""
        k = state.k + 1
        if callable(self.step_size):
            scale = float(self.step_size(k, float(x @ x)))
        elif self.step_size == "auto":
            typical = float(np.trace(state.T) + state.xbar @ state.xbar)
            typical += len(x) - len(state.T)  # a mean's coefficient is always 1
            scale = 1.0 / typical
        else:
            scale = float(self.step_size)
        return float(scale / k**self.decay) * x, 0.0

    @property
    def facts(self) -> GainFacts:
        """As in :class:`Gain`."""
        return SGD_FACTS
