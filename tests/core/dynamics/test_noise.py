"""Noise: weights of entries against quadrature, and densities that integrate."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import gamma, norm, t

from dynamics_problems import make
from factorstream.core.dynamics.filter import initial, predict, update
from factorstream.core.dynamics.noise import (
    SURPRISE,
    GaussianNoise,
    GaussianSpec,
    GivenStudentSpec,
    LearnedStudentSpec,
    StudentNoise,
)


@pytest.mark.parametrize("nu", [3.0, 10.0, 200.0])
@pytest.mark.parametrize(("v", "e"), [(0.0, 5.0), (0.3, 5.0), (0.3, 20.0), (50.0, 20.0), (50.0, 300.0), (0.0, 300.0)])
def test_weight_of_a_surprise_equals_the_integral(e, v, nu):
    R = 0.7

    def mass(u, power):  # over log w, where the mode is wide
        w = np.exp(u)
        return np.exp(norm.logpdf(e, scale=np.sqrt(v + R / w)) + gamma.logpdf(w, nu / 2, scale=2 / nu) + 500) * w ** (
            1 + power
        )

    near = np.log((nu + 1) / (nu + e * e / R))
    ends = {"limit": 500, "points": [near, 0.0], "epsabs": 0.0, "epsrel": 1e-10}
    right = quad(mass, near - 30, 4, args=(1,), **ends)[0] / quad(mass, near - 30, 4, args=(0,), **ends)[0]
    found = StudentNoise(np.array([R]), nu).evident_weights(np.array([e]), np.array([v]))[0]
    assert found == pytest.approx(right, rel=0.02)


def test_the_bound_of_a_weight_is_the_density_where_the_signal_is_known():
    """E log N(e; 0, R / w) - KL with the best q(w) is log t(e) when nothing else is unknown, and less for other q."""
    R, nu = 0.5, 4.0
    noise = StudentNoise(np.array(R), nu)
    for e in (0.0, 1.0, 7.0):
        w = (nu + 1) / (nu + e * e / R)
        exact = t.logpdf(e, nu, scale=np.sqrt(R))
        assert norm.logpdf(e, scale=np.sqrt(R / w)) + noise.weights_bound(np.array(w), noise) == pytest.approx(exact)
        assert norm.logpdf(e, scale=np.sqrt(R / w / 2)) + noise.weights_bound(np.array(2 * w), noise) < exact


@pytest.mark.parametrize("level", [False, True])
def test_scores_under_heavy_tails_never_promise_more_than_one(level):
    model = make(2, m=1, r=1, level=level, nu=3.0)
    s = predict(model, update(model, initial(model), np.array([0.4]))[0])
    mass = quad(lambda y: np.exp(update(model, s, np.array([y]))[1].logp), -400, 400, limit=400, points=[0.0])[0]
    assert 0.8 < mass < 1.0 + 1e-6


def test_degrees_of_freedom_are_learned():
    rng = np.random.default_rng(0)
    start = StudentNoise(np.ones(3), 10.0)
    for nu, low, high in ((4.0, 3.0, 6.0), (np.inf, 25.0, 201.0)):
        Y = rng.standard_normal((20_000, 3)) if np.isinf(nu) else rng.standard_t(nu, (20_000, 3))
        now = start
        for _ in range(300):
            w = now.expected_weights(Y**2)
            now = now.with_learned_nu(w.ravel())
        assert low < now.nu < high


def test_sizes_of_errors_are_normal_under_the_model():
    rng = np.random.default_rng(0)
    v, R = np.full(200_000, 0.5), np.full(200_000, 0.3)
    noise = StudentNoise(R, 4.0)
    e = np.sqrt(v) * rng.standard_normal(v.size) + np.sqrt(R) * rng.standard_t(4.0, v.size)
    for held, z in ((0.8, 1.2816), (0.95, 1.96)):
        assert np.quantile(noise.normal_size(e, v, R), held) == pytest.approx(z, rel=0.02)


def test_gaussian_noise_is_what_student_noise_tends_to():
    rng = np.random.default_rng(0)
    R, e, v = np.full(4, 0.5), rng.normal(size=4), rng.uniform(0.1, 1.0, 4)
    plain, heavy = GaussianNoise(R), StudentNoise(R, 1e7)
    np.testing.assert_allclose(heavy.variance, plain.variance, rtol=1e-6)
    np.testing.assert_allclose(heavy.evident_weights(e, v), 1.0, rtol=1e-5)
    np.testing.assert_allclose(heavy.expected_weights(e**2), 1.0, rtol=1e-5)
    np.testing.assert_allclose(heavy.normal_size(e, v, R), plain.normal_size(e, v, R), rtol=1e-3)
    np.testing.assert_allclose(heavy.weights_bound(np.ones(4), heavy), 0.0, atol=1e-6)
    assert plain.judge_row(lambda w: (e, v)) is None
    assert plain.degrees_of_freedom == np.inf


def test_what_is_asked_for_is_what_a_fit_begins_with():
    R, w = np.ones(2), np.full(50, 0.5)
    for spec, kind, nu in (
        (GaussianSpec(), GaussianNoise, np.inf),
        (GivenStudentSpec(5.0), StudentNoise, 5.0),
        (LearnedStudentSpec(), StudentNoise, 10.0),
    ):
        noise = spec.begin(R)
        assert type(noise) is kind
        assert noise.degrees_of_freedom == nu
    assert GivenStudentSpec(5.0).learn(StudentNoise(R, 5.0), w).nu == 5.0
    assert LearnedStudentSpec().learn(StudentNoise(R, 10.0), w).nu != 10.0


def test_hidden_outliers_do_not_set_the_width_of_intervals():
    assert GaussianSpec().width(3.0, 1.0) == 3.0
    for spec in (GivenStudentSpec(4.0), LearnedStudentSpec()):
        assert spec.width(3.0, 1.0) == 1.0
        assert spec.width(1.2, 1.0) == 1.2


@pytest.mark.parametrize(("nu", "most"), [(3.0, 0.077), (10.0, 0.014)])
def test_the_closed_form_of_a_weight_is_as_close_to_the_quadrature_as_is_said(nu, most, monkeypatch):
    noise = StudentNoise(np.ones(1), nu)
    v = np.geomspace(1e-4, 1e4, 81)[:, None]
    e = np.sqrt((v + 1.0) * np.linspace(0.0, SURPRISE, 101))
    closed = noise.evident_weights(e, v)
    monkeypatch.setattr("factorstream.core.dynamics.noise.SURPRISE", -1.0)
    off = np.abs(closed / noise.evident_weights(e, v) - 1.0).max()
    assert most - 0.002 < off <= most
