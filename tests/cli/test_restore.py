"""`factorstream restore` on real pictures, as a process of its own where that matters."""

from __future__ import annotations

import base64
import io
import json
import re
import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_sample_image

pytest.importorskip("PIL")

from PIL import Image

from cli_problems import code_of
from factorstream import cli

MARK = [255, 0, 255]


@pytest.fixture
def photograph():
    return load_sample_image("china.jpg")[100:164, 200:264]


@pytest.fixture
def scratch():
    mask = np.zeros((64, 64), dtype=bool)
    mask[20:23, 5:60] = mask[5:60, 40:42] = True
    return mask


def save(path, pixels):
    Image.fromarray(pixels).save(path)
    return path


def process(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "factorstream", "restore", *map(str, arguments)], capture_output=True, text=True
    )


def run(capsys, *arguments):
    try:
        code = cli.main(["restore", *map(str, arguments)])
    except SystemExit as stop:
        code = stop.code
    said = capsys.readouterr()
    return code, said.out, said.err


def test_a_picture_with_a_mask(tmp_path, photograph, scratch):
    source = save(tmp_path / "in.png", np.where(scratch[..., None], 0, photograph).astype(np.uint8))
    mask = save(tmp_path / "mask.png", scratch * np.uint8(255))
    done = process(source, "-o", tmp_path / "out.png", "--mask", mask, "--std", tmp_path / "std.npy")
    assert done.returncode == 0
    assert done.stdout == ""
    assert f"Filled {scratch.sum()} pixels of 1 picture by patches of" in done.stderr
    restored = np.array(Image.open(tmp_path / "out.png"))
    np.testing.assert_array_equal(restored[~scratch], photograph[~scratch])
    error = restored[scratch].astype(float) - photograph[scratch]
    assert np.sqrt(np.mean(error**2)) < 25  # the mean of the picture: 81
    std = np.load(tmp_path / "std.npy")
    assert ((std > 0).all(axis=-1) == scratch).all()


def test_a_colour_transparency_and_nan_say_the_same(capsys, tmp_path, photograph, scratch):
    marked = np.where(scratch[..., None], np.uint8(MARK), photograph)
    clear = np.dstack([photograph, np.where(scratch, 0, 255).astype(np.uint8)])
    np.save(tmp_path / "nan.npy", np.where(scratch[..., None], np.nan, photograph).astype(np.float32))
    by_value = run(capsys, save(tmp_path / "v.png", marked), "-o", tmp_path / "v.tif", "--value", "255,0,255", "--json")
    assert by_value[0] == 0
    facts = json.loads(by_value[1])
    assert facts["n_filled"] == scratch.sum()
    assert facts["method"] == min(facts["errors"], key=facts["errors"].get)
    assert run(capsys, save(tmp_path / "a.png", clear), "-o", tmp_path / "a2.png", "-q") == (0, "", "")
    assert run(capsys, tmp_path / "nan.npy", "-o", tmp_path / "n.npy", "-q") == (0, "", "")
    one, two = np.array(Image.open(tmp_path / "v.tif")), np.array(Image.open(tmp_path / "a2.png"))
    np.testing.assert_array_equal(one, two[..., :3])
    assert (two[..., 3] == 255).all()
    np.testing.assert_allclose(np.load(tmp_path / "n.npy"), one, atol=0.51)


def test_a_stack_and_a_folder_say_the_same(capsys, tmp_path):
    images = (15 * load_digits().images[:40]).astype(np.uint8)
    damaged = np.zeros(images.shape, dtype=bool)
    for k, mask in enumerate(damaged):
        mask[k % 5 : k % 5 + 3, k % 4 : k % 4 + 3] = True
    np.save(tmp_path / "in.npy", np.where(damaged, 255, images).astype(np.uint8))
    code, _, said = run(capsys, tmp_path / "in.npy", "-o", tmp_path / "out.tif", "--value", "255")
    assert code == 0
    assert "pixels of 40 pictures by" in said
    (tmp_path / "in").mkdir()
    (tmp_path / "masks").mkdir()
    for k, (image, mask) in enumerate(zip(images, damaged, strict=True)):
        save(tmp_path / "in" / f"{k:02d}.png", np.where(mask, 0, image).astype(np.uint8))
        save(tmp_path / "masks" / f"{k:02d}.bmp", mask * np.uint8(255))
    (tmp_path / "in" / "notes.txt").write_text("no picture")
    assert run(capsys, tmp_path / "in", "-o", tmp_path / "out", "--mask", tmp_path / "masks", "-q")[0] == 0
    with Image.open(tmp_path / "out.tif") as stack:
        for k in range(40):
            stack.seek(k)
            np.testing.assert_array_equal(np.array(stack), np.array(Image.open(tmp_path / "out" / f"{k:02d}.png")))
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [f"{k:02d}.png" for k in range(40)]


