"""Small sequences for the tests: rows drawn from the model, gaps, tables with time stamps; and what plain data are."""

from __future__ import annotations

import numpy as np
import pytest

import reference_sequences as ref
from factorstream import SequenceFilter
from factorstream.masks import segment_mask


def panel(seed=0, T=200, m=6, r=2, noise=0.2, level=0.0, R=None, nu=np.inf):
    """Rows drawn from the model: r states that decay, an own level per feature, noise."""
    rng = np.random.default_rng(seed)
    A = 0.9 * np.eye(r)
    C, own = rng.normal(size=(m, r)), np.full(m, level)
    R = np.full(m, noise**2) if R is None else R
    *_, Y = ref.simulate(rng, A, 0.19 * np.eye(r), np.eye(r), C, R, rng.normal(size=m), np.ones(m), own, own, T, nu)
    return Y


def gappy(Y, fraction=0.2, seed=0, length=10):
    removed = segment_mask(Y.shape, fraction, length, rng=seed)
    return np.where(removed, np.nan, Y), removed


GOOD = panel(T=40)


def quick(n_components, **settings):
    """For tests of anything but widths and levels, such as tables and time stamps.

    A short sequence is fitted ten times to choose between levels and none, and once more for its widths.
    """
    return SequenceFilter(n_components, calibrate=False, **{"drift": "none", **settings})


def hours(library, n, start=0):
    if library == "pandas":
        frames = pytest.importorskip("pandas")
        return frames.date_range("2024-01-01", periods=start + n, freq="h")[start:]
    frames = pytest.importorskip("polars")
    from datetime import datetime, timedelta

    return frames.Series("when", [datetime(2024, 1, 1) + timedelta(hours=k) for k in range(start, start + n)])


def table(library, X, times):
    frames = pytest.importorskip(library)
    if library == "pandas":
        return frames.DataFrame(X, index=times, columns=list("abcdef"))
    return frames.DataFrame(X, schema=list("abcdef"), orient="row").insert_column(1, times)


PLAIN = (str, bool, int, float, type(None), np.dtype)
"""Types that a state may hold besides arrays, tuples and dicts."""


def leaves(value, path="state_"):
    """Every leaf of a tree of tuples and dicts, with its place."""
    if isinstance(value, dict):
        assert all(type(key) is str for key in value), path
        for key, part in value.items():
            yield from leaves(part, f"{path}[{key!r}]")
    elif isinstance(value, tuple):
        names = getattr(value, "_fields", range(len(value)))
        for name, part in zip(names, value, strict=True):
            yield from leaves(part, f"{path}.{name}")
    else:
        yield path, value


def check_plain(state):
    for path, value in leaves(state):
        if isinstance(value, np.ndarray):
            assert type(value) is np.ndarray, path
            assert value.dtype != object, path
        else:
            assert type(value) in PLAIN, (path, type(value))
