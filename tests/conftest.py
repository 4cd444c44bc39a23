"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from importlib import import_module

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # scikit-learn skips its array checks without it, before SciPy loads
os.environ.setdefault("FACTORSTREAM_COMPILED", "0")  # what a plain installation does; `make compiled` sets it to 1

import numpy as np
import pytest
from sklearn.utils import check_random_state

from factorstream.core.variational import packed
from factorstream.cores import limited
from factorstream.estimators import _filter_run

pieces = import_module("factorstream.cores.pieces")

DEVICES = "strict", "torch", "cupy"
"""Libraries whose arrays are not the host's."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--place",
        choices=["here", "split", "dask", "threads", *DEVICES],
        default="here",
        help="where the features of NumPy and SciPy rows are kept: split is tests/split_place.py, dask has three "
        "shards, strict is a device of array-api-strict, torch and cupy a GPU; threads cuts all work, however little, "
        "into pieces for three threads",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "gigabytes: files larger than memory may be; `make large` runs them")
    config.addinivalue_line("markers", "here(reason): only for features kept in one array of this process")
    config.addinivalue_line("markers", "long: minutes of pictures, benchmarks and pages; `make long` runs them")
    config.addinivalue_line("markers", "one_thread(reason): only where work is not cut into pieces for threads")
    config.addinivalue_line("markers", "once: long, and no more telling in compiled code or in another place")
    config.addinivalue_line("markers", "uncompiled: of an estimator whose rows never go through compiled code")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    unfit = {"split": "here", "dask": "here", "threads": "one_thread", **dict.fromkeys(DEVICES, "here")}.get(
        config.getoption("place")
    )
    for item in items if unfit else []:
        for marker in item.iter_markers(unfit):
            item.add_marker(pytest.mark.skip(reason=f"--place: {marker.kwargs['reason']}"))


@pytest.fixture(autouse=True)
def _place(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch):
    """With ``--place split`` or a device, filters of NumPy or SciPy rows start there; with ``threads``, three threads
    share all work."""
    place = request.config.getoption("place")
    if place == "split":
        from factorstream.tall.places import using
        from split_place import SPLIT

        with using(SPLIT):
            yield
    elif place == "dask":
        import dask

        from factorstream.tall.dask_place import DaskPlace
        from factorstream.tall.places import using

        with dask.config.set(scheduler="sync"), using(DaskPlace(3)):
            yield
    elif place in DEVICES:
        from factorstream.tall.places import using
        from strict_place import device_place

        with using(device_place(place)):
            yield
    elif place == "threads":
        monkeypatch.setattr(pieces, "PIECE", 64.0)
        monkeypatch.setattr(packed, "MANY", 0)
        monkeypatch.setenv("FACTORSTREAM_THREADS", "3")
        with limited():
            yield
    else:
        yield


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20240)


def low_rank(rng: np.random.Generator, n: int, m: int, r: int, noise: float = 0.1, offset: float = 0.0) -> np.ndarray:
    """Rows from a rank-r model with noise."""
    return rng.standard_normal((n, r)) @ rng.standard_normal((r, m)) + noise * rng.standard_normal((n, m)) + offset


def settings_of(model, rows):
    """The settings with which an estimator of the recursive filter would begin with these rows."""
    return model._begin(rows.shape[1], rows.dtype, check_random_state(model.random_state))


def first_state(model, rows):
    """The state of the filter before its first row, where these rows set the scale."""
    return _filter_run._start(settings_of(model, rows), rows)[0]
