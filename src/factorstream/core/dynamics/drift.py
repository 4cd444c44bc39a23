"""A dictionary that drifts: its uncertainty grows with every row, and the data move it."""

from __future__ import annotations

import numpy as np

from ..linalg import Array
from .model import Belief, Emission, SequenceModel, loading_covariance


def grow(emission: Emission) -> Emission:
    """The emission one row later: V ← V + Q_V I where C drifts, else as it is."""
    if emission.drift is None:
        return emission
    return emission._replace(V=loading_covariance(emission) + emission.drift * np.eye(emission.C.shape[1]))


def follow(model: SequenceModel, s: Belief, y: Array) -> SequenceModel:
    """The model whose C has moved with the row y, given the filtered belief about its x; as it is without a drift.

    A rank-one Kalman step (paper, Algorithm 1, with x's covariance in the noise), O(m r²):

        V_i ← V_i + Q_V I,          g_i = V_i x / (xᵀV_i x + c_iᵀP c_i + R_i),
        c_i ← c_i + g_i e_i,        V_i ← V_i - g_i (V_i x)ᵀ

    for the observed features; with one shared V (1, r, r), the mean noise over the observed features stands
    for R_i. For models without levels (a level leaves nothing for C in the residual).
    """
    emission = model.emission
    if emission.drift is None:
        return model
    emission = grow(emission)
    C, mean, V, _ = emission
    assert V is not None  # for the type checker: what drifts is uncertain
    obs = np.isfinite(y)
    e = np.where(obs, y - mean - C @ s.x, 0.0)
    Vx = V @ s.x
    noise = ((C @ s.P) * C).sum(1) + model.noise.R
    if len(V) == 1:
        if not obs.any():
            return model._replace(emission=emission)
        g = Vx / (Vx @ s.x + noise[obs].mean())
    else:
        g = Vx * (obs / (Vx @ s.x + noise))[:, None]
    moved = emission._replace(C=C + e[:, None] * g, V=V - Vx[:, :, None] * g[:, None, :])
    return model._replace(emission=moved)


def with_drift(model: SequenceModel, drift: float | None) -> SequenceModel:
    """The model whose C drifts by this Q_V per row; None: C stays as it is."""
    return model._replace(emission=model.emission._replace(drift=drift))
