"""Trials hide known pixels in the shape of the damage, and nothing else is looked at."""

from __future__ import annotations

import numpy as np
import pytest

from factorstream.images._models import Filled
from factorstream.images._trials import Way, hidden_pixels, try_ways, window_of


def test_holes_keep_their_shape(rng):
    stack = rng.random((20, 64, 64, 1))
    for frame in stack:  # one square of 20 × 20 in each, somewhere
        line, column = rng.integers(0, 44, 2)
        frame[line : line + 20, column : column + 20] = np.nan
    hidden = hidden_pixels(stack, rng)
    assert not (hidden & np.isnan(stack)).any()
    assert 0.1 < hidden.any(axis=(1, 2, 3)).mean() < 0.6
    damaged = np.isnan(stack)
    for frame, own in zip(hidden, damaged, strict=True):
        if frame.any():  # a whole square of another frame, but for what is damaged anyway
            assert any((frame == other & ~own).all() for other in damaged)


def test_single_pixels_that_touch_each_other_are_hidden_in_squares(rng):
    stack = rng.random((1, 100, 100, 1))
    stack[rng.random(stack.shape) < 0.6] = np.nan
    hidden = hidden_pixels(stack, rng)
    assert 0.05 < hidden.sum() / (~np.isnan(stack)).sum() < 0.4


def test_damage_at_the_same_place_in_all_frames_is_moved(rng):
    stack = rng.random((12, 40, 40, 1))
    stack[:, 30:36, 30:38] = np.nan
    assert hidden_pixels(stack, rng).any()


def test_the_window_is_around_the_damage():
    stack = np.zeros((50, 300, 400, 1))
    stack[30:33, 250:260, 20:30] = np.nan
    frames, lines, columns = window_of(stack)
    assert np.isnan(stack[frames, lines, columns]).sum() == np.isnan(stack).sum()
    assert (lines.stop - lines.start, columns.stop - columns.start) == (128, 128)
    assert window_of(np.full((3, 20, 30, 1), np.nan))[1:] == (slice(0, 20), slice(0, 30))


def test_the_best_way_is_first_and_knows_how_far_it_is_off(rng):
    truth = rng.normal(size=(1, 100, 100, 1))
    stack = np.where(rng.random(truth.shape) < 0.3, np.nan, truth)
    stacks_seen = []

    def way(noise):
        def fill(given, tell):
            stacks_seen.append(given)
            std = np.where(np.isnan(given), 1.0, 0.0)
            near = truth[:, : given.shape[1], : given.shape[2]] + noise * rng.normal(size=given.shape)
            return Filled(np.where(np.isnan(given), near, given), std)

        return Way(f"noise {noise}", fill, True)

    trials = try_ways(stack, [way(2.0), way(0.5)], rng, lambda share: None)
    assert [trial.way.name for trial in trials] == ["noise 0.5", "noise 2.0"]
    assert [round(trial.rmse, 1) for trial in trials] == [0.5, 2.0]
    assert 0.45 < trials[0].factor < 0.55  # makes ±1.96 hold 95%
    hidden = np.isnan(stacks_seen[0]) & ~np.isnan(stack)
    assert 100 < hidden.sum() < 0.5 * hidden.size
    np.testing.assert_array_equal(stacks_seen[0], stacks_seen[1])


def test_nothing_to_hide(rng):
    stack = np.full((1, 8, 8, 1), np.nan)
    stack[0, 0, 0] = 1.0
    assert try_ways(stack, [], rng, lambda share: None) == []


def test_ways_that_cannot_fill_the_hidden_pixels_are_left_out(rng):
    truth = rng.normal(size=(1, 60, 60, 1))
    stack = np.where(rng.random(truth.shape) < 0.3, np.nan, truth)

    def way(noise):
        def fill(given, tell):
            near = np.where(np.isnan(given), truth + noise * rng.normal(size=given.shape), given)
            return Filled(near, np.isnan(given).astype(float))

        return Way(f"noise {noise}", fill, True)

    trials = try_ways(stack, [way(2.0), way(np.nan), way(1.0), way(np.nan), way(0.5)], rng, lambda share: None)
    assert [trial.way.name for trial in trials] == ["noise 0.5", "noise 1.0", "noise 2.0"]
    assert try_ways(stack, [way(np.nan)], rng, lambda share: None) == []


@pytest.mark.parametrize(("better", "tried"), [("a", 2), ("b", 3)])
def test_a_way_between_two_others_is_tried_only_where_it_may_be_the_best(rng, better, tried):
    truth = rng.normal(size=(1, 60, 60, 1))
    stack = np.where(rng.random(truth.shape) < 0.3, np.nan, truth)

    def way(name, noise, unless=None):
        def fill(given, tell):
            near = np.where(np.isnan(given), truth + noise * rng.normal(size=given.shape), given)
            return Filled(near, np.isnan(given).astype(float))

        return Way(name, fill, True, unless=unless)

    ways = [way(name, 0.1 if name == better else 2.0) for name in "ab"]
    trials = try_ways(stack, [*ways, way("c", 0.01, ("a", "b"))], rng, lambda share: None)
    assert len(trials) == tried


def test_few_hidden_pixels_say_how_far_a_way_is_off_that_does_not_know_it(rng):
    truth = rng.normal(size=(1, 14, 14, 1))
    stack = truth.copy()
    stack[0, 4:8, 4:8] = np.nan

    def way(own):
        def fill(given, tell):
            gaps = np.isnan(given)
            return Filled(np.where(gaps, truth + 0.01 * rng.normal(size=given.shape), given), own(gaps))

        return fill

    lines = Way("lines", way(ones), True, knows_std=False)
    model = Way("model", way(lambda gaps: 0.02 * gaps), True)
    for _ in range(20):  # until a hole was hidden
        trials = {trial.way.name: trial for trial in try_ways(stack, [lines, model], rng, lambda share: None)}
        if trials:
            break
    assert trials["lines"].factor == trials["lines"].rmse
    assert trials["model"].factor == 1.0  # its own are better than what so few errors say


def ones(gaps):
    return gaps.astype(float)
