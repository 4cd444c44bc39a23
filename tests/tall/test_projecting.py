"""Rows under a fixed dictionary, against the written-out joint Gaussian."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import reference
from conftest import low_rank
from factorstream.core.place import HERE
from factorstream.tall import projecting
from factorstream.tall.places import place_of
from filter_problems import paper_filter
from split_place import SPLIT, fetched


def gaps(rng, X, fraction):
    return np.where(rng.random(X.shape) < fraction, np.nan, X)


def test_imputation_variance_and_density_are_the_written_out_gaussians(rng):
    X = gaps(rng, low_rank(rng, 200, 30, 3, offset=2.0), 0.2)
    model = paper_filter(3, random_state=0).fit(X)
    small = model.state_.filter.small
    V = small.S @ small.S.T * small.noise / small.lam
    origin = fetched(model.state_.filter.origin) + fetched(model.state_.filter.C)[:, 3]
    np.testing.assert_allclose(model.mean_, origin + small.xbar @ model.components_, rtol=1e-12)
    filled, std = model.impute(X, return_std=True)
    density = model.score_samples(X)
    for i in range(20):
        seen = ~np.isnan(X[i])
        mean, var, log_p = reference.predictive(
            fetched(model.state_.filter.C)[:, :3], origin, V, small.xbar, small.T, model.noise_variance_, X[i], seen
        )
        np.testing.assert_allclose(filled[i, ~seen], mean[~seen], rtol=1e-8)
        np.testing.assert_allclose(std[i, ~seen], np.sqrt(var[~seen]), rtol=1e-8)
        np.testing.assert_array_equal(filled[i, seen], X[i, seen])
        assert (std[i, seen] == 0).all()
        assert density[i] == pytest.approx(log_p, rel=1e-8)


@pytest.mark.parametrize("fit_mean", [False, True])
@pytest.mark.parametrize("step", ["least_squares", "map", "marginal"])
def test_answers_do_not_depend_on_where_the_features_are(rng, fit_mean, step):
    """The same state here and in two arrays; draws use the same random numbers in the same order."""
    X = gaps(rng, low_rank(rng, 40, 9, 2, offset=2.0), 0.3)
    model = paper_filter(2, fit_mean=fit_mean, coefficients=step, random_state=0).fit(X)
    fixed, answers = model.state_.settings.model, []
    for place in (HERE, SPLIT):
        C, origin = (place.put(fetched(tall), 0) for tall in (model.state_.filter.C, model.state_.filter.origin))
        state = model.state_.filter._replace(C=C, origin=origin)
        assert place_of(state.C) is place
        answers.append(
            [
                projecting.components(state, fixed),
                projecting.mean(state, fixed),
                projecting.coefficients(state, fixed, X, 7),
                projecting.coefficients(state, fixed, sparse.csr_array(np.nan_to_num(X)), 7),
                projecting.log_density(state, fixed, X, 7),
                *projecting.predict(state, fixed, X, 7),
                projecting.fill(state, fixed, X, 7),
                projecting.draw(state, fixed, X, 7, 3, np.random.default_rng(0)),
            ]
        )
    for here, split in zip(*answers, strict=True):
        np.testing.assert_allclose(split, here, rtol=1e-9, atol=1e-9)
