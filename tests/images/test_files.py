"""Pictures in files of every kind, there and back."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("PIL")

from PIL import Image

from factorstream.images.files import PictureError, encode, read_mask, read_pictures

KINDS = [
    (".png", np.uint8, ()),
    (".png", np.uint8, (3,)),
    (".png", np.uint8, (4,)),
    (".png", np.uint8, (2,)),
    (".png", np.uint16, ()),
    (".tif", np.uint8, (3,)),
    (".tif", np.uint16, ()),
    (".tif", np.float32, ()),
    (".bmp", np.uint8, (3,)),
    (".npy", np.float64, ()),
    (".npy", np.int32, (3,)),
]


@pytest.mark.parametrize(("ending", "dtype", "channels"), KINDS)
@pytest.mark.parametrize("n_frames", [0, 5])
def test_there_and_back(rng, tmp_path, ending, dtype, channels, n_frames):
    shape = (*([n_frames] if n_frames else []), 20, 31, *channels)
    pixels = (200 * rng.random(shape)).astype(dtype)
    path = tmp_path / f"picture{ending}"
    if n_frames and ending == ".bmp":
        with pytest.raises(PictureError, match="can hold one picture"):
            encode(pixels, path, True, {})
        return
    path.write_bytes(encode(pixels, path, bool(n_frames), {}))
    file = read_pictures(path)
    assert file.is_stack == bool(n_frames)
    assert file.pixels.dtype == dtype
    np.testing.assert_array_equal(file.pixels, pixels)
    assert file.has_alpha == (channels in ((2,), (4,)))


def test_jpeg_and_its_profile(rng, tmp_path):
    smooth = np.add.outer(np.arange(40), np.arange(50)).astype(np.uint8)
    path = tmp_path / "a.JPG"
    Image.fromarray(smooth).save(path, icc_profile=b"colours", dpi=(300, 300))
    file = read_pictures(path)
    path.write_bytes(encode(file.pixels, path, False, file.about))
    again = read_pictures(path)
    assert again.about["icc_profile"] == b"colours"
    assert again.about["dpi"] == (300, 300)
    assert np.abs(again.pixels.astype(int) - smooth).max() < 4


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("ending", [".jpg", ".png", ".tif", ".webp"])
def test_pictures_are_read_as_they_are_seen(tmp_path, ending, orientation):
    """A camera that was held upright writes lying pixels, and in EXIF how they have to be turned."""
    lying = np.add.outer(2 * np.arange(40), 3 * np.arange(50)).astype(np.uint8)
    exif = Image.Exif()
    exif[274] = orientation
    path = tmp_path / f"camera{ending}"
    options = {"lossless": True} if ending == ".webp" else {}
    Image.fromarray(np.dstack([lying] * 3)).save(path, exif=exif, **options)
    turned = {  # the table of the EXIF standard: where the first row and the first column of the pixels are seen
        1: lying,
        2: lying[:, ::-1],
        3: lying[::-1, ::-1],
        4: lying[::-1],
        5: lying.T,
        6: lying.T[:, ::-1],
        7: lying.T[::-1, ::-1],
        8: lying.T[::-1],
    }[orientation]
    file = read_pictures(path)
    assert file.pixels.shape[:2] == turned.shape
    assert np.abs(file.pixels[..., 0].astype(int) - turned).max() < 6
    path.write_bytes(encode(file.pixels, path, False, file.about))
    assert np.abs(read_pictures(path).pixels[..., 0].astype(int) - turned).max() < 12  # and not turned again
    mask = Image.fromarray((lying > 100) * np.uint8(255))
    mask.save(tmp_path / "mask.png", exif=exif)
    np.testing.assert_array_equal(read_mask(tmp_path / "mask.png"), turned > 100)


@pytest.mark.parametrize("ending", [".jpg", ".png", ".webp"])
def test_what_should_be_exif_and_is_not_stops_nobody(tmp_path, ending):
    pixels = np.full((5, 6, 3), 7, dtype=np.uint8)
    Image.fromarray(pixels).save(tmp_path / f"a{ending}", exif=b"Exif\0\0nonsense")
    np.testing.assert_array_equal(read_pictures(tmp_path / f"a{ending}").pixels, pixels)


@pytest.mark.parametrize("ending", [".gif", ".webp", ".png"])
def test_every_frame_is_shown_as_long_as_it_was(rng, tmp_path, ending):
    frames = rng.integers(0, 255, (3, 20, 30), dtype=np.uint8)
    first, *others = [Image.fromarray(frame) for frame in frames]
    path = tmp_path / f"moving{ending}"
    first.save(path, save_all=True, append_images=others, duration=[100, 500, 900])
    file = read_pictures(path)
    assert list(file.about["duration"]) == [100, 500, 900]
    path.write_bytes(encode(file.pixels, path, True, file.about))
    assert list(read_pictures(path).about["duration"]) == [100, 500, 900]
    encode(file.pixels[:1], path, True, file.about)  # fewer frames than durations
    encode(file.pixels[0], path, False, file.about)


def test_palettes_and_single_bits_become_colours_and_grey(tmp_path):
    colours = np.zeros((8, 8, 3), np.uint8)
    colours[2:5, 2:5] = [255, 0, 0]
    Image.fromarray(colours).convert("P", palette=Image.Palette.ADAPTIVE).save(tmp_path / "p.png")
    np.testing.assert_array_equal(read_pictures(tmp_path / "p.png").pixels, colours)
    Image.fromarray(colours[..., 0]).convert("1").save(tmp_path / "bits.png")
    np.testing.assert_array_equal(read_pictures(tmp_path / "bits.png").pixels, colours[..., 0])


def test_masks_are_white_where_pixels_are_damaged(tmp_path):
    mask = np.zeros((32, 32), dtype=bool)
    mask[8:16, 8:24] = True
    for name, pixels in {
        "m.png": mask * np.uint8(255),
        "c.png": np.dstack([mask * np.uint8(255)] * 3),
        "m.jpg": mask * np.uint8(255),  # with the ripples of JPEG
    }.items():
        Image.fromarray(pixels).save(tmp_path / name)
        np.testing.assert_array_equal(read_mask(tmp_path / name), mask)
    Image.fromarray(mask).save(tmp_path / "bits.png")
    np.testing.assert_array_equal(read_mask(tmp_path / "bits.png"), mask)
    np.save(tmp_path / "m.npy", mask)
    np.testing.assert_array_equal(read_mask(tmp_path / "m.npy"), mask)


def test_masks_of_16_bits(tmp_path):
    mask = np.zeros((16, 16), dtype=bool)
    mask[2:5, 3:9] = True
    white = np.where(mask, 65535, 0)
    Image.fromarray(white.astype(np.uint16)).save(tmp_path / "short.png")
    Image.fromarray(white.astype(np.int32)).save(tmp_path / "long.tif")  # Pillow's mode I
    with Image.open(tmp_path / "long.tif") as image:
        assert image.mode == "I"
    for name in ("short.png", "long.tif"):
        np.testing.assert_array_equal(read_mask(tmp_path / name), mask)


def test_what_cannot_be_read_or_written(rng, tmp_path):
    for name, content, sentence in [
        ("a.txt", b"", "has no ending of a picture"),
        ("a.png", b"no picture", "it is no picture, or a damaged file"),
        ("a.npy", b"no array", "is no array of numbers"),
    ]:
        (tmp_path / name).write_bytes(content)
        with pytest.raises(PictureError, match=sentence):
            read_pictures(tmp_path / name)
    with pytest.raises(PictureError, match="does not exist"):
        read_pictures(tmp_path / "none.png")
    np.save(tmp_path / "line.npy", np.ones(5))
    with pytest.raises(PictureError, match="channels come last"):
        read_pictures(tmp_path / "line.npy")
    with pytest.raises(PictureError, match=r"write a .tif or .npy file"):
        encode(rng.random((5, 5)), tmp_path / "a.png", False, {})
