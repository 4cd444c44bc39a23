"""The filter of the paper as a scikit-learn estimator."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from ..core.covariance import kalman_gain
from ..core.linalg import Array
from ..core.recursion import belief
from ..core.state import Gain
from ._streaming import StreamingFactorizer, _frozen
from ._validation import as_covariance


class DictionaryFilter(StreamingFactorizer):
    """Matrix factorisation by a recursive linear filter: one pass, NaN allowed, with uncertainty.

    A row y is modelled as ``y = x @ components_ + mean_ + noise``. The dictionary has a Gaussian
    posterior; every row gets its coefficients x, and the dictionary and its covariance are then moved
    by one Kalman step (MF-RLF, Algorithm 1 of "Matrix Factorisation with Linear Filters").

    Parameters
    ----------
    n_components : int, default=10
        Number of components. May reach or exceed the number of features (or of observed entries of a
        row): the coefficients are then found under a prior, see ``coefficients``.
    noise_variance : "auto" or float, default="auto"
        λ. "auto" learns it from the innovations while the stream runs.
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
    covariance : {"shared"}, default="shared"
        One covariance for all features, as in the paper. Exact for complete data, an approximation
        under missing data.
    fit_mean : bool, default=True
        Whether to learn a mean as well: one more column of the dictionary whose coefficient is 1.
    init : {"random", "uniform"} or array (n_components, n_features), default="random"
        The first dictionary: a draw from the prior, entries uniform in [0, 1) (the paper's), or given.
    n_passes : int, default=1
        Passes over the data in ``fit``. Every pass counts the samples as new ones, as in the paper, so
        after several passes the covariance is too small to be read as uncertainty.
    shuffle : bool, default=True
        Whether ``fit`` takes the rows of each pass in random order.
    batch_size : "auto" or int, default="auto"
        Rows handled together. The result does not depend on it; memory and speed do.
    tol : float, default=0.0
        ``fit`` stops after a pass in which doubt about the dictionary made up less than this share of
        the predictive variance.
    random_state : int, RandomState or None, default=None
        Seeds the start and the order of the rows.
    verbose : int, default=0
        Whether to print a line per pass or batch.

    Attributes
    ----------
    components_ : array (n_components, n_features)
    covariance_ : array (n_components, n_components)
        V, the posterior covariance between the components, the same for every feature. It never grows
        without process noise, except that a noise variance being learned scales it.
    mean_ : array (n_features,)
        What is predicted of a row before any of it is seen; coefficients are counted from there.
    noise_variance_ : float
    n_samples_seen_ : int
        Rows taken in; rows without any observed entry change nothing and are not counted.
    n_passes_ : int
        Passes that ``fit`` made.
    n_features_in_ : int
    history_ : list of dict
        One record per pass or ``partial_fit`` call (the last 1000): mean squared innovation, noise
        variance, trace of V, and the share of the predictive variance that is doubt about the dictionary.
    state_ : FilterState
        All that is carried from one sample to the next.

    Notes
    -----
    ``fit`` measures the scale behind "auto", and the origin of the mean, on all of X. ``partial_fit`` has
    only the first ``max(n_components, 10)`` rows of the stream for that, however they are divided into
    calls; with both variances given ``fit`` does the same, so that the two agree to rounding. A feature that
    has its first value later gets that value as its origin.
    Departures from the paper: V is carried in square-root form; each pass is a random permutation
    where Algorithm 1 draws rows with replacement; Gram matrices are updated instead of recomputed.
    All three leave the numbers of Algorithm 1 as they are for a given order of rows.

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
        "noise_variance": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "prior_covariance": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither"), "array-like"],
        "process_noise": [Interval(Real, 0, None, closed="left"), "array-like"],
        "covariance": [StrOptions({"shared"})],
        "tol": [Interval(Real, 0, None, closed="left")],
    }
    _has_posterior: ClassVar[bool] = True

    def __init__(
        self,
        n_components: int = 10,
        *,
        noise_variance: Any = "auto",
        prior_covariance: Any = "auto",
        process_noise: Any = 0.0,
        coefficients: str = "least_squares",
        covariance: str = "shared",
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
        self.fit_mean = fit_mean
        self.init = init
        self.n_passes = n_passes
        self.shuffle = shuffle
        self.batch_size = batch_size
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def _gain(self) -> Gain:
        r = self.n_components
        Q = as_covariance(self.process_noise, r, "process_noise", definite=False)
        if not Q.any():
            return kalman_gain(None)
        if self.fit_mean:
            drift = float(self.process_noise) if np.ndim(self.process_noise) == 0 else 0.0
            Q = np.block([[Q, np.zeros((r, 1))], [np.zeros((1, r)), drift]])
        return kalman_gain(Q)

    @property
    def covariance_(self) -> Array:
        """V (n_components, n_components): the dictionary's posterior covariance is V ⊗ I."""
        known = belief(self._fitted().small, self._model())
        S = known.S[: self._n_features_out]
        return _frozen(known.doubt * (S @ S.T))
