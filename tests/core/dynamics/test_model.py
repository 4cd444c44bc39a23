"""The parts of a model are there or not; a part that is not there costs nothing and says nothing."""

from __future__ import annotations

import numpy as np
import pytest

from dynamics_problems import changed, draw, make
from factorstream.core.dynamics.filter import entry, initial, update
from factorstream.core.dynamics.model import (
    Levels,
    inv,
    loading_covariance,
    mean_state_covariance,
    row_sums,
    solve,
    squares,
    with_R,
)


def test_levels_of_no_variance_are_no_levels():
    """The filter with levels that cannot move equals the filter without any."""
    model = make(1)
    zero = np.zeros(5)
    still = model._replace(levels=Levels(np.ones(5), zero, zero))
    y = draw(model, 1, 1)[3][0]
    (a, left), (b, right) = update(model, initial(model), y), update(still, initial(still), y)
    assert a.levels is None
    assert not b.levels.d.any()
    np.testing.assert_allclose(entry(model, a), entry(still, b))
    np.testing.assert_allclose(left.logp, right.logp)


def test_a_known_dictionary_is_one_without_uncertainty():
    model = make(1)
    sure = changed(model, V=np.zeros((5, 2, 2)))
    y = draw(model, 1, 1)[3][0]
    np.testing.assert_array_equal(loading_covariance(model.emission), sure.emission.V)
    np.testing.assert_allclose(update(model, initial(model), y)[1].var, update(sure, initial(sure), y)[1].var)


def test_parts_are_replaced_without_touching_the_others():
    model = make(1, nu=4.0)
    other = with_R(model, 2 * model.noise.R)
    assert other.noise.nu == 4.0
    assert other.emission is model.emission
    np.testing.assert_allclose(inv(np.tile(2 * np.eye(2), (3, 1, 1))), np.tile(0.5 * np.eye(2), (3, 1, 1)))


@pytest.mark.parametrize("r", [0, 1, 2, 7])
def test_small_matrices_as_numpy_has_them(rng, r):
    """LAPACK is called directly, and answers as through NumPy."""
    M, B, H = rng.standard_normal((r, r)) + 2 * np.eye(r), rng.standard_normal((r, 3)), rng.standard_normal((5, r))
    before = M.copy(), B.copy()
    X, pivots = solve(M, B)
    np.testing.assert_allclose(X, np.linalg.solve(M, B), rtol=1e-12)
    assert np.log(np.abs(pivots)).sum() == pytest.approx(np.linalg.slogdet(M)[1], abs=1e-12)
    np.testing.assert_allclose(inv(M), np.linalg.inv(M), rtol=1e-12)
    np.testing.assert_allclose(squares(H, M), [h @ M @ h for h in H], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(row_sums(H), H.sum(axis=1), rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(M, before[0])
    np.testing.assert_array_equal(B, before[1])


def test_a_singular_matrix_is_refused_as_by_numpy():
    for wrong in (inv, lambda M: solve(M, np.eye(2))):
        with pytest.raises(np.linalg.LinAlgError):
            wrong(np.ones((2, 2)))


@pytest.mark.parametrize("T", [1, 2, 3, 7, 8, 100])
@pytest.mark.parametrize("walk", [False, True])
def test_the_mean_covariance_of_the_states_is_that_of_a_loop(T, walk):
    dynamics = make(1).dynamics
    A = np.eye(2) if walk else dynamics.A  # a random walk has no stationary covariance
    P, covariances = dynamics.P0, []
    for _ in range(T):
        covariances.append(P)
        P = A @ P @ A.T + dynamics.Q
    found = mean_state_covariance(dynamics._replace(A=A), T)
    np.testing.assert_allclose(found, np.mean(covariances, axis=0), rtol=1e-10)
