"""Patches as rows and back, beside plain loops."""

from __future__ import annotations

import numpy as np
import pytest

import reference_images as naive
from factorstream.images import picture_to_rows, rows_to_picture
from factorstream.images._patches import patch_grid

STACKS = [
    ((1, 17, 23, 1), (1, 8, 8), (1, 3, 3)),
    ((5, 11, 9, 3), (3, 4, 4), (1, 2, 2)),
    ((4, 8, 8, 2), (3, 8, 8), (2, 4, 4)),
]


@pytest.mark.parametrize(("shape", "size", "step"), STACKS)
def test_cut_and_put_back_as_loops_do(rng, shape, size, step):
    stack = rng.normal(size=shape)
    grid = patch_grid(shape, size, step)
    rows, corners = naive.cut(stack, size, step)
    every = np.arange(len(rows))
    np.testing.assert_array_equal(grid.corners, corners)
    np.testing.assert_array_equal(grid.rows(stack, every), rows)
    answers, weights = rng.normal(size=rows.shape), rng.random(rows.shape)
    total, count = np.zeros(shape), np.zeros(shape)
    for which in np.array_split(rng.permutation(every), 3):  # in any order and in any lots
        grid.add(total, (answers * weights)[which], which)
        grid.add(count, weights[which], which)
    np.testing.assert_allclose(total / count, naive.put_back(answers, weights, corners, size, shape), rtol=1e-12)


@pytest.mark.parametrize("shape", [(20, 31), (20, 31, 3)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint8])
def test_a_picture_comes_back(rng, shape, dtype):
    picture = (255 * rng.random(shape)).astype(dtype)
    rows = picture_to_rows(picture, side=7, step=5)
    assert rows.dtype == (np.float64 if dtype == np.float64 else np.float32)
    np.testing.assert_allclose(rows_to_picture(rows, shape, side=7, step=5), picture, rtol=1e-5)


def test_weights_decide_where_patches_overlap():
    rows = np.array([[0.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0]])
    weights = np.array([[1.0, 1.0, 1.0, 1.0], [3.0, 3.0, 3.0, 3.0]])
    np.testing.assert_array_equal(rows_to_picture(rows, (2, 3), 2, 1), [[0, 0.5, 1]] * 2)
    np.testing.assert_array_equal(rows_to_picture(rows, (2, 3), 2, 1, weights), [[0, 0.75, 1]] * 2)


def test_what_cannot_be_cut():
    with pytest.raises(ValueError, match="do not cover a picture of 5 × 9"):
        picture_to_rows(np.ones((5, 9)), side=8)
    with pytest.raises(ValueError, match="a step of at most the side"):
        picture_to_rows(np.ones((9, 9)), side=3, step=4)
    with pytest.raises(ValueError, match="has the shape"):
        picture_to_rows(np.ones(9))
    with pytest.raises(ValueError, match="pass the side and step that made them"):
        rows_to_picture(np.ones((3, 4)), (9, 9), side=2, step=1)
