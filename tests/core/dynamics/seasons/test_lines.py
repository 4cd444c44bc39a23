"""Slopes and coefficients, against the Gaussian of levels, slopes and coefficients written out."""

from __future__ import annotations

import numpy as np
import pytest

import reference_sequences as ref
from factorstream.core.dynamics.seasons.lines import LineVariances, coefficients, passed, smoothed, start

T, P = 14, 2
VARIANCES = LineVariances(
    np.array([0.4, 0.3, 0.5]), np.array([0.2, 0.0, 0.1]), np.array([0.03, 0.0, 0.0]), np.array([[0.8, 2.0]] * 3)
)
SLOPE, SPREAD = np.array([0.3, -1.0, 0.0]), np.array([0.5, 2.0, 0.0])  # the last feature has no slope


@pytest.fixture
def rows(rng):
    """Three features and two known columns; the second feature begins late."""
    X = rng.normal(size=(T, P))
    Y = rng.normal(size=(T, 3)).cumsum(0) + X @ rng.normal(size=(P, 3))
    Y[rng.random(Y.shape) < 0.25] = np.nan
    Y[:4, 1] = np.nan
    return Y, X


def naive(Y, X, j, upto, steps=0):
    R, q, qb = (float(part[j]) for part in VARIANCES[:3])
    return ref.line_joint(Y[:upto, j], X, R, q, qb, SLOPE[j], SPREAD[j], VARIANCES.v[j], steps=steps)


def test_rows_so_far_say_what_the_joint_gaussian_says(rows):
    Y, X = rows
    filtered, _ = passed(VARIANCES, start(SLOPE, SPREAD, P), Y, X)
    for t in (6, 9, T):
        s = filtered[t - 1]
        beta, cov = coefficients(s, VARIANCES.v)
        for j in range(3):
            mean, K = naive(Y, X, j, t)
            np.testing.assert_allclose(beta[j], mean[2 * t :], atol=1e-5)
            np.testing.assert_allclose(cov[j], K[2 * t :, 2 * t :], atol=1e-5)
            for i, at in enumerate((t - 1, 2 * t - 1)):  # level and slope
                np.testing.assert_allclose(s.M[j, i, 0] - s.M[j, i, 1:] @ beta[j], mean[at], atol=1e-5)
                own = s.P[j, i, i] + s.M[j, i, 1:] @ cov[j] @ s.M[j, i, 1:]
                np.testing.assert_allclose(own, K[at, at], atol=1e-5)


def test_all_rows_say_what_the_joint_gaussian_says(rows):
    Y, X = rows
    filtered, _ = passed(VARIANCES, start(SLOPE, SPREAD, P), Y, X)
    s = smoothed(VARIANCES, filtered)
    beta, cov = coefficients(filtered[-1], VARIANCES.v)
    for j in range(3):
        mean, K = naive(Y, X, j, T)
        first = int(np.flatnonzero(np.isfinite(Y[:, j]))[0])
        for t in range(first, T):
            for i, at in enumerate((t, T + t)):
                np.testing.assert_allclose(s.M[t, j, i, 0] - s.M[t, j, i, 1:] @ beta[j], mean[at], atol=1e-4)
            if SPREAD[j]:
                own = s.P[t, j, 1, 1] + s.M[t, j, 1, 1:] @ cov[j] @ s.M[t, j, 1, 1:]
                np.testing.assert_allclose(own, K[T + t, T + t], atol=1e-4)
        slope = s.M[first, j, 1, 0] - s.M[first, j, 1, 1:] @ beta[j]
        for t in range(first):  # before the first value the line goes back
            level = s.M[t, j, 0, 0] - s.M[t, j, 0, 1:] @ beta[j]
            after = s.M[first, j, 0, 0] - s.M[first, j, 0, 1:] @ beta[j]
            np.testing.assert_allclose(level, after - (first - t) * slope, atol=1e-9)


def test_a_prior_without_variance_switches_a_column_off(rows):
    Y, X = rows
    v = np.array([[0.8, 0.0]] * 3)
    s = passed(VARIANCES._replace(v=v), start(SLOPE, SPREAD, P), Y, X)[1]
    alone = passed(VARIANCES._replace(v=v[:, :1]), start(SLOPE, SPREAD, 1), Y, X[:, :1])[1]
    beta, cov = coefficients(s, v)
    np.testing.assert_array_equal(beta[:, 1], 0.0)
    np.testing.assert_array_equal(cov[:, 1], 0.0)
    np.testing.assert_allclose(beta[:, 0], coefficients(alone, v[:, :1])[0][:, 0])
