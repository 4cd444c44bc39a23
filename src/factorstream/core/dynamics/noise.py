"""The noise of the entries.

To add a noise, write two classes here: the noise, and the specification that a setting is turned into.

A *noise* (:class:`GaussianNoise`, :class:`StudentNoise`) is part of a model. A *specification* (:class:`GaussianSpec`,
:class:`GivenStudentSpec`, :class:`LearnedStudentSpec`) is what a user asks for, before anything is known.

Student-t noise is a scale mixture, y_ti = signal_ti + N(0, R_i / w_ti), w_ti ~ Gamma(nu/2, nu/2): an outlier is an
entry whose weight w falls. There are two ways to find the weights:

- ``expected_weights``: E w under q(w_ti) given q(signal), the coordinate step that raises the bound of EM;
- ``evident_weights``: E(w | y) given what all OTHER entries say about the signal. A feature with a level of its own
  follows an outlier before the first way can see it (the residual is small), so sequences with levels begin with
  the second, and the filter uses nothing else: its prediction does not know the new entry.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import digamma, erf, gammaincinv, gammaln, ndtri

from ..linalg import Array
from .spikes import without_spikes

NU_RANGE = (3.0, 200.0)
"""Degrees of freedom that may be learned. Not tuned: at 3 the variance is already three times R, at 200 the density
differs from a Gaussian's by 1% at two standard deviations and by 8% at three. From 2.5 to 200 or from 4 to 50 errors
move by at most 0.5%. Where 5% of the entries are outliers it matters to intervals: they are 9% to 14% wider from 2.5 on
and 6% narrower from 4 on, and hold up to 0.7 points more and 0.3 less (``benchmarks/sequence_defaults.py``, as all
figures of this kind)."""
NU_START = 10.0
"""Where learning the degrees of freedom starts. Not tuned: inside NU_RANGE; errors move by at most 0.2% between 5 and
20 (``benchmarks/sequence_defaults.py``)."""
LEARNING_TURNS = 10
"""Turns of weights and degrees of freedom within a sweep: one at a time they creep. Not tuned: errors move by at most
0.1% between 3 and 30 (``benchmarks/sequence_defaults.py``)."""
SURPRISE = 4.0
"""Squared innovations above this many variances (two standard deviations) get their weight by quadrature. Not tuned:
below, the closed form differs from the quadrature by at most 7.7% at nu = 3 and 1.4% at nu = 10 (held by a test).
Errors move by at most 0.03% between 2 and 9 (``benchmarks/sequence_defaults.py``)."""
NODES = 256
"""Nodes of that quadrature; the tests hold it to 2% of adaptive integration. Nothing moves by 0.01% between 128 and 512
(``benchmarks/sequence_defaults.py``)."""

FARTHEST = 1e100
"""Standard deviations beyond which it makes no difference how far an entry is: its weight is zero in all digits.
Derived: their square, and that over the smallest weight, are numbers still."""
LOWEST_LOG_WEIGHT, HIGHEST_LOG_WEIGHT = -5.0, 3.0
"""Range of log w that is integrated: from exp(-5) times the weight at a known signal, to exp(3), beyond which a
Gamma(nu/2, nu/2) has no mass that counts for nu of at least 2."""
ROW_TURNS = 3
"""Turns of states and weights within one row. Not tuned: with levels that jump, errors move by 0.01% between 2 and 6;
where features without levels move for good, 2 turns have 0.8% less error in their gaps, 6 have 1.6% more and 2.2% more
in forecasts (``benchmarks/sequence_defaults.py``)."""
FAR = 4.0
"""Standard deviations from which an outlier may be a level that has moved. Not tuned: where levels jump, errors move by
0.1% at 3, and at 6 gaps have 3% more and forecasts 1% more (``benchmarks/sequence_defaults.py``)."""
MIXTURE_NODES = 32
"""Quantiles of w over which the size of an error is averaged; the tests hold the result to 2%. Calibrated intervals
move by at most 1.3% with 16 and are up to 0.5% narrower with 64 (``benchmarks/sequence_defaults.py``)."""
MOST_INSIDE = 1.0 - 1e-12
"""Largest probability whose quantile is taken (7.1 standard deviations): rounding can give 1, whose quantile is
infinite."""
OUT_OF_PROPORTION = 1.5
"""Under Student-t noise, how much further out the 95% quantile of errors may be than the 80% quantile says before it is
left to the outliers. Not tuned, and it matters: where levels jump beside 5% of outliers, intervals are 5% narrower at
1.25 and hold 0.3 points less, at 2 they are 6% wider and hold 0.7 points more; elsewhere nothing moves
(``benchmarks/sequence_defaults.py``)."""


class RowWeights(NamedTuple):
    """How the entries of one row are weighted, all of shape (m,)."""

    w: Array
    bound: Array  # what the weights add to the Gaussian log-density
    off: Array  # distance from what the other entries say
    far: Array  # bool: further than FAR standard deviations


Others = Callable[[Array], tuple[Array, Array]]
"""From weights to every entry's residual from what the others of its row say, and the variance of what they say."""


