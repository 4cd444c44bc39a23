"""Columns that count are the same in rows that pass as in a table that is read whole."""

from __future__ import annotations

import numpy as np
import pytest

from factorstream.sources.rows import counting
from factorstream.sources.rows.counting import Counting
from factorstream.sources.timeline import counting_columns


class Table:
    """As much of a table as is looked at."""

    def __init__(self, numbers):
        self.numbers, self.numeric = numbers, list(range(numbers.shape[1]))


DAYS = np.arange("2023-11-20", "2024-03-01", dtype="datetime64[D]")[:100]


def columns():
    k, rng = np.arange(100.0), np.random.default_rng(0)
    return np.column_stack(
        [
            k + 1,
            1949 + k / 12,
            np.round(1949 + k / 12, 9),
            k + 1e-5 * rng.normal(size=100),
            -k,
            np.where(k == 57, np.nan, k),
            np.where(k == 99, 100.5, k),
            np.array([int(str(day).replace("-", "")) for day in DAYS]),
            np.where(k == 99, 20240999, [int(str(day).replace("-", "")) for day in DAYS]),
            k**2,
            np.full(100, 3.0),
            np.where(k == 0, np.inf, k),
            1e15 + k,
            np.where(np.isin(k, [0, 1, 4, 51, 99]), np.nan, 1900 + 5 * k),
            np.where(k % 2 == 0, np.nan, k),
            np.where(k < 51, np.nan, k),
            np.where(k == 70, np.nan, k / 4),
            np.where(k == 70, np.nan, np.where(k == 71, 4, k)),
            np.full(100, np.nan),
        ]
    )


@pytest.mark.parametrize("cut", [1, 2, 7, 99, 100])
@pytest.mark.parametrize("lot", [3, 50, 1000])
@pytest.mark.parametrize("rows", [100, 3, 2, 1])
def test_as_of_a_table(cut, lot, rows, monkeypatch):
    monkeypatch.setattr(counting, "LOT", lot)
    X = columns()[:rows]
    looked = Counting(X.shape[1])
    for first in range(0, rows, cut):
        looked.add(X[first : first + cut])
    with np.errstate(invalid="ignore"):
        assert looked.found().tolist() == counting_columns(Table(X))
    if rows == 100:
        assert looked.found().tolist() == [0, 1, 2, 4, 5, 7, 12, 13, 14]
        assert looked.are_whole(looked.found()).tolist() == [True, False, False, *[True] * 6]
