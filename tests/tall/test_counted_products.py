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


def test_observed_features_of_each_group(rng, n_levels):
    _, _, group, _ = parts(rng, n_levels)
    some = np.array([0, 4, 9])
    for idx in (some, some[:0]):
        expected = [sum(group[i] == k for i in idx) for k in range(n_levels + 3)]
        assert products.sizes_among(group, idx, n_levels + 3).tolist() == expected
    assert products.group_sizes(group, n_levels + 3).tolist() == [sum(group == k) for k in range(n_levels + 3)]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_features_beside_the_largest_group_move_by_the_gains_of_theirs(rng, n_levels, dtype):
    C, e, group, gains = parts(rng, n_levels, dtype)
    e[[4, 6]] = 0.0  # no value
    outside = [i for i in range(M) if group[i] != 0]
    assert products.outside(group, 0).tolist() == outside
    idx, *of, rows, moves = products.apart(C, e, group, np.array(outside, dtype=np.intp), gains)
    assert idx.tolist() == [i for i in outside if e[i] != 0.0]
    h, half, ee = products.sums_apart(*of, rows, moves, n_levels + 3)
    rtol = 1e-5 if dtype == np.float32 else 1e-12
    before = C[outside]
    close(h, sum((C[i] * e[i] for i in outside), np.zeros(Q)), rtol)
    np.testing.assert_allclose(
        ee, [sum(e[i] ** 2 for i in outside if group[i] == k) for k in range(n_levels + 3)], rtol
    )
    expected = np.array([C[i] + e[i] * gains[group[i]] * (group[i] != 0) for i in range(M)])
    out = products.moved_apart(C, idx, rows, moves)
    assert out is C
    assert out.dtype == dtype
    close(out, expected, rtol)
    close(before.T @ before + half + half.T, out[outside].T @ out[outside], rtol)


def test_no_feature_is_beside_the_largest_group():
    C, none = np.ones((M, Q)), np.zeros(0, dtype=np.intp)
    idx, *of, rows, moves = products.apart(C, np.ones(M), np.zeros(M, dtype=np.intp), none, np.ones((1, Q)))
    sums = products.sums_apart(*of, rows, moves, 1)
    assert all(part.dtype == np.float64 and not part.any() for part in sums)
    np.testing.assert_array_equal(products.moved_apart(C.copy(), idx, rows, moves), C)


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