class GaussianNoise(NamedTuple):
    """e_i ~ N(0, R_i)."""

    R: Array

    @property
    def variance(self) -> Array:
        """Variance of the noise (m,)."""
        return self.R

    @property
    def degrees_of_freedom(self) -> float:
        """Infinite."""
        return float("inf")

    def judge_row(self, others: Others) -> RowWeights | None:
        """None: every entry counts in full."""
        return None

    def normal_size(self, e: Array, v: Array, R: Array) -> Array:
        """|z| of a standard normal as rare as |e| is for e ~ N(0, v + R), entrywise."""
        return np.asarray(np.abs(e) / np.sqrt(v + R))


class StudentNoise(NamedTuple):
    """e_i ~ N(0, R_i / w_i), w_i ~ Gamma(nu/2, nu/2); nu is kept above 2."""

    R: Array
    nu: float

    @property
    def variance(self) -> Array:
        """Variance of the noise (m,)."""
        return self.R * (self.nu / (self.nu - 2.0))

    @property
    def degrees_of_freedom(self) -> float:
        """The parameter nu."""
        return self.nu

    def judge_row(self, others: Others) -> RowWeights | None:
        """Weights of the entries of one row, by a few turns of the states given weights and weights given states."""
        w = np.ones_like(self.R)
        for _ in range(ROW_TURNS):
            off, v = others(w)
            w = self.evident_weights(off, v)
        far = off * off > FAR**2 * (v + self.variance)
        return RowWeights(w, self.weights_bound(w, self), off, far)

    def evident_weights(self, e: Array, v: Array) -> Array:
        """E(w | e) for e ~ N(0, v + R / w), entrywise, by quadrature over log w. O(256 surprises).

        Where e is no surprise the mixture's mode at the Gaussian answer stands for it:
        w = (nu + 1) / (nu + E(e - signal)² / R) with the signal's posterior at w = 1.
        """
        R, nu = self.R, self.nu
        S = v + R
        with np.errstate(over="ignore"):  # a weight of zero is the limit
            w = np.asarray((nu + 1.0) / (nu + (e * R / S) ** 2 / R + v / S))
            far = e * e > SURPRISE * S
        if far.any():
            e, v, R = (np.broadcast_to(part, w.shape)[far][..., None] for part in (e, v, R))
            e2 = np.minimum(np.abs(e), FARTHEST * np.sqrt(R)) ** 2
            low = np.log((nu + 1.0) / (nu + e2 / R)) + LOWEST_LOG_WEIGHT
            u = low + (HIGHEST_LOG_WEIGHT - low) * np.linspace(0.0, 1.0, NODES)
            S = v + R * np.exp(-u)
            log_p = 0.5 * (nu * (u - np.exp(u)) - np.log(S) - e2 / S)
            p = np.exp(log_p - log_p.max(-1, keepdims=True))
            w[far] = (p * np.exp(u)).sum(-1) / p.sum(-1)
        return w

    def expected_weights(self, squares: Array) -> Array:
        """E w of q(w) = Gamma((nu + 1) / 2, (nu + squares) / 2), squares = E(y - signal)² / R. O(T m)."""
        return np.asarray((self.nu + 1.0) / (self.nu + squares))

    def weights_bound(self, w: Array, before: StudentNoise) -> Array:
        """What q(w) = Gamma(a, a / w) adds to a Gaussian log-density with noise R / w, entrywise.

        (E log w - log E w) / 2 - KL(q || Gamma(nu/2, nu/2)): together a lower bound on the log-density under this
        noise. a = (nu + 1) / 2 with the nu of `before`, the noise by which the weights were found.
        """
        a, k = (before.nu + 1.0) / 2, self.nu / 2
        b = a / w
        kl = (a - k) * digamma(a) - gammaln(a) + gammaln(k) + k * np.log(b / k) + w * (k - b)
        return np.asarray(0.5 * (digamma(a) - np.log(a)) - kl)

    def with_learned_nu(self, w: Array) -> StudentNoise:
        """The noise with the nu that raises the bound most, from the weights of the observed entries.

        It solves 1 + log(nu/2) - digamma(nu/2) + mean(E log w - E w) = 0.
        """
        a = (self.nu + 1.0) / 2
        stat = float((digamma(a) - np.log(a / w) - w).mean()) if len(w) else -1.0

        def slope(v: float) -> float:
            return 1.0 + float(np.log(v / 2) - digamma(v / 2)) + stat

        lo, hi = NU_RANGE
        nu = hi if slope(hi) > 0 else lo if slope(lo) < 0 else float(brentq(slope, lo, hi))
        return self._replace(nu=nu)

    def normal_size(self, e: Array, v: Array, R: Array) -> Array:
        """|z| of a standard normal as rare as |e| is for e ~ N(0, v) + t_nu(R), entrywise. O(32 entries)."""
        nu = self.nu
        w = gammaincinv(nu / 2, (np.arange(MIXTURE_NODES) + 0.5) / MIXTURE_NODES) * 2 / nu
        inside = erf(np.abs(e)[..., None] / np.sqrt(2.0 * (v[..., None] + R[..., None] / w))).mean(-1)
        return np.asarray(ndtri((1.0 + np.minimum(inside, MOST_INSIDE)) / 2.0))


