"""The kernels of a round against the round written out feature by feature.

Needs PyTorch, and a GPU or TRITON_INTERPRET=1 in the environment, with which Triton runs kernels on the host; otherwise
it is skipped.
"""

from __future__ import annotations

import os

import numpy as np
import pytest

from conftest import low_rank
from counted_problems import begin_counted, counted_model
from factorstream import DictionaryFilter
from factorstream.arrays import kernels
from factorstream.core.filter.groups import Groups
from factorstream.core.place import HERE
from factorstream.tall import rounds
from factorstream.tall.array_place import place_beside
from factorstream.tall.counted_rounds import CountedRounds
from factorstream.tall.counted_rows import CountedRows
from factorstream.tall.places import place_of, using
from factorstream.tall.round_products import Numbers, Sums, ends, moved, packed, read
from filter_problems import close, random_spd
from gap_problems import filtered, rows_with_gaps, same
from reference import gap_round


def on_device():
    """A function that brings arrays to the kernels."""
    torch, _ = pytest.importorskip("torch"), pytest.importorskip("triton")
    if not torch.cuda.is_available() and os.environ.get("TRITON_INTERPRET") != "1":
        pytest.skip("no GPU")
    return lambda values: torch.asarray(values, device="cuda" if torch.cuda.is_available() else "cpu")


