"""LowRankImputer on tables with skewed columns and nonlinear relations."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from factorstream import LowRankImputer, load
from factorstream.estimators import _table_model
from factorstream.estimators._columns import enough_rows, first_rows_and_rare
from factorstream.estimators._imputer_answers import fill_between


@pytest.fixture(scope="module")
def skewed():
    """Columns that are skewed, bounded, whole numbers, and a parabola of another one."""
    rng = np.random.default_rng(5)
    x, y = rng.standard_normal((2, 400))
    X = np.column_stack(
        [
            np.exp(x + 0.2 * rng.standard_normal(400)),
            x + 0.3 * rng.standard_normal(400),
            np.clip(y, -0.5, 0.5),
            np.floor(np.exp(y)),
            x**2 + 0.2 * rng.standard_normal(400),
            y + x + 0.3 * rng.standard_normal(400),
        ]
    )
    gaps = rng.random(X.shape) < 0.2
    return X, np.where(gaps, np.nan, X), gaps


def error(X, filled, gaps):
    return np.sqrt(np.mean(((filled - X) / X.std(axis=0))[gaps] ** 2))


def test_curves_and_skewed_columns_are_filled_better(skewed):
    X, gappy, gaps = skewed
    linear = LowRankImputer(marginals="linear", residual=None, random_state=0).fit_transform(gappy)
    scores = LowRankImputer(residual=None, random_state=0).fit_transform(gappy)
    ours = LowRankImputer(random_state=0).fit_transform(gappy)
    assert error(X, scores, gaps) < 0.95 * error(X, linear, gaps)
    assert error(X, ours, gaps) < 0.85 * error(X, linear, gaps)
    assert error(X[:, [4]], ours[:, [4]], gaps[:, [4]]) < 0.7 * error(X[:, [4]], linear[:, [4]], gaps[:, [4]])


def test_fills_and_bounds_stay_within_what_a_column_can_be(skewed):
    """Columns without negative values, and limits that are met again and again."""
    _, gappy, _ = skewed
    imputer = LowRankImputer(random_state=0).fit(gappy)
    lower, upper = imputer.predict_interval(gappy, level=0.99)
    for answer in (imputer.transform(gappy), lower, upper):
        assert (answer[:, [0, 3]] >= 0).all()
        assert (np.abs(answer[:, 2]) <= 0.5).all()
    free = LowRankImputer(marginals="linear", residual=None, random_state=0).fit(gappy).predict_interval(gappy, 0.99)
    assert (free[0][:, 0] < 0).any()


def test_limits_can_be_given(skewed):
    _, gappy, _ = skewed
    for marginals in ("auto", "linear"):
        imputer = LowRankImputer(marginals=marginals, min_value=-0.1, max_value=[9, 0.2, 9, 9, 9, 9], random_state=0)
        lower, upper = imputer.fit(gappy).predict_interval(gappy)
        gaps = np.isnan(gappy)
        for answer in (imputer.transform(gappy), lower, upper):
            assert answer[gaps].min() >= -0.1
            assert answer[gaps[:, 1], 1].max() <= 0.2
    both = LowRankImputer(max_value=[np.inf, np.inf, np.inf, 0.5, np.inf, np.inf], random_state=0).fit(gappy)
    for answer in (both.transform(gappy), *both.predict_interval(gappy, 0.99), *both.sample_imputations(gappy, 5, 0)):
        assert (answer[:, [0, 3]] >= 0).all()  # what the columns show stays
        assert (np.abs(answer[:, 2]) <= 0.5).all()
        assert answer[gaps[:, 3], 3].max() <= 0.5
    low, high = LowRankImputer(min_value=-9.0, random_state=0).fit(gappy).state_.limits
    assert (low == -9.0).all()  # what is given prevails on its side
    assert high[2] == 0.5  # and the other side is what the column shows
    below = LowRankImputer(max_value=-1.0, random_state=0).fit(gappy).transform(gappy)
    assert (below[gaps] <= -1.0).all()  # what is given prevails
    with pytest.raises(ValueError, match="one for each of the 6 columns"):
        LowRankImputer(min_value=[1.0, 2.0]).fit(gappy)
    with pytest.raises(ValueError, match="must not exceed"):
        LowRankImputer(min_value=1.0, max_value=0.0).fit(gappy)


def test_a_straight_relation_is_followed_beyond_what_was_seen():
    """The greatest values are missing, and known from another column."""
    x = np.random.default_rng(4).permutation(200) - 100.0
    gappy = np.column_stack([x, np.where(x > 80, np.nan, 2 * x)])
    filled = LowRankImputer(random_state=0).fit_transform(gappy)
    assert_allclose(filled[x > 80, 1], 2 * x[x > 80], rtol=0.05)


@pytest.mark.parametrize("marginals", ["auto", "linear", "normal"])
def test_intervals_hold_in_skewed_columns(skewed, marginals):
    X, gappy, gaps = skewed
    imputer = LowRankImputer(marginals=marginals, random_state=0).fit(gappy)
    for level in (0.8, 0.95):
        lower, upper = imputer.predict_interval(gappy, level=level)
        inside = (lower <= X) & (upper >= X)
        assert level - 0.04 < np.mean(inside[gaps]) < level + 0.06  # wider where a curve is taken for a line
    filled, std = imputer.impute(gappy, return_std=True)
    assert (std[gaps] > 0).all()
    assert np.sqrt(np.mean(((filled - X)[gaps] / std[gaps]) ** 2)) == pytest.approx(1.0, abs=0.35)


def test_bounds_of_skewed_columns_are_not_symmetric(skewed):
    _, gappy, gaps = skewed
    imputer = LowRankImputer(random_state=0).fit(gappy)
    filled = imputer.transform(gappy)
    lower, upper = imputer.predict_interval(gappy)
    one = gaps[:, 0]
    assert np.median((upper - filled)[one, 0] / (filled - lower)[one, 0]) > 1.3


def test_a_table_where_nothing_is_curved_loses_nothing(rng):
    X = rng.standard_normal((300, 2)) @ rng.standard_normal((2, 8)) + 0.5 * rng.standard_normal((300, 8))
    gaps = rng.random(X.shape) < 0.2
    gappy = np.where(gaps, np.nan, X)
    linear = LowRankImputer(marginals="linear", residual=None, random_state=0).fit_transform(gappy)
    assert error(X, LowRankImputer(random_state=0).fit_transform(gappy), gaps) < 1.03 * error(X, linear, gaps)


def test_the_file_has_all_of_it(skewed, tmp_path):
    _, gappy, _ = skewed
    imputer = LowRankImputer(random_state=0).fit(gappy)
    imputer.save(tmp_path / "table.factorstream")
    loaded = load(tmp_path / "table.factorstream")
    assert_array_equal(loaded.transform(gappy), imputer.transform(gappy))
    assert_array_equal(loaded.predict_interval(gappy), imputer.predict_interval(gappy))


def test_rows_are_filled_each_on_its_own(skewed):
    _, gappy, _ = skewed
    imputer = LowRankImputer(random_state=0).fit(gappy)
    assert_allclose(imputer.transform(gappy[10:20]), imputer.transform(gappy)[10:20], rtol=1e-9)


def test_draws_have_the_law_of_the_intervals(skewed):
    _, gappy, gaps = skewed
    imputer = LowRankImputer(random_state=0).fit(gappy)
    draws = imputer.sample_imputations(gappy, 300, random_state=0)
    lower, upper = imputer.predict_interval(gappy, level=0.9)
    assert np.mean(((lower <= draws) & (draws <= upper))[:, gaps]) == pytest.approx(0.9, abs=0.04)


def test_complete_columns_are_learned_too(skewed):
    """A column without gaps in the fit can have some in a question."""
    X, _, _ = skewed
    imputer = LowRankImputer(random_state=0).fit(X)
    asked = X.copy()
    asked[:50, 4] = np.nan
    assert error(X[:50, [4]], imputer.transform(asked)[:50, [4]], np.ones((50, 1), bool)) < 0.5


def test_of_many_rows_every_column_is_learned_from_enough_values():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60_000, 3))
    X[rng.random(X.shape) < 0.2] = np.nan
    assert len(enough_rows(X)) == 20_000
    X[rng.random(60_000) < 0.5, 2] = np.nan
    some = enough_rows(X)
    assert len(some) == 30_000
    assert (np.count_nonzero(~np.isnan(some), axis=0) >= 10_000).all()
    np.testing.assert_array_equal(enough_rows(X[:10_000]), X[:10_000])
    np.testing.assert_array_equal(enough_rows(X[:19_000]), X[:19_000])


def test_columns_that_are_hardly_ever_seen_keep_a_few_values():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60_000, 3))
    X[70:, 1] = np.nan
    X[3000:, 2] = np.nan
    some = enough_rows(X)
    assert 40_000 < len(some) < 40_050
    counts = np.count_nonzero(~np.isnan(some), axis=0)
    assert counts[1] == 50
    assert 1800 < counts[2] < 2200


@pytest.mark.parametrize("seen", [2, 10, 25])
@pytest.mark.parametrize("marginals", ["auto", "normal"])
def test_a_column_with_few_values_does_not_cost_the_others_theirs(skewed, seen, marginals, rng):
    X, gappy, gaps = skewed
    sparse = 3.0 * X[:, 1] + rng.standard_normal(400)
    few = np.where(np.isin(np.arange(400), rng.permutation(400)[:seen]), sparse, np.nan)
    X, gappy = np.column_stack([X, sparse]), np.column_stack([gappy, few])
    gaps = np.isnan(gappy)
    model = LowRankImputer(marginals=marginals, random_state=0).fit(gappy)
    filled, (lower, upper) = model.transform(gappy), model.predict_interval(gappy)
    alone = LowRankImputer(marginals="linear", residual=None, random_state=0).fit_transform(gappy)
    assert error(X[:, :6], filled[:, :6], gaps[:, :6]) < 0.85 * error(X[:, :6], alone[:, :6], gaps[:, :6])
    held = (lower <= X) & (upper >= X)
    assert np.mean(held[:, :6][gaps[:, :6]]) > 0.92
    assert np.mean(held[gaps[:, 6], 6]) > 0.8
    if seen > 2 and marginals == "auto":
        assert error(X[:, [6]], filled[:, [6]], gaps[:, [6]]) < 0.8


@pytest.mark.parametrize("seen", [30, 40, 60])
def test_of_many_rows_columns_that_are_hardly_ever_seen_have_bounds(seen):
    """Fewer rows are asked for entries left out than are learned from."""
    rng = np.random.default_rng(seen)
    X = rng.normal(size=(60_000, 2)) @ rng.normal(size=(2, 3)) + 0.3 * rng.normal(size=(60_000, 3))
    gappy = np.where(rng.random(X.shape) < 0.2, np.nan, X)
    gappy[:, 0] = np.where(np.isin(np.arange(60_000), rng.permutation(60_000)[:seen]), X[:, 0], np.nan)
    model = LowRankImputer(random_state=0).fit(gappy)
    lower, upper = model.predict_interval(gappy[:2000])
    gone = np.isnan(gappy[:2000])
    assert (lower < upper)[gone].all()
    assert np.mean(((lower <= X[:2000]) & (X[:2000] <= upper))[gone[:, 0], 0]) > 0.85


def test_of_many_rows_columns_that_hardly_ever_vary_are_learned_and_filled():
    """A column that is the same in all rows drawn gets one in which it differs."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60_000, 4))
    X[:, 0] = 0.0
    gappy = np.where(rng.random(X.shape) < 0.2, np.nan, X)
    gappy[:, 3] = np.arange(60_000)
    others = np.setdiff1d(gappy[:, 3], enough_rows(gappy)[:, 3]).astype(int)
    gappy[others[:3], 0] = 1.0
    model = LowRankImputer(random_state=0).fit(gappy)
    filled, (lower, upper) = model.transform(gappy[:2000]), model.predict_interval(gappy[:2000])
    assert (np.abs(filled[:, 0] - gappy[:2000, 0]) < 0.1)[~np.isnan(gappy[:2000, 0])].all()
    assert ((lower >= 0.0) & (lower <= filled) & (filled <= upper) & (upper <= 1.0))[:, 0].all()


