"""What an array place puts in the stead of functions in NumPy: both give the same, for every function of the table."""

from __future__ import annotations

import numpy as np
import pytest

from factorstream.arrays import device_of, is_here
from factorstream.core import linalg
from factorstream.core.filter import masked
from factorstream.core.filter.column_noise import ResidualSums
from factorstream.tall import (
    array_products,
    column_products,
    counted_products,
    products,
    projecting_products,
    starting_products,
)
from factorstream.tall.array_place import twins
from factorstream.tall.array_products import Some
from strict_place import DEVICE, STRICT

M, Q, R, B, K = 11, 4, 3, 6, 3
RNG = np.random.default_rng(5)
C, Y, E = RNG.standard_normal((M, Q)), RNG.standard_normal((B, M)), RNG.standard_normal((B, M))
MISSING = RNG.random((B, M)) < 0.3
MISSING[0], MISSING[1] = False, True
GAPPY = np.where(MISSING, np.nan, Y)
ORIGIN, UNIT, y, e = RNG.standard_normal(M), RNG.uniform(1.0, 2.0, M), Y[2], E[2]
GROUP, UNSEEN, SEEN = RNG.integers(0, K, M), RNG.random(M) < 0.4, RNG.uniform(0.0, 9.0, M)
x, A, D, T = RNG.standard_normal(Q), RNG.standard_normal((Q, Q)), RNG.standard_normal((B, Q)), np.eye(R) + 0.3
WIDE = RNG.standard_normal((M, 65))  # its last column is multiplied by itself
MANY_ROWS = RNG.random((column_products.FEW_ROWS + 1, M)) < 0.3
MOVED = RNG.standard_normal((65, 65)), Y, RNG.standard_normal((B, 65))
GAINS, WEIGHTS, F = RNG.standard_normal((K, Q)), np.array([1.0, 0.4, 0.9]), RNG.standard_normal((B, R, R))


class Gaps:
    """Some features: in NumPy their indices, at an array place a ``Some``."""

    def __init__(self, mask):
        self.mask, self.idx = mask, np.flatnonzero(mask)


class Own:
    """An array that the function changes in place: each of the two gets a copy."""

    def __init__(self, values):
        self.values = values


SOME = Gaps(MISSING[2])
BESIDE = Gaps(GROUP != 0)
SUMS = starting_products.Sums(SEEN, y, np.abs(y))
RESIDUALS = ResidualSums(SEEN, UNIT, UNIT)
MOVES = e[BESIDE.idx, None] * GAINS[GROUP[BESIDE.idx]]

