"""Rotating and rescaling factors."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose

from factorstream.core.variational.factors import rescale
from factorstream.core.variational.fit import FitOptions, fit
from factorstream.core.variational.observed import observations
from factorstream.core.variational.predictive import predict, predict_variance
from factorstream.core.variational.relevance import canonical, dictionary_moment, relevance
from variational_problems import problem, random_factors, solve


def test_rotation_changes_nothing_but_the_basis():
    rng, Y, W = problem(9, n=60, m=20, r=4)
    model = fit(observations(Y, W), FitOptions(r=4)).factors
    moment = dictionary_moment(model.post, model.prior.c0)
    a, share, U = relevance(model.post, model.prior, moment)
    assert (np.diff(a) <= 1e-12).all()
    assert (share <= 1).all()
    Q = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    for T in (U, Q):
        post, prior = canonical(model.post, model.prior, T)
        if T is Q:  # a general rotation has a full P0
            prior = prior._replace(
                P0=np.block(
                    [[T.T @ model.prior.P0[:4, :4] @ T, np.zeros((4, 1))], [np.zeros((1, 4)), model.prior.P0[4:, 4:]]]
                )
            )
        one = solve(model, Y, W)
        two = solve(model._replace(post=post, prior=prior), Y, W)
        assert_allclose(predict(one, model.post), predict(two, post), rtol=1e-8, atol=1e-8)
        assert_allclose(predict_variance(one, model.post, 4), predict_variance(two, post, 4), rtol=1e-7)


def test_rescale_is_its_own_inverse():
    rng, Y, _W = problem(12)
    model, offset = random_factors(rng, Y.shape[1], 3), rng.normal(size=Y.shape[1])
    back = rescale(rescale(model, offset, 5.0), -offset / 5.0, 0.2)
    assert_allclose(back.post.C, model.post.C, rtol=1e-9, atol=1e-12)
    assert_allclose(back.post.logdet, model.post.logdet, atol=1e-12)
