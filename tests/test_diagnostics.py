"""Does being missing depend on what is observed?"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import false_discovery_control, mannwhitneyu

from factorstream import missingness


def low_rank(rng, n=200, m=6):
    return rng.normal(size=(n, 2)) @ rng.normal(size=(2, m)) + 0.5 * rng.normal(size=(n, m))


def without(X, gaps):
    return np.where(gaps, np.nan, X)


@pytest.mark.parametrize("shape", [(40, 4), (200, 8)])
def test_gaps_at_random_are_named_no_more_often_than_promised(shape):
    """300 tables at level 0.1: more than 45 would happen by chance less than once in 300 times."""
    named = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        X = low_rank(rng, *shape) if seed % 2 else rng.integers(0, 3, shape).astype(float)  # with ties
        named += missingness(without(X, rng.random(shape) < rng.uniform(0.1, 0.7, shape[1])), level=0.1).depends.any()
    assert 0 < named <= 45


def test_gaps_where_another_column_is_large_are_found_and_explained():
    found = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(150, 5))
        gaps = rng.random(X.shape) < 0.2
        gaps[:, 0] = rng.random(150) < 1.0 / (1.0 + np.exp(-2.0 * X[:, 3]))
        gaps[:, 3] = False
        got = missingness(without(X, gaps))
        found += got.depends[0] and got.related[0] == 3 and bool(got.higher[0])
    assert found >= 19


def test_a_column_that_hides_its_own_large_values_shows_only_through_related_columns():
    rng = np.random.default_rng(0)
    related, alone = low_rank(rng, 400), rng.normal(size=(400, 6))
    for X, seen in ((related, True), (alone, False)):
        gaps = np.zeros(X.shape, dtype=bool)
        gaps[:, 0] = X[:, 0] > np.quantile(X[:, 0], 0.7)
        assert missingness(without(X, gaps)).depends[0] == seen


def test_p_values_are_those_of_the_textbook():
    rng = np.random.default_rng(1)
    X = without(np.round(low_rank(rng, 60, 3), 1), rng.random((60, 3)) < 0.4)
    gaps = np.isnan(X)
    smallest = []
    for i in range(3):
        pairs = [
            mannwhitneyu(X[~gaps[:, j] & gaps[:, i], j], X[~gaps[:, j] & ~gaps[:, i], j], method="asymptotic").pvalue
            for j in range(3)
            if j != i
        ]
        smallest.append(min(1.0, 2 * min(pairs)))
    assert_allclose(missingness(X).p_values, false_discovery_control(smallest), rtol=1e-9)


def test_what_cannot_be_tested_is_nan_and_said():
    X = np.random.default_rng(0).normal(size=(30, 3))
    X[:7, 0] = np.nan  # too few gaps
    X[:, 1] = 2.0
    found = missingness(X)
    assert np.isnan(found.p_values).all()
    assert found.related == (None, None, None)
    assert not found.depends.any()
    assert "No column has enough" in str(found)


def test_names_and_sentences():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.normal(size=(200, 3)), columns=["heat", "rain", "wind"])
    frame.loc[rng.random(200) < 0.3, "rain"] = np.nan
    assert "cannot be seen" in str(missingness(frame))
    frame.loc[frame["wind"] < -0.5, "heat"] = np.nan
    found = missingness(frame)
    assert found.columns == ("heat", "rain", "wind")
    assert "heat (where wind is low" in str(found)


@pytest.mark.parametrize("level", [0.0, 1.0, np.nan])
def test_bad_levels(level):
    with pytest.raises(ValueError, match="level must lie strictly between 0 and 1"):
        missingness(np.zeros((3, 2)), level)


def test_a_row_is_not_a_table():
    with pytest.raises(ValueError, match="table of rows and columns"):
        missingness(np.zeros(3))


def test_masked_arrays():
    X = np.random.default_rng(0).normal(size=(100, 2))
    gaps = np.stack([X[:, 1] > 0.5, np.zeros(100, dtype=bool)], axis=1)
    assert missingness(np.ma.MaskedArray(X, gaps)).depends.tolist() == [True, False]


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[1.0, np.inf], [np.nan, 2.0]], "infinity at row 0, column 1; replace it by NaN"),
        (np.array([["1", "a"], ["2", "3"]]), "Column 1 of X has 'a' in row 0, which is no number; drop the column"),
        ([[1.0, "x"], [2.0, 3.0]], "Column 1 of X has 'x' in row 0"),
        ([[1.0, 2.0], [3.0]], "all rows of one length"),
    ],
)
def test_what_is_no_number_is_refused_in_one_sentence(X, message):
    with pytest.raises(ValueError, match=message):
        missingness(X)


def test_text_in_a_table_is_refused_by_the_name_of_its_column():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"height": [1.5, np.nan, 1.7], "name": ["Ann", "Bob", "Eve"]})
    with pytest.raises(ValueError, match="Column 'name' of X has 'Ann' in row 0, which is no number; drop the column"):
        missingness(table)
    times = pandas.DataFrame({"height": [1.5, np.nan], "time": pandas.date_range("2024", periods=2)})
    with pytest.raises(ValueError, match="Column 'time' of X has '2024-01-01 00:00:00' in row 0"):
        missingness(times)
