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

pytestmark = pytest.mark.long  # pictures, each restored in several ways

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


@pytest.fixture
def sizes(tmp_path, photograph):
    """A folder with two damaged pictures of different sizes and an undamaged one; and how many pixels are damaged."""
    (tmp_path / "in").mkdir()
    for size in (20, 24):
        picture = photograph[:size, :size].copy()
        picture[5:7, 4:size] = MARK
        save(tmp_path / "in" / f"{size}.png", picture)
    Image.fromarray(photograph[:22, :22]).save(tmp_path / "in" / "fine.jpg")
    return tmp_path / "in", {"20.png": 32, "24.png": 40, "fine.jpg": 0}


def test_pictures_without_damage_are_copied_and_counts_are_right(capsys, tmp_path, sizes):
    source, damaged = sizes
    code, _, said = run(capsys, source, "-o", tmp_path / "out", "--value", "255,0,255")
    assert code == 0, said
    assert (tmp_path / "out" / "fine.jpg").read_bytes() == (source / "fine.jpg").read_bytes()
    assert re.search("Filled 32 pixels of 20.png by ", said)
    assert re.search("Filled 40 pixels of 24.png by ", said)
    assert f"Filled 72 pixels of 2 pictures; wrote {tmp_path / 'out'}." in said
    assert said.endswith("factorstream: Copied 1 picture without damage unchanged: fine.jpg.\n")
    code, out, _ = run(capsys, source, "-o", tmp_path / "out2", "--value", "255,0,255", "--json")
    facts = json.loads(out)
    assert (code, facts["pictures"], facts["n_filled"]) == (0, 3, 72)
    assert {each["name"]: each["n_filled"] for each in facts["files"]} == damaged
    for each in facts["files"]:
        assert each["method"] == (min(each["errors"], key=each["errors"].get) if each["n_filled"] else None)


def test_pictures_of_one_size_without_damage_are_copied_too(capsys, tmp_path, photograph):
    (tmp_path / "in").mkdir()
    marked = photograph[:24, :24].copy()
    marked[5:7, 4:20] = MARK
    Image.fromarray(photograph[:24, :24]).save(tmp_path / "in" / "fine.jpg")
    save(tmp_path / "in" / "marked.png", marked)
    code, out, said = run(capsys, tmp_path / "in", "-o", tmp_path / "out", "--value", "255,0,255", "--json")
    assert code == 0, said
    assert (tmp_path / "out" / "fine.jpg").read_bytes() == (tmp_path / "in" / "fine.jpg").read_bytes()
    assert [(each["name"], each["n_filled"]) for each in json.loads(out)["files"]] == [
        ("fine.jpg", 0),
        ("marked.png", 32),
    ]


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (["--value", "1,2,3"], "No pixel is marked as damaged"),
        (["--value", "255,0,255", "--std", "std.npy"], "--std needs pictures of one size"),
        (["--value", "255,0,255", "--std", "no/std.npy"], "does not exist; make it first"),
        (["--mask", "masks"], "has no mask for 20.png"),
        (["--mask", "three.npy"], "24.png: "),
        (["--mask", "two.npy"], "has 2 masks, and"),
    ],
)
def test_a_folder_that_cannot_be_restored_leaves_nothing(capsys, tmp_path, monkeypatch, sizes, more, sentence):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "masks").mkdir()
    np.save(tmp_path / "three.npy", np.eye(20, dtype=np.uint8)[None].repeat(3, axis=0))
    np.save(tmp_path / "two.npy", np.eye(20, dtype=np.uint8)[None].repeat(2, axis=0))
    code, out, said = run(capsys, sizes[0], "-o", "new/out", *more, "-q")
    assert (code, out, said.count("\n")) == (2, "", 1)
    assert sentence in said
    assert not (tmp_path / "new").exists()


def test_a_stack_with_a_folder_of_masks_and_a_folder_with_a_stack_of_masks(capsys, tmp_path):
    images = (15 * load_digits().images[:6]).astype(np.uint8)
    damaged = np.zeros(images.shape, dtype=bool)
    for k, mask in enumerate(damaged):
        mask[k : k + 2, 2:5] = True
    for name in ("in", "masks"):
        (tmp_path / name).mkdir()
    for k in range(6):
        save(tmp_path / "masks" / f"m{k}.png", damaged[k] * np.uint8(255))
        save(tmp_path / "in" / f"{k}.png", images[k])
    np.save(tmp_path / "in.npy", images)
    np.save(tmp_path / "mask.npy", damaged)
    for source, target, mask in (
        ("in.npy", "one.npy", "mask.npy"),
        ("in.npy", "two.npy", "masks"),
        ("in", "out", "mask.npy"),
    ):
        arguments = tmp_path / source, "-o", tmp_path / target, "--mask", tmp_path / mask
        assert run(capsys, *arguments, "-q") == (0, "", "")
    one = np.load(tmp_path / "one.npy")
    assert (one != images)[damaged].any()
    np.testing.assert_array_equal(np.load(tmp_path / "two.npy"), one)
    np.testing.assert_array_equal([np.array(Image.open(tmp_path / "out" / f"{k}.png")) for k in range(6)], one)
    (tmp_path / "masks" / "m5.png").unlink()
    code, _, said = run(capsys, tmp_path / "in.npy", "-o", tmp_path / "no.npy", "--mask", tmp_path / "masks")
    assert code == 2
    assert "has 5 masks, and" in said


