"""Whole pictures and stacks, as a user would restore them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_sample_image
from threadpoolctl import threadpool_info, threadpool_limits

from factorstream.images import _restore, restore_frames, restore_picture
from factorstream.images._interpolation import within_frames

pytestmark = pytest.mark.long  # photographs, each restored in several ways


def photograph(size=96):
    return load_sample_image("china.jpg")[100 : 100 + size, 200 : 200 + size]


def psnr(truth, restored, damaged):
    return 10 * np.log10(255**2 / np.mean((restored.astype(float) - truth)[damaged] ** 2))


def scratched(shape, rng, n=25):
    damaged = np.zeros(shape, dtype=bool)
    for _ in range(n):
        i, j = rng.integers(0, shape[0] - 3), rng.integers(0, shape[1] - 30)
        damaged[i : i + 3, j : j + 30] = True
    return damaged


def test_a_photograph_in_colour(rng):
    truth = photograph()
    damaged = scratched((96, 96), rng)
    broken = np.where(damaged[..., None], 0, truth).astype(np.uint8)
    before = broken.copy()
    restored = restore_picture(broken, damaged)
    np.testing.assert_array_equal(broken, before)
    assert (restored.pixels.dtype, restored.pixels.shape, restored.std.shape) == (np.uint8, truth.shape, truth.shape)
    np.testing.assert_array_equal(restored.pixels[~damaged], truth[~damaged])
    assert restored.method == next(iter(restored.errors))
    assert list(restored.errors.values()) == sorted(restored.errors.values())
    assert restored.n_filled == damaged.sum()
    lines = restored.errors["straight lines in the picture"]
    assert psnr(truth, restored.pixels, damaged) > 20 * np.log10(255 / lines) - 1
    error = np.abs(restored.pixels[damaged] - truth[damaged].astype(float))
    hold = np.mean(error <= 1.96 * restored.std[damaged] + 0.5)  # whole numbers
    assert 0.85 < hold < 0.995
    again = restore_picture(broken, damaged)
    np.testing.assert_array_equal(again.pixels, restored.pixels)


def test_what_is_chosen_does_not_depend_on_what_was_there(rng):
    """What the damaged pixels hide has no influence."""
    truth, damaged = photograph(48)[..., 0], scratched((48, 48), rng, 10)
    other = rng.integers(0, 255, truth.shape, dtype=np.uint8)
    one, two = (restore_picture(np.where(damaged, there, truth), damaged) for there in (truth, other))
    np.testing.assert_array_equal(one.pixels, two.pixels)
    assert one.errors == two.errors


@pytest.mark.parametrize("scale", [1.0, 1 / 255, 257.0, 1e4])
def test_the_units_of_a_picture_do_not_matter(rng, scale):
    truth, damaged = photograph(48)[..., 0].astype(float), scratched((48, 48), rng, 10)
    plain = restore_picture(np.where(damaged, np.nan, truth), limits=(0, 255))
    scaled = restore_picture(np.where(damaged, np.nan, truth * scale), limits=(0, 255 * scale))
    assert scaled.method == plain.method
    np.testing.assert_allclose(scaled.pixels / scale, plain.pixels, atol=0.5)


def test_a_still_camera_is_restored_from_other_frames(rng):
    picture = photograph(64)[..., 1].astype(float)
    truth = np.rint(picture + 2 * rng.normal(size=(12, 64, 64))).clip(0, 255).astype(np.uint8)
    damaged = np.stack([scratched((64, 64), rng, 6) for _ in truth])
    restored = restore_frames(np.where(damaged, 0, truth), damaged)
    assert restored.method in ("frames as rows", "straight lines in time")
    assert psnr(truth, restored.pixels, damaged) > 35


def test_a_logo_is_restored_where_no_frame_shows_anything(rng):
    images = load_digits().images[:60]
    logo = np.zeros((8, 8), dtype=bool)
    logo[3:5, 3:5] = True
    restored = restore_frames(images, logo)
    assert np.isfinite(restored.pixels).all()
    assert restored.n_filled == 240
    assert restored.pixels.max() <= 16


def test_pixels_that_one_frame_shows_leave_no_way_without_an_error(rng):
    """Where the trial hides them, frames as rows and lines in time have no answer, and are not compared."""
    truth = photograph(20).mean(axis=2) + 2 * rng.normal(size=(12, 20, 20))
    damaged = np.zeros(truth.shape, dtype=bool)
    for mask in damaged:
        line, column = rng.integers(2, 15, 2)
        mask[line : line + 5, column : column + 5] = True
    damaged[1:, :2] = True
    left_out = 0
    for seed in range(3):
        restored = restore_frames(np.where(damaged, np.nan, truth), random_state=seed)
        assert list(restored.errors.values()) == sorted(restored.errors.values())
        assert np.isfinite(list(restored.errors.values())).all()
        assert np.isfinite(restored.pixels).all()
        left_out += "frames as rows" not in restored.errors
    assert left_out


@pytest.mark.parametrize("scale", [1.0, 1 / 255, 257.0])
def test_standard_deviations_of_small_pictures_have_their_unit(scale):
    line, column = np.mgrid[:14, :14]
    truth = scale * (100 + 6 * line + 4 * column + 3 * np.sin(line) * np.cos(column))
    damaged = np.zeros((14, 14), dtype=bool)
    damaged[2:4, 2:5] = damaged[9:11, 3:6] = damaged[4:7, 9:11] = True
    restored = restore_picture(np.where(damaged, np.nan, truth))
    assert restored.method == "straight lines in the picture"
    np.testing.assert_allclose(restored.std[damaged], restored.errors[restored.method], rtol=1e-6)
    off = np.sqrt(np.mean((restored.pixels - truth)[damaged] ** 2))
    assert 0.3 * off < restored.std[damaged].mean() < 3 * off
    assert (restored.std[~damaged] == 0).all()


def test_where_nothing_can_be_hidden_only_filled_pixels_have_no_standard_deviation():
    picture = np.array([[1.0, np.nan], [3.0, 4.0]])
    restored = restore_picture(picture)
    assert restored.errors == {}
    np.testing.assert_array_equal(restored.std, [[0.0, np.nan], [0.0, 0.0]])
    np.testing.assert_array_equal(restored.damaged, np.isnan(picture))


def test_pixels_that_the_chosen_way_cannot_fill_have_the_error_of_those_that_do(rng):
    """A logo is in all frames, so that frames as rows know nothing of it, and straight lines fill it."""
    truth = load_digits().images[:60] + 0.1 * rng.normal(size=(60, 8, 8))
    damaged = rng.random(truth.shape) < 0.3
    damaged[:, 3:5, 3:5] = True
    restored = restore_frames(np.where(damaged, np.nan, truth))
    assert restored.method == "frames as rows"
    assert np.isfinite(restored.std).all()
    assert ((restored.std > 0) == damaged).all()
    np.testing.assert_array_equal(restored.damaged, damaged)


def test_pictures_that_say_little():
    flat = np.full((40, 40), 7, dtype=np.uint8)
    mask = np.zeros((40, 40), dtype=bool)
    mask[10:13, 5:30] = True
    assert (restore_picture(np.where(mask, 0, flat), mask).pixels == 7).all()
    tiny = np.array([[1.0, np.nan], [3.0, 4.0]])
    assert np.isfinite(restore_picture(tiny).pixels).all()
    black = np.zeros((64, 64), dtype=np.uint8)
    black[20:24, 20:24] = 255  # one small light
    mask = np.zeros((64, 64), dtype=bool)
    mask[40:43] = True
    assert (restore_picture(black, mask).pixels[mask] < 3).all()
    one = restore_frames(np.where(mask, np.nan, black)[None])
    assert one.pixels.shape == (1, 64, 64)


def test_nothing_is_damaged(rng):
    picture = photograph(16)
    restored = restore_picture(picture)
    np.testing.assert_array_equal(restored.pixels, picture)
    assert (restored.n_filled, restored.errors) == (0, {})
    assert not (restored.std != 0).any()


def test_progress_is_shown_if_asked_for(capsys, monkeypatch):
    from factorstream import progress

    monkeypatch.setattr(progress, "DELAY", 0.0)
    picture = np.where(np.eye(32, dtype=bool), np.nan, photograph(32)[..., 0])
    restore_picture(picture)
    assert capsys.readouterr().err == ""
    restore_picture(picture, verbose=1)
    assert "restoring" in capsys.readouterr().err


def test_known_pixels_have_no_deviation_where_nothing_could_be_hidden():
    frames = np.stack([load_sample_image("china.jpg")[100:124, 200:224]] * 2)
    damage = np.zeros(frames.shape[:3], dtype=bool)
    damage[1, 5:7, 4:20] = True
    restored = restore_frames(frames, damage)
    assert restored.errors == {}
    assert (restored.std[~damage] == 0).all()
    assert np.isnan(restored.std[damage]).all()


def test_blas_keeps_to_one_thread(monkeypatch):
    """Pools that wait for each other beside busy neighbours took ten times as long."""
    seen = []

    def lines(stack):
        seen.extend(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas")
        return within_frames(stack)

    monkeypatch.setattr(_restore, "within_frames", lines)
    picture = np.where(np.arange(20)[:, None] == 7, np.nan, photograph(20)[:, :, 0])
    with threadpool_limits(2, user_api="blas"):
        restore_picture(picture)
    assert seen
    assert set(seen) == {1}
