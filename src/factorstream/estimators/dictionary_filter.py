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
        Q_V: how much the variance of every loading grows with each row, so that the dictionary can follow data that
        change (the paper's Kalman variant). A number is for the components and for the mean. A vector, the diagonal of
        Q_V, or a matrix is for the components only, and the mean stays. In the data's units, squared. With
        ``covariance="counted"`` it is meant for coefficients of variance 1: the same number is then the same drift,
        however the coefficients are scaled.
    covariance : {"counted", "shared"}, default="counted"
        How uncertain the loadings of each feature are.

        - "counted": every feature has its own V, which shrinks with the rows in which the feature was seen. A column
          that is rarely seen, starts late or falls silent is then learned quickly, and its intervals are as wide as
          what is known of it asks for. To save memory, features that were seen about equally often share one V
          (docs/counted.md).
        - "shared": the paper's single V for all features. It shrinks with every row, whether a feature was seen in it
          or not.
    scale : bool, default=True
        Whether columns of very different spread are rescaled inside, so that kilometres beside grams count alike.
        Columns that are alike, such as the pixels of an image, stay nearly as they are. Results are always in the
        data's units. Nothing is rescaled where you give a variance or a drift, because these are in the data's units.
        ``covariance="shared", scale=False`` is the paper's filter.
    coefficients : {"least_squares", "map", "marginal"}, default="least_squares"
        How a row gets its coefficients: the paper's least squares; maximum a posteriori under
        x ~ N(0, I); or the maximum of the marginal likelihood p(y_k | y_1, ..., y_{k-1}, x), the
        dictionary integrated out. Where least squares has too little to go on, x gets a normal
        prior with the running mean and covariance of the coefficients so far. Too little is, with a
        given noise variance, fewer observed entries than components or a singular system; with
        ``noise_variance="auto"``, fewer than five observed entries per component.
    fit_mean : bool, default=True
        Whether to learn a mean as well: one more column of the dictionary whose coefficient is 1.
    fit_row_mean : bool, default=False
        Whether every row has a mean of its own beside the mean of every feature, for tables whose columns have one
        unit, such as ratings. The last component is then the number 1 for every feature, and its coefficient the mean
        of the row. Every feature keeps a covariance of its own, coefficients are found under x ~ N(0, I), and no column
        is rescaled. Not with a drift, ``covariance="shared"``, ``fit_mean=False`` or ``coefficients="marginal"``.
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
    Settings that are "auto" depend on the size of the data. ``fit`` measures it on all of X, ``partial_fit`` on the
    first ``max(n_components, 10)`` rows of the stream, however they are divided into calls. With both variances given,
    ``fit`` uses the same first rows, so that the two agree to rounding. A feature that has its first value later starts
    from that value, and is rescaled after its first four. A sensor that rests in the first rows of a stream is rescaled
    when it begins to move.

    With ``covariance="counted"`` and a learned noise variance the model keeps up to 128 rows of the data, fewer
    where they are wide, and learns the noise of every column from them (docs/counted.md).

    Departures from the paper with ``covariance="shared", scale=False``: V is carried in square-root form; each pass is
    a random permutation where Algorithm 1 draws rows with replacement; Gram matrices are updated instead of recomputed.
    For a given order of rows, none of the three changes the numbers of Algorithm 1.

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
        "fit_row_mean": ["boolean"],
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
        fit_row_mean: bool = False,
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
        self.fit_row_mean = fit_row_mean
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
            fit_row_mean=self.fit_row_mean,
        )
