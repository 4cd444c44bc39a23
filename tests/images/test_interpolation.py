"""Straight lines, beside a loop over pixels and on planes, which they restore exactly."""

from __future__ import annotations

import numpy as np
import pytest

import reference_images as naive
from factorstream.images._interpolation import between_frames, within_frames


def test_in_time_as_a_loop_does(rng):
    stack = rng.normal(size=(9, 5, 6, 2))
    stack[rng.random(stack.shape) < 0.5] = np.nan
    stack[:, 1, 2, 0] = np.nan  # never seen
    np.testing.assert_allclose(between_frames(stack), naive.between_frames(stack), rtol=1e-12)


@pytest.mark.parametrize("channels_alike", [True, False])
def test_a_plane_is_restored_exactly(rng, channels_alike):
    line, column = np.mgrid[:20, :30]
    truth = np.stack([2.0 * line + column, 100.0 - 3.0 * column], axis=-1)[None]
    stack = truth.copy()
    if channels_alike:
        stack[0, 5:9, 7:15] = np.nan
    else:
        inner = rng.random((1, 18, 28, 2)) < 0.3
        stack[:, 1:-1, 1:-1][inner] = np.nan
    np.testing.assert_allclose(within_frames(stack), truth, atol=1e-9)


def test_where_there_is_nothing_around():
    stack = np.full((2, 4, 4, 1), np.nan)
    stack[0, 1, 1] = 5.0  # one pixel: the nearest; a frame without any: the mean of the others
    np.testing.assert_array_equal(within_frames(stack), np.full((2, 4, 4, 1), 5.0))
    line = np.full((1, 4, 4, 1), np.nan)
    line[0, 0, :, 0] = [1.0, 2.0, 3.0, 4.0]  # all known pixels in one line
    np.testing.assert_array_equal(within_frames(line)[0, 3, :, 0], [1.0, 2.0, 3.0, 4.0])
