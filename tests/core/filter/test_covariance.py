"""V stays symmetric positive definite, however long the stream."""

from __future__ import annotations

import os

import numpy as np
import pytest

from factorstream import DictionaryFilter
from factorstream.core.filter.covariance import matrix_root, potter_update
from filter_problems import paper_filter


def test_potter_update_is_proposition_2(rng):
    A = rng.standard_normal((5, 5))
    V, x, lam = A @ A.T + np.eye(5), rng.standard_normal(5), 0.3
    S = matrix_root(V)
    g, xVx = potter_update(S, x, lam)
    np.testing.assert_allclose(g, V @ x / (lam + x @ V @ x), rtol=1e-12)
    assert xVx == pytest.approx(x @ V @ x)
    np.testing.assert_allclose(S @ S.T, V - np.outer(V @ x, V @ x) / (lam + x @ V @ x), rtol=1e-10, atol=1e-12)


@pytest.mark.here(reason="a long stream, whose rows go on as those of a short one")
def test_million_samples_keep_v_positive_definite():
    """Three features, two orders of magnitude apart, with almost no noise. 10⁶ samples take compiled rows a second or
    two, and NumPy's, which have a fifth of them, ten times as long.
    """
    blocks = 50 if os.environ["FACTORSTREAM_COMPILED"] == "1" else 10
    rng = np.random.default_rng(1)
    model = paper_filter(2, noise_variance=1e-4, prior_covariance=10.0, random_state=0, shuffle=False)
    scales = np.array([1.0, 10.0, 100.0])
    mixing = rng.standard_normal((2, 3))
    last = np.inf
    for _ in range(blocks):
        block = (rng.standard_normal((20_000, 2)) @ mixing + 1e-2 * rng.standard_normal((20_000, 3))) * scales
        model.partial_fit(block)
        trace = np.trace(model.covariance_)
        assert trace < last
        last = trace
    V = np.array(model.covariance_)
    assert model.n_samples_seen_ == 20_000 * blocks
    np.testing.assert_array_equal(V, V.T)
    assert np.linalg.eigvalsh(V)[0] > 0
    assert np.isfinite(model.components_).all()


@pytest.mark.parametrize("covariance", ["shared", "counted"])
def test_float32_stream_keeps_v_positive_definite(rng, covariance):
    model = DictionaryFilter(5, covariance=covariance, scale=False, random_state=0)
    mixing = rng.standard_normal((5, 40))
    for _ in range(40):
        block = rng.standard_normal((500, 5)) @ mixing + 0.1 * rng.standard_normal((500, 40)) + 20
        block[rng.random(block.shape) < 0.02] = np.nan
        model.partial_fit(block.astype(np.float32))
    assert model.components_.dtype == np.float32
    assert model.state_.filter.small.G.dtype == np.float64
    V = model.covariance_
    np.testing.assert_array_equal(V, np.swapaxes(V, -1, -2))
    assert np.linalg.eigvalsh(V).min() > 0
    assert np.mean(model.noise_variance_) == pytest.approx(0.01, rel=0.1)