EXAMPLES = {
    len: [(C,)],
    np.sum: [(Y,)],
    np.count_nonzero: [(MISSING,), (ORIGIN,)],
    np.logical_not: [(UNSEEN,)],
    products.cross: [(C, Y), (WIDE, Y)],
    products.self_products: [(Y,)],
    linalg.gram: [(C,), (C.astype(np.float32),)],
    masked.gram_of: [(C, SOME), (C, Gaps(MISSING[0]))],
    masked.gram_without: [(C, SOME), (C, Gaps(MISSING[1]))],
    products.row_products: [(C, y)],
    products.count_missing: [(MISSING,)],
    products.first_values: [(GAPPY, UNSEEN)],
    products.copied: [(C,)],
    products.is_missing: [(GAPPY,)],
    products.clear_gaps: [(Own(GAPPY),)],
    products.combine: [(C, A, Y, D), (WIDE, *MOVED)],
    products.residual: [(C, x, y, SOME)],
    products.add_rank_one: [(Own(C), e, x)],
    products.move: [(Own(C), x, y, SOME, x)],
    products.settle: [(C, ORIGIN, UNSEEN, GAPPY, 2)],
    counted_products.group_sizes: [(GROUP, K)],
    counted_products.sizes_among: [(GROUP, SOME, K), (GROUP, Gaps(MISSING[0]), K)],
    counted_products.squares: [(e,)],
    counted_products.n_misplaced: [(SEEN, 10.0, GROUP, np.arange(17) - 1)],
    counted_products.levels: [(SEEN, 10.0)],
    counted_products.numbered: [(GROUP, np.arange(17) - 1)],
    counted_products.sums_apart: [(e[BESIDE.idx], GROUP[BESIDE.idx], C[BESIDE.idx], MOVES, K)],
    counted_products.unheard: [(C, y, GROUP, SOME, WEIGHTS)],
    counted_products.moved_apart: [(Own(C), BESIDE, C[BESIDE.idx], MOVES)],
    counted_products.counted: [(SEEN, SOME, 0.9, 0.7), (SEEN, SOME, 1.0, 1.0)],
    counted_products.counted_in_place: [(Own(SEEN), SOME, 0.9, 0.7), (Own(SEEN), SOME, 1.0, 1.0)],
    counted_products.missing_of: [(SEEN, SOME)],
    starting_products.values_and_gaps: [(GAPPY, ORIGIN), (GAPPY.astype(np.float32), ORIGIN)],
    starting_products.added: [(SUMS, np.nan_to_num(GAPPY), MISSING)],
    starting_products.added_squares: [(SEEN, Y)],
    column_products.residuals: [(C, Y, MISSING, D), (C, Y, MISSING, D[:1])],
    column_products.feature_weights: [(C, WEIGHTS, GROUP), (C, WEIGHTS[:1], None)],
    column_products.weighted_gram: [(C, UNIT, R)],
    column_products.right_sides: [(C, UNIT, E, R)],
    column_products.lost_grams: [(C, UNIT, MISSING, R), (C, UNIT, MANY_ROWS, R)],
    column_products.added_residuals: [
        (RESIDUALS, C, E, MISSING, F, WEIGHTS / 9.0, np.abs(D[:, :K]), GROUP),
        (RESIDUALS, C, E, MISSING, F, WEIGHTS[:1], np.abs(D[:, :1]), None),
    ],
    column_products.quadratic_forms: [(C, T)],
    column_products.multiplied: [(C, UNIT), (ORIGIN, UNIT)],
    projecting_products.as_float64: [(C.astype(np.float32),)],
    projecting_products.block_without_gaps: [(GAPPY, ORIGIN)],
    projecting_products.row_squares: [(Y,)],
    projecting_products.grams: [(C, MISSING, np.arange(B) % 2 == 0)],
    projecting_products.line: [(Y, 2)],
    projecting_products.row_sizes: [(C, R)],
    projecting_products.noise_of_all: [(UNIT, SEEN)],
    projecting_products.noise_at: [(UNIT, SEEN, SOME)],
    projecting_products.set_variances: [
        (Own(np.zeros((B, M))), MISSING, C, F, np.abs(D[:, :K]), GROUP, UNIT, UNIT),
        (Own(np.zeros((B, M))), MISSING, C, F, np.abs(D[:, :1]), None, None, None),
    ],
    projecting_products.mean: [(C, ORIGIN, x), (C, ORIGIN, None)],
    projecting_products.set_gaps: [(Own(GAPPY), C, ORIGIN, D[:, :R], UNIT), (Own(GAPPY), C, ORIGIN, D[:, :R], None)],
    projecting_products.drawn_dictionaries: [
        (C, RNG.standard_normal((2, M, Q)), RNG.standard_normal((K, Q, Q)), GROUP),
        (C, RNG.standard_normal((2, M, Q)), A[None], None),
    ],
    projecting_products.drawn_entries: [(np.stack([C, 2.0 * C]), ORIGIN, SOME, D[:2, :R])],
}

OTHERWISE = {
    products.nan_if_gaps: "another sum that tells NaN as well",
    products.room: "no room is needed",
    products.centred: "the room is not used",
    products.all_gaps: "indices are found for all rows at once",
    products.row_without_gaps: "gaps are a Some",
    products.complete_row: "no gaps are None",
    projecting_products.indices: "gaps are a Some",
    counted_products.outside: "features are a Some",
    counted_products.apart: "features without a residual are among them",
}
"""Functions whose twins return something else, tested below."""


def here(value):
    if isinstance(value, Gaps):
        return value.idx
    return value.values.copy() if isinstance(value, Own) else value


def there(value):
    if isinstance(value, Gaps):
        return Some(STRICT.put(value.mask, 0), STRICT.put(value.idx, 0))
    if isinstance(value, Own):
        value = value.values.copy()
    if isinstance(value, tuple):
        return type(value)(*map(STRICT.put, value, [0] * len(value)))
    return STRICT.put(value.copy(), 0) if isinstance(value, np.ndarray) else value


