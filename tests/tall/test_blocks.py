"""How a block is cut into runs of complete rows."""

from __future__ import annotations

import numpy as np
import pytest

from factorstream.core.place import HERE
from factorstream.tall.blocks import runs
from factorstream.tall.engine import RowBlock
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
