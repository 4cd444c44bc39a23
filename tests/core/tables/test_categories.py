"""From predictions of classes to probabilities and sets."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from factorstream.core.tables.categories import (
    FLOORS,
    SHARPNESSES,
    drawn_classes,
    enough_of_them,
    indicators,
    learn_link,
    least_probability,
    sets,
    sharpened,
)


def naive(q, shares, t, f, least=1e-3):
    """The formula of the file, entry by entry."""
    out = []
    for row in q:
        power = [max(value, least) ** t for value in row]
        out.append([(1 - f) * one / sum(power) + f * share for one, share in zip(power, shares, strict=True)])
    return np.array(out)


@pytest.mark.parametrize("t", SHARPNESSES)
@pytest.mark.parametrize("f", FLOORS)
def test_probabilities_follow_the_formula(rng, t, f):
    q, shares = rng.normal(0.3, 0.4, (40, 3)), np.array([0.5, 0.3, 0.2])
    P = sharpened(q, shares, t, f)
    assert_allclose(P, naive(q, shares, t, f), rtol=1e-12)
    assert_allclose(P.sum(axis=1), 1.0)


def learned(rng, boldness, n=4000):
    """A link for predictions whose logarithms are ``boldness`` times those of the true probabilities."""
    p = rng.dirichlet([1.0, 1.0, 1.0], n)
    truth = (rng.random((n, 1)) > np.cumsum(p, axis=1)).sum(axis=1)
    q = p**boldness / (p**boldness).sum(axis=1, keepdims=True)
    link = learn_link(np.arange(3), np.zeros(3), np.ones(3), np.full(3, 1 / 3), q, truth)
    return link, q, p, truth


@pytest.mark.parametrize(("boldness", "expected"), [(2.0, 0.5), (1.0, 1.0), (0.5, 2.0)])
def test_what_is_too_bold_or_too_shy_is_found_out(rng, boldness, expected):
    link, q, p, _ = learned(rng, boldness)
    assert link.sharpness == expected
    assert link.floor == FLOORS[0]
    assert np.abs(link.probabilities(q) - p).mean() < 0.02


def test_predictions_that_say_nothing_are_mixed_with_the_shares(rng):
    q, truth = rng.dirichlet([1.0, 1.0], 2000), rng.integers(0, 2, 2000)
    link = learn_link(np.arange(1), np.zeros(1), np.ones(1), np.array([0.5, 0.5]), q[:, 1:], truth)
    assert (link.sharpness, link.floor) == (SHARPNESSES[0], FLOORS[-1])
    nothing = learn_link(np.arange(1), np.zeros(1), np.ones(1), np.array([0.9, 0.1]), np.empty((0, 1)), truth[:0])
    assert_allclose(nothing.probabilities(np.array([[0.5]])), [[0.7, 0.3]])


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95])
def test_sets_hold_new_entries(rng, level):
    _, q, _, truth = learned(rng, 1.0)
    half = learn_link(np.arange(3), np.zeros(3), np.ones(3), np.full(3, 1 / 3), q[:2000], truth[:2000])
    P = half.probabilities(q[2000:])
    chosen = sets(P, least_probability(half.scores, half.scores, level))
    held = chosen[np.arange(2000), truth[2000:]].mean()
    alone = (chosen.sum(axis=1) == 1).mean()
    assert level - 0.03 < held < level + 0.03 or alone == 1.0  # one label at least is in every set
    assert chosen[np.arange(2000), P.argmax(axis=1)].all()
    assert (enough_of_them(P, level)[np.arange(2000), truth[2000:]]).mean() > level - 0.03


def test_few_entries_tell_of_no_high_level():
    few, many = np.array([0.1, 0.2]), np.linspace(0, 1, 999)
    assert least_probability(few, few, 0.95) == pytest.approx(0.0)
    assert 0.0 < least_probability(few, many, 0.95) < 0.06
    assert_array_equal(sets(np.array([[0.7, 0.2, 0.1]]), 0.8), [[True, False, False]])


def test_without_calibration_as_few_as_have_the_level():
    P = np.array([[0.6, 0.3, 0.1], [0.1, 0.05, 0.85]])
    assert_array_equal(enough_of_them(P, 0.8), [[True, True, False], [False, False, True]])


@pytest.mark.parametrize("K", [2, 3, 5])
def test_drawn_classes_have_their_probabilities(rng, K):
    P = rng.dirichlet(np.full(K, 5.0), 6)
    U = rng.random((20_000, 6, 1 if K == 2 else K))
    chosen = drawn_classes(P, U)
    often = np.array([[np.mean(chosen[:, row] == k) for k in range(K)] for row in range(6)])
    assert_allclose(often, P, atol=0.015)
    best = P.argmax(axis=1)
    own = U[:, :, 0] if K == 2 else U[:, np.arange(6), best]
    for row in range(6):
        toward = 1.0 if K > 2 or best[row] == 1 else -1.0
        assert toward * np.corrcoef(own[:, row], chosen[:, row] == best[row])[0, 1] > 0.3


def test_two_classes_have_one_column():
    assert_allclose(indicators(np.array([[0.2], [0.9]])), [[0.8, 0.2], [0.1, 0.9]])
    link = learn_link(
        np.array([4]), np.array([0.3]), np.array([0.5]), np.array([0.7, 0.3]), np.zeros((2, 1)), np.array([0, 1])
    )
    assert_allclose(link.standardised(np.array([[1.0, 0.0], [0.25, 0.75]])), [[-0.6], [0.9]])
