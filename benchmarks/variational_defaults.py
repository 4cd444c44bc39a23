"""How much the constants of the variational fit matter: each at two other values, on data with known gaps.

Two synthetic matrices and three small public tables, a fifth of the entries removed; for the robust ones 5% of the
others are replaced by outliers. Printed is by how much the error of the filled entries moves.

    python benchmarks/variational_defaults.py
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

from factorstream import BayesianFactorization
from factorstream.core.place import HERE
from factorstream.core.variational.auto import fit_auto
from factorstream.core.variational.conformal import calibrate, half_width, tempered
from factorstream.core.variational.factors import new_weights, normal_variance
from factorstream.core.variational.fit import FitOptions
from factorstream.core.variational.noise.student import StudentNoise, learn_nu
from factorstream.core.variational.noise.variance import PerFeatureVariance
from factorstream.core.variational.observed import column_count, observations
from factorstream.core.variational.predictive import predict, predict_variance
from factorstream.core.variational.relevance import LearnedPrior

Array = NDArray[np.float64]
Changes = dict[str, tuple[Callable[[], AbstractContextManager[object]], dict[str, Any]]]
"""By name: what to do while fitting, and the options to fit with."""

CORE = "factorstream.core.variational."
PLAIN = FitOptions(variance=PerFeatureVariance())
ROBUST = PLAIN._replace(noise=StudentNoise(learned=True))


def named(module: str, name: str, *values: float) -> Changes:
    """Other values of a constant of a module."""
    return {f"{name}={value}": (partial(patch, f"{CORE}{module}.{name}", value), {}) for value in values}


def options(name: str, field: str, kind: Callable[[float], object], *values: float) -> Changes:
    """Other values of an option."""
    return {f"{name}={value}": (nullcontext, {field: kind(value)}) for value in values}


def lowest(value: float) -> Changes:
    """Another bound on the degrees of freedom that are learned."""
    return {f"LOWEST={value}": (partial(patch, f"{CORE}noise.student.learn_nu", partial(learn_nu, low=value)), {})}


def tempers(name: str, *values: float) -> Changes:
    """Other powers of the likelihood to choose from."""
    return {f"TEMPERS {name}": (partial(patch, f"{CORE}auto.calibrate", partial(calibrate, tempers=values)), {})}


CHANGES = (
    options("KAPPA", "prior", LearnedPrior, 10.0, 100.0)
    | named("factors", "KEEP", 0.005, 0.08)
    | named("auto", "MIN_GROWTH", 1.2, 2.0)
    | named("auto", "MIN_GAIN", 0.97, 1.0)
    | named("start", "SPARE", 16, 64)
    | named("start", "EXTRA", 2, 12)
    | named("start", "AFFORDABLE", 0.3, 0.7)
    | named("start", "TAIL", 1.25, 2.0)
    | named("start", "SPARE_SHRINKAGE", 0.25, 1.0)
    | named("auto", "REFIT_SWEEPS", 3, 20)
    | named("conformal", "MOST_OF_ONE", 0.3, 0.7)
    | named("conformal", "ENOUGH_GAPS", 0.2, 0.8)
    | tempers("few", 1.0, 0.1, 0.01)
    | tempers("many", *(2.0 ** (-k / 2) for k in range(14)))
    | named("fit", "DOUBTFUL", 0.03, 0.3)
    | options("LEAST_SHARE", "variance", PerFeatureVariance, 1e-4, 1e-2)
    | options("tol", "tol", float, 3e-4, 3e-3)
    | named("conformal", "MIN_TEMPER_GAIN", 0.95, 1.0)
    | named("conformal", "ENOUGH_SCORES", 300, 10**9)
)
ROBUST_CHANGES = (
    named("noise.student", "START_CUTOFF", 3.0, 6.0)
    | named("noise.student", "OUTLIER", 4.0, 7.0)
    | lowest(2.1)
    | lowest(4.0)
)


def data_sets() -> dict[str, Array]:
    """Standardised columns, by name."""
    rng = np.random.default_rng(0)
    low = rng.standard_normal((300, 5)) @ rng.standard_normal((5, 100))
    tables = {
        "low rank": low + 0.5 * rng.standard_normal(low.shape),
        "decaying": rng.standard_normal((200, 60)) * np.arange(1, 61) ** -0.7 @ rng.standard_normal((60, 150)),
        "breast cancer": load_breast_cancer().data,
        "wine": load_wine().data,
        "diabetes": load_diabetes().data,
    }
    return {name: (X - X.mean(axis=0)) / X.std(axis=0) for name, X in tables.items()}


def measured(X: Array, seed: int, how: FitOptions) -> tuple[float, float, float]:
    """Root mean square error of the filled entries; coverage and mean width of their calibrated 95% intervals."""
    rng = np.random.default_rng(seed)
    gone = rng.random(X.shape) < 0.2
    Y = X
    if isinstance(how.noise, StudentNoise):
        Y = np.where(rng.random(X.shape) < 0.05, 10.0 * rng.choice([-1.0, 1.0], X.shape), X)
    data = observations(np.where(gone, 0.0, Y), ~gone)
    found = fit_auto(data, np.random.default_rng(0), how)
    factors = found.fit.factors
    data = data._replace(W=new_weights(factors, data))
    coef = tempered(data, factors, found.calibration.temper)
    std = np.sqrt(predict_variance(coef, factors.post, factors.r) + normal_variance(factors))[gone]
    away = np.abs(predict(coef, factors.post) - X)[gone]
    freedom = how.variance.freedom(column_count(data.W), found.fit.spent, HERE)
    reach = np.broadcast_to(half_width(found.calibration.scores, freedom, 0.95), X.shape)[gone] * std
    return float(np.sqrt(np.mean(away**2))), float(np.mean(away < reach)), float(reach.mean())


STREAMS = ((2, 20, 0.5), (5, 20, 0.7), (5, 40, 0.3), (10, 40, 0.8), (10, 60, 0.5), (20, 60, 0.8))
"""Components, features and the share of entries observed."""


def stream_error(r: int, m: int, share: float, per_parameter: float, seed: int) -> float:
    """Root mean square error of what a stream of 600 rows fills in the next 300."""
    rng = np.random.default_rng(seed)
    truth = rng.standard_normal((900, r)) @ rng.standard_normal((r, m)) + 0.5 * rng.standard_normal((900, m)) + 1.0
    X = np.where(rng.random(truth.shape) < share, truth, np.nan)
    with patch("factorstream.estimators._bayesian_run.ENTRIES_PER_PARAMETER", per_parameter):
        model = BayesianFactorization(r, random_state=0).partial_fit(X[:600])
    away = (np.asarray(model.impute(X[600:])) - truth[600:])[np.isnan(X[600:])]
    return float(np.sqrt(np.mean(away**2)))


def print_streams() -> None:
    """One line for every other number of observed entries per parameter at which a stream starts."""
    print("\nstreams: error of later fills, relative to 2 entries per parameter; (components, features, observed)\n")
    print(f"{'':26}" + "".join(f"{kind!s:>16}" for kind in STREAMS))
    base = np.array([[stream_error(*kind, 2.0, seed) for seed in range(3)] for kind in STREAMS])
    for value in (1.0, 1.5, 3.0):
        got = np.array([[stream_error(*kind, value, seed) for seed in range(3)] for kind in STREAMS])
        cells = "".join(f"{100.0 * (r - 1.0):+15.1f}%" for r in np.mean(got / base, axis=1))
        print(f"ENTRIES_PER_PARAMETER={value:<4}{cells}", flush=True)


def main() -> None:
    """Print one line for every change."""
    sets = data_sets()
    print("error of filled entries, relative to the defaults; coverage of 95% intervals; width, relative\n")
    print(f"{'':22}" + "".join(f"{name:>15}" for name in sets) + "  coverage  width")
    for plain, changes in ((PLAIN, CHANGES), (ROBUST, ROBUST_CHANGES)):
        base = np.array([[measured(X, seed, plain) for seed in range(2)] for X in sets.values()])
        for name, (changed, settings) in changes.items():
            with changed():
                got = np.array([[measured(X, s, plain._replace(**settings)) for s in range(2)] for X in sets.values()])
            ratio = np.mean(got / base, axis=1)
            cells = "".join(f"{100.0 * (r - 1.0):+14.1f}%" for r in ratio[:, 0])
            print(f"{name:22}{cells}  {got[..., 1].mean():.3f}  {100 * (ratio[:, 2].mean() - 1):+.1f}%", flush=True)
    print_streams()


if __name__ == "__main__":
    main()
