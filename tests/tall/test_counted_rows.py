"""Rows through the filter in which every feature has its own doubt, against its naive twin."""

from __future__ import annotations

import numpy as np
import pytest

from counted_problems import begin_counted, counted_model, feature_covariances, problem
from factorstream.core.filter import groups as grouping
from factorstream.tall.counted_rows import members_of, moved
from factorstream.tall.filtering import filter_rows
from factorstream.tall.places import place_to_start
from filter_problems import close, random_spd
from reference_counted import CountedFilter
from split_place import fetched

LAM = 0.2


def both(Y, C, V0, r, step="least_squares", *, Q=None, unseen=None, room=10**9, block_size=8, **learning):
    """The state of the filter after Y and the twin, from the same start."""
    model = counted_model(r, C.shape[1], step, drift=Q, **learning)
    state, _ = filter_rows(begin_counted(C, V0, LAM, r, unseen), model, Y, block_size)
    twin = CountedFilter(C, V0, LAM, r, step, Q, unseen=set(unseen or ()), room=room, **learning).run(Y)
    return state, twin


def agree(state, twin, rtol=1e-9):
    """All that the two carry."""
    C = fetched(state.C)
    close(C, twin.C, rtol)
    close(feature_covariances(state), np.array(twin.V), rtol)
    close(state.small.S @ state.small.S.T, twin.levels[0], rtol)
    close(fetched(state.groups.seen), twin.seen, rtol)
    close(state.small.G, C.T @ C, rtol)
    close(state.small.T, twin.T, rtol)
    np.testing.assert_allclose(state.small.xbar, twin.xbar, rtol=rtol, atol=rtol * np.sqrt(np.trace(twin.T)))
    np.testing.assert_allclose(fetched(state.origin), twin.origin)
    assert state.small.noise == pytest.approx(twin.noise, rel=rtol)
    assert state.small.lam == pytest.approx(twin.lam, rel=rtol)
    assert state.groups.n == pytest.approx(twin.n, rel=rtol)


@pytest.mark.parametrize("with_mean", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.3, 0.7])
@pytest.mark.parametrize(("m", "r"), [(6, 1), (12, 3), (40, 5)])
def test_the_filter_is_its_naive_twin(rng, m, r, missing, with_mean):
    Y, C, V0 = problem(rng, 150, m, r, missing=missing, with_mean=with_mean)
    state, twin = both(Y, C, V0, r)
    agree(state, twin)
    if missing:
        assert not state.groups.alike


@pytest.mark.parametrize("numbers", [[0, 0, 0, 0, 0, 0], [2, 2, 0, 2, 1, 2], [1, 2, 3, 4, 5, 6]])
def test_the_gram_matrix_follows_features_that_move_by_the_gains_of_their_groups(rng, numbers):
    C, e = rng.standard_normal((6, 3)), rng.standard_normal(6)
    e[4], group, place = 0.0, np.array(numbers), place_to_start()
    gains = rng.standard_normal((max(numbers) + 1, 3))
    G, expected = C.T @ C, C + e[:, None] * gains[group]
    tall, of = place.put(C.copy(), 0), members_of(place, place.put(group, 0), len(gains))
    out, ee, whole = moved(place, tall, G, gains, place.put(e, 0), C.T @ e, of)
    close(fetched(out), expected, 1e-12)
    close(G, expected.T @ expected, 1e-12)
    squares = [np.sum(e[group == k] ** 2) for k in range(len(gains))]
    np.testing.assert_allclose(ee, squares[0] if len(gains) == 1 else squares, atol=1e-12)
    assert whole == pytest.approx(sum(squares))


@pytest.mark.parametrize("learning", [{"learn_noise": True}, {"learn_noise": True, "follow": True}])
@pytest.mark.parametrize("missing", [0.0, 0.3, 0.7])
def test_learned_noise_and_prior(rng, missing, learning):
    Y, C, V0 = problem(rng, 200, 18, 2, missing=missing)
    agree(*both(Y, C, V0, 2, min_observed=10, **learning))