def problem(rng, m, q, K):
    """C with room for more columns, two rows, what the first brings, groups and counts; numbers of float32."""
    C = rng.standard_normal((m, -(-q // 4) * 4)).astype(np.float32)
    before, after = (np.where(rng.random(m) < 0.4, np.nan, rng.standard_normal(m)).astype(np.float32) for _ in "12")
    z, gains = (rng.standard_normal(shape).astype(np.float32).astype(float) for shape in (q, (K, q)))
    return C, before, after, Numbers(z, gains, 0.7), rng.integers(0, min(K, 5), m), 10.0 * rng.random(m)


def made(put, C, q, K, before, numbers, group, seen, after, by_missing):
    """C, ``seen`` and the sums after a round, as arrays of NumPy; ``square`` as it is after the move."""
    from factorstream.tall.triton_rounds import chosen_products, go

    out = put(np.zeros(ends(q, K).pulls))
    out[ends(q, K).last :] = np.nan
    C, seen = put(C.copy()), put(seen.copy())
    rows = [None if row is None else put(row) for row in (before, after)]
    given = None if before is None else put(packed(numbers, np.dtype(np.float32)))
    if after is not None:
        chosen_products(C, q, rows[1], by_missing, out)
    go(C, q, K, rows[0], given, put(group) if K > 1 else None, seen, rows[1], by_missing, out)
    sums = read(out.cpu().numpy(), q, K)
    if before is not None:
        sums = sums._replace(square=moved(sums, numbers.gains))
    return C.cpu().numpy(), seen.cpu().numpy(), sums


SIZES = [(1, 3, 1), (333, 5, 1), (150, 17, 8), (141, 33, 16), (50, 20, 32), (150, 65, 1), (35, 65, 8), (35, 65, 16)]
"""Features, columns and groups: not multiples of tiles, the mean's column apart or not."""


@pytest.mark.parametrize(("m", "q", "K"), SIZES)
@pytest.mark.parametrize("by_missing", [True, False])
def test_a_move_and_the_sums_for_the_next_row(rng, m, q, K, by_missing):
    put = on_device()
    C, before, after, numbers, group, seen = problem(rng, m, q, K)
    C_moved, counted, sums = made(put, C, q, K, before, numbers, group, seen, after, by_missing)
    given = (part.astype(float) for part in (C[:, :q], before))
    expected = gap_round(*given, *numbers[:2], group, seen, 0.7, after.astype(float), by_missing)
    close(C_moved[:, :q], expected[0], 1e-6)
    np.testing.assert_array_equal(C_moved[:, q:], C[:, q:])
    np.testing.assert_allclose(counted, expected[1], rtol=1e-14)
    for name, own, twin in zip(Sums._fields, sums, expected[2:], strict=True):
        if np.size(own):
            close(np.asarray(own), np.asarray(twin), 2e-6), name


def test_what_there_is_only_before_or_only_after(rng):
    """The first round moves nothing, and the last has nothing to sum up."""
    put, (m, q, K) = on_device(), (100, 33, 16)
    C, before, after, numbers, group, seen = problem(rng, m, q, K)
    both = made(put, C, q, K, before, numbers, group, seen, after, True)
    one = made(put, C, q, K, before, numbers, group, seen, None, False)
    np.testing.assert_array_equal(one[0], both[0])
    np.testing.assert_array_equal(one[1], both[1])
    assert not one[2].square.any()
    assert not one[2].b.any()
    close(one[2].pulls, both[2].pulls, 2e-6)  # added up in two parts, which the next row tells apart
    other = made(put, both[0], q, K, None, None, group, seen, after, True)
    np.testing.assert_array_equal(other[0], both[0])
    np.testing.assert_array_equal(other[1], seen)
    close(other[2].square, both[2].square, 2e-6)
    np.testing.assert_array_equal(other[2].heard, both[2].heard)
    assert not other[2].errors.any()


@pytest.mark.parametrize("levels", [1, 3])
def test_rows_through_the_engines(rng, monkeypatch, levels):
    """Kernels all the way, against NumPy in double precision."""
    put = on_device()
    model, M, q = counted_model(4, 5, learn_noise=True), 90, 5
    group = rng.integers(0, levels, M)
    C, V, Y = rng.standard_normal((M, q)), random_spd(rng, q), rows_with_gaps(rng, 12, M, 0.3, np.float32)
    asked = []
    monkeypatch.setattr(kernels, "launchable", lambda beside: asked.append(beside) or kernels.failure() is None)

    def start(dtype):
        state, shares = begin_counted(C.astype(dtype), V, 0.3, 4), 0.5 ** (np.arange(1, levels) / 2.0)
        seen, numbers = (place_of(state.C).put(part, 0) for part in (1000.0 * 0.5 ** (group / 2.0), group))
        roots = np.repeat(np.linalg.cholesky(V)[None], levels - 1, axis=0)
        groups = Groups(seen, numbers, roots, shares, 1000.0, state.groups.prior)
        return state._replace(groups=groups, small=state.small._replace(k=1000))

    there = place_beside(put(Y))
    by_kernels = filtered(there, lambda: start(np.float32), CountedRounds(there, model), Y, cut=5)
    exact = filtered(HERE, lambda: start(np.float64), CountedRows(HERE, model, None), Y.astype(np.float64), cut=5)
    assert len(asked) >= 12
    assert kernels.failure() is None
    same(by_kernels, exact, 2e-4)


@pytest.mark.parametrize("settings", [{}, {"covariance": "shared", "scale": False, "fit_mean": False}])
def test_rows_through_an_estimator(rng, monkeypatch, settings):
    """As many features as do not all find room for a covariance of their own, so that they are at levels."""
    put, rows = on_device(), low_rank(rng, 50, 600, 8).astype(np.float32)
    rows[40:][rng.random((10, 600)) < 0.25] = np.nan
    launches = []
    monkeypatch.setattr(rounds, "FEWEST", 100)
    for module in (kernels, rounds):
        monkeypatch.setattr(module, "launchable", lambda beside: launches.append(1) or kernels.failure() is None)
    there = place_beside(put(rows))
    with using(there):
        by_kernels = DictionaryFilter(8, random_state=0, **settings).partial_fit(rows[:40]).partial_fit(rows[40:])
        assert len(launches) > 10
        assert kernels.failure() is None
        components = there.get(by_kernels.state_.filter.C, 0)
    with using(HERE):
        exact = DictionaryFilter(8, random_state=0, **settings).partial_fit(rows[:40].astype(float))
        exact.partial_fit(rows[40:].astype(float))
    close(components, exact.state_.filter.C, 1e-4)


def test_room_is_made_as_a_whole_or_not_at_all(monkeypatch):
    """Where memory ends in between: what is there of it would be taken for all."""
    put, room, made = on_device(), [], []
    from factorstream.tall import triton_rounds

    def short(n, **more):
        made.append(n)
        if len(made) == 3:
            raise MemoryError
        return np.empty(n)

    C = put(np.zeros((50, 4), np.float32))
    monkeypatch.setattr(triton_rounds.torch, "empty", short)
    with pytest.raises(MemoryError):
        triton_rounds.make_room(C, 4, 1, room)
    assert room == []


def test_many_programs_are_added_up_in_double_precision(rng):
    """Each has a few rows of ones; a sum in float32 would stop at 2²⁴."""
    put = on_device()
    if os.environ.get("TRITON_INTERPRET") == "1":
        pytest.skip("too many programs for the interpreter")
    m = 2**25 + 1
    C = np.ones((m, 4), np.float32)
    sums = made(put, C, 4, 1, None, None, np.zeros(m, int), np.zeros(m), np.ones(m, np.float32), False)[2]
    assert sums.yy == float(m)
    assert (sums.square == float(m)).all()
