"""What is damaged, and what a pixel may be."""

from __future__ import annotations

import numpy as np
import pytest

from factorstream.images import restore_frames, restore_picture
from factorstream.images._pixels import read_stack


def test_all_ways_to_name_the_same_damage(rng):
    picture = rng.integers(1, 255, (6, 7, 3)).astype(np.uint8)
    mask = np.zeros((6, 7), dtype=bool)
    mask[2:4, 3:5] = True
    marked = np.where(mask[..., None], np.uint8([255, 0, 255]), picture)
    with_nan = np.where(mask[..., None], np.nan, picture)
    with_alpha = np.dstack([picture, np.where(mask, 0, 255).astype(np.uint8)])
    wanted = np.broadcast_to(mask[..., None], picture.shape)
    for given, damage in [
        (picture, mask),
        (picture, mask.astype(np.uint8) * 255),
        (picture, wanted),
        (marked, (255, 0, 255)),
        (with_nan, None),
        (with_alpha, "alpha"),
    ]:
        stack = read_stack(given, damage, None, single=True)
        np.testing.assert_array_equal(np.isnan(stack.values[0]), wanted)
        np.testing.assert_array_equal(stack.values[0][~wanted], picture[~wanted])


def test_masks_of_stacks(rng):
    frames = rng.random((4, 5, 6))
    one, each = rng.random((5, 6)) < 0.3, rng.random((4, 5, 6)) < 0.3
    np.testing.assert_array_equal(np.isnan(read_stack(frames, one, None, single=False).values[2, ..., 0]), one)
    np.testing.assert_array_equal(np.isnan(read_stack(frames, each, None, single=False).values[..., 0]), each)
    of_channels = rng.random((4, 5, 6, 3)) < 0.3
    stack = read_stack(rng.random((4, 5, 6, 3)), of_channels, None, single=False)
    np.testing.assert_array_equal(np.isnan(stack.values), of_channels)


@pytest.mark.parametrize(
    ("dtype", "values", "limits"),
    [
        (np.uint8, (3, 200), (0, 255)),
        (np.uint16, (3, 200), (0, 65535)),
        (np.int32, (3, 200), (3, 200)),
        (np.float32, (0.1, 0.9), (0, 1)),
        (np.float64, (-2.0, 300.0), (-2, 300)),
    ],
)
def test_fills_stay_within_the_limits_and_the_type(dtype, values, limits):
    picture = np.array([[*values, values[0]]] * 3, dtype=dtype)
    mask = np.zeros((3, 3), dtype=bool)
    mask[1, 2] = mask[2, 2] = True
    stack = read_stack(picture, mask, None, single=True)
    assert stack.limits == limits
    filled = np.where(np.isnan(stack.values), [[[[-1e9]], [[-1e9]], [[1e9]]]], stack.values)
    restored = stack.rebuilt(filled)
    assert restored.dtype == dtype
    assert (restored[1, 2], restored[2, 2]) == limits
    np.testing.assert_array_equal(restored[~mask], picture[~mask])
    assert read_stack(picture, mask, (1, 2), single=True).limits == (1, 2)


@pytest.mark.parametrize("limits", [(1, 0), (1, 1), (0, np.nan)])
def test_limits_without_room_are_refused(limits):
    picture = np.array([[0.2, np.nan], [0.4, 0.6]])
    with pytest.raises(ValueError, match="the first below the second"):
        read_stack(picture, None, limits, single=True)


def test_whole_numbers_are_rounded_not_cut_off():
    picture = np.full((2, 2), 7, dtype=np.uint8)
    stack = read_stack(picture, np.array([[True, False], [False, False]]), None, single=True)
    assert stack.rebuilt(np.full((1, 2, 2, 1), 9.6))[0, 0] == 10


def test_what_was_transparent_is_opaque(rng):
    picture = np.dstack([rng.integers(0, 255, (4, 4, 3)), np.full((4, 4), 128)]).astype(np.uint8)
    picture[1, 1, 3] = 0
    stack = read_stack(picture, "alpha", None, single=True)
    restored = stack.rebuilt(np.full((1, 4, 4, 3), 50.0))
    assert restored[1, 1].tolist() == [50, 50, 50, 255]
    assert (np.delete(restored.reshape(16, 4), 5, axis=0) == np.delete(picture.reshape(16, 4), 5, axis=0)).all()
    assert stack.shaped(np.ones((1, 4, 4, 3)))[..., 3].tolist() == [[0] * 4] * 4


@pytest.mark.parametrize(
    ("picture", "damage", "sentence"),
    [
        (np.ones(3), None, "Expected a picture of shape"),
        (np.ones((3, 3), dtype=bool), None, "Pixels are numbers"),
        (np.ones((3, 3)), np.ones((2, 3), dtype=bool), "The mask has shape"),
        (np.ones((3, 3, 3)), (1, 2), "one for each channel"),
        (np.ones((3, 3)), "alpha", "last of 2 or 4 channels"),
        (np.ones((3, 3)), 1, "nothing to learn from"),
    ],
)
def test_what_cannot_be_read(picture, damage, sentence):
    with pytest.raises(ValueError, match=sentence):
        read_stack(picture, damage, None, single=True)


def test_masked_entries_are_damaged():
    picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
    mask = np.zeros(picture.shape, dtype=bool)
    mask[1, 2] = True
    found = read_stack(np.ma.array(picture, mask=mask), None, None, single=True)
    np.testing.assert_array_equal(np.isnan(found.values[0]), mask)
    assert found.original.dtype == np.uint8
    assert found.limits == (0.0, 255.0)


def test_a_value_that_no_pixel_has_is_said():
    picture = np.zeros((4, 4, 3), dtype=np.uint8)
    with pytest.warns(UserWarning, match=r"No pixel has the value \[255, 0, 254\] that marks damage"):
        restored = restore_picture(picture, (255, 0, 254))
    assert (restored.method, restored.n_filled) == ("none", 0)


def test_pictures_of_different_sizes_are_refused():
    with pytest.raises(ValueError, match=r"one shape, and these have \(4, 5\) and \(5, 4\); restore them one by one"):
        restore_frames([np.zeros((4, 5)), np.zeros((5, 4))])


def test_a_restoration_shows_what_was_done_without_its_pixels(rng):
    picture = np.where(np.eye(12, dtype=bool), np.nan, rng.random((12, 12)))
    shown = repr(restore_picture(picture))
    assert shown.startswith("Restoration(n_filled=12, method='straight lines in the picture', errors={'straight lines")
    assert shown.endswith("pixels=float64 of shape (12, 12))")


def test_names_of_files_are_refused(tmp_path):
    for call, given in [
        (restore_picture, "photo.png"),
        (restore_picture, tmp_path / "photo.png"),
        (restore_frames, ["photo.png", "b.png"]),
    ]:
        with pytest.raises(TypeError, match=r"photo.png' is text; read a file first"):
            call(given)
