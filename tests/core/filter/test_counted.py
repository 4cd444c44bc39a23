"""One sample where every feature has its own doubt, and the regression that the filter then is."""

from __future__ import annotations

import numpy as np
import pytest

from counted_problems import begin_counted, counted_model, feature_covariances, problem
from factorstream.core.filter import groups as grouping
from factorstream.core.filter.coefficients import Sample
from factorstream.core.filter.counted import condition, drifted, step_of, trust
from factorstream.core.filter.groups import Counts, all_groups, covariances, in_columns, stacked
from factorstream.core.filter.recursion import belief, normal_equations
from factorstream.core.filter.state import noise_information
from factorstream.tall.filtering import filter_rows
from filter_problems import begin, close, paper_model, random_spd
from reference import mf_rlf
from reference_counted import CountedFilter
from split_place import fetched

LAM = 0.2


@pytest.mark.parametrize("with_mean", [False, True])
@pytest.mark.parametrize("missing", [0.3, 0.7])
def test_exact_features_have_the_posterior_of_their_own_regression(rng, monkeypatch, missing, with_mean):
    """Given the x and λ_k of every row: V_i⁻¹ = V0⁻¹ + Σ x xᵀ/λ_k and c_i = V_i (V0⁻¹c0 + Σ y x/λ_k), rows seen."""
    monkeypatch.setattr(grouping, "YOUNG", 10**6)
    r, m = 3, 12
    Y, C, V0 = problem(rng, 120, m, r, missing=missing, with_mean=with_mean)
    Y[0] = np.where(np.arange(m) < 4, Y[0], np.nan)
    Y[1] = np.where(np.arange(m) < 4, np.nan, Y[1])  # nobody has the history of all rows
    Y[:, 11] = np.where(np.arange(120) < 60, np.nan, Y[:, 11])
    state, _ = filter_rows(begin_counted(C, V0, LAM, r), counted_model(r, C.shape[1]), Y, 8)
    monkeypatch.setattr("reference_counted.YOUNG", 10**6)
    twin = CountedFilter(C, V0, LAM, r).run(Y)
    assert twin.place.count("own") == m
    X, lams, P0 = np.array(twin.x_of_row), np.array(twin.lam_of_row), np.linalg.inv(V0)
    for i in range(m):
        seen = ~np.isnan(Y[:, i])
        A, y, w = X[seen], Y[seen, i], 1.0 / lams[seen]
        precision = P0 + (A.T * w) @ A
        close(feature_covariances(state)[i], np.linalg.inv(precision), 1e-8)
        close(fetched(state.C)[i], np.linalg.solve(precision, P0 @ C[i] + A.T @ (w * y)), 1e-8)


def test_complete_rows_are_one_regression_for_all_features(rng):
    r, m = 3, 12
    Y, C, V0 = problem(rng, 120, m, r)
    state, _ = filter_rows(begin_counted(C, V0, LAM, r), counted_model(r, r + 1), Y, 8)
    twin = CountedFilter(C, V0, LAM, r).run(Y)
    assert state.groups.alike
    X, w, P0 = np.array(twin.x_of_row), 1.0 / np.array(twin.lam_of_row), np.linalg.inv(V0)
    precision = P0 + (X.T * w) @ X
    close(fetched(state.C), np.linalg.solve(precision, P0 @ C.T + (X.T * w) @ Y).T, 1e-8)


def test_a_level_is_a_regression_in_which_every_row_counts_by_its_share(rng, monkeypatch):
    """A level that was carried through all rows, whoever was at it."""
    monkeypatch.setattr(grouping, "ROOM", 0)
    monkeypatch.setattr(grouping, "ROOM_PER_ENTRY", 0.0)
    r, m = 2, 10
    Y, C, V0 = problem(rng, 200, m, r)
    Y[1::2, 7:] = np.nan
    state, _ = filter_rows(begin_counted(C, V0, LAM, r), counted_model(r, r + 1), Y, 8)
    twin = CountedFilter(C, V0, LAM, r, room=0).run(Y)
    assert set(twin.place) == {0, 2}
    X, w, P0 = np.array(twin.x_of_row), 1.0 / np.array(twin.lam_of_row), np.linalg.inv(V0)
    V = feature_covariances(state)
    close(V[0], np.linalg.inv(P0 + (X.T * w) @ X), 1e-8)
    close(V[8], np.linalg.inv(P0 + 0.5 * (X.T * w) @ X), 1e-8)


def test_without_doubt_it_is_algorithm_1(rng):
    """With next to no doubt about C (V0 small against λ) and many features the rules become those of the paper."""
    m, r = 4000, 2
    truth = rng.standard_normal((m, r))
    Y = rng.standard_normal((50, r)) @ truth.T + 0.3 * rng.standard_normal((50, m))
    V0 = 1e-9 * np.eye(r)
    state, _ = filter_rows(begin_counted(truth, V0, 0.09, r), counted_model(r, r), Y, 8)
    C, V, _ = mf_rlf(Y.T, truth, V0, 0.09)
    close(fetched(state.C) - truth, C - truth, 2e-3)  # λ_k is λ (1 + r/m): 1 in 2000
    close(feature_covariances(state)[0], V, 1e-9)
    paper, _ = filter_rows(begin(truth, V0, 0.09), paper_model(r), Y, 8)
    close(fetched(paper.C), C)


def in_the_middle(rng, r=2, m=9, n=60):
    Y, C, V0 = problem(rng, n, m, r, missing=0.3)
    model = counted_model(r, r + 1, learn_noise=True)
    state, _ = filter_rows(begin_counted(C, V0, LAM, r), model, Y, 8)
    return state, model