def test_rows_that_are_drawn_have_values_of_every_column_and_two_different_ones():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=5000), np.zeros(5000), np.zeros(5000), np.full(5000, np.nan), np.ones(5000)])
    X[4000:4003, 1] = 7.0
    X[200:, 2] = np.nan
    X[150, 2] = 3.0
    order = np.concatenate([np.arange(1000, 2000), np.arange(1000), np.arange(2000, 5000)])
    rows = first_rows_and_rare(X, order, 1000)
    some = X[rows]
    assert set(range(1000, 2000)) <= set(rows.tolist())
    assert len(rows) == 1000 + 1 + 51  # a row with a 7, and of the third column 50 zeros and the 3
    assert np.nanmax(some[:, 1]) == 7.0
    assert np.nanmax(some[:, 2]) == 3.0
    assert np.isnan(some[:, 3]).all()
    np.testing.assert_array_equal(first_rows_and_rare(X[:, :1], order, 1000), np.arange(1000, 2000))


def test_of_many_rows_those_learned_from_are_chosen_whatever_their_gaps():
    """A column is seen where another one is large: rows chosen for its sake would be large there too."""
    rng = np.random.default_rng(0)
    f = rng.normal(size=100_000)
    X = f[:, None] + 0.6 * rng.normal(size=(100_000, 3))
    truth = X.copy()
    X[truth[:, 0] < 2.0, 1] = np.nan
    lost = rng.random(100_000) < 0.1
    X[lost, :2] = np.nan
    assert abs(np.nanmean(enough_rows(X)[:, 0])) < 0.02
    model = LowRankImputer(random_state=0, marginals="linear", residual=None, calibrate=False).fit(X)
    asked = np.flatnonzero(lost)[:4000]
    assert abs(np.mean(model.transform(X[asked])[:, 0] - truth[asked, 0])) < 0.05