Noise = GaussianNoise | StudentNoise


class GaussianSpec(NamedTuple):
    """Gaussian noise is asked for."""

    def begin(self, R: Array) -> Noise:
        """The noise that a fit begins with."""
        return GaussianNoise(R)

    def without_outliers(self, Y: Array) -> Array:
        """All of Y: every entry is taken at its word."""
        return Y

    def loss(self, size: Array) -> Array:
        """What an absolute error costs when models are compared: its square."""
        return size**2

    def width(self, wide: float, usual: float) -> float:
        """The factor on intervals; `wide` would hold 95% of the hidden errors, `usual` 80%. Here it is `wide`."""
        return wide


def heavy_loss(size: Array) -> Array:
    """The absolute error itself, so that an outlier does not decide."""
    return size


def heavy_width(wide: float, usual: float) -> float:
    """What 95% of the errors ask for, or what 80% do where the former is out of all proportion.

    Hidden outliers are not for the intervals to hold.
    """
    return usual if wide > OUT_OF_PROPORTION * usual else wide


class GivenStudentSpec(NamedTuple):
    """Student-t noise with given degrees of freedom, above 2, is asked for."""

    nu: float

    @property
    def learning_turns(self) -> int:
        """Turns of weights and noise within a sweep."""
        return 1

    def begin(self, R: Array) -> Noise:
        """The noise that a fit begins with."""
        return StudentNoise(R, self.nu)

    def learn(self, noise: StudentNoise, w: Array) -> StudentNoise:
        """The degrees of freedom stay as given."""
        return noise

    def without_outliers(self, Y: Array) -> Array:
        """Y with spikes made missing."""
        return without_spikes(Y)

    def loss(self, size: Array) -> Array:
        """What an absolute error costs when models are compared: see `heavy_loss`."""
        return heavy_loss(size)

    def width(self, wide: float, usual: float) -> float:
        """The factor on intervals; `wide` would hold 95% of the hidden errors, `usual` 80%. See `heavy_width`."""
        return heavy_width(wide, usual)


class LearnedStudentSpec(NamedTuple):
    """Student-t noise whose degrees of freedom are learned is asked for."""

    start: float = NU_START

    @property
    def learning_turns(self) -> int:
        """Turns of weights and noise within a sweep."""
        return LEARNING_TURNS

    def begin(self, R: Array) -> Noise:
        """The noise that a fit begins with."""
        return StudentNoise(R, self.start)

    def learn(self, noise: StudentNoise, w: Array) -> StudentNoise:
        """The noise with the degrees of freedom that the weights of the observed entries suggest."""
        return noise.with_learned_nu(w)

    def without_outliers(self, Y: Array) -> Array:
        """Y with spikes made missing."""
        return without_spikes(Y)

    def loss(self, size: Array) -> Array:
        """What an absolute error costs when models are compared: see `heavy_loss`."""
        return heavy_loss(size)

    def width(self, wide: float, usual: float) -> float:
        """The factor on intervals; `wide` would hold 95% of the hidden errors, `usual` 80%. See `heavy_width`."""
        return heavy_width(wide, usual)


StudentSpec = GivenStudentSpec | LearnedStudentSpec
NoiseSpec = GaussianSpec | StudentSpec
