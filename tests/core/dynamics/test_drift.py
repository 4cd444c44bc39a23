"""A dictionary that drifts is followed."""

from __future__ import annotations

import numpy as np
import pytest

from dynamics_problems import changed, draw, make
from factorstream.core.dynamics.drift import follow, grow, with_drift
from factorstream.core.dynamics.filter import initial, predict, update


@pytest.mark.parametrize("shared", [False, True])
def test_rank_one_steps_follow_drifting_loadings(shared):
    rng = np.random.default_rng(0)
    truth = changed(make(3, m=20, r=2, R=0.05), mean=np.zeros(20))
    V = np.tile(0.05 * np.eye(2), (1 if shared else 20, 1, 1))
    model, fixed = with_drift(changed(truth, V=V), 4e-4), truth
    C, x = truth.emission.C.copy(), np.zeros(2)
    s = f = initial(model)
    score = np.zeros(2)
    for _t in range(1500):
        x = truth.dynamics.A @ x + np.linalg.cholesky(truth.dynamics.Q) @ rng.normal(size=2)
        C = C + 0.02 * rng.normal(size=C.shape)
        y = C @ x + np.sqrt(truth.noise.R) * rng.normal(size=20)
        y[rng.random(20) < 0.2] = np.nan
        s, info = update(model, predict(model, s), y)
        model = follow(model, s, y)
        f, other = update(fixed, predict(fixed, f), y)
        score += [info.logp, other.logp]
    assert score[0] > score[1]
    assert np.linalg.eigvalsh(model.emission.V).min() > 0


def test_a_dictionary_that_does_not_drift_stays_as_it_is():
    model = make(3)
    y = draw(model, 1)[3][0]
    s, _ = update(model, initial(model), y)
    assert follow(model, s, y) is model
    assert grow(model.emission) is model.emission


def test_uncertainty_grows_by_the_drift_also_from_a_known_dictionary():
    emission = grow(grow(with_drift(make(3, m=4, r=2), 0.1).emission))
    np.testing.assert_allclose(emission.V, np.tile(0.2 * np.eye(2), (4, 1, 1)))
