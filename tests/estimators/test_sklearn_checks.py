"""Scikit-learn's own checks, none skipped and none expected to fail."""

from __future__ import annotations

import pickle

import joblib
import numpy as np
import pytest
from sklearn.base import clone
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


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_pickle_joblib_clone_and_resume(estimator, gappy, tmp_path):
    model = clone(estimator).set_params(random_state=0).partial_fit(gappy[:30])
    joblib.dump(model, tmp_path / "model.joblib")
    for copy in (pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model.joblib")):
        copy.partial_fit(gappy[30:])
        straight = clone(model).partial_fit(gappy[:30]).partial_fit(gappy[30:])
        np.testing.assert_array_equal(copy.components_, straight.components_)
        np.testing.assert_array_equal(copy.transform(gappy), straight.transform(gappy))
    assert not hasattr(clone(model), "state_")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_in_and_out(gappy, library):
    frames = pytest.importorskip(library)
    frame = frames.DataFrame(gappy, **({"columns" if library == "pandas" else "schema": list("abcdefgh")}))
    model = DictionaryFilter(2, random_state=0).set_output(transform=library)
    out = model.fit_transform(frame)
    assert isinstance(out, frames.DataFrame)
    assert list(out.columns) == ["dictionaryfilter0", "dictionaryfilter1"]
    assert list(model.feature_names_in_) == list("abcdefgh")
    np.testing.assert_allclose(out.to_numpy(), DictionaryFilter(2, random_state=0).fit_transform(gappy), rtol=1e-12)
