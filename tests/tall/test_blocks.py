"""How a block is cut into runs of complete rows, and which of them go through the filter at once."""

from __future__ import annotations

import numpy as np
import pytest

from counted_problems import begin_counted, counted_model, problem
from factorstream.core.place import HERE
from factorstream.tall.blocks import in_blocks, runs
from factorstream.tall.engine import RowBlock
from factorstream.tall.filtering import filter_rows
from factorstream.tall.places import place_of
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


def test_complete_rows_go_in_blocks_until_a_feature_has_missed_enough(rng):
    """From the first row on, where every feature has its own doubt."""
    Y, C, V0 = problem(rng, 12, 6, 2)
    model, state = counted_model(2, 3), begin_counted(C, V0, 0.2, 2)
    assert in_blocks(place_of(state.C), state, model)
    Y[4:, 1] = np.nan
    for k, alike in enumerate([True] * 4 + [False] * 8):
        state, _ = filter_rows(state, model, Y[k : k + 1], 4)
        assert in_blocks(place_of(state.C), state, model) == alike
