"""Levels chosen where the features are, against those chosen in this process."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from factorstream.core.filter.groups import Groups, releveled
from factorstream.core.place import HERE
from factorstream.tall.levels import in_levels, sizes_by_group
from filter_problems import random_spd
from split_place import SPLIT
from strict_place import STRICT

M, Q = 200, 3


def levels(rng, shares):
    """Features in levels of these shares, seen in other shares of a hundred samples."""
    V = [np.linalg.cholesky(random_spd(rng, Q)) for _ in range(len(shares) + 2)]
    seen, group = 100.0 * rng.random(M), rng.integers(0, len(shares) + 1, M)
    return V[0], Groups(seen, group, np.array(V[2:]).reshape(-1, Q, Q), np.asarray(shares), 100.0, V[1])


@pytest.mark.parametrize("place", [HERE, SPLIT, STRICT], ids=["here", "split", "strict"])
@pytest.mark.parametrize("shares", [[], [0.5**0.5], [0.5, 0.25]])
def test_as_in_this_process(rng, place, shares):
    S, groups = levels(rng, shares)
    group, expected = releveled(groups.seen, groups, S, Q)
    there = groups._replace(seen=place.put(groups.seen, 0), group=place.put(groups.group, 0))
    found = in_levels(place, there, S)
    assert_array_equal(place.get(found.group, 0), group)
    assert_array_equal(found.roots, expected.roots)
    assert_array_equal(found.shares, expected.shares)
    again = in_levels(place, found, S)
    assert again is found  # nothing has changed since


@pytest.mark.parametrize("place", [HERE, SPLIT, STRICT], ids=["here", "split", "strict"])
def test_sizes_by_group(place):
    counts, largest = sizes_by_group(place, place.put(np.array([1, 1, 0, 2, 1]), 0), 4)
    assert (counts.by_group.tolist(), counts.n, counts.only, largest) == ([1.0, 3.0, 1.0, 0.0], 5, None, 1)
    assert sizes_by_group(place, place.put(np.array([1, 1, 1, 1, 1]), 0), 2)[0].only == 1
