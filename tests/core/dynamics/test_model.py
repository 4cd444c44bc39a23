"""The parts of a model are there or not; a part that is not there costs nothing and says nothing."""

from __future__ import annotations

import numpy as np

from dynamics_problems import changed, draw, make
from factorstream.core.dynamics.filter import entry, initial, update
from factorstream.core.dynamics.model import Levels, inv, loading_covariance, with_R


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