def close(result, expected):
    if isinstance(expected, tuple):
        assert len(result) == len(expected)
        for pair in zip(result, expected, strict=True):
            close(*pair)
        return
    assert is_here(expected)
    if not is_here(result):
        assert device_of(result) == DEVICE
        result = STRICT.get(result, 0)
    np.testing.assert_allclose(result, expected, rtol=1e-12, atol=1e-12)


def test_every_function_of_the_table_has_an_example():
    assert twins().keys() == EXAMPLES.keys() | OTHERWISE.keys()


CASES = [(function, arguments) for function, examples in EXAMPLES.items() for arguments in examples]


@pytest.mark.parametrize(("function", "arguments"), CASES, ids=lambda value: getattr(value, "__name__", ""))
def test_twins_are_alike(function, arguments):
    expected = function(*map(here, arguments))
    close(STRICT.each(function, *map(there, arguments)), expected)


def test_single_precision_is_kept_and_sums_are_double():
    C32, Y32 = there(C.astype(np.float32)), there(Y.astype(np.float32))
    for function, *arguments in ((products.cross, C32, Y32), (products.self_products, Y32)):
        assert STRICT.total(function, *arguments).dtype == np.float64
    assert STRICT.get(STRICT.each(products.combine, C32, A, Y32, D), 0).dtype == np.float32
    assert STRICT.get(STRICT.each(products.add_rank_one, C32, there(e), x), 0).dtype == np.float32


def test_long_sums_are_taken_in_pieces(monkeypatch):
    monkeypatch.setattr(array_products, "AT_ONCE", 4)
    C32 = C.astype(np.float32)
    np.testing.assert_allclose(STRICT.total(products.cross, there(C32), there(Y.astype(np.float32))), C.T @ Y.T, 1e-5)
    np.testing.assert_allclose(STRICT.total(linalg.gram, there(C)), C.T @ C, rtol=1e-12)


def test_columns_that_are_nearly_parallel_are_told_apart_in_single_precision(rng):
    rows = (rng.standard_normal((5000, 1)) + 1e-4 * rng.standard_normal((5000, 6))).astype(np.float32)
    exact = np.linalg.eigvalsh(rows.astype(np.float64).T @ rows.astype(np.float64))
    np.testing.assert_allclose(np.linalg.eigvalsh(STRICT.total(linalg.gram, there(rows))), exact, rtol=1e-4)


def test_gaps_are_told():
    assert products.has_gaps(STRICT, there(GAPPY))
    assert not products.has_gaps(STRICT, there(Y))


@pytest.mark.parametrize("unit", [None, UNIT])
def test_rows_less_their_origin(unit):
    space = STRICT.each(products.room, there(C.astype(np.float32)), B)
    centred = STRICT.each(products.centred, there(Y), there(ORIGIN.astype(np.float32)), space, there(unit))
    result = STRICT.get(centred, 1)
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, Y / (1.0 if unit is None else unit) - ORIGIN, rtol=1e-4, atol=1e-6)


def test_rows_without_gaps():
    gaps, starts = STRICT.each(products.all_gaps, there(MISSING)), np.cumsum([0, *MISSING.sum(axis=1)]).tolist()
    for j in range(B):
        values, some = STRICT.each(products.row_without_gaps, there(GAPPY), gaps, j, starts[j], starts[j + 1])
        np.testing.assert_array_equal(STRICT.get(values, 0), np.where(MISSING[j], 0.0, Y[j]))
        np.testing.assert_array_equal(STRICT.get(some.mask, 0), MISSING[j])
        np.testing.assert_array_equal(STRICT.get(some.idx, 0), np.flatnonzero(MISSING[j]))
        again = STRICT.each(projecting_products.indices, there(MISSING), j)
        np.testing.assert_array_equal(STRICT.get(again.idx, 0), np.flatnonzero(MISSING[j]))
    values, some = STRICT.each(products.complete_row, there(Y), 3)
    np.testing.assert_array_equal(STRICT.get(values, 0), Y[3])
    assert some is None


def test_features_beside_a_group():
    some = STRICT.each(counted_products.outside, there(GROUP), 0)
    np.testing.assert_array_equal(STRICT.get(some.idx, 0), BESIDE.idx)
    _, *apart = STRICT.each(counted_products.apart, there(C), there(e), there(GROUP), some, there(GAINS))
    close(tuple(apart), (e[BESIDE.idx], GROUP[BESIDE.idx], C[BESIDE.idx], MOVES))
