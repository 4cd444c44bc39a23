"""EM for whole sequences: start, sweep until the bound settles; and what a fitted model says about a sequence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..linalg import Array
from .em import LEARNED, Law, Moments, Prior, maximise, obey, observed_moments, penalty, relevance
from .level import smooth_levels
from .model import (
    Model,
    Smoothed,
    State,
    StepInfo,
    entry,
    initial,
    predict,
    smooth,
    update,
)
from .robust import (
    evident_weights,
    expected_squares,
    learned_nu,
    left_out,
    variational_weights,
    weights_bound,
    without_spikes,
)
from .start import start as first_model

LEARN_NU = 10.0
"""Where learning the degrees of freedom starts."""
TURNS = 10
"""Turns of weights and degrees of freedom within a sweep: one at a time they creep."""
EARLY = 4
"""Sweeps in which outliers are sought with each entry's own say left out; they settle on no bound."""


class Noise(NamedTuple):
    """Gaussian, or Student-t with `nu` degrees of freedom, given or learned."""

    nu: float = np.inf
    learned: bool = False


GAUSSIAN, STUDENT = Noise(), Noise(LEARN_NU, True)


class Kind(NamedTuple):
    """What a model is made of."""

    level: bool = True  # every feature has a level of its own
    select: bool = True  # no more components than the changes show (with levels)
    walk: bool = False  # every feature is a random walk without noise, and nothing is shared


CHOSEN, EVERY, STATES, WALKS = Kind(), Kind(select=False), Kind(level=False, select=False), Kind(walk=True)


class Fit(NamedTuple):
    """What EM found, with the posterior of the data it was found from."""

    model: Model
    smoothed: Smoothed
    prior: Prior
    history: list[float]  # log-likelihood, or its bound, of every sweep
    moments: Moments


class Answer(NamedTuple):
    """States (T, r), and mean and variance (T, m) of every noise-free entry."""

    x: Array
    signal: Array
    var: Array


def expect(
    model: Model, Y: Array, w: Array | None = None, start: State | None = None, entries: bool = False
) -> tuple[Smoothed, Moments]:
    """E-step: exact and banded without levels, arrow form with levels; `entries`: signal and var wanted in any case."""
    if model.p0.any():
        return smooth_levels(model, Y, w, start)
    s = smooth(model, Y, w, start, entries=entries or bool(np.isfinite(model.nu)))
    return s, observed_moments(Y, s, w)


def fit(
    Y: Array,
    r: int,
    *,
    level: bool = True,
    law: Law = LEARNED,
    noise: Noise = GAUSSIAN,
    sweeps: int = 30,
    tol: float = 1e-3,
    ard: bool = True,
    select: bool = True,
    walk: bool = False,
) -> Fit:
    """EM from the variogram start on standardised Y (T, m), NaN = missing. O(sweeps T m r^2).

    Stops when two sweeps raise the bound by less than `tol` nats per observed entry and sweep.
    """
    if walk:
        return fit_walks(Y)
    first = without_spikes(Y) if np.isfinite(noise.nu) else Y
    model = obey(first_model(first, r, level, nu=noise.nu, select=select), law)
    r = len(model.A)
    prior = Prior(np.full(r, float(max(r, 1))))
    n_obs = max(int(np.isfinite(Y).sum()), 1)
    early = EARLY if level and np.isfinite(noise.nu) else 0
    w = weights(model, Y) if early else None  # a level would learn from an outlier that it follows
    extra = 0.0
    history: list[float] = []
    for k in range(sweeps):
        s, mom = expect(model, Y, w)
        history.append(s.logp + extra - penalty(model, prior))
        if len(history) > (2 if early == 0 else early + 2) and history[-1] - history[-3] < 2 * tol * n_obs:
            break
        if np.isfinite(noise.nu):
            squares = None if k < early else expected_squares(model, Y, s)
            for _ in range(1 if squares is None or not noise.learned else TURNS):
                new_w = judged(model, Y, s, w) if squares is None else variational_weights(squares, model.nu)
                nu = learned_nu(model, Y, new_w) if noise.learned else noise.nu
                extra = float(weights_bound(new_w, model.nu, nu)[np.isfinite(Y)].sum())
                model = model._replace(nu=nu)
            w = new_w
            mom = mom if level else observed_moments(Y, s, w)
        model = maximise(model, mom, prior, law, centred=level and k % 2 == 1, unit_root=k < 4)
        if ard and r:
            prior = prior._replace(alpha=relevance(model))
    s, mom = expect(model, Y, w, entries=True)
    return Fit(model, s, prior, history, mom)


