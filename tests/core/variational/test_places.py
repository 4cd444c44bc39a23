"""The whole variational fit, its streams and its answers, with the features in two arrays and on another device."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from factorstream.arrays import is_here
from factorstream.core.place import HERE
from factorstream.estimators import _bayesian_run
from factorstream.estimators._variational import absorb_rows, fit_options
from factorstream.estimators._variational_answers import VariationalDictionary
from factorstream.estimators._variational_fits import fit_rows as fit_at_the_place_of_rows
from factorstream.tall.places import using
from split_place import SPLIT, Split
from strict_place import STRICT

elsewhere = pytest.mark.parametrize("elsewhere", [SPLIT, STRICT], ids=["split", "strict"])

CLOSE = {"rtol": 1e-9, "atol": 1e-9}
SETTINGS = {
    "pooled": {},
    "per feature": {"noise_variance": "per_feature"},
    "given": {"noise_variance": 0.1, "prior_covariance": 0.5},
    "robust": {"robust": 4.0},
    "robust, learned, per feature": {"robust": True, "noise_variance": "per_feature"},
    "auto": {"n_components": "auto"},
    "auto, robust": {"n_components": "auto", "robust": True},
}


def rows(shape, outliers=False):
    rng = np.random.default_rng(sum(shape))
    n, m = shape
    X = rng.normal(size=(n, 3)) @ rng.normal(size=(3, m)) + 3.0 * rng.normal(size=m) + 0.3 * rng.normal(size=shape)
    if outliers:
        X = np.where(rng.random(shape) < 0.05, 40.0 * rng.normal(size=shape), X)
    return np.where(rng.random(shape) < 0.3, np.nan, X)


def fit_rows(X, options, calibrate, rng, place):
    with using(place):
        state, sweeps = fit_at_the_place_of_rows(X, options, calibrate, rng)
    assert isinstance(state.factors.post.C, Split) == (place is SPLIT)
    assert is_here(state.factors.post.C) == (place is not STRICT)
    return state, sweeps


def as_sparse(X):
    row, column = np.nonzero(~np.isnan(X))
    return sparse.csr_array((X[row, column], (row, column)), shape=X.shape)


def assert_same_answers(one, two, X):
    """Everything that can be asked of two states, the second of which is in pieces."""
    one, two = VariationalDictionary(one), VariationalDictionary(two)
    assert_allclose(two.components, one.components, **CLOSE)
    assert_allclose(two.mean, one.mean, **CLOSE)
    assert_allclose(two.noise, one.noise, **CLOSE)
    assert_allclose(two.covariance, one.covariance, **CLOSE)
    assert_allclose(two.half_width(0.8), one.half_width(0.8), **CLOSE)
    stored = as_sparse(X)
    questions = [lambda a: a.coefficients(X), lambda a: a.log_density(X), lambda a: a.log_density(stored)]
    questions += [lambda a: a.predict(X)[0], lambda a: a.predict(X)[1], lambda a: a.fill(X)]
    questions += [lambda a: a.draw(X, 2, np.random.default_rng(0))]
    for question in questions:
        assert_allclose(question(two), question(one), **CLOSE)


@pytest.mark.parametrize("shape", [(90, 20), (40, 70)])
@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("calibrate", [False, True])
@elsewhere
def test_fit(shape, name, calibrate, elsewhere):
    X = rows(shape, outliers="robust" in name)
    options = fit_options(**{"n_components": 3, **SETTINGS[name]})
    (one, sweeps), (two, twin) = (
        fit_rows(X, options, calibrate, np.random.default_rng(1), place) for place in (HERE, elsewhere)
    )
    assert_allclose([s.bound for s in twin], [s.bound for s in sweeps], rtol=1e-9)
    assert_same_answers(one, two, X)
    if calibrate:
        assert two.temper == one.temper
        assert_allclose(two.scores.away, one.scores.away, **CLOSE)
        assert_allclose(two.scores.freedom, one.scores.freedom, **CLOSE)


@pytest.mark.parametrize("shape", [(90, 60), (60, 90)])
@elsewhere
def test_fit_from_a_subspace(shape, monkeypatch, elsewhere):
    monkeypatch.setattr("factorstream.core.variational.spectrum.EXACT", 10)
    monkeypatch.setattr("factorstream.core.variational.start.WIDTH", 12)
    X, options = rows(shape), fit_options(3)
    one, two = (fit_rows(X, options, False, np.random.default_rng(1), place)[0] for place in (HERE, elsewhere))
    assert_same_answers(one, two, X)


def assert_same_but_for_signs(one, two, X, stored):
    """The sparse start's singular vectors come from an iteration in which rounding decides about their signs."""
    one, two = VariationalDictionary(one), VariationalDictionary(two)
    signs = np.sign((one.components * two.components).sum(axis=1))
    assert_allclose(signs[:, None] * two.components, one.components, **CLOSE)
    assert_allclose(two.covariance * signs * signs[:, None], one.covariance, **CLOSE)
    assert_allclose(two.mean, one.mean, **CLOSE)
    assert_allclose(two.noise, one.noise, **CLOSE)
    for data in (X, stored):
        assert_allclose(two.coefficients(data) * signs, one.coefficients(data), **CLOSE)
        assert_allclose(two.log_density(data), one.log_density(data), **CLOSE)
    for found, wanted in zip(two.predict(X), one.predict(X), strict=True):
        assert_allclose(found, wanted, **CLOSE)


@pytest.mark.parametrize("shape", [(90, 20), (40, 70)])
@elsewhere
def test_sparse_rows(shape, elsewhere):
    X = rows(shape)
    stored, options = as_sparse(X), fit_options(3)
    one, two = (fit_rows(stored, options, False, np.random.default_rng(1), place)[0] for place in (HERE, elsewhere))
    assert_same_but_for_signs(one, two, X, stored)
    one, two = absorb_rows(one, stored[:30]), absorb_rows(two, stored[:30])
    assert_same_but_for_signs(one, two, X, stored)


@pytest.mark.parametrize("name", SETTINGS)
@elsewhere
def test_stream(name, elsewhere):
    X = rows((120, 20), outliers="robust" in name)
    X[:70, 7] = np.nan  # a feature that comes late
    options = fit_options(**{"n_components": 3, **SETTINGS[name]})
    states = []
    for place in (HERE, elsewhere):
        with using(place):
            run = _bayesian_run.begin({}, options, X[:2], 5, print)
            for part in np.split(X[2:], [3, 30, 31, 70]):
                run = _bayesian_run.go_on(run, part, print)
        states.append(run.current)
    assert_same_answers(*states, X)
