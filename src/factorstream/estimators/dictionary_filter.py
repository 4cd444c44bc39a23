"""The filter of the paper as a scikit-learn estimator."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from ..core.filter.covariance import kalman_gain
from ..core.linalg import Array
from ..core.filter.state import Gain
from ..core.variational.fit import FitOptions
from . import _variational as variational
from ._answers import Answers
from ._rows import Rows
from ._variational_answers import VariationalAnswers
from ._streaming import StreamingFactorizer, _frozen
from ._validation import as_covariance

SWEEPS = 30
"""Sweeps that ``covariance="featurewise"`` may make even if ``n_passes`` is smaller; few fits need as many."""


class DictionaryFilter(StreamingFactorizer):
    """Matrix factorisation by a recursive linear filter: one pass, NaN allowed, with uncertainty.

    A row y is modelled as ``y = x @ components_ + mean_ + noise``. The dictionary has a Gaussian
    posterior; every row gets its coefficients x, and the dictionary and its covariance are then moved
    by one Kalman step (MF-RLF, Algorithm 1 of "Matrix Factorisation with Linear Filters").

    Parameters
    ----------
    n_components : int or "auto", default=10
        Number of components. With ``covariance="featurewise"`` an upper bound: unneeded ones fade, and switch
        off where many features say so, see ``n_components_``; "auto" lets the data choose. May reach or exceed
        the number of features (or of observed entries of a row): the coefficients are then found under a
        prior, see ``coefficients``.
    noise_variance : "auto", "featurewise" or float, default="auto"
        λ. "auto" learns it from the innovations while the stream runs; "featurewise" learns one per
        feature and needs ``covariance="featurewise"``.
    prior_covariance : "auto", float or array (n_components, n_components), default="auto"
        V0, the prior covariance between components, the same for every feature; a vector is its
        diagonal. "auto" is the data's variance divided by ``n_components``.
    process_noise : float, array (n_components,) or (n_components, n_components), default=0.0
        Q_V, added to the covariance before every sample: a dictionary that drifts. A number also
        lets the mean drift.
    coefficients : {"least_squares", "map", "marginal"}, default="least_squares"
        How a row gets its coefficients: the paper's least squares; maximum a posteriori under
        x ~ N(0, I); or the maximum of the marginal likelihood p(y_k | y_1, ..., y_{k-1}, x), the
        dictionary integrated out. Where least squares has too little to go on, x gets a normal
        prior with the running mean and covariance of the coefficients so far. Too little is, with a
        given noise variance, fewer observed entries than components or a singular system; with
        ``noise_variance="auto"``, fewer than five observed entries per component.
    covariance : {"shared", "featurewise"}, default="shared"
        One covariance for all features, as in the paper: exact for complete data, an approximation
        under missing data. Or one per feature, the variational posterior under missing data, which costs
        memory n_features × n_components². It starts from a spectral fit instead of ``init``, always has a
        mean, uses its own coefficient step and has no process noise.
    robust : bool or float, default=False
        Student-t noise: entries far off the fit lose their weight. True learns the degrees of freedom, a number
        gives them. Needs ``covariance="featurewise"``.
    calibrate : bool, default=False
        Hide some observed entries, in the shape of the gaps in the data, and set the intervals by the
        residuals found there (split conformal). For data that break the model, such as contiguous gaps.
        Needs ``covariance="featurewise"``; ``partial_fit`` keeps what ``fit`` found.
    fit_mean : bool, default=True
        Whether to learn a mean as well: one more column of the dictionary whose coefficient is 1.
    init : {"random", "uniform"} or array (n_components, n_features), default="random"
        The first dictionary: a draw from the prior (a quarter of its size where the prior is automatic),
        entries uniform in [0, 1) (the paper's), or given.
    n_passes : int, default=1
        Passes over the data in ``fit``. With ``covariance="shared"`` every pass recounts the samples as
        new ones, as the paper does, so after several passes the covariance is too small to be read as
        uncertainty. With "featurewise" a revisited sample replaces its old contribution, so that the passes,
        called sweeps, converge to the variational posterior; they go on until ``tol`` is met, 30 times at
        most or ``n_passes`` times if that is more.
    shuffle : bool, default=True
        Whether ``fit`` takes the rows of each pass in random order.
    batch_size : "auto" or int, default="auto"
        Rows handled together. The result does not depend on it; memory and speed do.
    tol : float, default=0.0
        ``fit`` stops after a pass in which doubt about the dictionary made up less than this share of
        the predictive variance; with "featurewise", after a sweep that gained less than this many nats per
        observed entry, or 0.001 if ``tol`` is 0.
    random_state : int, RandomState or None, default=None
        Seeds the start and the order of the rows.
    verbose : int, default=0
        Whether to print a line per pass or batch.

    Attributes
    ----------
    components_ : array (n_components, n_features)
    n_components_ : int
        Components that are left.
    covariance_ : array (n_components, n_components), or (n_features, ...) with "featurewise"
        V, the posterior covariance between the components, the same for every feature. It never grows
        without process noise, except that a noise variance being learned scales it.
    mean_ : array (n_features,)
        What is predicted of a row before any of it is seen; coefficients are counted from there.
    noise_variance_ : float or array (n_features,)
    n_samples_seen_ : int
        Rows taken in; rows without any observed entry change nothing and are not counted.
    n_passes_ : int
        Passes that ``fit`` made.
    n_features_in_ : int
    history_ : list of dict
        One record per pass or ``partial_fit`` call (the last 1000): mean squared innovation, noise
        variance, trace of V, and the share of the predictive variance that is doubt about the dictionary.
        With "featurewise" one per sweep: the variational bound and the components left.
    state_ : FilterState or VariationalState
        All that is carried from one sample to the next.

    Notes
    -----
    ``fit`` measures the scale behind "auto", and the origin of the mean, on all of X. ``partial_fit`` has
    only the first ``max(n_components, 10)`` rows of the stream for that, however they are divided into
    calls; with both variances given ``fit`` does the same, so that the two agree to rounding. A feature that
    has its first value later gets that value as its origin.

    With ``covariance="featurewise"`` the parameters ``coefficients``, ``init``, ``shuffle`` and ``batch_size`` have no
    effect. ``partial_fit`` then starts from the first ``2 * max(n_components, 10)`` rows, or more if these say too
    little, refreshes every feature's posterior once per call, and so wants many rows a call; a fit on the whole
    data is better where most entries are missing. The bound in ``history_`` is in nats of the data as given. A robust
    fit's draws and densities take its noise as normal, with the same central 95%.
    Departures from the paper: V is carried in square-root form; each pass is a random permutation
    where Algorithm 1 draws rows with replacement; Gram matrices are updated instead of recomputed.
    All three leave the numbers of Algorithm 1 as they are for a given order of rows.

    X may be a scipy.sparse matrix: its stored entries, zeros too, are the observed ones, all others missing.

    Examples
    --------
    >>> import numpy as np
    >>> from factorstream import DictionaryFilter
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3)) @ rng.normal(size=(3, 30)) + 5.0
    >>> gappy = np.where(rng.random(X.shape) < 0.25, np.nan, X)
    >>> model = DictionaryFilter(n_components=3, random_state=0).fit(gappy)
    >>> filled, std = model.impute(gappy, return_std=True)
    >>> bool(np.abs(filled - X).mean() < 0.1)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **StreamingFactorizer._parameter_constraints,
        "n_components": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "noise_variance": [StrOptions({"auto", "featurewise"}), Interval(Real, 0, None, closed="neither")],
        "prior_covariance": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither"), "array-like"],
        "process_noise": [Interval(Real, 0, None, closed="left"), "array-like"],
        "covariance": [StrOptions({"shared", "featurewise"})],
        "robust": ["boolean", Interval(Real, 0, None, closed="neither")],
        "calibrate": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="left")],
    }
    _has_posterior: ClassVar[bool] = True
    _most_sweeps: int | None = None  # a strict bound on the sweeps, for FilterImputer's max_iter

    def __init__(
        self,
        n_components: Any = 10,
        *,
        noise_variance: Any = "auto",
        prior_covariance: Any = "auto",
        process_noise: Any = 0.0,
        coefficients: str = "least_squares",
        covariance: str = "shared",
        robust: bool | float = False,
        calibrate: bool = False,
        fit_mean: bool = True,
        init: Any = "random",
        n_passes: int = 1,
        shuffle: bool = True,
        batch_size: Any = "auto",
        tol: float = 0.0,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.noise_variance = noise_variance
        self.prior_covariance = prior_covariance
        self.process_noise = process_noise
        self.coefficients = coefficients
        self.covariance = covariance
        self.robust = robust
        self.calibrate = calibrate
        self.fit_mean = fit_mean
        self.init = init
        self.n_passes = n_passes
        self.shuffle = shuffle
        self.batch_size = batch_size
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def _gain(self) -> Gain:
        return kalman_gain

    def _process_noise(self) -> Array | None:
        r = self.n_components
        Q = as_covariance(self.process_noise, r, "process_noise", definite=False)
        if not Q.any():
            return None
        if self.fit_mean:
            drift = float(self.process_noise) if np.ndim(self.process_noise) == 0 else 0.0
            Q = np.block([[Q, np.zeros((r, 1))], [np.zeros((1, r)), drift]])
        return Q

    @property
    def covariance_(self) -> Array:
        """V: the dictionary's posterior covariance is V ⊗ I, or one matrix per feature."""
        return _frozen(self._answers().covariance)

    # ---------------------------------------------------------------- one posterior per feature

    def _begin(self, X: Rows) -> Any:
        self._began = (self.n_components, self.robust)
        return super()._begin(X)

    def _fit_rows(self, X: Rows, rng: Any) -> None:
        if self.covariance == "shared":
            self._check_shared()
            super()._fit_rows(X, rng)
            return
        seed = np.random.default_rng(self._seed)
        self.state_, sweeps = variational.fit_rows(X, self._options(), bool(self.calibrate), seed)
        self.n_passes_ = len(sweeps)
        for number, sweep in enumerate(sweeps):
            self._note(bound=sweep.bound, n_components=float(sweep.n_components), sweep=number + 1.0)

    def _absorb_rows(self, X: Rows, seen: Array) -> None:
        if self.covariance == "shared":
            self._check_shared()
            super()._absorb_rows(X, seen)
            return
        if hasattr(self, "state_"):
            self.state_ = variational.absorb_rows(self.state_, X)
        elif self.calibrate:
            raise ValueError("calibrate=True needs all the rows at once: call fit first.")
        else:
            self.state_ = variational.begin_stream(X, self._options(), self._seed)
        self._note(n_components=float(self.n_components_), noise=float(np.mean(self.noise_variance_)))

    def _options(self) -> FitOptions:
        """The parameters as the core wants them, or one sentence about what does not go together."""
        if not self.fit_mean or np.any(self.process_noise):
            raise ValueError("covariance='featurewise' needs fit_mean=True and process_noise=0.")
        if not isinstance(self.prior_covariance, str) and np.ndim(self.prior_covariance):
            raise ValueError("covariance='featurewise' takes prior_covariance='auto' or a number.")
        return variational.fit_options(
            self.n_components,
            noise_variance="per_feature" if self.noise_variance == "featurewise" else self.noise_variance,
            prior_covariance=self.prior_covariance,
            robust=self.robust,
            max_iter=self._most_sweeps or max(self.n_passes, SWEEPS),
            tol=self.tol or FitOptions().tol,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.n_components != "auto" and not self.robust and not self.calibrate
        return tags

    def _check_shared(self) -> None:
        for name, given in (("n_components", "auto"), ("noise_variance", "featurewise")):
            if isinstance(getattr(self, name), str) and getattr(self, name) == given:
                raise ValueError(f"{name}='{given}' needs covariance='featurewise'.")
        for name in ("robust", "calibrate"):
            if getattr(self, name):
                raise ValueError(f"{name}={getattr(self, name)!r} needs covariance='featurewise'.")

    def _check_sizes(self) -> None:
        if isinstance(self.state_, variational.VariationalState) != (self.covariance == "featurewise"):
            raise ValueError("partial_fit cannot go on with another covariance; call fit to start again.")
        if self.covariance == "shared":
            super()._check_sizes()
        elif (self.n_components, self.robust) != self._began:
            raise ValueError(
                "partial_fit cannot go on with another n_components or robust than the stream began with: "
                f"{self._began}; set them back, or call fit to start again."
            )

    def _answers(self) -> Answers:
        state = getattr(self, "state_", None)
        if isinstance(state, variational.VariationalState):
            return VariationalAnswers(state)
        return super()._answers()
