"""The principal axes of a model: the same whatever its basis, and nothing about its predictions changes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import sqrtm

from conftest import low_rank
from factorstream import (
    BayesianFactorization,
    BroydenFactorization,
    DictionaryFilter,
    LowRankImputer,
    MaskedNMF,
    SequenceFilter,
    SGDFactorization,
    principal_axes,
)
from sequence_problems import panel

MODELS = {
    "filter": lambda: DictionaryFilter(3, random_state=0),
    "shared": lambda: DictionaryFilter(3, covariance="shared", scale=False, fit_mean=False, random_state=0),
    "map": lambda: DictionaryFilter(3, coefficients="map", random_state=0),
    "wide": lambda: DictionaryFilter(12, random_state=0),
    "bayesian": lambda: BayesianFactorization(3),
    "sequence": lambda: SequenceFilter(3, drift="none", calibrate=False),
}


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    X = low_rank(rng, 150, 8, 3, noise=0.2, offset=5.0)
    return np.where(rng.random(X.shape) < 0.15, np.nan, X)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("rows", [False, True], ids=["learned", "of rows"])
def test_rotated_coefficients_stand_for_the_same_rows(name, rows, X):
    model = MODELS[name]().fit(X)
    x = model.transform(X)
    axes = principal_axes(model, X if rows else None)
    expected = model.inverse_transform(x)
    np.testing.assert_allclose(x @ axes.rotation @ axes.components + model.mean_, expected, rtol=1e-9)
    k = min(model.n_components_, 8)
    assert axes.components.shape == (k, 8)
    assert axes.rotation.shape == (model.n_components_, k)
    np.testing.assert_allclose(axes.components @ axes.components.T, np.eye(k), atol=1e-12)
    assert (np.diff(axes.explained_variance) <= 1e-12).all()
    largest = np.abs(axes.components).argmax(axis=1)
    assert (axes.components[np.arange(k), largest] > 0).all()


@pytest.mark.parametrize("name", MODELS)
def test_axes_are_the_singular_vectors_of_the_weighted_components(name, X):
    """Found here from the square root of the covariance instead of a QR decomposition."""
    model = MODELS[name]().fit(X)
    axes = principal_axes(model)
    root = sqrtm(model.coefficient_covariance_).real
    _, singular, Vt = np.linalg.svd(root @ model.components_, full_matrices=False)
    np.testing.assert_allclose(axes.explained_variance, singular**2, rtol=1e-6, atol=1e-9 * singular[0] ** 2)
    clear = singular > 1e-3 * singular[0]
    np.testing.assert_allclose(np.abs((axes.components[: len(Vt)] * Vt).sum(axis=1))[clear], 1.0, rtol=1e-6)


@pytest.mark.parametrize("make", [lambda: SGDFactorization(3, random_state=0), lambda: BroydenFactorization(3)])
def test_axes_of_rows_are_those_of_what_is_reconstructed(make, X):
    """The covariance of the reconstructed rows has the axes as eigenvectors; models without a learned one need rows."""
    model = make().fit(X)
    with pytest.raises(TypeError, match="pass rows X"):
        principal_axes(model)
    axes = principal_axes(model, X)
    covariance = np.cov(model.inverse_transform(model.transform(X)), rowvar=False, bias=True)
    np.testing.assert_allclose(covariance @ axes.components.T, axes.components.T * axes.explained_variance, atol=1e-8)
    assert axes.explained_variance.sum() == pytest.approx(np.trace(covariance))


def test_nonnegative_components_have_axes_too(X):
    model = MaskedNMF(3, random_state=0, max_iter=50).fit(np.abs(X))
    axes = principal_axes(model, np.abs(X))
    x = model.transform(np.abs(X))
    np.testing.assert_allclose(x @ axes.rotation @ axes.components, model.inverse_transform(x), rtol=1e-9)


def test_the_basis_of_a_fit_does_not_matter(rng):
    """Two filters that start elsewhere learn other components and the same axes."""
    X = rng.standard_normal((600, 3)) * [3.0, 2.0, 1.0] @ np.linalg.qr(rng.standard_normal((20, 3)))[0].T
    X += 0.02 * rng.standard_normal(X.shape)
    one, other = (DictionaryFilter(3, random_state=seed).fit(X) for seed in (1, 2))
    assert np.abs(one.components_ - other.components_).max() > 0.1
    np.testing.assert_allclose(principal_axes(one, X).components, principal_axes(other, X).components, atol=0.01)


def test_what_is_learned_of_the_coefficients_is_how_they_vary(X):
    """A Bayesian fit scales its coefficients to a variance of about 1; the axes then explain what the rows do."""
    model = BayesianFactorization(3).fit(X)
    learned, found = principal_axes(model), principal_axes(model, X)
    np.testing.assert_allclose(learned.explained_variance, found.explained_variance, rtol=0.1)


def test_the_states_of_a_sequence_vary_as_its_dynamics_say():
    Y = panel(T=400, noise=0.05)
    model = SequenceFilter(2, drift="none", calibrate=False).fit(Y)
    learned, found = principal_axes(model), principal_axes(model, Y)
    np.testing.assert_allclose(learned.explained_variance, found.explained_variance, rtol=0.25)


def test_units_decide_which_features_count(rng):
    X = low_rank(rng, 200, 6, 2)
    unit = np.array([1.0, 1.0, 1e3, 1.0, 1.0, 1.0])
    plain = principal_axes(DictionaryFilter(2, random_state=0).fit(X), X)
    model = DictionaryFilter(2, random_state=0).fit(X * unit)
    axes = principal_axes(model, X * unit, unit=unit)
    np.testing.assert_allclose(axes.components / unit, plain.components, atol=0.05)
    assert abs(principal_axes(model, X * unit).components[0, 2]) > 0.99  # without units the largest numbers decide
    x = model.transform(X * unit)
    np.testing.assert_allclose(x @ axes.rotation @ axes.components + model.mean_, model.inverse_transform(x), rtol=1e-8)
    np.testing.assert_array_equal(axes.unit, unit)
    np.testing.assert_array_equal(plain.unit, np.ones(6))
    for bad in (np.ones(5), np.zeros(6), [1, 1, 1, 1, 1, np.nan]):
        with pytest.raises(ValueError, match="one positive number for each of the 6 features"):
            principal_axes(model, unit=bad)


def test_an_imputer_has_the_axes_of_its_standardised_features(rng):
    X = low_rank(rng, 120, 6, 2) * [1.0, 1e4, 1.0, 1e-3, 1.0, 1.0]
    X[:, 4] = 7.0  # does not vary
    imputer = LowRankImputer(2, random_state=0).fit(X)
    axes = principal_axes(imputer)
    assert axes.components.shape == (2, 5)
    assert np.abs(axes.components[0]).min() > 0.01  # no unit dominates
    np.testing.assert_array_equal(axes.components, principal_axes(imputer.factorization_).components)
    rows = (X - imputer.statistics_)[:, imputer.scale_ > 0] / imputer.scale_[imputer.scale_ > 0]
    of_rows = principal_axes(imputer.factorization_, rows)
    np.testing.assert_array_equal(principal_axes(imputer, X).components, of_rows.components)
    with pytest.raises(ValueError, match="No feature varies"):
        principal_axes(LowRankImputer().fit(np.ones((5, 2))))


def test_no_component_has_no_axis(rng):
    model = BayesianFactorization(random_state=0).fit(rng.standard_normal((200, 30)))
    assert model.n_components_ == 0
    axes = principal_axes(model)
    assert axes.components.shape == (0, 30)
    assert axes.explained_variance.shape == (0,)
