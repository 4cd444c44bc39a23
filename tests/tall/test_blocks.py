"""How a block is cut into runs of complete rows, and how gaps in it are found."""

from __future__ import annotations

import numpy as np
import pytest

from factorstream import DictionaryFilter
from factorstream.core.place import HERE
from factorstream.tall.blocks import runs
from factorstream.tall.engine import RowBlock
from factorstream.tall.filtering import filter_rows
from factorstream.tall.places import using
from split_place import SPLIT, fetched


@pytest.mark.parametrize("place", [HERE, SPLIT])
@pytest.mark.parametrize(
    ("gappy", "expected"),
    [("....", [(4, True)]), ("xxx", [(3, False)]), ("..x.", [(2, True), (1, False), (1, True)]), ("x", [(1, False)])],
)
def test_runs(rng, place, gappy, expected):
    Y = rng.standard_normal((len(gappy), 5))
    for row, mark in zip(Y, gappy, strict=True):
        row[rng.integers(5)] = np.nan if mark == "x" else 1.0
    parts = list(runs(place, RowBlock(place.put(Y, 1), len(Y))))
    assert [(part.n, complete) for part, complete in parts] == expected
    np.testing.assert_array_equal(np.concatenate([fetched(part.Y, 1) for part, _ in parts]), Y)


@pytest.mark.parametrize("place", [HERE, SPLIT])
@pytest.mark.parametrize("gap", [(0, 0), (1, 3), (7, 19), None])
def test_a_gap_anywhere_in_a_block_is_found(rng, place, gap):
    """The products of a block tell whether it is complete; rows one at a time look at every entry."""
    X = rng.standard_normal((40, 20))
    with using(place):
        run = DictionaryFilter(3, random_state=0).fit(X).state_
    Y = rng.standard_normal((8, 20))
    if gap is not None:
        Y[gap] = np.nan
    state, expected = (run.filter, run.filter)
    state, record = filter_rows(state, run.settings.model, Y, 8)
    for row in Y:
        expected, _ = filter_rows(expected, run.settings.model, row[None], 8)
    np.testing.assert_allclose(fetched(state.C, 0), fetched(expected.C, 0), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(record.n_observed, (~np.isnan(Y)).sum(axis=1))
