"""What is done to arrays with a feature axis where every feature has its own doubt, against loops over features."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from factorstream.tall import counted_products as products
from filter_problems import close

M, Q = 11, 3


@pytest.fixture(params=[0, 2])
def n_levels(request):
    return request.param


def parts(rng, n_levels, dtype=np.float64):
    """C, e, groups with two features of their own, gains."""
    group = rng.integers(0, n_levels + 1, M)
    group[4], group[7] = n_levels + 1, n_levels + 2
    C, e = rng.standard_normal((M, Q)).astype(dtype), rng.standard_normal(M).astype(dtype)
    return C, e, group, rng.standard_normal((n_levels + 3, Q))


def residuals(e, group, n_levels):
    """The fields of ``counted_rows.Residuals``, every group that may have many features included."""
    many = np.arange(n_levels + 1)
    return e, group, n_levels, many, products.columns(e, group, many)


def test_observed_features_of_each_group(rng, n_levels):
    _, _, group, _ = parts(rng, n_levels)
    missing = np.array([0, 4, 9])
    for gaps in (missing, missing[:0]):
        sizes = products.group_sizes(group, gaps, n_levels + 3)
        expected = [sum(group[i] == k for i in range(M) if i not in gaps) for k in range(n_levels + 3)]
        assert sizes.tolist() == expected


def test_sums_per_group(rng, n_levels):
    C, e, group, _ = parts(rng, n_levels)
    H = products.group_products(C, residuals(e, group, n_levels)[-1])
    ee = products.group_squares(e, group, n_levels + 3)
    for k in range(n_levels + 3):
        mine = [i for i in range(M) if group[i] == k]
        assert ee[k] == pytest.approx(sum(e[i] ** 2 for i in mine))
        if k <= n_levels:
            close(H[k], sum((C[i] * e[i] for i in mine), np.zeros(Q)) + 0.0, 1e-12)
    assert len(H) == n_levels + 1


def test_the_gram_matrix_of_what_has_moved(rng, n_levels):
    C, e, group, gains = parts(rng, n_levels)
    H = products.group_products(C, residuals(e, group, n_levels)[-1])
    ee = products.group_squares(e, group, n_levels + 3)
    half = H.T @ gains[: n_levels + 1]
    change = half + half.T + (gains.T * ee) @ gains + products.own_gram_change(C, e, group, n_levels, gains)
    moved = products.moved(C.copy(), *residuals(e, group, n_levels), gains)
    close(C.T @ C + change, moved.T @ moved, 1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_feature_moves_by_the_gain_of_its_group(rng, n_levels, dtype):
    C, e, group, gains = parts(rng, n_levels, dtype)
    expected = [C[i] + e[i] * gains[group[i]] for i in range(M)]
    moved = products.moved(C, *residuals(e, group, n_levels), gains)
    assert moved is C
    assert moved.dtype == dtype
    close(moved, np.array(expected), 1e-5 if dtype == np.float32 else 1e-12)


def test_rows_that_were_gathered_move_alike(rng, n_levels):
    C, e, group, gains = parts(rng, n_levels)
    idx = np.array([1, 4, 8])
    expected = C.copy()
    of = residuals(e[idx], products.taken(group, idx), n_levels)
    expected[idx] = products.moved(C[idx], *of, gains)
    out = products.scattered(C, idx, C[idx], *of, gains)
    assert out is C
    np.testing.assert_array_equal(C, expected)


@pytest.mark.parametrize("share", [1.0, 0.9])
def test_counts(rng, share):
    seen, missing, observed = rng.uniform(0, 9, 5), np.array([1, 3]), np.array([0, 2, 4])
    expected = share * seen + np.array([0.7, 0, 0.7, 0, 0.7])
    np.testing.assert_allclose(products.counted(seen, missing, share, 0.7), expected)
    np.testing.assert_allclose(products.counted_at(seen.copy(), observed, share, 0.7), expected)


def test_who_misses_a_sample():
    seen = np.zeros(4)
    assert products.missing_of(seen, np.array([1, 2])).tolist() == [False, True, True, False]
    assert products.missing_beside(seen, np.array([0, 3])).tolist() == [False, True, True, False]


def test_who_wants_a_covariance_of_their_own():
    seen = np.array([3.0, 3.0, 30.0, 3.0])
    group, missing = np.array([0, 1, 0, 2]), np.array([True, True, True, True])
    wanting = products.wanting_own(seen, group, missing, 1, r=2)  # young up to ten samples
    assert wanting.tolist() == [True, True, False, False]
    assert products.not_unseen(wanting, np.array([True, False, False, False])).tolist() == [False, True, False, False]


def test_features_beside_the_level_of_all_samples():
    assert products.n_beside(np.array([10.0, 9.9, 5.0, 0.0]), 10.0) == 2


def test_first_values():
    unseen = np.array([True, False, True])
    Y = np.array([[np.nan, 1.0, 2.0], [3.0, np.nan, np.nan]])
    rows = sparse.csr_array((np.array([1.0, 2.0, 3.0]), np.array([1, 2, 0]), np.array([0, 2, 3])), shape=(2, 3))
    for k, expected in enumerate(([False, False, True], [True, False, False])):
        assert products.first_in_row(unseen, Y, k).tolist() == expected
        assert products.new_in_row(unseen, rows, k).tolist() == expected
