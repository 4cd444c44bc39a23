"""First values of many features: as by decompositions of whole matrices, without making them."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import reference_sequences as ref
from dynamics_problems import missing, moving_rows
from factorstream.core.dynamics import start
from factorstream.core.dynamics.noise import GaussianSpec
from factorstream.core.dynamics.wide import WideVariograms, excess_of_rows, row_covariance


@pytest.mark.parametrize("kind", ["none", "rows", "entries"])
def test_a_covariance_of_rows_equals_plain_loops(kind):
    Y = missing(moving_rows(9, 13, 2), kind)
    Z, diag = row_covariance(Y)
    S = Z.T @ Z
    np.fill_diagonal(S, diag)
    np.testing.assert_allclose(S, ref.scaled_covariance(Y))


@pytest.mark.parametrize("kind", ["none", "rows"])
def test_it_is_the_pairwise_covariance_where_features_share_their_gaps(kind):
    Y = missing(moving_rows(20, 30, 2), kind)
    Z, _ = row_covariance(Y)
    complete = Y[np.isfinite(Y).all(axis=1)]
    np.testing.assert_allclose(Z.T @ Z, complete.T @ complete / len(complete), atol=1e-12)


def test_gaps_make_eigenvalues_no_larger_on_average():
    """What exceeds chance is about the same with a third of the entries missing, seen by fewer pairs."""
    Y = moving_rows(400, 500, 2)
    whole, gappy = (excess_of_rows(np.diff(missing(Y, kind), axis=0), 1.0, 0.1) for kind in ("none", "entries"))
    edges = [(1.0 + np.sqrt(500 / n)) ** 2 for n in (399, 399 * 0.49**2)]
    assert (1 + gappy[-1]) * edges[1] == pytest.approx((1 + whole[-1]) * edges[0], rel=0.1)


def test_excess_of_complete_rows_is_that_of_the_whole_matrix():
    D = np.diff(moving_rows(60, 150, 1), axis=0) + np.random.default_rng(1).normal(size=(59, 1)) * np.linspace(
        -1, 1, 150
    )
    W = D / np.sqrt((D * D).mean(0))
    edge = 1.1 * (1 + np.sqrt(150 / (59 / 2))) ** 2
    expected = np.linalg.eigvalsh(W.T @ W / 59) / edge - 1
    found = excess_of_rows(D, 2.0, 1.1)
    assert len(found) == (expected > 0).sum() > 0
    np.testing.assert_allclose(found, expected[expected > 0])


@pytest.mark.parametrize("kind", ["none", "rows", "entries"])
def test_factors_are_counted_in_few_rows_of_many_features(kind):
    """Independent walks have no common changes, and common walks as many as there are."""
    rng = np.random.default_rng(0)
    walks = np.cumsum(rng.normal(size=(120, 400)), axis=0)
    shared = np.cumsum(rng.normal(size=(120, 2)), axis=0) @ rng.normal(size=(2, 400))
    for Y, number in ((walks, 0), (shared + 0.3 * walks, 2)):
        v = start.measure(missing(Y / Y.std(axis=0), kind))
        assert isinstance(v, WideVariograms)
        assert start.common_changes(v)[0] == number


def test_each_features_own_variogram_is_as_in_the_matrix(monkeypatch):
    Y = missing(moving_rows(100, 140, 3), "entries")
    wide = start.measure(Y)
    monkeypatch.setattr(start, "FEW_FEATURES", 1000)
    narrow = start.measure(Y)
    assert isinstance(narrow, start.Variograms)
    for name in ("lags", "diag", "pairs", "total"):
        np.testing.assert_allclose(getattr(wide, name), getattr(narrow, name))


def test_no_square_matrix_of_features_is_made():
    Y = moving_rows(30, 4000, 2)
    tracemalloc.start()
    model = start.start_levels(Y, 3, GaussianSpec())
    start.start_states(Y, 3, GaussianSpec())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert model.emission.C.shape == (4000, 3)
    assert peak < 0.5 * 8 * 4000**2
