from __future__ import annotations

import numpy as np
import pytest

from conftest import low_rank
from factorstream import (
    BayesianFactorization,
    DictionaryFilter,
    LowRankImputer,
    SGDFactorization,
    plot,
    principal_axes,
)
from plot_artists import labels


def heights(ax):
    return [bar.get_height() for bar in ax.containers[0]]


@pytest.mark.parametrize(
    "make",
    [
        lambda: DictionaryFilter(3, random_state=0),
        lambda: DictionaryFilter(3, covariance="shared", scale=False, random_state=0),
        lambda: BayesianFactorization(3, noise_variance="per_feature"),
    ],
)
def test_bars_are_shares_of_components_and_noise(make, rng):
    model = make().fit(low_rank(rng, 200, 12, 3, noise=0.5))
    ax = plot.spectrum(model)
    explained = principal_axes(model).explained_variance
    noise = np.broadcast_to(model.noise_variance_, 12)
    total = explained.sum() + noise.sum()
    np.testing.assert_allclose(heights(ax), explained / total)
    floor, rank = ax.lines
    np.testing.assert_allclose(floor.get_ydata(), noise.mean() / total)
    assert list(rank.get_xdata()) == [3.5, 3.5]
    share = 100 * explained.sum() / total
    assert labels(ax)[0] == f"components ({share:.1f}%)"
    assert labels(ax)[2] == "3 in use"


def test_shares_are_those_of_the_data(rng):
    """Components and noise together are the variance of the rows."""
    X = low_rank(rng, 500, 12, 3, noise=0.5)
    model = BayesianFactorization(3).fit(X)
    total = principal_axes(model).explained_variance[0] / heights(plot.spectrum(model))[0]
    assert total == pytest.approx(X.var(axis=0).sum(), rel=0.05)


@pytest.mark.parametrize("make", [lambda: DictionaryFilter(2, random_state=0), lambda: BayesianFactorization(2)])
def test_units_count_for_components_and_noise(make, rng):
    X = low_rank(rng, 200, 6, 2, noise=0.5)
    plain = make().fit(X)
    scaled = make().fit(1000.0 * X)
    axes = principal_axes(scaled, unit=np.full(6, 1000.0))
    np.testing.assert_allclose(heights(plot.spectrum(scaled, principal=axes)), heights(plot.spectrum(plain)), rtol=1e-6)


def test_a_rank_that_was_chosen_is_marked(rng):
    X = low_rank(rng, 200, 30, 3)
    X[rng.random(X.shape) < 0.5] = np.nan
    model = BayesianFactorization(random_state=0).fit(X)
    ax = plot.spectrum(model)
    assert len(heights(ax)) == model.n_components_ == 3
    assert labels(ax)[2] == "3 chosen"
    assert len(labels(ax)) == 3


def test_components_that_were_not_needed_leave_their_places_free(rng):
    X = low_rank(rng, 200, 30, 3)
    X[rng.random(X.shape) < 0.5] = np.nan
    model = BayesianFactorization(9).fit(X)
    used = model.n_components_
    assert 0 < used < 9
    ax = plot.spectrum(model)
    assert len(heights(ax)) == used
    assert labels(ax)[2:] == [f"{used} in use", "not needed"]
    assert ax.get_xlim()[1] > 9


def test_an_imputer_has_the_spectrum_of_its_factorisation(gappy):
    imputer = LowRankImputer(2, random_state=0).fit(gappy)
    np.testing.assert_array_equal(heights(plot.spectrum(imputer)), heights(plot.spectrum(imputer.factorization_)))


def test_models_without_noise_are_refused(gappy):
    model = SGDFactorization(2, random_state=0).fit(gappy)
    with pytest.raises(TypeError, match=r"SGDFactorization learns no noise variance.*principal_axes\(model, X\)"):
        plot.spectrum(model)
    assert (principal_axes(model, gappy).explained_variance > 0).all()  # as the sentence says
