"""Frames and patches through low-rank models, on real pictures."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_sample_image

from factorstream import BayesianFactorization, DictionaryFilter
from factorstream.images import _models
from factorstream.images._interpolation import within_frames
from factorstream.images._models import PatchSettings, fill_by_frames, fill_by_patches


def photograph(size=64):
    return load_sample_image("china.jpg")[100 : 100 + size, 200 : 200 + size].mean(axis=2).astype(np.float32)


def rmse(values, truth, damaged):
    return float(np.sqrt(np.mean((values - truth)[damaged] ** 2)))


def test_patches_beat_straight_lines_on_a_photograph(rng):
    truth = photograph(96).reshape(1, 96, 96, 1)
    damaged = rng.random(truth.shape) < 0.5
    stack = np.where(damaged, np.nan, truth)
    shares = []
    filled = fill_by_patches(stack, PatchSettings(1, 8, 16), 0, shares.append)
    assert rmse(filled.values, truth, damaged) < 0.85 * rmse(within_frames(stack), truth, damaged)
    np.testing.assert_array_equal(filled.values[~damaged], truth[~damaged])
    assert (filled.std[~damaged] == 0).all()
    assert 0.85 < np.mean(np.abs(filled.values - truth)[damaged] < 1.96 * filled.std[damaged]) < 0.99
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_one_group_is_one_model_and_a_weighted_mean(rng):
    """The textbook: fit all patches, fill each, and weigh every answer by 1/std."""
    from reference_images import cut, put_back

    truth = photograph(40).reshape(1, 40, 40, 1)
    damaged = rng.random(truth.shape) < 0.2
    stack = np.where(damaged, np.nan, truth)
    rows, corners = cut(stack, (1, 8, 8), (1, 2, 2))
    assert len(rows) < 2 * _models.PER_GROUP  # so that there is one group
    filled = fill_by_patches(stack, PatchSettings(1, 8, 4), 0, lambda share: None)
    values, std = BayesianFactorization(4, random_state=0).fit(rows).impute(rows, return_std=True)
    weights = np.where(np.isnan(rows), 1 / np.maximum(std, 1e-9), 0)
    expected = put_back(values, weights + 1e-30, corners, (1, 8, 8), truth.shape)
    np.testing.assert_allclose(filled.values[damaged], expected[damaged], rtol=0.01)  # rows come in another order


def test_holes_larger_than_patches():
    stack = photograph().reshape(1, 64, 64, 1).copy()
    stack[0, 8:56, 8:56] = np.nan
    filled = fill_by_patches(stack, PatchSettings(1, 4, 4), 0, lambda share: None)
    assert np.isfinite(filled.values[0, 8, 8:56]).all()  # at the edge
    stack[...] = np.nan
    stack[0, :, ::8] = 1.0  # no patch has its first pixels
    assert fill_by_patches(stack, PatchSettings(1, 4, 4), 0, lambda share: None).values.shape == stack.shape


def test_frames_as_rows(rng):
    images = load_digits().images[:200, :, :, None]
    damaged = rng.random(images.shape) < 0.2
    stack = np.where(damaged, np.nan, images)
    stack[:, 3, 3] = np.nan  # never seen
    filled = fill_by_frames(stack, 0)
    assert np.isnan(filled.values[:, 3, 3]).all()
    damaged[:, 3, 3] = False
    mean = np.broadcast_to(images.mean(axis=0), images.shape)
    assert rmse(filled.values, images, damaged) < 0.75 * rmse(mean, images, damaged)


@pytest.mark.parametrize("room", [2**29, 64])
def test_wide_frames_go_through_the_filter(rng, monkeypatch, room):
    monkeypatch.setattr(_models, "ROOM", room)
    images = load_digits().images[:60, :, :, None]
    stack = np.where(rng.random(images.shape) < 0.2, np.nan, images)
    rows = stack.reshape(60, -1)
    ever = ~np.isnan(rows).all(axis=0)
    model = BayesianFactorization(20, random_state=0) if room > 64 else DictionaryFilter(10, random_state=0)
    expected = model.fit(rows[:, ever]).impute(rows[:, ever])
    np.testing.assert_array_equal(fill_by_frames(stack, 0).values.reshape(60, -1)[:, ever], expected)


def test_large_pictures_have_patches_further_apart(monkeypatch):
    settings = PatchSettings(1, 8, 16)
    near = _models._grid((1, 100, 100, 1), settings)
    monkeypatch.setattr(_models, "PATCHES", 1000)
    far = _models._grid((1, 100, 100, 1), settings)
    assert np.diff(np.unique(near.corners[:, 1])).max() == 2
    assert np.diff(np.unique(far.corners[:, 1])).max() == 4 or len(far.corners) <= 1000
    assert np.diff(np.unique(_models._grid((1, 900, 900, 1), settings).corners[:, 1])).max() == 4
