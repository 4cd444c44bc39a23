"""Shapes of whole periods: partial long rows against the joint Gaussian written out."""

from __future__ import annotations

import numpy as np

import reference_sequences as ref
from dynamics_problems import make
from factorstream.core.dynamics.filter import initial
from factorstream.core.dynamics.noise import GaussianSpec
from factorstream.core.dynamics.seasons.folding import fold
from factorstream.core.dynamics.seasons.shapes import ShapeLayer, learn_shapes

P, K = 3, 2


def layer_of(rng):
    model = make(m=P * K, r=2)
    shift, scale = rng.normal(size=P * K), rng.uniform(0.5, 2.0, P * K)
    return ShapeLayer(P, np.arange(K), shift, scale, model, initial(model), 0)


def written_out(layer, Y, steps=0):
    """Mean and variance of every entry of Y, and of some more rows, by one joint Gaussian of all states."""
    (A, Q, P0), (C, mean, *_) = layer.model.dynamics, layer.model.emission
    rows = np.vstack([Y, np.full((steps, K), np.nan)])
    Z = (fold(rows, P) - layer.shift) / layer.scale
    x, cov, _ = ref.joint_gaussian(A, Q, P0, C, layer.model.noise.R, mean, Z)
    signal = layer.shift + layer.scale * (mean + x @ C.T)
    var = layer.scale**2 * np.array([np.diag(C @ cov[n, :, n] @ C.T) for n in range(len(Z))])
    return signal.reshape(-1, K)[: len(rows)], var.reshape(-1, K)[: len(rows)]


def test_partial_long_rows_are_as_the_joint_gaussian(rng):
    layer = layer_of(rng)
    Y = layer.shift[:K] + rng.normal(size=(8, K))
    Y[rng.random(Y.shape) < 0.3] = np.nan
    smoothed = layer.smoothed(Y, 0)
    signal, var = written_out(layer, Y)
    np.testing.assert_allclose(smoothed.signal, signal, atol=1e-9)
    np.testing.assert_allclose(smoothed.var, var, atol=1e-9)
    for t, y in enumerate(Y):
        signal, var = written_out(layer, Y[:t], steps=6)
        comes = layer.ahead(6)
        np.testing.assert_allclose(comes.signal, signal[t:], atol=1e-9)
        np.testing.assert_allclose(comes.var, var[t:], atol=1e-9)
        np.testing.assert_allclose(layer.now()[0], signal[t], atol=1e-9)
        np.testing.assert_allclose(layer.now()[1], var[t], atol=1e-9)
        layer = layer.taken(y)


def test_days_of_two_kinds_are_learned(rng):
    period, n = 12, 80
    shapes = rng.normal(size=(2, period))
    kinds = rng.integers(0, 2, n)
    Y = (shapes[kinds] + 0.1 * rng.normal(size=(n, period))).reshape(-1, 1)
    gone = rng.random(Y.shape) < 0.3
    layer, season = learn_shapes(np.where(gone, np.nan, Y), period, np.array([0]), 5, GaussianSpec(), 20, 1e-3)
    assert np.std((season.signal - Y)[gone]) < 0.2
    np.testing.assert_allclose(layer.smoothed(np.where(gone, np.nan, Y), 0).signal, season.signal, atol=1e-6)
    assert layer.place == 0
