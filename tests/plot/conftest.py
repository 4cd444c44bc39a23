"""Pictures are drawn without a screen, and their figures are closed."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

from conftest import low_rank
from factorstream import DictionaryFilter, SequenceFilter

if find_spec("matplotlib") is None:
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(autouse=True)
def plt():
    import matplotlib
    from matplotlib import pyplot

    matplotlib.use("agg")

    yield pyplot
    pyplot.close("all")


@pytest.fixture(scope="session")
def complete():
    return low_rank(np.random.default_rng(0), 120, 6, 2, noise=0.2, offset=5.0)


@pytest.fixture(scope="session")
def gappy(complete):
    X = complete.copy()
    X[20:35, 1] = np.nan
    X[50, 3] = np.nan  # alone between observed values
    X[60:63, :2] = np.nan
    X[0, 4] = X[-1, 4] = np.nan
    return X


@pytest.fixture(scope="session")
def model(gappy):
    return DictionaryFilter(2, random_state=0).fit(gappy)


@pytest.fixture(scope="session")
def sequence(gappy):
    return SequenceFilter(2, drift="none", calibrate=False).fit(gappy)


@pytest.fixture
def frame(gappy):
    pandas = pytest.importorskip("pandas")
    times = pandas.date_range("2024-03-01", periods=len(gappy), freq="h")
    return pandas.DataFrame(gappy, index=times, columns=[f"sensor {name}" for name in "abcdef"])
