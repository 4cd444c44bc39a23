"""The recursive filter as a scikit-learn estimator: with a covariance per feature, or the paper's with one for all."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval, StrOptions

from ..core.filter.gains import KalmanGain
from ._factorizer import PosteriorFactorizer
from ._filter_run import FilterSettings, filter_settings
from ._reported import Reported
from ._streaming import RecursiveFactorizer
from ._types import Seed


class DictionaryFilter(Reported, RecursiveFactorizer, PosteriorFactorizer):
    """Matrix factorisation by a recursive linear filter: one pass, NaN allowed, with uncertainty.

    A row y is modelled as ``y = x @ components_ + mean_ + noise``. The dictionary has a Gaussian
    posterior; every row gets its coefficients x, and the dictionary and its covariance are then moved
    by one Kalman step. By default every feature has a covariance and a unit of its own;
    ``covariance="shared", scale=False`` is the paper's filter (MF-RLF, Algorithm 1 of "Matrix Factorisation with
    Linear Filters").

    Parameters
    ----------
    n_components : int, default=10
        Number of components. May reach or exceed the number of features (or of observed entries of a row): the
        coefficients are then found under a prior, see ``coefficients``.
    noise_variance : "auto" or float, default="auto"
        λ, in the data's units. "auto" learns it from the innovations while the stream runs.
    prior_covariance : "auto", float, array (n_components,) or (n_components, n_components), default="auto"
        V0, the prior covariance between components, the same for every feature; a vector is its
        diagonal. "auto" is the data's variance divided by ``n_components``.
    drift : float, array (n_components,) or (n_components, n_components), default=0.0
        Q_V, added to the covariance before every row: a dictionary that drifts (the paper's Kalman variant). A number
        lets the components drift, and the mean by as much; a vector, which is the diagonal of Q_V, and a matrix are for
        the components alone, and the mean does not drift. In the data's units, squared. With ``covariance="counted"``
        it is that of loadings whose coefficients have the variance 1, so that it does not depend on how these happen to
        be scaled.
    covariance : {"counted", "shared"}, default="counted"
        How uncertain the loadings of each feature are. "counted": every feature has its own V, from the rows in which
        it was seen: exact for features that are rarely seen, while there is room, and from the share of rows in which
        they were seen for the others. A column that is rarely seen, starts late or falls silent is then learned
        quickly, and its intervals allow for what is not known of it. Rows are weighted by how well the dictionary was
        known when they came; coefficients allow for what is not known of it, and listen less to features that are less
        well known than most (docs/counted.md). "shared": the paper's single V, which shrinks with every row, whether a
        feature was seen in it or not.
    scale : bool, default=True
        Whether columns are taken in units of their own: kilometres beside grams then count alike. A unit is learned
        from the spread of a column's values where that is very different from the others'; the pixels of an image stay
        nearly as they are. Results are in the data's units. Where you give a variance or a drift, which are in the
        data's units, columns stay in these too. ``covariance="shared", scale=False`` is the paper's filter.
    coefficients : {"least_squares", "map", "marginal"}, default="least_squares"
        How a row gets its coefficients: the paper's least squares; maximum a posteriori under
        x ~ N(0, I); or the maximum of the marginal likelihood p(y_k | y_1, ..., y_{k-1}, x), the
        dictionary integrated out. Where least squares has too little to go on, x gets a normal
        prior with the running mean and covariance of the coefficients so far. Too little is, with a
        given noise variance, fewer observed entries than components or a singular system; with
        ``noise_variance="auto"``, fewer than five observed entries per component.
    fit_mean : bool, default=True
        Whether to learn a mean as well: one more column of the dictionary whose coefficient is 1.
    init : {"random", "uniform"} or array (n_components, n_features), default="random"
        The first dictionary: a draw from the prior (a quarter of its size where the prior is automatic),
        entries uniform in [0, 1) (the paper's), or given.
    n_passes : int, default=1
        Passes over the data in ``fit``. Every pass counts the rows again as new ones, as the paper does, so that after
        several passes the covariance is too small to be read as uncertainty;
        :class:`factorstream.BayesianFactorization` sweeps over the data without counting them twice.
    shuffle : bool, default=True
        Whether ``fit`` takes the rows of each pass in random order.
    batch_size : "auto" or int, default="auto"
        Rows handled together. The result does not depend on it; memory and speed do.
    tol : float, default=0.0
        ``fit`` stops after a pass in which the uncertainty of the dictionary made up less than this share of
        the predictive variance.
    random_state : int, RandomState or None, default=None
        Seeds the start and the order of the rows.
    verbose : int, default=0
        1 shows how far ``fit`` or ``partial_fit`` has come, once it takes longer than two seconds: a bar in a terminal
        (with rich installed) or a notebook, lines in a log. 2 prints a line per pass and per call as well.

    Attributes
    ----------
    components_ : array (n_components, n_features)
    n_components_ : int
    covariance_ : array (n_features, n_components, n_components)
        V, the posterior covariance between the components, one for every feature. One for all, (n_components,
        n_components), with ``covariance="shared"`` where columns have no units of their own: it never grows without
        drift, except that a noise variance being learned scales it.
    coefficient_covariance_ : array (n_components, n_components)
        How the coefficients vary from row to row, as it was learned.
    mean_ : array (n_features,)
        What is predicted of a row before any of it is seen; coefficients are counted from there.
    noise_variance_ : float, or array (n_features,) where columns have units or noises of their own
        With ``covariance="counted"`` every column has its own, unless it is given.
    n_samples_seen_ : int
        Rows taken in; rows without any observed entry change nothing and are not counted.
    n_passes_ : int
        Passes that ``fit`` made.
    n_features_in_ : int
    history_ : list of dict
        One record per pass or ``partial_fit`` call (the last 1000): mean squared innovation, noise
        variance, trace of V, and the share of the predictive variance that comes from not knowing the dictionary.
        Where ``scale`` gives columns units of their own, all of it is about the data divided by these, and not in the
        data's units: compare records with each other, and see ``noise_variance_`` for the noise in the data's units.
    state_ : FilterRun
        Everything that an answer or the next row depends on.

    Notes
    -----
    ``fit`` measures the scale behind "auto", and the origin of the mean, on all of X. ``partial_fit`` has
    only the first ``max(n_components, 10)`` rows of the stream for that, however they are divided into
    calls; with both variances given ``fit`` does the same, so that the two agree to rounding. A feature that has its
    first value later gets that value as its origin, and a unit from its first four values. A sensor that rests in the
    first rows of a stream gets a larger unit when it has begun to move.

    With ``covariance="counted"`` and a learned noise variance the run keeps up to 128 rows of the data, fewer
    where they are wide: from them every column gets its noise variance (docs/counted.md).

    Departures from the paper with ``covariance="shared", scale=False``: V is carried in square-root form; each pass is
    a random permutation where Algorithm 1 draws rows with replacement; Gram matrices are updated instead of recomputed.
    All three leave the numbers of Algorithm 1 as they are for a given order of rows.

    X may be a scipy.sparse matrix: its stored entries, zeros too, are the observed ones, all others missing.

    Parameters that are changed after fitting change the next ``fit``, and no answer before it.

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
        **RecursiveFactorizer._parameter_constraints,
        "noise_variance": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "prior_covariance": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither"), "array-like"],
        "drift": [Interval(Real, 0, None, closed="left"), "array-like"],
        "covariance": [StrOptions({"shared", "counted"})],
        "scale": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        n_components: int = 10,
        *,
        noise_variance: str | float = "auto",
        prior_covariance: str | ArrayLike = "auto",
        drift: float | ArrayLike = 0.0,
        covariance: str = "counted",
        scale: bool = True,
        coefficients: str = "least_squares",
        fit_mean: bool = True,
        init: str | ArrayLike = "random",
        n_passes: int = 1,
        shuffle: bool = True,
        batch_size: str | int = "auto",
        tol: float = 0.0,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.noise_variance = noise_variance
        self.prior_covariance = prior_covariance
        self.drift = drift
        self.covariance = covariance
        self.scale = scale
        self.coefficients = coefficients
        self.fit_mean = fit_mean
        self.init = init
        self.n_passes = n_passes
        self.shuffle = shuffle
        self.batch_size = batch_size
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def _stop_below(self) -> float:
        return self.tol

    def _settings(self, **common: Any) -> FilterSettings:
        return filter_settings(
            **common,
            gain=KalmanGain(),
            noise_variance=self.noise_variance,
            prior_covariance=self.prior_covariance,
            drift=self.drift,
            covariance=self.covariance,
            scale=self.scale,
        )
