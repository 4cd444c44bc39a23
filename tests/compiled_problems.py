"""Rows, and both ways through them, for the tests of compiled code."""

from __future__ import annotations

import numpy as np
import pytest

from conftest import low_rank
from factorstream.tall import kernel


def with_gaps(rng, n, m, r, missing):
    """Rows of which some are complete, some empty, and some almost."""
    X = low_rank(rng, n, m, r, noise=0.3, offset=2.0)
    X[rng.random(X.shape) < missing] = np.nan
    X[3::7] = low_rank(rng, len(X[3::7]), m, r)
    X[5::11] = np.nan
    X[6::11, 1:] = np.nan
    return X


def both(monkeypatch, work):
    """What work() gives by NumPy and by compiled code; that the one called it and the other did not."""
    calls = []
    for name in ("filter_rows", "filter_sparse_rows", "project_rows"):
        real = getattr(kernel, name)
        monkeypatch.setattr(kernel, name, lambda *a, real=real: calls.append(1) or real(*a))
    monkeypatch.setenv("FACTORSTREAM_COMPILED", "0")
    plain = work()
    assert not calls
    monkeypatch.setenv("FACTORSTREAM_COMPILED", "1")
    fast = work()
    assert calls
    return plain, fast


def assert_same(plain, fast, rtol=1e-9):
    a, b = plain.state_.filter, fast.state_.filter
    for one, other in [(a.C, b.C), (a.origin, b.origin), *zip(a.small[:-1], b.small[:-1], strict=True)]:
        assert np.asarray(one).dtype == np.asarray(other).dtype
        np.testing.assert_allclose(one, other, rtol=rtol, atol=rtol * np.abs(one).max())
    assert a.small.k == b.small.k
    for one, other in zip(plain.history_, fast.history_, strict=True):
        assert one == pytest.approx(other, rel=100 * rtol)
