"""The methods that the restoration experiment compares: a table to which a row can be added."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..baselines.broyden import BroydenFactorization
from ..baselines.masked_nmf import MaskedNMF
from ..baselines.sgd import SGDFactorization
from ..estimators.bayesian_factorization import BayesianFactorization
from ..estimators.dictionary_filter import DictionaryFilter

__all__ = ["Estimator", "Method", "Settings", "Streaming", "paper_methods"]

Array = NDArray[np.float64]

PAPER_MF_RLF, PAPER_NMF, PAPER_SGDMF = 12.38, 12.35, 11.75
"""dB in the paper's table."""


class Estimator(Protocol):
    """What the experiment asks of a method: rows are images, NaN marks a removed pixel."""

    def fit(self, X: Array) -> Estimator:
        """Learn from the rows of X."""

    def transform(self, X: Array) -> Array:
        """Coefficients (n_samples, n_components)."""

    def inverse_transform(self, X: Array) -> Array:
        """Rows from coefficients."""

    def impute(self, X: Array) -> Array:
        """X with its NaN filled in."""


@runtime_checkable
class Streaming(Protocol):
    """A method that goes on learning."""

    def partial_fit(self, X: Array) -> Estimator:
        """Learn from further rows."""


@dataclass(frozen=True)
class Settings:
    """What is common to all methods.

    The first five are the paper's numbers. The paper gives no step size and no drift: each is chosen from a grid of
    decades, on observed entries that are held out, and the report names the choice.
    """

    n_components: int = 40
    noise_variance: float = 2.0
    prior_covariance: float = 1.0
    passes: int = 10
    nmf_iterations: int = 1000
    step_sizes: Sequence[float] = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1)  # of SGDMF, to choose from
    decays: Sequence[float] = (0.0, 0.5)  # of its step sizes, to choose from
    drifts: Sequence[float] = (1e-7, 1e-6, 1e-5, 1e-4)  # Q_V of the Kalman variant, to choose from
    tuning_passes: int = 10
    quick: bool = False

    @classmethod
    def for_quick_run(cls) -> Settings:
        """A shorter NMF and a smaller search; everything else as in the paper."""
        return cls(
            nmf_iterations=100,
            step_sizes=(1e-4, 1e-3, 1e-2),
            decays=(0.0,),
            drifts=(1e-6, 1e-5),
            tuning_passes=4,
            quick=True,
        )


@dataclass(frozen=True)
class Method:
    """One row of the comparison.

    ``make(seed=..., **setting)`` returns the estimator. A grid of more than one setting is decided on held-out
    observed entries, after ``tuning_passes``. ``passes`` > 1 with `partial_fit` is run pass by pass;
    ``iterations`` names the parameter that counts the iterations of a batch method.
    """

    key: str
    label: str
    make: Callable[..., Estimator]
    passes: int = 1
    grid: Sequence[Mapping[str, float]] = ({},)
    tuning_passes: int = 1
    iterations: str | None = None
    paper: float | None = None  # dB in the paper's table


class PixelMean:
    """A mean and no components: the floor that a factorisation must clear."""

    mean_: Array

    def fit(self, X: Array) -> PixelMean:
        """Learn the mean of every feature from its observed entries."""
        self.mean_ = np.nanmean(X, axis=0)
        return self

    def transform(self, X: Array) -> Array:
        """No coefficients (n_samples, 0)."""
        return np.empty((len(X), 0))

    def inverse_transform(self, X: Array) -> Array:
        """The mean, once for every sample."""
        return np.tile(self.mean_, (len(X), 1))

    def impute(self, X: Array) -> Array:
        """Fill the NaN of X with the mean."""
        return np.where(np.isnan(X), self.mean_, X)


def paper_methods(settings: Settings) -> list[Method]:
    """The methods of the paper, the variants it only mentions, and the recommended settings in one pass.

    >>> [method.key for method in paper_methods(Settings())]
    ['mf-rlf', 'mf-rlf-gauss', 'kalman', 'broyden', 'sgdmf', 'nmf', 'mf-rlf-auto', 'recommended', 'sweeps', 'mean']
    """
    r, passes = settings.n_components, settings.passes

    def rlf(seed: int, init: str = "uniform", drift: float = 0.0) -> DictionaryFilter:
        return DictionaryFilter(
            r,
            noise_variance=settings.noise_variance,
            prior_covariance=settings.prior_covariance,
            coefficients="least_squares",
            fit_mean=False,
            init=init,
            drift=drift,
            covariance="shared",
            scale=False,
            random_state=seed,
        )

    def broyden(seed: int) -> BroydenFactorization:
        return BroydenFactorization(
            r,
            noise_variance=settings.noise_variance,
            prior_covariance=settings.prior_covariance,
            fit_mean=False,
            init="uniform",
            random_state=seed,
        )

    def sgd(seed: int, step_size: float, decay: float) -> SGDFactorization:
        return SGDFactorization(r, step_size=step_size, decay=decay, fit_mean=False, init="uniform", random_state=seed)

    def nmf(seed: int, max_iter: int = settings.nmf_iterations) -> MaskedNMF:
        return MaskedNMF(r, max_iter=max_iter, random_state=seed)

    def gaussian(seed: int) -> DictionaryFilter:
        return rlf(seed, init="random")  # a draw from the prior N(0, V0), V0 = I

    def automatic(seed: int) -> DictionaryFilter:
        return DictionaryFilter(r, covariance="shared", scale=False, random_state=seed)

    def recommended(seed: int) -> DictionaryFilter:
        return DictionaryFilter(r, random_state=seed)

    def sweeps(seed: int) -> BayesianFactorization:
        return BayesianFactorization(r, random_state=seed)

    drifts = [{"drift": q} for q in settings.drifts]
    steps = [{"step_size": s, "decay": d} for d in settings.decays for s in settings.step_sizes]
    tuning, iterations = settings.tuning_passes, settings.nmf_iterations
    return [
        Method("mf-rlf", "MF-RLF", rlf, passes, paper=PAPER_MF_RLF),
        Method("mf-rlf-gauss", "MF-RLF, Gaussian start", gaussian, passes, paper=PAPER_MF_RLF),
        Method("kalman", "MF-RLF, Kalman variant", rlf, passes, drifts, tuning),
        Method("broyden", "Broyden", broyden, passes),
        Method("sgdmf", "SGDMF", sgd, passes, steps, tuning, paper=PAPER_SGDMF),
        Method("nmf", f"NMF, {iterations} iterations", nmf, iterations, iterations="max_iter", paper=PAPER_NMF),
        Method("mf-rlf-auto", "MF-RLF, automatic, one pass", automatic),
        Method("recommended", "recommended, one pass", recommended),
        Method("sweeps", "variational sweeps", sweeps),
        Method("mean", "pixel mean (floor)", lambda seed: PixelMean()),
    ]