def test_single_rows_report_what_blocks_report(rng):
    """Also while λ follows the learned noise: the share of the dictionary is that of before the row."""
    Y, C, V0 = problem(rng, 60, 12, 2)
    model = counted_model(2, 3, learn_noise=True, follow=True)
    start = begin_counted(C, V0, LAM, 2)
    state, in_blocks = filter_rows(start, model, Y, 20)
    assert state.groups.alike
    state, singles = start, []
    for k in range(len(Y)):
        state, record = filter_rows(state, model, Y[k : k + 1], 20)
        singles.append(record)
    for one, other in zip(in_blocks, zip(*singles, strict=True), strict=True):
        np.testing.assert_allclose(one, np.concatenate(other), rtol=1e-9)


@pytest.mark.parametrize("with_mean", [False, True])
def test_steps_under_a_prior(rng, with_mean):
    Y, C, V0 = problem(rng, 150, 15, 3, missing=0.4, with_mean=with_mean)
    agree(*both(Y, C, V0, 3, "map", learn_noise=True))


@pytest.mark.parametrize("with_mean", [False, True])
def test_the_marginal_step(rng, with_mean):
    Y, C, V0 = problem(rng, 40, 12, 2, missing=0.3, with_mean=with_mean)
    agree(*both(Y, C, V0, 2, "marginal", learn_noise=True), rtol=1e-5)  # the twin's optimiser is the less exact


@pytest.mark.parametrize("with_mean", [False, True])
@pytest.mark.parametrize("learning", [{}, {"learn_noise": True}, {"learn_noise": True, "follow": True}])
def test_a_drifting_dictionary(rng, with_mean, learning):
    Y, C, V0 = problem(rng, 150, 12, 2, missing=0.3, with_mean=with_mean)
    Y[60:, 4] = np.nan
    agree(*both(Y, C, V0, 2, Q=random_spd(rng, 2 + with_mean, 0.01), **learning))


def test_a_drift_that_leaves_more_doubt_than_the_prior(rng, monkeypatch):
    monkeypatch.setattr(grouping, "ROOM", 0)
    monkeypatch.setattr(grouping, "ROOM_PER_ENTRY", 0.0)
    Y, C, V0 = problem(rng, 150, 12, 2, missing=0.3)
    Y[60:, 4] = np.nan
    agree(*both(Y, C, V0, 2, Q=random_spd(rng, 3, 2.0), room=0))


def test_a_column_falls_silent_and_returns(rng):
    Y, C, V0 = problem(rng, 300, 10, 2)
    Y[20:180, 3] = np.nan
    Y[200:, 6] = np.nan
    state, twin = both(Y, C, V0, 2)
    agree(state, twin)
    assert len(twin.places_used) > 2


@pytest.mark.parametrize("with_mean", [False, True])
def test_a_column_that_starts_late(rng, with_mean):
    Y, C, V0 = problem(rng, 200, 10, 2, missing=0.1, with_mean=with_mean)
    Y[:70, 8], Y[:90, 9] = np.nan, np.nan
    state, twin = both(Y, C, V0, 2, unseen=[8, 9], learn_noise=True)
    agree(state, twin)
    assert twin.place[9] == "own" or twin.seen[9] > 10


@pytest.mark.parametrize("places", [0, 3, 7])
def test_more_young_features_than_there_is_room_for(rng, monkeypatch, places):
    """Some features become exact, others share levels, and those that have been seen often give their room away."""
    m, r = 24, 3
    monkeypatch.setattr(grouping, "ROOM", places * (r + 1) ** 2)
    monkeypatch.setattr(grouping, "ROOM_PER_ENTRY", 0.0)
    Y, C, V0 = problem(rng, 300, m, r)
    Y[rng.random(Y.shape) > np.geomspace(0.02, 1.0, m)] = np.nan
    Y[:, -4:] = np.nan_to_num(Y[:, -4:])
    Y[:40, 3:6], Y[100:, 10] = np.nan, np.nan
    unseen = [i for i in range(m) if np.isnan(Y[0, i])]
    state, twin = both(Y, C, V0, r, room=places, unseen=unseen, learn_noise=True)
    agree(state, twin)
    assert len(twin.places_used - {"own"}) > 3
    assert ("own" in twin.places_used) == (places > 0)
