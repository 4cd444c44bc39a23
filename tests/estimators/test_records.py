"""Records of a stream in lots: what is shown is what a plain list would show."""

from __future__ import annotations

import numpy as np
import pytest

from factorstream import DictionaryFilter
from factorstream.estimators._records import HISTORY, LOT, latest, with_record


def test_the_last_records_are_those_of_a_list():
    lots, plain = (), []
    for k in range(2 * HISTORY + 3 * LOT):
        lots = with_record(lots, {"k": float(k)})
        plain.append({"k": float(k)})
        if k % 7 == 0 or k > 2 * HISTORY:
            assert list(latest(lots)) == plain[-HISTORY:]
    assert sum(map(len, lots)) <= HISTORY + 2 * LOT  # the rest is dropped


@pytest.mark.parametrize("n", [1, LOT, LOT + 1, 5 * LOT + 3])
def test_every_row_of_a_stream_leaves_a_record(rng, n):
    model = DictionaryFilter(2, random_state=0)
    for row in rng.normal(size=(n, 6)):
        model.partial_fit(row[None])
    assert [record["n_samples"] for record in model.history_] == [1.0] * n
    assert np.isfinite([record["innovation"] for record in model.history_]).all()
