"""Who shares a covariance with whom, and the covariance of a level."""

from __future__ import annotations

import numpy as np
import pytest

from factorstream.core.filter.covariance import potter_update
from factorstream.core.filter.groups import (
    LOWEST,
    Counts,
    Groups,
    chosen_levels,
    kept_share,
    level_root,
    one_group,
    releveled,
    room,
    sizes_of,
    stack,
    weighted_median,
    with_own,
)
from filter_problems import close, random_spd


def samples(rng, n, q):
    """Coefficients of different sizes in different directions, and noise variances."""
    return rng.standard_normal((n, q)) * np.geomspace(0.2, 2.0, q), rng.uniform(0.1, 2.0, n)


def after(V0, X, lams, share=1.0):
    """(V0⁻¹ + ρ Σ x xᵀ/λ)⁻¹, written out."""
    return np.linalg.inv(np.linalg.inv(V0) + share * (X.T / lams) @ X)


@pytest.mark.parametrize("share", [1.0, 0.5, 2.0**-8])
@pytest.mark.parametrize("q", [1, 4])
def test_the_recursion_of_a_level_is_a_regression_with_weights(rng, q, share):
    V0 = random_spd(rng, q)
    X, lams = samples(rng, 60, q)
    S = np.asfortranarray(np.linalg.cholesky(V0))
    for x, lam in zip(X, lams, strict=True):
        potter_update(S, x, lam / share)
    close(S @ S.T, after(V0, X, lams, share), 1e-9)


@pytest.mark.parametrize("share", [0.5, 0.125, 2.0**-8])
@pytest.mark.parametrize("q", [1, 4])
def test_a_level_opened_late_is_one_that_was_there_from_the_start(rng, q, share):
    V0 = random_spd(rng, q)
    X, lams = samples(rng, 60, q)
    prior = np.asfortranarray(np.linalg.cholesky(V0))
    R = level_root(np.linalg.cholesky(after(V0, X, lams)), prior, share)
    close(R @ R.T, after(V0, X, lams, share), 1e-8)


def test_a_share_of_the_samples_never_says_more_than_all_of_them(rng):
    """Under a drift V may be larger than V0 in some directions and smaller in others."""
    V0 = random_spd(rng, 4)
    prior = np.asfortranarray(np.linalg.cholesky(V0))
    V = prior @ np.diag([0.01, 0.5, 3.0, 80.0]) @ prior.T
    for share in (0.7, 0.1):
        R = level_root(np.linalg.cholesky(V), prior, share)
        assert np.linalg.eigvalsh(R @ R.T - V).min() > -1e-12 * np.trace(V)


def test_levels_are_the_nearest_half_steps_of_the_share():
    share = np.array([1.0, 0.9, 0.75, 0.5, 0.4, 0.25, 2.0**-8, 1e-5, 0.0])
    assert chosen_levels(100.0 * share, 100.0).tolist() == [0, 0, 1, 2, 3, 4, LOWEST, LOWEST, LOWEST]
    off = 2.0 ** (-chosen_levels(np.geomspace(1.0, 256.0, 999), 256.0) / 2) / np.geomspace(1 / 256, 1.0, 999)
    assert np.abs(np.log2(off)).max() <= 0.25 + 1e-12  # a quarter of a halving: 19%


def some_groups(rng, seen, q=3, own=()):
    """Groups as they are at the beginning but for the features ``own``."""
    m = len(seen)
    groups = Groups(seen, np.zeros(m, dtype=np.intp), np.zeros((0, q, q)), np.zeros(0), 100.0, np.eye(q, order="F"))
    roots = rng.standard_normal((len(own), q, q))
    group, groups = with_own(groups.group, groups, np.array(own, dtype=np.intp), roots)
    return groups._replace(group=group), roots


def test_features_join_levels_and_exact_ones_stay_while_they_are_rare(rng):
    seen = np.array([100.0, 98.0, 50.0, 49.0, 3.0, 100.0, 30.0, 4.0])
    groups, roots = some_groups(rng, seen, own=(4, 5, 6))
    S = np.linalg.cholesky(0.01 * np.eye(3))
    group, new = releveled(seen, groups, S, r=2)
    assert new.n_levels == 2  # one half of the samples, and 4 of 100
    np.testing.assert_allclose(new.shares, [2.0**-1, 2.0**-4.5, 0.0, 0.0])
    assert group.tolist() == [0, 0, 1, 1, 3, 0, 4, 2]  # feature 5 is like all others now
    np.testing.assert_array_equal(stack(S, new)[group[4]], roots[0])
    np.testing.assert_array_equal(stack(S, new)[group[6]], roots[2])
    group, new = releveled(seen, new._replace(group=group), S, r=2, mature_too=True)
    assert group[4] == len(new.shares)
    assert group[6] <= new.n_levels


def test_an_open_level_keeps_its_covariance(rng):
    seen = np.array([100.0, 50.0, 50.0])
    groups, _ = some_groups(rng, seen)
    group, groups = releveled(seen, groups, 0.1 * np.eye(3), r=2)
    groups = groups._replace(roots=groups.roots * 0.7, group=group)
    _, again = releveled(np.array([100.0, 50.0, 10.0]), groups, 0.1 * np.eye(3), r=2)
    np.testing.assert_array_equal(again.roots[0], groups.roots[0])
    assert again.n_levels == 2


def test_the_room_is_bounded_by_entries():
    assert room(10, 4) == 512
    assert room(10**6, 10) == 25_000
    assert room(10, 100) == 0


def test_what_is_kept_of_the_counts():
    assert kept_share(np.eye(3), np.zeros((3, 3))) == pytest.approx(1.0)
    assert kept_share(np.eye(3), np.eye(3)) == pytest.approx(0.5)
    assert kept_share(np.diag([1.0, 2.0]), np.diag([3.0, 0.0])) == pytest.approx((0.25 + 1.0) / 2)


def test_the_median_of_counted_values(rng):
    for _ in range(50):
        values, counts = rng.standard_normal(6), rng.integers(0, 4, 6)
        counts[0] += 1
        every = np.sort(np.repeat(values, counts))
        of = Counts(counts.astype(float), int(counts.sum()), None)
        assert weighted_median(values, of) == every[(len(every) - 1) // 2]
    assert weighted_median(values, Counts(np.array([0.0, 7.0, 0.0]), 7, 1)) == values[1]


def test_many_features_are_put_into_levels_as_a_few_are(rng):
    """Enough of them that they are taken in pieces."""
    m, n = 100_000, 50.0
    groups = one_group(m, np.eye(2))._replace(n=n)
    seen = rng.integers(1, 51, m).astype(float)
    group, after = releveled(seen, groups, np.eye(2), 1)
    levels = chosen_levels(seen, n)
    assert np.unique(levels).tolist() == [0, *np.rint(-2 * np.log2(after.shares)).astype(int)]
    np.testing.assert_array_equal(np.concatenate([[1.0], after.shares])[group], 2.0 ** (-levels / 2))
    np.testing.assert_array_equal(sizes_of(group, len(after.shares) + 1), np.bincount(group))
