"""One posterior per feature: fitting, streaming and answering, around ``core.variational``."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np

from ..core.linalg import Array, is_sparse
from ..core.variational.auto import fit_auto
from ..core.variational.conformal import gaussian_half_width, half_width
from ..core.variational.packed import column_count, unpack
from ..core.variational.posterior import (
    Coefficients,
    Statistics,
    absorb,
    coefficients,
    expected_square,
    information,
    required_bytes,
)
from ..core.variational.predictive import draw_entries, log_density, predict, predict_variance
from ..core.variational.relevance import noise
from ..core.variational.robust import noise_variance, robust_coefficients
from ..core.variational.sweep import LEAST, Model, Options, SweepInfo, fit, rescale
from ..tall.rows import Rows
from ..tall.starting import check_range
from ..tall.threads import limited

CHUNK = 256
"""Rows predicted together."""


class FeaturewiseState(NamedTuple):
    """All that is carried from one batch to the next."""

    model: Model
    """The posterior of C, its prior, the noise; in coordinates where ``origin`` is zero."""
    origin: Array
    """Subtracted from every row (m)."""
    n_observed: Array
    """Observed entries of each feature so far (m)."""
    stats: Statistics | None
    """The sums behind the posterior; made from it when a stream goes on after a fit."""
    temper: float
    """Power of the likelihood in the coefficient step, chosen in calibration; 1 without."""
    scores: Array | None
    """Sorted normalised residuals of the entries hidden for calibration."""


def observed(X: Rows) -> tuple[Rows, Rows]:
    """(Y, W): values, zero where missing, and weights, 1 where observed."""
    values = X.data if is_sparse(X) else X
    check_range(float(np.max(np.abs(values), where=~np.isnan(values), initial=0.0)), X.dtype)
    if is_sparse(X):
        W = X.astype(np.float64)
        W.data = np.ones_like(W.data)
        return X.astype(np.float64), W
    seen = ~np.isnan(X)
    return np.where(seen, X, 0.0).astype(np.float64, copy=False), seen.astype(np.float64)


def check_memory(m: int, r: int) -> None:
    """Refuse a posterior of m·r² numbers that this machine cannot hold."""
    needed = required_bytes(m, r)
    try:
        available = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # not a POSIX system: let the allocation speak
        return
    if needed > available:
        raise MemoryError(
            f"covariance='featurewise' keeps a covariance per feature: {m} features and {r} components need "
            f"{needed / 2**30:.1f} GiB, this machine has {available / 2**30:.1f}; "
            "lower n_components or use covariance='shared'."
        )


def fit_rows(
    X: Rows, options: Options, calibrate: bool, rng: np.random.Generator
) -> tuple[FeaturewiseState, tuple[SweepInfo, ...]]:
    """Fit all rows; with ``calibrate``, or components to be chosen, on the evidence of hidden entries."""
    Y, W = observed(X)
    temper, scores = 1.0, None
    with limited(Y.shape[1] * (options.r or 1)):
        if calibrate or options.r is None:
            found = fit_auto(Y, W, rng, options)
            fitted = found.fit
            if calibrate:
                temper, scores = found.calibration.temper, found.calibration.scores
        else:
            fitted = fit(Y, W, options)
        origin = fitted.model.post.C[:, -1].copy()
        model = rescale(fitted.model, -origin, 1.0)
    return FeaturewiseState(model, origin, column_count(W), None, temper, scores), fitted.history


def absorb_rows(state: FeaturewiseState, X: Rows, options: Options) -> FeaturewiseState:
    """One batch of a stream: its coefficients, its sums, and every c_i and V_i anew."""
    model = state.model
    with limited(model.post.C.size):
        state = _settle_new_features(state, X)
        model, stats = state.model, state.stats
        if stats is None:
            stats = information(model.post, model.prior, model.s2, state.n_observed)
        Y, W = _shifted(X, state.origin)
        if np.isfinite(model.nu):
            W = robust_coefficients(Y, W > 0, model.post, model.s2, model.prior, model.nu)[1]
        stats, post, _ = absorb(stats, Y, W, model.post, model.s2, model.prior)
        s2 = model.s2
        if options.noise is None:
            floor = np.full(len(s2), LEAST * float(s2.mean()))
            s2 = noise(expected_square(stats, post), stats.N, floor, options.per_feature_noise)
    return state._replace(model=model._replace(post=post, s2=s2), n_observed=stats.N, stats=stats)


def _settle_new_features(state: FeaturewiseState, X: Rows) -> FeaturewiseState:
    """Features with their first values in X get the mean of these as origin; nothing else is known of them."""
    Y, W = observed(X)
    count = column_count(W)
    new = (state.n_observed == 0) & (count > 0)
    if not new.any():
        return state
    total = np.asarray(Y.sum(axis=0))
    origin, model = state.origin.copy(), state.model
    origin[new] = total[new] / count[new]
    C, c0 = model.post.C.copy(), model.prior.c0.copy()
    C[new, -1], c0[new, -1] = 0.0, 0.0
    model = model._replace(post=model.post._replace(C=C), prior=model.prior._replace(c0=c0))
    return state._replace(model=model, origin=origin)


def _shifted(X: Rows, origin: Array) -> tuple[Rows, Rows]:
    Y, W = observed(X)
    if is_sparse(Y):
        Y.data = Y.data - origin[Y.indices]
        return Y, W
    return W * (Y - origin), W


class FeaturewiseAnswers(NamedTuple):
    """Answers from one posterior per feature."""

    state: FeaturewiseState
    dtype: np.dtype[Any]

    @property
    def components(self) -> Array:
        return self.state.model.post.C[:, :-1].T.astype(self.dtype)

    @property
    def mean(self) -> Array:
        return (self.state.origin + self.state.model.post.C[:, -1]).astype(self.dtype)

    @property
    def noise(self) -> float | Array:
        s2 = noise_variance(self.state.model.s2, self.state.model.nu)
        return float(s2[0]) if (s2 == s2[0]).all() else s2

    @property
    def covariance(self) -> Array:
        post = self.state.model.post
        r = post.C.shape[1] - 1
        return np.asarray(unpack(post.V, r + 1)[:, :r, :r])

    def _coefficients(self, X: Rows) -> Coefficients:
        model = self.state.model
        Y, W = _shifted(X, self.state.origin)
        if np.isfinite(model.nu):
            W = robust_coefficients(Y, W > 0, model.post, model.s2, model.prior, model.nu)[1]
        known = self.state.n_observed > model.prior.mu.size + 1
        if known.any() and not known.all():  # of the others too little is known for their values to say anything
            W = W * known
        return coefficients(Y, W * self.state.temper, model.post, model.s2, model.prior)

    def coefficients(self, X: Rows) -> Array:
        out = np.empty((X.shape[0], self.state.model.prior.mu.size))
        with limited(self.state.model.post.C.size):
            for first in range(0, X.shape[0], CHUNK):
                out[first : first + CHUNK] = self._coefficients(X[first : first + CHUNK]).X[:, :-1]
        return out

    def predict(self, X: Array, *, want_variance: bool, only_missing: bool) -> tuple[Array, Array]:
        model = self.state.model
        r = model.prior.mu.size
        mean, variance = X.copy(), np.zeros(X.shape)
        s2 = noise_variance(model.s2, model.nu)
        with limited(model.post.C.size):
            for first in range(0, len(X), CHUNK):
                rows = slice(first, first + CHUNK)
                coef = self._coefficients(X[rows])
                where = np.isnan(X[rows]) if only_missing else np.ones_like(X[rows], dtype=bool)
                np.copyto(mean[rows], predict(coef, model.post) + self.state.origin, where=where, casting="same_kind")
                if want_variance:
                    spread = predict_variance(coef, model.post, r) + s2
                    np.copyto(variance[rows], spread, where=where, casting="same_kind")
        return mean, variance

    def half_width(self, level: float) -> float:
        if self.state.scores is None:
            return gaussian_half_width(level)
        return half_width(self.state.scores, level)

    def draw(self, X: Array, n_draws: int, rng: np.random.Generator) -> Array:
        model = self.state.model
        rows, columns = np.nonzero(np.isnan(X))
        out = np.repeat(X[None], n_draws, axis=0)
        with limited(model.post.C.size):
            s2 = noise_variance(model.s2, model.nu)
            drawn = draw_entries(rows, columns, self._coefficients(X), model.post, s2, n_draws, rng)
        out[:, rows, columns] = drawn + self.state.origin[columns]
        return out

    def log_density(self, X: Rows) -> Array:
        model = self.state.model
        with limited(model.post.C.size):
            Y, W = _shifted(X, self.state.origin)
            return log_density(Y, W, model.post, noise_variance(model.s2, model.nu), model.prior)
