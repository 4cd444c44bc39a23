"""Columns and marks of gaps, in whatever form they are given."""

from __future__ import annotations

import numpy as np
import pytest

from factorstream import open_rows
from factorstream.sources.rows.given import given_columns
from factorstream.sources.table import TableError

X = np.array([[1.0, -9.0, 3.5], [4.0, 5.0, -9.0]])


@pytest.mark.parametrize("columns", [[2, 0], np.array([2, 0]), (np.int32(2), np.int8(0))])
def test_positions_of_any_whole_type(columns):
    (block,) = open_rows(X, columns=columns).blocks()
    np.testing.assert_array_equal(block.values, X[:, [2, 0]])


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ([True, False, True], "True is neither"),
        (np.array([True, False]), "is neither"),
        ([1.0], r"1\.0 is neither"),
        ("heat", "as a list, and not as 'heat' alone"),
        (0, "as a list, and not as 0 alone"),
        ([2, np.int64(2)], "Column 2 is chosen twice"),
        (["a", "b", "a"], "Column a is chosen twice"),
    ],
)
def test_what_is_no_column(columns, words):
    with pytest.raises(TableError, match=words):
        given_columns(columns)


@pytest.mark.parametrize("missing", [["-9"], [-9], [-9.0], np.array([-9.0]), [np.int64(-9)]])
def test_numbers_mark_gaps_in_arrays_and_texts(tmp_path, missing):
    path = tmp_path / "x.csv"
    path.write_text("a,b,c\n" + "\n".join(",".join(map(str, row)) for row in X))
    for what in (X, path):
        (block,) = open_rows(what, missing=missing).blocks()
        np.testing.assert_array_equal(block.values, np.where(X == -9, np.nan, X))
