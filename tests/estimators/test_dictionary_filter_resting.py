"""Columns that rest, and rare ones that spread more than others: units of which the first rows say little."""

from __future__ import annotations

import numpy as np
import pytest

from factorstream import DictionaryFilter

pytestmark = pytest.mark.long  # coverage over many streams


@pytest.mark.parametrize("stream", [False, True])
def test_a_constant_column_beside_very_large_ones_is_filled_with_its_value(rng, stream):
    X = 1e6 * rng.standard_normal((200, 3)) @ rng.standard_normal((3, 8)) + 1e5 * rng.standard_normal((200, 8))
    X = np.column_stack([X, np.full(200, 7.0)])
    X[rng.random(X.shape) < 0.2] = np.nan
    model = DictionaryFilter(3, random_state=0)
    if stream:
        for first in range(0, 200, 25):
            model.partial_fit(X[first : first + 25])
    else:
        model.fit(X)
    np.testing.assert_array_equal(model.impute(X)[:, -1], 7.0)


def test_rounding_does_not_make_a_constant_column_vary(rng):
    """The mean of n equal numbers is not that number to the last digit; what is left must not become a unit."""
    L = rng.standard_normal((3, 10))
    X = rng.standard_normal((1000, 3)) @ L + 0.3 * rng.standard_normal((1000, 10))
    asked = X[-1:].copy()
    asked[0, 5] = np.nan
    for n in (100, 300, 999):
        for value in 0.7 * np.arange(1, 60):
            X[:, 0], asked[0, 0] = value, value + 0.1
            model = DictionaryFilter(3, random_state=0).fit(X[:n])
            assert model.state_.unit[0] == 1.0
        assert abs(model.impute(asked)[0, 5] - X[-1, 5]) < 2.0


def test_columns_that_rest_at_first_are_learned_when_they_move(rng):
    """Also where no column moved in the rows that set the start."""
    C, coefficients = rng.standard_normal((3, 8)), rng.standard_normal((400, 3))
    for n_resting in (2, 8):
        X = coefficients @ C + 0.1 * rng.standard_normal((400, 8))
        X[:15, :n_resting] = 2.0
        model = DictionaryFilter(3, random_state=0)
        for first in range(0, 300, 15):
            model.partial_fit(X[first : first + 15])
        hidden = X[300:].copy()
        hidden[:, 0] = np.nan
        assert np.std(model.impute(hidden)[:, 0] - X[300:, 0]) < 0.4 * np.std(X[300:, 0])


def test_intervals_of_a_rare_column_that_spreads_more_than_the_others():
    held = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        C = rng.standard_normal((3, 20))
        X = rng.standard_normal((900, 3)) @ C + 0.3 * rng.standard_normal((900, 20))
        X[:, 0] *= 10.0
        train, asked = X[:500].copy(), X[500:].copy()
        train[rng.permutation(500)[30:], 0] = asked[:, 0] = np.nan
        model = DictionaryFilter(3, random_state=0)
        for first in range(0, 500, 50):
            model.partial_fit(train[first : first + 50])
        low, high = model.predict_interval(asked)
        held.append(np.mean((low[:, 0] <= X[500:, 0]) & (X[500:, 0] <= high[:, 0])))
    assert np.mean(held) > 0.88  # 0.82 where its noise is taken to be that of the others


@pytest.mark.parametrize("how", ["fit", "partial_fit"])
def test_a_late_column_has_no_bounds_before_its_unit_is_known(rng, how):
    """A barometer in pascals beside thermometers; with one value nothing says how far others may lie."""
    L = rng.standard_normal((3, 12))
    X = rng.standard_normal((400, 3)) @ L + 0.3 * rng.standard_normal((400, 12))
    X[:, 11] = 101_325.0 + 500.0 * X[:, 11]
    X[:300, 11] = np.nan
    asked = X[350:].copy()
    asked[:, 11] = np.nan
    for n_values in range(int(how == "fit"), 6):  # ``fit`` refuses columns without any value
        rows = X[: 300 + n_values]
        model = getattr(DictionaryFilter(3, random_state=0), how)(rows)
        low, high = model.predict_interval(asked)
        held = (low[:, 11] <= X[350:, 11]) & (X[350:, 11] <= high[:, 11])
        assert held.mean() > 0.6
        assert np.isinf(high[:, 11]).all() == np.isinf(low[:, 11]).all() == (n_values < 4)
        assert np.isfinite(model.impute(asked)).all()
        assert np.isnan(model.sample_imputations(asked, n_draws=2, random_state=0)[..., 11]).all() == (n_values < 4)
    if how == "fit":
        later = DictionaryFilter(3, random_state=0).fit(X[:302]).partial_fit(X[302:304])
        assert np.isfinite(later.predict_interval(asked)[0]).all()
