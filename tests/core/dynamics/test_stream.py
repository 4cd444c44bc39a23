"""What a stream carries: a dictionary that is followed beside the one last learned, and beliefs after a refresh."""

from __future__ import annotations

import tracemalloc

import numpy as np

from dynamics_problems import changed, draw, make, standardised
from factorstream.core.dynamics.filter import entry, filter_rows
from factorstream.core.dynamics.fit import STATES, fit, steps
from factorstream.core.dynamics.stream import LevelChange, StreamOptions, filter_row, followed, in_units, resumed

NOTHING = np.zeros(4, dtype=bool)


def fitted_stream(drift, T=40):
    Y = standardised(draw(make(2, m=4, r=2), T + 1, 2)[3])
    opt = StreamOptions(r=2, candidates=(STATES,), warmup=16, drift=drift)
    found = fit(Y[:T], 2, STATES, sweeps=3)
    return found, resumed(found, STATES, np.zeros(4), np.ones(4), Y[:T], opt), Y


def test_a_drifting_dictionary_is_kept_beside_the_one_last_learned():
    found, stream, Y = fitted_stream(1e-3)
    stream = followed(stream, Y[:-1])
    *_, (model, end, _) = steps(stream.fitted.model, Y[:-1])
    np.testing.assert_array_equal(stream.fitted.model.emission.C, found.model.emission.C)
    np.testing.assert_array_equal(stream.fitted.now.emission.C, model.emission.C)
    np.testing.assert_array_equal(stream.learning.anchor.x, end.x)
    after, _ = filter_row(stream.bank[0], Y[-1], NOTHING, 1)
    assert after.fitted.model is stream.fitted.model
    assert (after.fitted.now.emission.C != stream.fitted.now.emission.C).any()


def test_without_a_drift_there_is_one_dictionary():
    _, stream, Y = fitted_stream(None)
    assert followed(stream, Y[:-1]) is stream
    after, _ = filter_row(stream.bank[0], Y[-1], NOTHING, 1)
    assert after.fitted.now is stream.fitted.model


def test_older_beliefs_say_the_same_after_the_levels_followed_the_loadings():
    model = make(5, m=4, r=2, level=True)
    s = filter_rows(model, draw(model, 10, 5)[3])[0][-1]
    step, new = np.random.default_rng(0).normal(size=(4, 2)), np.array([False, False, False, True])
    after = changed(model, C=model.emission.C + step)
    mean, var = entry(after, LevelChange(step, new, model.levels.p0).apply(s))
    before = entry(model, s)
    np.testing.assert_allclose(mean[:3], before[0][:3])
    np.testing.assert_allclose(var[:3], before[1][:3])
    levels = LevelChange(step, new, model.levels.p0).apply(s).levels
    assert levels.mean[3] == 0.0
    assert levels.d[3] == model.levels.p0[3]


def test_innovations_come_in_the_units_of_the_data():
    _, stream, Y = fitted_stream(None)
    raw = stream._replace(shift=np.full(4, 3.0), scale=np.full(4, 10.0))
    plain = filter_row(stream.bank[0], Y[-1], NOTHING, 1)[1]
    found = in_units(plain, raw)
    np.testing.assert_allclose(found.mean, 3.0 + 10.0 * plain.mean)
    np.testing.assert_allclose(found.var, 100.0 * plain.var)
    np.testing.assert_allclose(found.logp, plain.logp - plain.n_obs * np.log(10.0))


def test_what_is_hidden_is_hidden_from_the_second_filter_only():
    _, stream, Y = fitted_stream(None)
    hide = np.array([True, False, False, True])
    after, _ = filter_row(stream.bank[0], Y[-1], hide, 2)
    for belief, row in ((after.fitted.belief, Y[-1]), (after.shadow, np.where(hide, np.nan, Y[-1]))):
        expected = filter_rows(stream.fitted.model, row[None], stream.fitted.belief)[0][0]
        np.testing.assert_array_equal(belief.x, expected.x)
        np.testing.assert_array_equal(belief.P, expected.P)
    assert after.recent == (stream.bank[0].recent[-1], after.fitted.belief)


def test_a_dictionary_that_follows_many_rows_is_kept_once():
    Y = np.random.default_rng(0).normal(size=(200, 60))
    opt = StreamOptions(r=6, candidates=(STATES,), warmup=16, drift=1e-3)
    stream = resumed(fit(Y, 6, STATES, sweeps=1), STATES, np.zeros(60), np.ones(60), Y, opt)
    tracemalloc.start()
    followed(stream, Y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40 * stream.fitted.model.emission.V.nbytes
