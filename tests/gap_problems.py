"""Rows with gaps through two engines."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_array_equal

from factorstream.arrays import to_host
from factorstream.tall.engine import RowBlock
from factorstream.tall.places import using
from filter_problems import close
from split_place import fetched


def rows_with_gaps(rng, n, m, share, dtype=np.float64):
    """Rows of which this share is missing, but nothing of every fifth, and all of one."""
    Y = rng.standard_normal((n, 3)) @ rng.standard_normal((3, m)) + 0.1 * rng.standard_normal((n, m))
    missing = rng.random(Y.shape) < share
    missing[::5], missing[min(7, n - 1)] = False, True
    return np.where(missing, np.nan, Y).astype(dtype)


def filtered(place, start, engine, Y, cut=20):
    """The state after the rows, in this process, and the facts about them; the given dictionary stays as it was."""
    with using(place):
        given = start()
        before = np.array(to_host(given.C))
        blocks = [RowBlock(place.put(part, 1), len(part)) for part in (Y[:cut], Y[cut:])]
        state, records = engine.run(given, blocks)
        if state.C is not given.C:
            assert_array_equal(to_host(given.C), before)
    return fetched(state), np.concatenate([np.array(record) for record in records], axis=1)


def same(one, other, tolerance=1e-10):
    """Two results of :func:`filtered`."""
    (a, facts), (b, others) = one, other
    for mine, twin in ((a.C, b.C), (a.small.G, b.small.G), (a.small.S, b.small.S), (facts, others)):
        close(mine, twin, tolerance)
    assert abs(a.small.lam - b.small.lam) <= tolerance * b.small.lam
    if a.groups is not None:
        assert_array_equal(a.groups.group, b.groups.group)
        close(a.groups.seen, b.groups.seen, tolerance)
        close(a.groups.roots, b.groups.roots, tolerance) if len(b.groups.roots) else None
        assert abs(a.groups.n - b.groups.n) <= tolerance * b.groups.n
