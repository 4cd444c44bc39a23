"""The sums of expectation-maximisation."""

from __future__ import annotations

import numpy as np
import pytest

import reference_sequences as ref
from dynamics_problems import draw, make
from factorstream.core.dynamics.levels import smooth_levels
from factorstream.core.dynamics.moments import add, forget, observed_moments, recentre
from factorstream.core.dynamics.smoother import smooth


def test_moments_equal_plain_loops():
    model = make(4)
    _, _, _, Y = draw(model, 25, 4)
    s = smooth(model, Y)
    mom = observed_moments(Y, s)
    S11, S10, S00, G, g, h = ref.em_sums(s.x, s.P, s.lag, Y)
    r = 2
    for a, b in ((mom.S11, S11), (mom.S10, S10), (mom.S00, S00), (mom.G[:, :r, :r], G), (mom.g[:, :r], g), (mom.h, h)):
        assert np.allclose(a, b, atol=1e-9)
    half = smooth(model, Y)
    assert np.allclose(add(mom, observed_moments(Y, half), 0.5).h, 1.5 * h)


def test_moments_with_levels_and_without_do_not_mix():
    model = make(6, m=4, r=2, level=True)
    Y = draw(model, 20, 6)[3]
    levels, plain = smooth_levels(model, Y)[1], observed_moments(Y, smooth(model._replace(levels=None), Y))
    for a, b in ((levels, plain), (plain, levels)):
        with pytest.raises(ValueError, match="cannot be added"):
            add(a, b)


def test_recentred_moments_are_those_of_the_moved_levels():
    """Move c by a step and l by -stepᵀx in the exact joint state: every sum must follow."""
    model = make(6, m=4, r=2, level=True)
    _, _, _, Y = draw(model, 20, 6)
    Y = np.where(np.isfinite(Y), Y, 0.3)
    rng = np.random.default_rng(0)
    x, own, step = rng.normal(size=(20, 2)), rng.normal(size=(20, 4)), rng.normal(size=(4, 2))
    _, template = smooth_levels(model, Y)

    def sums(own):
        X = np.hstack([x, np.ones((20, 1))])
        return template._replace(
            S11=x[1:].T @ x[1:],
            S10=x[1:].T @ x[:-1],
            S00=x[:-1].T @ x[:-1],
            G=np.tile(X.T @ X, (4, 1, 1)),
            g=(Y - own).T @ X,
            h=((Y - own) ** 2).sum(0),
            levels=template.levels._replace(
                L=np.stack([(own[1:] ** 2).sum(0), (own[1:] * own[:-1]).sum(0), (own[:-1] ** 2).sum(0)]),
                M=np.stack([own[1:].T @ x[1:], own[1:].T @ x[:-1], own[:-1].T @ x[1:], own[:-1].T @ x[:-1]]),
            ),
        )

    found, expected = recentre(sums(own), step), sums(own - x @ step.T)
    for a, b in zip((*found[:-1], *found.levels), (*expected[:-1], *expected.levels), strict=True):
        assert np.allclose(a, b)


def test_what_is_forgotten_is_gone_and_the_rest_stays():
    model = make(6, m=4, r=2, level=True)
    _, mom = smooth_levels(model, draw(model, 20, 6)[3])
    new = np.array([True, False, False, False])
    left = forget(mom, new)
    for before, after in ((mom.N, left.N), (mom.g, left.g), (mom.h, left.h), (mom.levels.k, left.levels.k)):
        assert not after[0].any()
        np.testing.assert_array_equal(after[1:], before[1:])
    np.testing.assert_array_equal(left.S11, mom.S11)