def test_only_groups_that_were_seen_or_are_levels_learn(rng):
    state, model = in_the_middle(rng)
    groups, C, group = state.groups, fetched(state.C), fetched(state.groups.group)
    y = rng.standard_normal(len(C))
    seen = np.ones(len(C), dtype=bool)
    alone = int(np.flatnonzero(group > groups.n_levels)[0])
    seen[alone] = False
    of_groups, n = all_groups(state.small.S, groups), int(seen.sum())
    counts = Counts(np.bincount(group[seen], minlength=of_groups.n_groups).astype(float), n, None)
    A = C[seen]
    before = covariances(of_groups.roots)
    sample = normal_equations(model, A.T @ A, A.T @ y[seen], float(y[seen] @ y[seen]), n)
    step = step_of(state.small, model, of_groups, counts, model.step.find(sample, belief(state.small, model)))
    condition(of_groups, step, counts)
    V = covariances(of_groups.roots)
    np.testing.assert_array_equal(V[group[alone]], before[group[alone]])
    for k, share in enumerate(of_groups.shares):
        rho = share or float(k in group[seen])
        expected = np.linalg.inv(np.linalg.inv(before[k]) + rho * np.outer(step.z, step.z) / step.lam)
        close(V[k], expected, 1e-8)
    assert step.lam > state.small.lam


@pytest.mark.parametrize("n_groups", [1, 3, 9])
def test_few_groups_and_many_are_conditioned_alike(rng, n_groups):
    """One after another, or all at once."""
    state, model = in_the_middle(rng)
    of_groups = all_groups(state.small.S, state.groups)
    roots = np.repeat(of_groups.roots[:1], n_groups, axis=0) * rng.uniform(0.5, 2.0, (n_groups, 1, 1))
    shares = 2.0 ** -np.arange(n_groups)
    few = stacked(in_columns(roots), shares, n_groups - 1)
    counts, before = Counts(np.ones(n_groups), n_groups, None), covariances(few.roots)
    x = model.step.find(Sample(np.eye(2), np.ones(2), 9.0, n_groups), belief(state.small, model))
    step = step_of(state.small, model, few, counts, x)
    condition(few, step, counts)
    information = np.outer(step.z, step.z) / step.lam
    for V, was, share in zip(covariances(few.roots), before, shares, strict=True):
        close(V, np.linalg.inv(np.linalg.inv(was) + share * information), 1e-9)
    np.testing.assert_array_equal(few.lines.reshape(-1, 3, 3), few.roots.transpose(0, 2, 1))


def test_drift_grows_every_doubt_and_forgets_counts(rng):
    """Loadings whose coefficients have covariance T walk by L⁻ᵀQL⁻¹, T = LLᵀ; those that miss the row by r/n more."""
    state, _ = in_the_middle(rng)
    Q, r = random_spd(rng, 3, 0.1), 2
    of_groups = all_groups(state.small.S, state.groups)
    before, by_group = covariances(of_groups.roots), np.ones(of_groups.n_groups)
    by_group[-1] = 0.0  # the last is a feature of its own
    counts = Counts(by_group, len(by_group) - 1, None)
    assert drifted(state.small, of_groups, None, counts) == 1.0
    np.testing.assert_array_equal(covariances(of_groups.roots), before)
    share = drifted(state.small, of_groups, Q, counts)
    grown = covariances(of_groups.roots) - before
    to_unit = np.eye(3)
    to_unit[:r, :r] = np.linalg.cholesky(state.small.T)
    walked = to_unit.T @ grown @ to_unit * state.small.noise / state.small.lam  # of loadings for unit coefficients
    expected = np.repeat(Q[None], len(walked), axis=0)
    expected[-1] *= 1.0 + r / counts.n
    close(walked, expected, 1e-9)
    assert 0 < share < 1


def test_only_a_feature_of_its_own_that_is_doubted_counts_less(rng):
    state, model = in_the_middle(rng)
    of_groups = all_groups(state.small.S, state.groups)
    roots, K = of_groups.roots, of_groups.n_groups
    roots[-1] *= 10.0
    counts = Counts(np.ones(K), K, None)
    weights = trust(state.small, model, of_groups, counts)
    np.testing.assert_array_equal(weights[: of_groups.n_levels + 1], 1.0)
    assert weights[-1] < 0.01
    assert np.count_nonzero(weights == 1.0) >= K / 2
    roots[of_groups.n_levels + 1 :] = 0.1 * roots[0]
    assert trust(state.small, model, of_groups, counts) is None
    roots[...] = all_groups(state.small.S, state.groups).roots
    roots[-1] *= 10.0
    z = np.append(rng.multivariate_normal(state.small.xbar, state.small.T, 200_000), np.ones((200_000, 1)), axis=1)
    expected = np.array([np.mean((z @ R) ** 2) * len(R) for R in roots])  # E[zᵀVz]
    middle = np.sort(expected)[(K - 1) // 2]
    close(weights[-1] ** 0.25, (state.small.lam + middle) / (state.small.lam + expected[-1]), 0.02)


def test_what_a_sample_says_about_the_noise():
    """As much as it says about an additive part of its variance: the second derivative of the log-likelihood there."""
    s2, doubt, h = 0.7, 3.0, 1e-4

    def expected_likelihood(part):
        variance = part + s2 * doubt
        return -0.5 * (np.log(variance) + (s2 + s2 * doubt) / variance)

    second = (expected_likelihood(s2 + h) - 2 * expected_likelihood(s2) + expected_likelihood(s2 - h)) / h**2
    assert -second * 2 * s2**2 == pytest.approx(noise_information(doubt), rel=1e-4)