def test_a_folder_of_pictures_of_several_sizes(capsys, tmp_path, photograph):
    (tmp_path / "in").mkdir()
    for size in (20, 24):
        picture = photograph[:size, :size].copy()
        picture[5:7, 4:15] = MARK
        save(tmp_path / "in" / f"{size}.png", picture)
    code, _, said = run(capsys, tmp_path / "in", "-o", tmp_path / "out", "--value", "255,0,255")
    assert code == 0, said
    for size in (20, 24):
        restored = np.array(Image.open(tmp_path / "out" / f"{size}.png"))
        assert restored.shape == (size, size, 3)
        assert not (restored == MARK).all(axis=-1).any()


def test_frames_of_a_gif(capsys, tmp_path, photograph, scratch):
    frames = [Image.fromarray(np.where(scratch, 255, photograph[..., 0] // 2 + k).astype(np.uint8)) for k in range(4)]
    frames[0].save(tmp_path / "in.gif", save_all=True, append_images=frames[1:], duration=70)
    code, _, said = run(capsys, tmp_path / "in.gif", "-o", tmp_path / "out.gif", "--value", "255")
    assert code == 0, said
    with Image.open(tmp_path / "out.gif") as gif:
        assert (gif.n_frames, gif.info["duration"]) == (4, 70)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["in.png", "-o", "out.png"], "No pixel is marked as damaged"),
        (["none.png", "-o", "out.png"], "none.png does not exist"),
        (["in.png", "-o", "no/out.png", "--value", "0"], "does not exist; make it first"),
        (["in.png", "-o", "out.txt", "--value", "0"], "no ending of a picture"),
        (["in.png", "-o", "out.png", "--value", "red"], "'red' is neither a number"),
        (["in.png", "-o", "out.png", "--value", "0", "--mask", "in.png"], "give one of them"),
        (["in.png", "-o", "out.png", "--mask", "small.png"], "give one entry for every pixel"),
        (["in.png", "-o", "out.png", "--value", "1,2"], "one for each channel"),
        (["in.png", "-o", "out.png", "--value", "0", "--std", "std.png"], "--std writes a .npy file"),
        (["empty", "-o", "out", "--value", "0"], "has no picture in it"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(capsys, tmp_path, monkeypatch, photograph, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    save(tmp_path / "in.png", photograph)
    save(tmp_path / "small.png", photograph[:8, :8])
    (tmp_path / "empty").mkdir()
    code, out, said = run(capsys, *arguments)
    assert code == 2
    assert out == ""
    assert said.count("\n") == 1
    assert sentence in said
    assert not (tmp_path / "out.png").exists()


def test_without_pillow_one_sentence_says_what_to_do(tmp_path, photograph):
    save(tmp_path / "in.png", photograph)
    code = (
        "import sys; sys.modules['PIL'] = None\nfrom factorstream.cli import main\n"
        f"sys.exit(main(['restore', r'{tmp_path / 'in.png'}', '-o', r'{tmp_path / 'out.png'}', '--value', '0']))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 1
    assert 'pip install "factorstream[images]"' in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_report_shows_before_and_after(tmp_path, capsys, photograph, scratch):
    photograph, scratch = photograph[:44, :44], scratch[:44, :44]
    damaged = np.where(scratch[..., None], 0, photograph).astype(np.uint8)
    source, mask = save(tmp_path / "in.png", damaged), save(tmp_path / "mask.png", scratch * np.uint8(255))
    page = tmp_path / "page.html"
    code, _, err = run(capsys, source, "-o", tmp_path / "out.png", "--mask", mask, "--report", page)
    assert code == 0
    assert f"Wrote {page}." in err
    text = page.read_text(encoding="utf-8")
    assert f"<h1>{scratch.sum()} pixels filled in in.png</h1>" in text
    before, after, sure = (
        np.asarray(Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB"))
        for data in re.findall(r'src="data:image/png;base64,([^"]+)"', text)
    )
    restored = np.asarray(Image.open(tmp_path / "out.png"))
    np.testing.assert_array_equal(after, restored)
    np.testing.assert_array_equal(before[~scratch], photograph[~scratch])
    assert (before[scratch] == [200, 85, 61]).all()
    np.testing.assert_array_equal(sure.max(axis=-1) > 0, scratch)
    names = {}
    exec(code_of(text), names)
    np.testing.assert_array_equal(names["restored"].pixels, restored)
