"""What intervals, standard deviations and draws mean."""

from __future__ import annotations

import numpy as np
import pytest

from contracts.asking import DRAWS, INTERVALS, filled, learned
from contracts.estimators import rows


@pytest.mark.parametrize("case", INTERVALS)
def test_an_interval_is_that_of_a_missing_entry(case):
    X = rows()
    model = learned(case, X)
    gaps, fill = np.isnan(X), filled(model, X)[:, : X.shape[1]]  # without indicators
    inner = model.predict_interval(X, level=0.5)
    outer = model.predict_interval(X, level=0.9)
    for lower, upper in (inner, outer):
        np.testing.assert_array_equal(lower[~gaps], X[~gaps])
        np.testing.assert_array_equal(upper[~gaps], X[~gaps])
        assert (lower < fill)[gaps].all()
        assert (fill < upper)[gaps].all()
    assert (outer[0] < inner[0])[gaps].all()
    assert (inner[1] < outer[1])[gaps].all()
    if hasattr(model, "impute"):
        same, std = model.impute(X, return_std=True)
        np.testing.assert_array_equal(same, fill)
        np.testing.assert_array_equal(std[~gaps], 0.0)
        assert (std[gaps] > 0).all()
    for level in (0.0, 1.0, -1, 95, float("nan")):
        with pytest.raises(ValueError, match="strictly between 0 and 1"):
            model.predict_interval(X, level=level)


@pytest.mark.parametrize("case", DRAWS)
def test_draws_keep_what_was_observed(case):
    X = rows()
    model = learned(case, X)
    draws = model.sample_imputations(X, n_draws=4, random_state=0)
    gaps = np.isnan(X)
    assert draws.shape == (4, *X.shape)
    np.testing.assert_array_equal(draws[:, ~gaps], np.broadcast_to(X[~gaps], (4, (~gaps).sum())))
    assert (np.ptp(draws[:, gaps], axis=0) > 0).all()
    np.testing.assert_array_equal(model.sample_imputations(X, n_draws=4, random_state=0), draws)
    for wrong in (0, -1, 2.7, True, "2"):
        with pytest.raises(ValueError, match="n_draws must be a whole number of at least 1"):
            model.sample_imputations(X, n_draws=wrong)
