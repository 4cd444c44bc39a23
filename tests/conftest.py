"""Fixtures shared by all tests."""

from __future__ import annotations

import os

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # scikit-learn skips its array checks without it, before SciPy loads
os.environ.setdefault("FACTORSTREAM_COMPILED", "0")  # what a plain installation does; `make compiled` sets it to 1

import numpy as np
import pytest
from sklearn.utils import check_random_state

from factorstream.estimators import _filter_run


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--place",
        choices=["here", "split"],
        default="here",
        help="where the features of NumPy and SciPy rows are kept; split is tests/split_place.py",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "here(reason): only for features kept in one array of this process")
    config.addinivalue_line("markers", "long: minutes of pictures, benchmarks and pages; `make long` runs them")
    config.addinivalue_line("markers", "once: long, and no more telling in compiled code or in another place")
    config.addinivalue_line("markers", "uncompiled: of an estimator whose rows never go through compiled code")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("place") == "here":
        return
    for item in items:
        for marker in item.iter_markers("here"):
            item.add_marker(pytest.mark.skip(reason=f"--place: {marker.kwargs['reason']}"))


@pytest.fixture(autouse=True)
def _place(request: pytest.FixtureRequest):
    """With ``--place split``, every filter of NumPy or SciPy rows starts there."""
    if request.config.getoption("place") == "here":
        yield
        return
    from factorstream.tall.places import using
    from split_place import SPLIT

    with using(SPLIT):
        yield


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20240)


def low_rank(rng: np.random.Generator, n: int, m: int, r: int, noise: float = 0.1, offset: float = 0.0) -> np.ndarray:
    """Rows from a rank-r model with noise."""
    return rng.standard_normal((n, r)) @ rng.standard_normal((r, m)) + noise * rng.standard_normal((n, m)) + offset


def settings_of(model, rows):
    """The settings with which an estimator of the recursive filter would begin with these rows."""
    return model._begin(rows, check_random_state(model.random_state))


def first_state(model, rows):
    """The state of the filter before its first row, where these rows set the scale."""
    return _filter_run._start(settings_of(model, rows), rows)[0]
