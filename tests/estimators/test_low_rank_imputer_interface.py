"""LowRankImputer as a drop-in for scikit-learn's imputers: dtypes, frames, names, pipelines."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import datasets
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from factorstream import LowRankImputer

# ---------------------------------------------------------------- dtypes, markers, frames


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
@pytest.mark.parametrize("marker", [-1, 0, -999.0, np.float64(-999)])
def test_other_markers(problem, dtype, marker):
    X, _, gaps = problem
    values = np.rint(20.0 * X)
    values[values == marker] += 1.0
    marked = np.where(gaps, marker, values).astype(dtype)
    filled = LowRankImputer(missing_values=marker, random_state=0).fit_transform(marked)
    want = LowRankImputer(random_state=0).fit_transform(np.where(gaps, np.nan, values))
    assert_allclose(filled, want, rtol=1e-3 if dtype is np.float32 else 1e-12)


def test_two_markers_are_refused(problem):
    with pytest.raises(ValueError, match="contains NaN, but missing_values is -1"):
        LowRankImputer(missing_values=-1).fit(problem[1])


def test_integers_and_constants_and_binary_columns(rng):
    X = rng.integers(0, 2, (80, 5)).astype(float)
    X[:, 1] = 0.1 + 0.2  # a mean of which does not round to itself
    X[:, 2] = X[:, 0]
    gappy = np.where(rng.random(X.shape) < 0.2, np.nan, X)
    imputer = LowRankImputer(random_state=0)
    assert_array_equal(imputer.fit_transform(gappy)[:, 1], X[:, 1])
    assert imputer.scale_[1] == 0.0
    lower, upper = imputer.predict_interval(gappy)
    assert_array_equal(lower[:, 1], upper[:, 1])
    assert_array_equal(imputer.sample_imputations(gappy, 2)[:, :, 1], np.full((2, 80), 0.1 + 0.2))
    odd = np.array([[np.nan, 7.0, 1.0, np.nan, 0.0]])  # a value the constant feature never had
    plain = np.array([[np.nan, np.nan, 1.0, np.nan, 0.0]])
    assert_array_equal(imputer.transform(odd)[0, [0, 3]], imputer.transform(plain)[0, [0, 3]])


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_in_and_out(problem, library):
    frames = pytest.importorskip(library)
    _, gappy, _ = problem
    names = list("abcdefgh")
    frame = frames.DataFrame(gappy, **({"columns" if library == "pandas" else "schema": names}))
    imputer = LowRankImputer(random_state=0, add_indicator=True).set_output(transform=library)
    out = imputer.fit_transform(frame)
    assert isinstance(out, frames.DataFrame)
    assert list(out.columns) == [*names, *(f"missingindicator_{name}" for name in names)]
    assert list(imputer.feature_names_in_) == names
    assert_array_equal(out.to_numpy()[:, :8], LowRankImputer(random_state=0).fit_transform(gappy))
    assert_array_equal(out.to_numpy()[:, 8:], np.isnan(gappy))
    for bound in imputer.predict_interval(frame):  # a table for a table, without the indicators
        assert isinstance(bound, frames.DataFrame)
        assert list(bound.columns) == names


def test_frames_of_nullable_integers():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1, 2, None, 4], "b": [2.0, 4.0, 6.0, None]}).astype({"a": "Int64"})
    for marker in (np.nan, pandas.NA):
        imputer = LowRankImputer(missing_values=marker, random_state=0).set_output(transform="pandas")
        out = imputer.fit_transform(frame.set_index(pandas.Index(list("wxyz"))))
        assert list(out.index) == list("wxyz")
        assert not out.isna().any().any()


# ---------------------------------------------------------------- the same as scikit-learn's


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("indicator", [False, True])
def test_empty_features_and_indicators_are_those_of_simple_imputer(problem, keep, indicator):
    _, gappy, _ = problem
    gappy[:, 3] = np.nan
    gappy[:, 5] = 1.5
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = LowRankImputer(keep_empty_features=keep, add_indicator=indicator, random_state=0).fit(gappy)
        theirs = SimpleImputer(keep_empty_features=keep, add_indicator=indicator).fit(gappy)
        want = theirs.transform(gappy)
    out = ours.transform(gappy)
    assert out.shape == want.shape
    assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())
    names = [f"f{j}" for j in range(8)]
    assert list(ours.get_feature_names_out(names)) == list(theirs.get_feature_names_out(names))
    assert_allclose(ours.statistics_, theirs.statistics_)
    width = 8 if keep else 7
    assert_array_equal(out[:, width:], want[:, width:])
    if keep:
        assert_array_equal(out[:, 3], 0.0)
        gappy[0, 3] = 4.0
        assert ours.transform(gappy)[0, 3] == theirs.transform(gappy)[0, 3] == 4.0
    lower, upper = ours.predict_interval(gappy)
    assert lower.shape == upper.shape == (150, width)
    assert ours.sample_imputations(gappy, 2).shape == (2, 150, width)


def test_dropping_a_feature_is_announced(problem):
    _, gappy, _ = problem
    gappy[:, 3] = np.nan
    with pytest.warns(UserWarning, match="without any observed value: 3"):
        LowRankImputer().fit(gappy)


def test_pipeline_cross_validation_and_grid_search():
    X, y = datasets.load_wine(return_X_y=True)
    gappy = np.where(np.random.default_rng(14).random(X.shape) < 0.3, np.nan, X)
    pipe = make_pipeline(LowRankImputer(random_state=0), StandardScaler(), LogisticRegression())
    assert cross_val_score(pipe, gappy, y, cv=3).mean() > 0.85
    search = GridSearchCV(pipe, {"lowrankimputer__n_components": [1, "auto"]}, cv=2).fit(gappy, y)
    assert search.best_score_ > 0.8


@pytest.mark.parametrize("value", [1e100, -1.7e308])
def test_values_too_many_deviations_away_are_named_and_taken_as_missing(value):
    rng = np.random.default_rng(0)
    X = np.column_stack([np.full(30, 7.0), 1e-20 * rng.standard_normal((30, 2))])  # the first column takes no part
    imputer = LowRankImputer(1, calibrate=False, max_iter=3).fit(X)
    asked = X[:2].copy()
    asked[1] = 7.0, value, np.nan
    missing = np.where(asked == value, np.nan, asked)
    for name in ("transform", "predict_interval", "sample_imputations"):
        draw = {"random_state": 0} if name == "sample_imputations" else {}
        with pytest.warns(UserWarning, match="absurd value at row 1, column 1, which is taken as missing"):
            found = getattr(imputer, name)(asked, **draw)
        np.testing.assert_array_equal(found, getattr(imputer, name)(missing, **draw))