def fit_walks(Y: Array) -> Fit:
    """Random walks without noise or anything shared: the smoother is then linear interpolation. O(T m).

    The likelihood of the steps between observed values gives q_i = mean (change^2 / rows it took); the start is free.
    """
    m = Y.shape[1]
    q, p0 = np.full(m, 1e-9), np.ones(m)  # a feature without data keeps the prior's variance, 1
    for i, y in enumerate(Y.T):
        at = np.flatnonzero(np.isfinite(y))
        if len(at) > 1:
            q[i] = max(float(np.mean(np.diff(y[at]) ** 2 / np.diff(at))), 1e-12)
        if len(at):
            p0[i] = 1e4 * (q[i] * len(Y) + 1.0)
    empty, V = np.zeros((0, 0)), np.zeros((m, 0, 0))
    model = Model(empty, empty, empty, np.zeros((m, 0)), V, 0 * q, 1e-9 * q, np.ones(m), q, p0, np.inf)
    s, mom = smooth_levels(model, Y)
    return Fit(model, s, Prior(np.zeros(0)), [s.logp], mom)


def judged(model: Model, Y: Array, s: Smoothed, w: Array | None) -> Array:
    """Weights of the entries by what the others say of them, from a smoother that ran with weights `w`."""
    e, v = left_out(model, Y, s, w)
    return evident_weights(e, v, model.R, model.nu)


def weights(model: Model, Y: Array, start: State | None = None, rounds: int = 4) -> Array | None:
    """Noise weights of Y's entries under Student-t noise, by a few turns of q(x) and q(w); None if Gaussian."""
    w: Array | None = None
    if np.isfinite(model.nu):
        for k in range(rounds):
            s = expect(model, Y, w, start)[0]
            evident = model.p0.any() and k < rounds - 1
            w = judged(model, Y, s, w) if evident else variational_weights(expected_squares(model, Y, s), model.nu)
    return w


def smoothed(model: Model, Y: Array) -> Answer:
    """What the whole of Y says about every entry of it. O(T m r^2)."""
    w = weights(model, Y)
    s = smooth_levels(model, Y, w)[0] if model.p0.any() else smooth(model, Y, w)
    return Answer(s.x, s.signal, s.var)


def adapt(model: Model, s: State, y: Array, Q_V: float = 0.0) -> Model:
    """Rank-one Kalman step of C with the filtered x (paper, Algorithm 1, with x's covariance in the noise). O(m r^2).

        g_i = V_i x / (x'V_i x + c_i'P c_i + R_i),   c_i <- c_i + g_i e_i,   V_i <- V_i - g_i (V_i x)' + Q_V I

    for the observed features; with one shared V (1, r, r), the mean noise over the observed features stands
    for R_i. For models without levels (a level leaves nothing for C in the residual; `refresh` learns there).
    """
    obs = np.isfinite(y)
    e = np.where(obs, y - model.mean - model.C @ s.x, 0.0)
    V = model.V + Q_V * np.eye(len(s.x))
    Vx = V @ s.x
    noise = ((model.C @ s.P) * model.C).sum(1) + model.R
    if len(V) == 1:
        if not obs.any():
            return model._replace(V=V)
        g = Vx / (Vx @ s.x + noise[obs].mean())
        return model._replace(C=model.C + e[:, None] * g, V=V - Vx[:, :, None] * g[:, None, :])
    g = Vx * (obs / (Vx @ s.x + noise))[:, None]
    return model._replace(C=model.C + e[:, None] * g, V=V - Vx[:, :, None] * g[:, None, :])


def steps(model: Model, Y: Array, drift: float = 0.0) -> Iterator[tuple[Model, State, StepInfo]]:
    """Filter the rows of Y one after another from the prior; C follows the data where it drifts. O(m r^2) each."""
    s: State | None = None
    for y in Y:
        s, info = update(model, initial(model) if s is None else predict(model, s), y)
        model = adapt(model, s, y, drift) if drift else model
        yield model, s, info


def filtered(model: Model, Y: Array, drift: float = 0.0) -> Answer:
    """What each row and those before it say about its entries. O(T m r^2)."""
    T, m = Y.shape
    out = Answer(np.empty((T, len(model.A))), np.empty((T, m)), np.empty((T, m)))
    for t, (now, s, _) in enumerate(steps(model, Y, drift)):
        out.x[t] = s.x
        out.signal[t], out.var[t] = entry(now, s)
    return out
