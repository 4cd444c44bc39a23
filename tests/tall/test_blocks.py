"""How a block is cut into runs of complete rows, how gaps in it are found, and what goes through at once."""

from __future__ import annotations

import numpy as np
import pytest

from counted_problems import begin_counted, counted_model, problem
from factorstream import DictionaryFilter
from factorstream.core.filter.whitened import in_numpy
from factorstream.core.linalg import gram
from factorstream.core.place import HERE
from factorstream.tall import blocks
from factorstream.tall.array_place import ArrayPlace
from factorstream.tall.blocks import Blocks, in_blocks, runs
from factorstream.tall.engine import RowBlock
from factorstream.tall.filtering import filter_rows
from factorstream.tall.places import place_of, using
from factorstream.tall.products import combine, cross, self_products
from filter_problems import begin, close, paper_model
from split_place import SPLIT, fetched
from strict_place import DEVICE, STRICT


@pytest.mark.parametrize("place", [HERE, SPLIT])
@pytest.mark.parametrize(
    ("gappy", "expected"),
    [
        (".....", [(5, True)]),
        ("....", [(4, False)]),
        ("xxx", [(3, False)]),
        (".....xx..x......", [(5, True), (5, False), (6, True)]),
        ("....x", [(5, False)]),
        ("x", [(1, False)]),
    ],
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


def test_complete_rows_go_in_blocks_until_a_feature_has_missed_enough(rng):
    """From the first row on, where every feature has its own doubt."""
    Y, C, V0 = problem(rng, 12, 6, 2)
    model, state = counted_model(2, 3), begin_counted(C, V0, 0.2, 2)
    assert in_blocks(place_of(state.C), state, model)
    Y[4:, 1] = np.nan
    for k, alike in enumerate([True] * 4 + [False] * 8):
        state, _ = filter_rows(state, model, Y[k : k + 1], 4)
        assert in_blocks(place_of(state.C), state, model) == alike


class Told(ArrayPlace):
    """A device that writes down what it is asked to do."""

    def __init__(self):
        super().__init__(STRICT.xp, DEVICE)
        self.calls = []

    def each(self, function, *arguments):
        if function in (cross, self_products, combine, gram):
            self.calls.append(function)
        return super().each(function, *arguments)


def test_a_device_begins_with_the_next_block_early(rng):
    """It is asked for YYᵀ of the next block before it is told how this one changes C, and makes that block ready only
    when it has been asked for CᵀYᵀ of this one, which is waited for."""
    Y, C, place = rng.standard_normal((40, 20)), rng.standard_normal((20, 3)), Told()
    with using(place):
        state = begin(C, np.eye(3), 0.4)
        coming = (place.calls.append("ready") or rows for rows in blocks_of(place, Y))
        Blocks(place, paper_model(3), None, lambda: in_numpy).run(state, coming)
    first, last = ["ready", self_products, cross], [combine]
    assert place.calls == [*first, *["ready", self_products, combine, cross] * 3, *last]


def test_memory_that_is_used_again_is_not_read_ahead(rng):
    """A place that does not work ahead is given each block in the memory of the one before."""
    Y, C = rng.standard_normal((40, 20)), rng.standard_normal((20, 3))
    room = np.empty((10, 20))

    def in_one_room():
        for k in range(0, 40, 10):
            room[...] = Y[k : k + 10]
            yield RowBlock(room, 10)

    with using(HERE):
        states = [begin(C.copy(), np.eye(3), 0.4) for _ in range(2)]
    engine = Blocks(HERE, paper_model(3), None, lambda: in_numpy)
    given = zip(states, (in_one_room(), blocks_of(HERE, Y)), strict=True)
    found = [engine.run(state, blocks).state.C for state, blocks in given]
    np.testing.assert_array_equal(*found)


def blocks_of(place, Y):
    return [RowBlock(place.put(Y[k : k + 10], 1), 10) for k in range(0, len(Y), 10)]


@pytest.mark.parametrize("gap", [None, 7, 25, 59])
def test_what_was_begun_early_is_used_for_no_other_block(rng, gap):
    """Wherever a gap is."""
    Y, C, model = rng.standard_normal((60, 20)), rng.standard_normal((20, 3)), paper_model(3)
    if gap is not None:
        Y[gap, 4] = np.nan
    found = []
    for place in (HERE, STRICT):
        with using(place):
            state, facts = filter_rows(begin(C.copy(), np.eye(3), 0.4), model, Y, 10)
        found.append((fetched(state.C), state.small.G, state.small.S, np.array(facts)))
    for here, there in zip(*found, strict=True):
        close(there, here, 1e-10)


def test_a_gram_matrix_that_comes_during_the_recursion(rng, monkeypatch):
    """What the block has added to the one at its start is added to it; one that was off is so no longer.

    C moves little here: what a block adds is off by as much, relative to itself, as the matrix that it started with.
    """
    C, place, model = rng.standard_normal((20, 3)), Told(), paper_model(3)
    Y = rng.standard_normal((40, 3)) @ C.T + 0.1 * rng.standard_normal((40, 20))
    monkeypatch.setattr(blocks, "REFRESH", 20)
    with using(place):
        state = begin(C, 1e-4 * np.eye(3), 0.4)
        off = state.small._replace(G=np.asfortranarray(state.small.G * (1.0 + 1e-6)), age=20)
        place.calls.clear()
        state, _ = Blocks(place, model, None, lambda: in_numpy).run(state._replace(small=off), blocks_of(place, Y))
    assert [function for function in place.calls if function is not combine] == [
        *[self_products, cross, gram, self_products, cross],  # 20 rows are known since that one
        *[self_products, cross, gram, self_products, cross],
    ]
    assert state.small.age == 20
    C = fetched(state.C, 0)
    close(state.small.G, C.T @ C, 1e-9)
