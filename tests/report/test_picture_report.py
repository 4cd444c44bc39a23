"""Reports on restored pictures, whatever their kind."""

from __future__ import annotations

import base64
import io
import re

import numpy as np
import pytest

from factorstream.report.picture_report import RED, Restored, write_picture_report


def made(rng, shape, names, errors, dtype=np.uint8):
    after = (255 * rng.random(shape)).astype(dtype)
    damaged = rng.random(shape) < 0.2
    std, before = np.where(damaged, 3.0, 0.0), np.where(damaged, 0, after)
    return Restored(names, before, after, std, damaged, next(iter(errors), "straight lines"), errors, 7)


def pictures(text):
    from matplotlib.image import imread

    return [imread(io.BytesIO(base64.b64decode(data))) for data in re.findall(r'base64,([^"]+)"', text)]


def written(path, restored):
    done = write_picture_report(path / "page.html", restored, source="<in>", settings={"seed": "0"}, code="x < 1")
    return done.read_text(encoding="utf-8")


@pytest.mark.parametrize("channels", [(), (1,), (2,), (3,), (4,)])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_pictures_of_every_kind_are_shown(channels, dtype, rng, tmp_path):
    one = made(rng, (1, 8, 9, *channels), ["a"], {"patches": 1.5, "lines": 2.5}, dtype)
    text = written(tmp_path, [one])
    assert [each.shape[:2] for each in pictures(text)] == [(8, 9)] * 3
    assert "7 pixels filled in &lt;in&gt;" in text
    assert re.findall(r"<td[^>]*>(.*?)</td>", text)[:4] == ["patches", "1.50", "lines", "2.50"]


def test_of_many_pictures_some_are_shown_and_large_ones_smaller(rng, tmp_path):
    text = written(tmp_path, [made(rng, (9, 2100, 3), [f"frame {k}" for k in range(9)], {"patches": 1.0})])
    assert len(pictures(text)) == 12
    assert {each.shape[:2] for each in pictures(text)} == {(700, 1)}
    assert "4 of 9 pictures." in text
    assert "frame 0, before" in text
    assert "frame 8, after" in text


def test_pictures_of_several_sizes_have_errors_of_their_own(rng, tmp_path):
    text = written(tmp_path, [made(rng, (1, 4, 4), ["a"], {"x": 1.0}), made(rng, (1, 5, 5), ["b"], {"y": 2.0})])
    assert text.count('<tr class="group">') == 2
    assert "filled by x, y." in text
    assert "nothing was measured" in written(tmp_path, [made(rng, (1, 4, 4), ["a"], {})])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("unknown", ["all", "some"])
def test_damage_is_marked_where_nobody_knows_how_sure(rng, tmp_path, unknown):
    one = made(rng, (1, 8, 9), ["a"], {})
    damaged = one.damaged[0]
    lost = damaged if unknown == "all" else damaged & (np.arange(9) % 2 == 0)
    text = written(tmp_path, [one._replace(std=np.where(lost, np.nan, one.std))])
    before, _, sure = (np.rint(255 * each[..., :3]) for each in pictures(text))
    np.testing.assert_array_equal((before == RED).all(axis=-1), damaged)
    np.testing.assert_array_equal(sure[..., 0], np.where(damaged, 255, 0))  # unknown is shown as the least sure


def test_filled_pixels_without_any_error_are_marked_too(rng, tmp_path):
    one = made(rng, (1, 8, 9, 3), ["a"], {"x": 0.0})
    before, _, sure = pictures(written(tmp_path, [one._replace(std=0 * one.std)]))
    np.testing.assert_array_equal((np.rint(255 * before[..., :3]) == RED).all(axis=-1), one.damaged[0].any(axis=-1))
    assert not sure[..., :3].any()