def test_frames_of_a_gif(capsys, tmp_path, photograph, scratch):
    frames = [Image.fromarray(np.where(scratch, 255, photograph[..., 0] // 2 + k).astype(np.uint8)) for k in range(4)]
    frames[0].save(tmp_path / "in.gif", save_all=True, append_images=frames[1:], duration=70)
    code, _, said = run(capsys, tmp_path / "in.gif", "-o", tmp_path / "out.gif", "--value", "255")
    assert code == 0, said
    with Image.open(tmp_path / "out.gif") as gif:
        assert (gif.n_frames, gif.info["duration"]) == (4, 70)


def test_a_picture_of_a_camera_that_was_held_upright(capsys, tmp_path, photograph):
    picture = photograph[:30, :44].copy()
    picture[10:13, 8:30] = MARK
    exif = Image.Exif()
    exif[274] = 6  # the pixels' first column is seen above
    Image.fromarray(picture).save(tmp_path / "in.png", exif=exif)
    mask = save(tmp_path / "mask.png", np.rot90((picture == MARK).all(axis=-1), -1) * np.uint8(255))  # as it is seen
    code, _, said = run(capsys, tmp_path / "in.png", "-o", tmp_path / "out.png", "--mask", mask)
    assert code == 0, said
    with Image.open(tmp_path / "out.png") as restored:
        assert 274 not in restored.getexif()
        pixels = np.rot90(np.asarray(restored))
    intact = (picture != MARK).any(axis=-1)
    np.testing.assert_array_equal(pixels[intact], picture[intact])
    assert not (pixels == MARK).all(axis=-1).any()


def test_durations_of_frames_come_back(capsys, tmp_path, photograph):
    frames = [Image.fromarray(np.where(np.eye(20), 255, photograph[k : k + 20, :20, 0] // 2)) for k in range(3)]
    frames = [frame.convert("L") for frame in frames]
    frames[0].save(tmp_path / "in.gif", save_all=True, append_images=frames[1:], duration=[100, 500, 900])
    code, _, said = run(capsys, tmp_path / "in.gif", "-o", tmp_path / "out.gif", "--value", "255")
    assert code == 0, said
    with Image.open(tmp_path / "out.gif") as gif:
        durations = []
        for k in range(gif.n_frames):
            gif.seek(k)
            durations.append(gif.info["duration"])
    assert durations == [100, 500, 900]


def test_programs_and_reports_never_get_nan(capsys, tmp_path, photograph):
    rng = np.random.default_rng(0)
    frames = photograph[:20, :20, 0] / 2 + rng.integers(0, 5, (12, 20, 20))
    for frame in frames:
        line, column = rng.integers(2, 15, 2)
        frame[line : line + 5, column : column + 5] = np.nan
    frames[1:, :2] = np.nan  # known in one frame only: no way through time can be tried there
    np.save(tmp_path / "in.npy", frames)
    page = tmp_path / "page.html"
    code, out, said = run(capsys, tmp_path / "in.npy", "-o", tmp_path / "out.npy", "--json", "--report", page)
    assert code == 0, said
    assert len(json.loads(out)["errors"]) < 5
    shown = re.sub(r"base64,[^\"]*", "", page.read_text(encoding="utf-8"))
    assert not re.search(r"\bnan\b", out + said + re.sub(r"<(script|style).*?</\1>", "", shown, flags=re.DOTALL), re.I)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["in.png", "-o", "out.png"], "No pixel is marked as damaged"),
        (["none.png", "-o", "out.png"], "none.png does not exist"),
        (["in.png", "-o", "no/out.png", "--value", "0"], "does not exist; make it first"),
        (["in.png", "-o", "out.txt", "--value", "0"], "no ending of a picture"),
        (["in.png", "-o", "out.pdf", "--value", "0"], "no ending of a picture"),
        (["in.png", "-o", "out.png", "--value", "red"], "'red' is neither a number"),
        (["in.png", "-o", "out.png", "--value", "0", "--mask", "in.png"], "give one of them"),
        (["in.png", "-o", "out.png", "--mask", "small.png"], "give one entry for every pixel"),
        (["in.png", "-o", "out.png", "--value", "1,2"], "one for each channel"),
        (["in.png", "-o", "out.png", "--value", "1,2,300"], "8 bits hold whole numbers from 0 to 255"),
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