@pytest.mark.long
def test_many_rows_are_filled_as_well_from_some_of_them(monkeypatch):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(30_000, 2)) @ rng.normal(size=(2, 8)) + 0.3 * rng.normal(size=(30_000, 8))
    gone = rng.random(X.shape) < 0.2
    gappy = np.where(gone, np.nan, X)
    some = LowRankImputer(random_state=0).fit(gappy).transform(gappy)
    monkeypatch.setattr("factorstream.estimators._columns.ENOUGH", 10**6)
    every = LowRankImputer(random_state=0).fit(gappy).transform(gappy)
    errors = [np.sqrt(np.mean((filled - X)[gone] ** 2)) for filled in (some, every)]
    assert errors[0] < 1.003 * errors[1]


@pytest.mark.parametrize("marginals", ["auto", "linear"])
def test_fills_and_bounds_found_together_are_those_found_alone(marginals):
    rng = np.random.default_rng(2)
    X = np.exp(rng.normal(size=(120, 2)) @ rng.normal(size=(2, 5)))
    X[rng.random(X.shape) < 0.2] = np.nan
    model = LowRankImputer(marginals=marginals, random_state=0).fit(X)
    filled, lower, upper = fill_between(model, X, 0.9)
    np.testing.assert_array_equal(filled, model.transform(X))
    np.testing.assert_array_equal((lower, upper), model.predict_interval(X, 0.9))


def test_corrections_of_which_nothing_is_added_are_not_asked(skewed, monkeypatch):
    _, gappy, _ = skewed
    model = LowRankImputer(random_state=0).fit(gappy)
    table, Z = model.state_.table, model.state_.standardised(gappy)

    def as_if(change):
        return table._replace(columns=tuple(one._replace(correction=change(one.correction)) for one in table.columns))

    none = as_if(lambda found: found._replace(shares=np.zeros((2, 2)), local=0.0))
    smooth = as_if(lambda found: found._replace(shares=np.array([[0.5, 0.5], [0.0, 0.0]])))
    expected, with_smooth = as_if(lambda found: None).fill(Z), smooth.fill(Z)
    monkeypatch.setattr(_table_model, "forest_values", None)
    assert_array_equal(smooth.fill(Z), with_smooth)
    assert not np.array_equal(with_smooth, expected)
    monkeypatch.setattr(_table_model, "kernel_values", None)
    assert_array_equal(none.fill(Z), expected)
