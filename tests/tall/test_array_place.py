"""The features in an array of another library; ``pytest --place strict`` runs whole filters there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from factorstream.arrays import device_of, is_here, namespace
from factorstream.core.place import HERE
from factorstream.tall.array_place import ArrayPlace
from factorstream.tall.places import place_of
from strict_place import DEVICE, STRICT

C = np.arange(6.0).reshape(3, 2)


class Pair(NamedTuple):
    C: object
    small: object


def column_sums(C):
    return namespace(C).sum(C, axis=0)


def test_an_array_says_where_it_is():
    assert place_of(STRICT.put(C, 0)) == STRICT
    assert hash(place_of(STRICT.put(C, 0))) == hash(STRICT)
    assert place_of(C) is HERE
    assert ArrayPlace(STRICT.xp, None) != STRICT


def test_numbers_come_back():
    np.testing.assert_array_equal(STRICT.get(STRICT.put(C, 0), 0), C)


def test_sparse_rows_become_dense_with_gaps():
    rows = STRICT.get(STRICT.put(sparse.csr_array(([0.0, 2.0], [0, 1], [0, 1, 2]), shape=(2, 2)), 1), 1)
    np.testing.assert_array_equal(rows, [[0.0, np.nan], [np.nan, 2.0]])


def test_sums_come_back_and_others_stay():
    tall = STRICT.put(C, 0)
    np.testing.assert_array_equal(STRICT.total(column_sums, tall), C.sum(axis=0))
    for run in (STRICT.each, STRICT.by_row, STRICT.rows):
        assert device_of(run(column_sums, tall)) == DEVICE


def test_what_is_small_goes_there_within_tuples_too():
    moved = STRICT.each(lambda pair, number: (pair.C + pair.small, number), Pair(STRICT.put(C, 0), np.ones(2)), 3)
    assert device_of(moved[0]) == DEVICE
    assert moved[1] == 3
    both = STRICT.total(lambda pair: pair, Pair(STRICT.put(C, 0), np.ones(2)))
    assert isinstance(both, Pair)
    assert is_here(both.C)
    assert is_here(both.small)


def test_room_for_rows_is_there():
    assert device_of(STRICT.empty(2, 3)) == DEVICE
