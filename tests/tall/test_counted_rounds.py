"""Rows in rounds where every feature has its own doubt, by the twin of the kernel, against ``counted_rows``."""

from __future__ import annotations

import numpy as np
import pytest

from counted_problems import begin_counted, counted_model
from factorstream.core.filter.groups import Groups
from factorstream.core.place import HERE
from factorstream.tall import counted_rounds, rounds
from factorstream.tall.counted_rounds import CountedRounds
from factorstream.tall.counted_rows import CountedRows
from factorstream.tall.places import place_of
from filter_problems import random_spd
from gap_problems import filtered, rows_with_gaps, same
from strict_place import STRICT

M, N = 60, 40


@pytest.fixture(autouse=True)
def few_rows_are_worth_recording(monkeypatch):
    monkeypatch.setattr(rounds, "WORTH_RECORDING", 1)


def compared(model, start, Y, tolerance=1e-9):
    there = filtered(STRICT, start, CountedRounds(STRICT, model), Y)
    same(there, filtered(HERE, start, CountedRows(HERE, model, None), Y), tolerance)
    return there[0]


def at_levels(rng, q, r, seen, group, shares, k=1000, dtype=np.float64):
    """How a state begins whose features are in levels already."""
    C, V = rng.standard_normal((M, q)), random_spd(rng, q)

    def start():
        state = begin_counted(C.astype(dtype), V, 0.3, r)
        place, roots = place_of(state.C), np.array([(1.0 + share) * np.linalg.cholesky(V) for share in shares])
        levels = Groups(
            place.put(np.asarray(seen, float), 0),
            place.put(np.asarray(group), 0),
            roots.reshape(-1, q, q),
            np.asarray(shares),
            1000.0,
            state.groups.prior,
        )
        return state._replace(groups=levels, small=state.small._replace(k=k))

    return start


@pytest.mark.parametrize("q", [4, 5])
@pytest.mark.parametrize("step", ["least_squares", "map", "marginal"])
def test_young_features_that_have_groups_of_their_own_go_another_way(rng, q, step):
    model = counted_model(4, q, step, learn_noise=True)
    C, V = rng.standard_normal((M, q)), random_spd(rng, q)
    Y = np.concatenate([rows_with_gaps(rng, 6, M, 0.0), rows_with_gaps(rng, N, M, 0.3)])
    state = compared(model, lambda: begin_counted(C.copy(), V, 0.3, 4), Y)
    assert len(state.groups.shares) > state.groups.n_levels


@pytest.mark.parametrize("share", [0.2, 0.7])
@pytest.mark.parametrize("q", [4, 5])
def test_features_at_several_levels(rng, q, share):
    group = rng.integers(0, 3, M)
    seen = np.array([950.0, 710.0, 500.0])[group]
    start = at_levels(rng, q, 4, seen, group, [0.5**0.5, 0.5])
    state = compared(counted_model(4, q, learn_noise=True, follow=True), start, rows_with_gaps(rng, N, M, share))
    assert len(set(state.groups.group.tolist())) == 3


def test_levels_that_change_while_rows_are_under_way(rng):
    """Near the border of two levels, with few rows so far: they are chosen anew after every row."""
    model, groups_before = counted_model(4, 4), np.where(np.arange(M) % 2, 0, 1)
    seen = np.where(np.arange(M) % 2, 845.0, 835.0)
    start = at_levels(rng, 4, 4, seen, groups_before, [0.5**0.5], k=30)
    state = compared(model, start, rows_with_gaps(rng, N, M, 0.5))
    assert (state.groups.group != groups_before).any()


def test_all_features_in_one_of_several_groups(rng):
    start = at_levels(rng, 4, 4, np.full(M, 700.0), np.ones(M, int), [0.5**0.5])
    state = compared(counted_model(4, 4, learn_noise=True), start, rows_with_gaps(rng, N, M, 0.3))
    assert state.groups.group.tolist() == [1] * M


def test_all_features_in_one_group(rng):
    start = at_levels(rng, 4, 4, np.full(M, 1000.0), np.zeros(M, int), [])
    state = compared(counted_model(4, 4, learn_noise=True), start, rows_with_gaps(rng, N, M, 0.1))
    assert state.groups.alike


def test_as_many_levels_as_there_can_be(rng):
    """Seventeen groups: more than the smaller number for which there are sums."""
    group = np.arange(M) % 17
    start = at_levels(rng, 4, 4, 1000.0 * 2.0 ** (-group / 2.0), group, 2.0 ** (-np.arange(1, 17) / 2.0))
    state = compared(counted_model(4, 4), start, rows_with_gaps(rng, 6, M, 0.2))  # levels stay for eight rows
    assert state.groups.n_levels == 16


def test_in_single_precision(rng):
    group = rng.integers(0, 2, M)
    start = at_levels(rng, 4, 4, np.array([950.0, 710.0])[group], group, [0.5**0.5], dtype=np.float32)
    compared(counted_model(4, 4), start, rows_with_gaps(rng, N, M, 0.3, np.float32), 1e-4)


def test_a_dictionary_that_drifts_goes_another_way(monkeypatch):
    monkeypatch.setattr(rounds, "launchable", lambda C: True)
    C = np.zeros((rounds.FEWEST, 3), np.float32)
    assert counted_rounds.applies(C, counted_model(3, 3))
    assert not counted_rounds.applies(C, counted_model(3, 3, drift=np.eye(3)))
