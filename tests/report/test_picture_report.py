"""Reports on restored pictures, whatever their kind."""

from __future__ import annotations

import base64
import io
import re

import numpy as np
import pytest

from factorstream.report.picture_report import Restored, write_picture_report


def made(rng, shape, names, errors, dtype=np.uint8):
    after = (255 * rng.random(shape)).astype(dtype)
    std = np.where(rng.random(shape) < 0.2, 3.0, 0.0)
    return Restored(names, np.where(std > 0, 0, after), after, std, next(iter(errors), "straight lines"), errors, 7)


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
