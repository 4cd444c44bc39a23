"""The estimators that keep the contracts: a new one is one line here."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from factorstream import (
    BayesianFactorization,
    BroydenFactorization,
    DictionaryFilter,
    LowRankImputer,
    MaskedNMF,
    SequenceFilter,
    SGDFactorization,
)


class Case(NamedTuple):
    """An estimator, with what is special about it."""

    estimator: Any
    ordered: bool = False
    """Rows are a sequence: an answer about a row depends on the rows before it."""
    exact: bool = True
    """However a stream is divided into calls, its result is the same to the last bit; otherwise to rounding."""
    sparse_rtol: float = 1e-7
    """How far a fit of sparse rows may be from that of dense ones: more than rounding where it begins elsewhere."""
    long: bool = False
    """Its contracts are marked `long`: they take minutes, and another case of the class keeps the same ones quickly."""


CASES = [
    Case(DictionaryFilter(3, random_state=0), exact=False),
    Case(DictionaryFilter(2, fit_row_mean=True, random_state=0), exact=False),
    Case(DictionaryFilter(2, prior_covariance=1.0, drift=1e-3, random_state=0), exact=False),
    Case(DictionaryFilter(2, coefficients="map", fit_mean=False, n_passes=2, random_state=0), exact=False),
    Case(DictionaryFilter(3, covariance="shared", scale=False, random_state=0), exact=False),
    Case(
        DictionaryFilter(
            2, noise_variance=0.1, prior_covariance=1.0, drift=1e-3, covariance="shared", scale=False, random_state=0
        ),
        exact=False,
    ),
    Case(BayesianFactorization(3, random_state=0), sparse_rtol=0.03),
    Case(BayesianFactorization(1, noise_variance="per_feature", random_state=0), sparse_rtol=0.03),
    Case(BayesianFactorization(2, fit_row_mean=True, random_state=0), sparse_rtol=0.03),
    Case(BayesianFactorization(2, robust=True, max_iter=5, random_state=0)),
    Case(BayesianFactorization(noise_variance="per_feature", robust=True, max_iter=5, random_state=0)),
    Case(LowRankImputer(random_state=0)),
    Case(LowRankImputer(2, robust=5.0, calibrate=False, add_indicator=True, random_state=0)),
    Case(BroydenFactorization(3, random_state=0), exact=False),
    Case(SGDFactorization(3, random_state=0), exact=False),
    Case(MaskedNMF(3, max_iter=20, random_state=0)),
    Case(SequenceFilter(2, max_iter=3), ordered=True),
    Case(SequenceFilter(2, period=4, lag=1, calibrate=False, max_iter=3), ordered=True, long=True),
    Case(SequenceFilter(2, trend=True, lag=1, calibrate=False, max_iter=3), ordered=True, long=True),
    Case(SequenceFilter(2, drift=1e-3, robust=True, lag=2, calibrate=False, max_iter=3), ordered=True, long=True),
]


def named(case: Case) -> str:
    """The class, and the parameters that are not its defaults, but for the seed."""
    text = repr(case.estimator)
    return " ".join(text.replace("random_state=0", "").replace("\n", "").split())


def rows(n: int = 60, m: int = 8, missing: float = 0.2, seed: int = 0) -> np.ndarray:
    """Positive rows of rank three with noise and gaps, smooth in time; every feature and row has values."""
    rng = np.random.default_rng(seed)
    t = np.arange(n)[:, None]
    X = np.sin(t / (3.0 + 2.0 * np.arange(3))) @ rng.standard_normal((3, m)) + 0.1 * rng.standard_normal((n, m)) + 8.0
    gaps = rng.random(X.shape) < missing
    gaps[np.arange(n), np.arange(n) % m] = False
    return np.where(gaps, np.nan, X)


def as_sparse(X: np.ndarray) -> sparse.csr_array:
    """The observed entries of X, zeros too."""
    row, column = np.nonzero(~np.isnan(X))
    return sparse.csr_array((X[row, column], (row, column)), shape=X.shape)
