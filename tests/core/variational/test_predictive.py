"""Predictive moments entry by entry, and draws that have them."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose

import reference_variational as ref
from factorstream.core.variational.packed import unpack
from factorstream.core.variational.posterior import moments, second_moment, statistics
from factorstream.core.variational.predictive import draw_entries, expected_squares, predict, predict_variance
from factorstream.core.variational.squares import expected_square
from variational_problems import problem, random_factors, solve


def test_predictive_variance_entry_by_entry():
    rng, Y, W = problem(13, n=9, m=6)
    model = random_factors(rng, 6, 3)
    coef = solve(model, Y, W)
    var = predict_variance(coef, model.post, 3)
    V, S = unpack(model.post.V, 4), np.zeros((9, 4, 4))
    S[:, :3, :3] = unpack(coef.Sigma, 3)
    mean = predict(coef, model.post)
    for k in range(9):
        for i in range(6):
            want = ref.entry_square(mean[k, i], model.post.C[i], V[i], coef.X[k], S[k])
            assert_allclose(var[k, i], want, rtol=1e-10)
    square = expected_squares(Y, coef, second_moment(model.post), model.post.C, moments(coef, 3))
    assert_allclose(square, (Y - mean) ** 2 + var, rtol=1e-8)
    stats = statistics(Y, W, coef, 3)
    assert_allclose(expected_square(stats, model.post), (W * square).sum(axis=0), rtol=1e-9)


def test_draws_have_the_predictive_moments():
    rng, Y, W = problem(14, n=8, m=6)
    model = random_factors(rng, 6, 3)
    coef = solve(model, Y, W)
    rows, columns = np.nonzero(W == 0)
    draws = draw_entries(rows, columns, coef, model.post, model.s2, 20000, rng)
    mean, var = (
        predict(coef, model.post)[rows, columns],
        (predict_variance(coef, model.post, 3) + model.s2)[rows, columns],
    )
    assert_allclose(draws.mean(axis=0), mean, atol=5 * np.sqrt(var.max() / 20000))
    assert_allclose(draws.var(axis=0), var, rtol=0.12)
