"""The variational fit for estimators: its state, parameters to options, and adding a lot of rows to a fit.

``_variational_fits`` fits all rows, ``_variational_answers`` answers questions from that state.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array, at_least, is_here, namespace, total
from ..core.linalg import is_sparse
from ..core.place import Place, Placed, Tall
from ..core.variational.conformal import Scores
from ..core.variational.factors import Factors, check_definite, new_weights
from ..core.variational.fit import Course, FitOptions, SweepInfo
from ..core.variational.freedom import SpentSums, fitted_square, spent_by_sums
from ..core.variational.noise.gaussian import GaussianNoise
from ..core.variational.noise.law import ColumnMoments, NoiseLaw
from ..core.variational.noise.student import StudentNoise
from ..core.variational.noise.variance import (
    LEAST,
    GivenVariance,
    PerFeatureVariance,
    PooledVariance,
    VarianceRule,
)
from ..core.variational.observed import Observations, column_count
from ..core.variational.posterior import (
    FIT_ARRAYS,
    STREAM_ARRAYS,
    CoefficientPosterior,
    FactorPrior,
    Posterior,
    Statistics,
    absorb,
    required_bytes,
)
from ..core.variational.relevance import GivenPrior, LearnedPrior, PriorRule
from ..core.variational.squares import expected_square, information
from ..core.variational.sweep import RowSums
from ..cores import limited
from ..tall.places import place_of
from ..tall.rows import Rows
from ._observing import less_origin, observe


class VariationalState(NamedTuple):
    """All that an answer or the next batch depends on."""

    factors: Factors
    """The posterior of C, its prior, the noise; in coordinates where ``origin`` is zero."""
    origin: Tall
    """Subtracted from every row (m)."""
    n_observed: Tall
    """Observed entries of each feature so far (m)."""
    spent: Tall
    """Parameters that these were spent on (m): what is left of them says how well the noise variance is known."""
    stats: Statistics | None
    """The sums behind the posterior; made from it when a stream goes on after a fit."""
    temper: float
    """Power of the likelihood in the coefficient step, chosen in calibration; 1 without."""
    scores: Scores | None
    """Normalised residuals of the entries hidden for calibration; None without calibration."""
    options: FitOptions
    """How the fit was asked for."""
    dtype: np.dtype[Any]
    """Of the data, and so of the answers."""


STATE_TYPES: tuple[type, ...] = (
    VariationalState, Scores, Factors, Posterior, FactorPrior, Statistics, FitOptions, LearnedPrior, GivenPrior,
    PooledVariance, PerFeatureVariance, GivenVariance, GaussianNoise, StudentNoise,
)  # fmt: skip
"""Every NamedTuple that can occur in a state."""

SWEEP_TYPES: tuple[type, ...] = (Course, SweepInfo, RowSums, SpentSums, ColumnMoments)
"""Every NamedTuple that ``fit_all_blocks`` can find on its way, besides those of a state."""


FADING = 0.1
"""What ``tol`` is multiplied by where rows have means, and components that are noise switch off. Each gains little by
fading, and does so slowly: on one simulated table of 943 × 1682 ratings with ten components (as in
``benchmarks/ratings.py``) the error of hidden entries is up to 0.7% higher with 1, and the same with 0.01."""


# ------------------------------------------------------------------ parameters


def noise_law(robust: bool | float) -> NoiseLaw:
    """False: Gaussian. True: Student-t with learned degrees of freedom. A number: Student-t with that many."""
    if isinstance(robust, bool | np.bool_):
        return StudentNoise(learned=True) if robust else GaussianNoise()
    return StudentNoise(float(robust))


def variance_rule(noise_variance: str | float) -> VarianceRule:
    """ "auto": one, learned. "per_feature": one for each, learned. A number: given."""
    if isinstance(noise_variance, str):
        return PerFeatureVariance() if noise_variance == "per_feature" else PooledVariance()
    return GivenVariance(float(noise_variance))


def prior_rule(prior_covariance: str | float, fit_row_mean: bool = False) -> PriorRule:
    """ "auto": learned. A number: given.

    Components of tables whose rows have means explain little beside these: a hyperprior in which the components share
    all variance would keep those that are noise. Without it they switch off.
    """
    if not isinstance(prior_covariance, str):
        return GivenPrior(float(prior_covariance))
    return LearnedPrior(kappa=0.0) if fit_row_mean else LearnedPrior()


def fit_options(
    n_components: int | str = "auto",
    *,
    noise_variance: str | float = "auto",
    prior_covariance: str | float = "auto",
    robust: bool | float = False,
    fit_row_mean: bool = False,
    max_iter: int = 30,
    tol: float = 1e-3,
) -> FitOptions:
    """The parameters as the core wants them."""
    return FitOptions(
        r=None if isinstance(n_components, str) else int(n_components),
        noise=noise_law(robust),
        variance=variance_rule(noise_variance),
        row_mean=bool(fit_row_mean),
        prior=prior_rule(prior_covariance, fit_row_mean),
        max_sweeps=int(max_iter),
        tol=float(tol) * (FADING if fit_row_mean else 1.0),
    )


def check_rows(X: Rows, options: FitOptions, calibrate: bool = False, arrays: int = FIT_ARRAYS) -> None:
    """Refuse, in one sentence, what cannot be fitted together or has no room in memory."""
    if is_sparse(X) and (options.r is None or calibrate or not options.noise.takes_sparse):
        raise ValueError("Sparse rows need a number of components, robust=False and calibrate=False.")
    if is_here(X) and not isinstance(X, Placed):  # devices and workers say themselves when they have too little memory
        check_memory(X.shape[1], options.r or 1, arrays)


def check_memory(m: int, r: int, arrays: int) -> None:
    """Refuse so many arrays of m·r² numbers where this machine cannot hold them."""
    needed = required_bytes(m, r, arrays)
    try:
        available = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # not a POSIX system: the allocation itself will fail
        return
    if needed > available:
        raise MemoryError(
            f"BayesianFactorization keeps a covariance per feature: {m} features and {r} components need "
            f"{needed / 2**30:.1f} GiB, this machine has {available / 2**30:.1f}; "
            "lower n_components or use DictionaryFilter."
        )


# ------------------------------------------------------------------ a stream


def absorb_rows(state: VariationalState, X: Rows) -> VariationalState:
    """The posterior with one more lot of rows: their coefficients, their sums, and every c_i and V_i anew."""
    check_rows(X, state.options, arrays=STREAM_ARRAYS)
    place = place_of(state.origin)
    with limited(X.shape[0] * X.shape[1] * len(state.factors.prior.P0)):
        data = observe(X, place)
        state = _settle_new_features(state, data, place)
        data = data._replace(Y=place.each(less_origin, data.Y, data.W, state.origin))
        factors, stats = state.factors, state.stats
        post, prior, s2, _ = factors
        if stats is None:
            stats = place.each(information, post, prior, s2, state.n_observed)
        data = data._replace(W=new_weights(factors, data, place))
        before = stats.S
        stats, post, coef = absorb(stats, data, post, s2, prior, place)
        check_definite(float(place.total(total, post.logdet)))
        spent = place.each(_spent_with, state.spent, stats.S, before, data.W, coef, post, s2)
        floor = LEAST * float(place.total(total, s2)) / data.m  # of the last noise: it may sink, but not to zero
        square = place.each(expected_square, stats, post)
        s2 = state.options.variance.learn(s2, square, stats.N, floor, place)
    factors = factors._replace(post=post, s2=s2)
    return state._replace(factors=factors, n_observed=stats.N, spent=spent, stats=stats)


def _spent_with(
    spent: Array, S: Array, before: Array, W: Rows, coef: CoefficientPosterior, post: Posterior, s2: Array
) -> Array:
    """Parameters spent on a lot of rows as well; S - before are the sums over the lot."""
    return spent + spent_by_sums(S, fitted_square(W, coef, post.C), post, s2, before)


def _settle_new_features(state: VariationalState, data: Observations, place: Place) -> VariationalState:
    """Features with their first values here get the mean of these as origin; nothing else is known of them."""
    if state.factors.prior.row_mean:  # they have a prior in common
        return state
    if not place.total(_count_new, state.n_observed, data.W):
        return state
    post, prior = state.factors.post, state.factors.prior
    C, c0, origin = place.each(_settled, post.C, prior.c0, state.origin, state.n_observed, data.Y, data.W)
    factors = state.factors._replace(post=post._replace(C=C), prior=prior._replace(c0=c0))
    return state._replace(factors=factors, origin=origin)


def _count_new(n_observed: Array, W: Rows) -> float:
    return float(namespace(n_observed).count_nonzero((n_observed == 0) & (column_count(W) > 0)))


def _settled(C: Array, c0: Array, origin: Array, n_observed: Array, Y: Rows, W: Rows) -> tuple[Array, Array, Array]:
    count = column_count(W)
    xp, new = namespace(C), (n_observed == 0) & (count > 0)
    C, c0 = xp.asarray(C, copy=True), xp.asarray(c0, copy=True)
    C[:, -1], c0[:, -1] = xp.where(new, 0.0, C[:, -1]), xp.where(new, 0.0, c0[:, -1])
    sums = Y.sum(axis=0) if is_sparse(Y) else xp.sum(Y, axis=0)
    return C, c0, xp.where(new, sums / at_least(count, 1.0), origin)
