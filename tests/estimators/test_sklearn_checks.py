"""Scikit-learn's own checks, none skipped and none expected to fail."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from factorstream import BroydenFactorization, DictionaryFilter, SGDFactorization

ESTIMATORS = [
    DictionaryFilter(),
    DictionaryFilter(n_components=2, coefficients="map"),
    DictionaryFilter(n_components=2, coefficients="marginal", drift=1e-3),
    BroydenFactorization(n_components=2),
    SGDFactorization(n_components=2),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture
def gappy(rng):
    X = rng.standard_normal((60, 3)) @ rng.standard_normal((3, 8)) + rng.standard_normal(8)
    X[rng.random(X.shape) < 0.2] = np.nan
    return X


def test_pipeline_and_grid_search(gappy, rng):
    y = rng.integers(0, 2, len(gappy))
    pipe = make_pipeline(StandardScaler(), DictionaryFilter(random_state=0), LogisticRegression())
    search = GridSearchCV(pipe, {"dictionaryfilter__n_components": [1, 3]}, cv=3).fit(gappy, y)
    assert search.best_params_["dictionaryfilter__n_components"] in (1, 3)


def test_score_chooses_the_true_rank(rng):
    X = rng.standard_normal((400, 3)) @ rng.standard_normal((3, 20)) + 0.3 * rng.standard_normal((400, 20))
    X[rng.random(X.shape) < 0.2] = np.nan
    search = GridSearchCV(DictionaryFilter(random_state=0, n_passes=2), {"n_components": [1, 2, 3, 8]}, cv=3)
    assert search.fit(X).best_params_ == {"n_components": 3}
