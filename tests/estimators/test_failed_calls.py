"""Failures of the factorisations that the contracts do not know: data and starts that only these refuse, and late."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from conftest import low_rank
from contracts.asking import fingerprint
from factorstream import BayesianFactorization, BroydenFactorization, DictionaryFilter, MaskedNMF, SGDFactorization

ALL = [
    DictionaryFilter(3, random_state=0),
    DictionaryFilter(3, noise_variance=0.1, prior_covariance=1.0, drift=1e-3, random_state=0),
    BayesianFactorization(3, random_state=0),
    BroydenFactorization(3, random_state=0),
    SGDFactorization(3, random_state=0),
    MaskedNMF(3, max_iter=20, random_state=0),
]
GOOD = np.abs(np.random.default_rng(0).standard_normal((20, 4))) + 0.1
GAPPY = np.where(np.arange(80).reshape(20, 4) == 30, np.nan, GOOD)
BAD = {
    "too large": 1e160 * GOOD,
    "no value": np.full((20, 4), np.nan),
}


def name(estimator):
    return type(estimator).__name__


@pytest.mark.parametrize("estimator", ALL, ids=name)
@pytest.mark.parametrize("kind", BAD)
def test_a_failed_fit_leaves_a_fitted_model_as_it_was(estimator, kind):
    bad = -BAD[kind] if isinstance(estimator, MaskedNMF) else BAD[kind]  # which squares nothing, but has to be positive
    model = clone(estimator).fit(GOOD)
    before, answer = fingerprint(model), model.impute(GAPPY)
    with pytest.raises(ValueError, match=r"multiply the data|no observed entry|Negative values"):
        model.fit(bad)
    assert fingerprint(model) == before
    np.testing.assert_array_equal(model.impute(GAPPY), answer)


@pytest.mark.parametrize("estimator", [one for one in ALL if hasattr(one, "init")], ids=name)
def test_a_fit_that_fails_late_leaves_a_fitted_model_as_it_was(estimator):
    """The start of another size is refused only after the data have been looked at."""
    model = clone(estimator).fit(GOOD).set_params(init=np.ones((3, 6)))
    before, answer = fingerprint(model), model.impute(GAPPY)
    with pytest.raises(ValueError, match="init must be"):
        model.fit(GOOD[:9, :3])
    assert fingerprint(model) == before
    assert model.n_features_in_ == 4
    np.testing.assert_array_equal(model.impute(GAPPY), answer)


@pytest.mark.parametrize("estimator", [one for one in ALL if hasattr(one, "partial_fit")], ids=name)
def test_a_failed_first_partial_fit_leaves_nothing_behind(estimator):
    model = clone(estimator)
    with pytest.raises(ValueError, match="multiply the data"):
        model.partial_fit(BAD["too large"])
    assert vars(model) == vars(clone(estimator))


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize("seen", [3, 40], ids=["warming", "warm"])
def test_a_users_function_that_fails_half_way_changes_nothing(rng, error, method, seen):
    X = np.abs(low_rank(rng, 40, 10, 3, offset=4.0))
    X[rng.random(X.shape) < 0.2] = np.nan
    limit = [np.inf]

    def step(k, xx):
        if k > limit[0]:
            raise error
        return 0.01

    model = SGDFactorization(3, step_size=step, shuffle=False, random_state=0).partial_fit(X[:seen])
    before = fingerprint(model)
    limit[0] = 10 if method == "fit" else seen + 10
    with pytest.raises(error):
        getattr(model, method)(X)
    assert fingerprint(model) == before
