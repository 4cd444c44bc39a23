"""Limits that columns show themselves, in fits of every kind: columns of rain, a third of it zeros, and one without."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from factorstream import LowRankImputer, open_rows
from factorstream.estimators import _column_limits, _source_rows

LEVEL = 0.8


def rain(n_rows, n_columns=3, seed=0):
    """Skewed columns with many zeros, but for the last one; gaps are NaN."""
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((n_rows, 1)) + 0.7 * rng.standard_normal((n_rows, n_columns))
    X = np.where(z < -0.5, 0.0, np.exp(z))
    X[:, -1] = z[:, -1]
    return np.where(rng.random(X.shape) < 0.2, np.nan, X)


def answers(imputer, gappy):
    lower, upper = imputer.predict_interval(gappy, LEVEL)
    return [imputer.transform(gappy), lower, upper, *imputer.sample_imputations(gappy, 3, random_state=0)]


def is_never_negative(imputer, gappy):
    return all((answer[:, :-1] >= 0.0).all() and (answer[:, -1] < 0.0).any() for answer in answers(imputer, gappy))


def fitted(gappy, **given):
    return LowRankImputer(random_state=0, **given).fit(gappy)


@pytest.mark.parametrize("shape", [(400, 3), (40, 3), (300, 110)], ids=["a table", "few rows", "many columns"])
@pytest.mark.parametrize("given", [{}, {"robust": True}, {"marginals": "normal"}], ids=str)
def test_rain_is_not_negative(shape, given):
    gappy = rain(*shape)
    assert is_never_negative(fitted(gappy, **given), gappy)


@pytest.mark.parametrize("shape", [(400, 3), (300, 110)], ids=["a table", "many columns"])
def test_linear_means_as_it_is(shape):
    gappy = rain(*shape)
    imputer = fitted(gappy, marginals="linear", residual=None)
    assert imputer.state_.limits is None
    assert not is_never_negative(imputer, gappy)


def test_a_single_column():
    gappy = rain(60)[:, :1]
    assert (fitted(gappy).predict_interval(gappy, LEVEL)[0] >= 0.0).all()


def test_rows_with_weights_and_known_errors():
    gappy = rain(100)
    imputer = LowRankImputer(random_state=0).fit(gappy, variances=np.full(gappy.shape, 0.01))
    assert is_never_negative(imputer, gappy)


def test_a_stream_of_few_rows():
    gappy = rain(45)
    assert is_never_negative(LowRankImputer(random_state=0).partial_fit(gappy), gappy)


def test_rows_that_are_read_again_and_again(monkeypatch, tmp_path):
    """Ends are those of all rows; how often they are seen is told by some of them."""
    gappy = rain(2000)
    gappy[:, 0] = np.minimum(gappy[:, 0], 1.5)
    np.save(tmp_path / "rain.npy", gappy)
    monkeypatch.setattr(_source_rows, "SOME_VALUES", 900)
    monkeypatch.setattr(_source_rows, "SOME_ROWS", 300)
    imputer = fitted(open_rows(tmp_path / "rain.npy"))
    assert imputer.state_.stream is None  # not fitted at once
    low, high = imputer.state_.limits
    assert_array_equal(low, [0.0, 0.0, -np.inf])
    assert_array_equal(high, [1.5, np.inf, np.inf])
    assert is_never_negative(imputer, gappy)


def test_what_is_a_limit():
    """Zero of columns on one side of it, and an end that is seen often enough; a column without values has none."""
    n, x = 1000, np.arange(1000.0)
    often = round(n * _column_limits.OFTEN)
    columns = {
        "positive": x + 5.0,
        "negative": -x - 5.0,
        "both": x - 500.0,
        "often": np.maximum(x - 300.0, x[often - 1] - 300.0),
        "not often": np.maximum(x - 300.0, x[often - 2] - 300.0),
        "full marks": np.minimum(x - 300.0, x[n - often] - 300.0),
        "empty": np.full(n, np.nan),
    }
    X = np.column_stack(list(columns.values()))
    low, high = _column_limits.shown_limits(*_ends(X), X)
    assert_array_equal(low, [0.0, -np.inf, -np.inf, often - 301.0, -np.inf, -np.inf, -np.inf])
    assert_array_equal(high, [np.inf, 0.0, np.inf, np.inf, np.inf, n - often - 300.0, np.inf])


@pytest.mark.parametrize(("times", "expected"), [(9, -np.inf), (10, -1.0)])
def test_of_few_values_some_equal_ones_are_no_limit(times, expected):
    X = np.repeat([3.0, -1.0], [9, times])[:, None]
    low, high = _column_limits.shown_limits(*_ends(X), X)
    assert (low, high) == (expected, np.inf)


def _ends(X):
    return np.fmin.reduce(X, axis=0, initial=np.inf), np.fmax.reduce(X, axis=0, initial=-np.inf)
