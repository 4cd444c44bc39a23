"""Columns beside the dictionary: a naive loop of each sum, and filters in other units."""

from __future__ import annotations

import numpy as np
import pytest

from conftest import low_rank
from counted_problems import begin_counted, counted_model, feature_covariances, problem
from factorstream import DictionaryFilter
from factorstream.core.place import HERE
from factorstream.tall.columns import column_variances, rescaled, residual_sums
from factorstream.tall.filtering import filter_rows
from split_place import SPLIT, fetched


def written_out(state, model, rows):
    """The three sums with every matrix in full: each row's x by Bayes' rule in the space of values."""
    small, r = state.small, model.r
    C, origin, V = fetched(state.C).astype(float), fetched(state.origin).astype(float), feature_covariances(state)
    second = np.ones((model.q, model.q))
    second[:r, :r] = small.T + np.outer(small.xbar, small.xbar)
    if model.has_mean:
        second[:r, r] = second[r, :r] = small.xbar
    doubts = np.array([np.trace(V_i @ second) for V_i in V])
    noises = small.noise * (1.0 + doubts / small.lam)
    squares, own, others = np.zeros((3, rows.shape[1]))
    for y in rows:
        seen = ~np.isnan(y)
        C_x = C[seen, :r]
        expected = origin[seen] + (C[seen, r] if model.has_mean else 0.0) + C_x @ small.xbar
        gain = small.T @ C_x.T @ np.linalg.inv(C_x @ small.T @ C_x.T + np.diag(noises[seen]))
        x = small.xbar + gain @ (y[seen] - expected)
        z = np.append(x, 1.0) if model.has_mean else x
        squares[seen] += (y[seen] - origin[seen] - C[seen] @ z) ** 2
        Sigma = small.T - gain @ C_x @ small.T
        into_x = np.einsum("ij,jk,ik->i", C_x, Sigma, C_x) / noises[seen]
        into_c = np.einsum("i,mij,j->m", z, V[seen], z) / small.lam
        left = np.maximum(1.0 - into_c, 0.0)
        own[seen] += (1.0 - into_x) ** 2 * left
        others[seen] += into_x * (1.0 - into_x) * left
    return squares, own, others


@pytest.mark.parametrize("with_mean", [True, False])
@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_the_sums_are_those_of_the_written_out_gaussians(rng, with_mean, missing):
    X, C, V = problem(rng, 60, 9, 2, missing=missing, with_mean=with_mean)
    X[::3, 4] = np.nan
    model = counted_model(2, 2 + with_mean, learn_noise=True)
    state, _ = filter_rows(begin_counted(C, V, 0.1, 2), model, X, 16)
    found = residual_sums(state, model, X[-25:])
    for ours, theirs in zip(found, written_out(state, model, X[-25:]), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9)


def test_they_do_not_depend_on_the_place_or_on_how_many_rows_are_handled_together(rng, monkeypatch):
    X = np.where(rng.random((80, 9)) < 0.3, np.nan, low_rank(rng, 80, 9, 2, offset=2.0))
    run = DictionaryFilter(2, random_state=0).fit(X).state_
    state, model = run.filter, run.settings.model
    expected = residual_sums(state, model, X, run.unit)
    here = {name: HERE.put(fetched(getattr(state, name)), 0) for name in ("C", "origin")}
    for place in (HERE, SPLIT):
        tall = {name: place.put(values, 0) for name, values in here.items()}
        groups = state.groups._replace(
            **{name: place.put(fetched(getattr(state.groups, name)), 0) for name in ("seen", "group")}
        )
        for at_once in (1, 50, 10**6):
            monkeypatch.setattr("factorstream.tall.columns.AT_ONCE", at_once)
            found = residual_sums(state._replace(groups=groups, unseen=None, **tall), model, X, run.unit)
            np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_a_rescaled_filter_has_the_same_doubt(rng):
    X, C, V = problem(rng, 40, 6, 2, missing=0.3)
    factor = np.array([1.0, 3.0, 0.5, 1.0, 2.0, 1.0])
    model = counted_model(2, 3, learn_noise=True)
    state, _ = filter_rows(begin_counted(C, V, 0.1, 2), model, X, 16)
    other = rescaled(state, factor)
    np.testing.assert_allclose(fetched(other.C), fetched(state.C) * factor[:, None])
    np.testing.assert_allclose(fetched(other.origin), fetched(state.origin) * factor)
    np.testing.assert_allclose(other.small.G, fetched(other.C).T @ fetched(other.C), rtol=1e-12)
    np.testing.assert_array_equal(feature_covariances(other), feature_covariances(state))


def test_residuals_are_in_the_units_of_the_columns(rng):
    X, C, V = problem(rng, 40, 6, 2, missing=0.3)
    model = counted_model(2, 3, learn_noise=True)
    state, _ = filter_rows(begin_counted(C, V, 0.1, 2), model, X, 16)
    louder = state._replace(small=state.small._replace(noise_sum=49.0 * state.small.noise_sum))
    found = residual_sums(rescaled(louder, np.full(6, 7.0)), model, 7.0 * X)
    plain = residual_sums(state, model, X)
    np.testing.assert_allclose(found.squares, 49.0 * plain.squares, rtol=1e-9)
    np.testing.assert_allclose(found.own, plain.own, rtol=1e-9)
    np.testing.assert_allclose(found.others, plain.others, rtol=1e-9)


def test_columns_vary_as_draws_from_the_filter_s_model(rng):
    X, C, V = problem(rng, 40, 6, 2, missing=0.3)
    state, _ = filter_rows(begin_counted(C, V, 0.1, 2), counted_model(2, 3, learn_noise=True), X, 16)
    drawn = rng.multivariate_normal(state.small.xbar, state.small.T, 200_000) @ fetched(state.C)[:, :2].T
    drawn += np.sqrt(state.small.noise) * rng.standard_normal(drawn.shape)
    np.testing.assert_allclose(column_variances(state), drawn.var(axis=0), rtol=0.02)
