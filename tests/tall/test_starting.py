"""The data's scale, and the start that follows from it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from factorstream.core.filter.units import units
from factorstream.tall import starting
from split_place import fetched


def state(scale, **changed):
    given = {"noise_variance": None, "V0": None, "C0": "random", "seed": 0, "dtype": np.dtype(np.float64)}
    return starting.start(scale, r=2, fit_mean=True, **{**given, **changed})


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_scale_of_rows_with_gaps(rng, monkeypatch, kind):
    """Means per feature, and the variance around them; measured in blocks of a few rows."""
    monkeypatch.setattr(starting, "BLOCK", 20)
    X = rng.standard_normal((50, 6)) * [1.0, 2.0, 3.0, 1.0, 1.0, 1.0] + np.arange(6.0)
    X[rng.random(X.shape) < 0.3] = np.nan
    X[:, 5] = np.nan
    row, column = np.nonzero(~np.isnan(X))
    rows = sparse.csr_array((X[row, column], (row, column)), shape=X.shape) if kind == "sparse" else X
    scale = starting.measure(rows, fit_mean=True)
    mean, n = np.nanmean(X[:, :5], axis=0), np.count_nonzero(~np.isnan(X))
    np.testing.assert_allclose(fetched(scale.origin)[:5], mean, rtol=1e-12)
    assert fetched(scale.origin)[5] == pytest.approx(np.nansum(X) / n)
    np.testing.assert_array_equal(fetched(scale.seen), [True] * 5 + [False])
    assert scale.variance == pytest.approx(np.nansum((X[:, :5] - mean) ** 2) / (n - 5))
    assert scale.per_feature == pytest.approx(n / 6)
    plain = starting.measure(rows, fit_mean=False)
    assert plain.variance == pytest.approx(np.nansum(X**2) / n)
    assert fetched(plain.seen).all()


@pytest.mark.parametrize("fit_mean", [True, False])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_the_scale_in_units_is_that_of_the_divided_rows(rng, monkeypatch, kind, fit_mean):
    monkeypatch.setattr(starting, "BLOCK", 20)
    X = (rng.standard_normal((50, 6)) + 3.0) * np.geomspace(1e-3, 1e4, 6)
    X[rng.random(X.shape) < 0.3] = np.nan

    def rows(values):
        row, column = np.nonzero(~np.isnan(values))
        stored = sparse.csr_array((values[row, column], (row, column)), shape=values.shape)
        return stored if kind == "sparse" else values

    scale, unit = starting.in_units(starting.measure(rows(X), fit_mean), np.dtype(np.float64))
    seen, centre = (~np.isnan(X)).sum(axis=0), np.nanmean(X, axis=0) if fit_mean else 0.0
    expected = units(np.nansum((X - centre) ** 2, axis=0) / (seen - fit_mean), (seen - fit_mean).astype(float))
    np.testing.assert_allclose(unit, expected, rtol=1e-10)
    plain = starting.measure(rows(X / unit), fit_mean)
    np.testing.assert_allclose(fetched(scale.origin), fetched(plain.origin), rtol=1e-10, atol=1e-12)
    assert scale.variance == pytest.approx(plain.variance, rel=1e-10)
    assert scale.per_feature == plain.per_feature


def test_columns_alike_constant_or_of_one_row_have_no_units(rng):
    alike = rng.permuted(np.tile(np.arange(40.0)[:, None], 6), axis=0)
    for X in (alike, alike[:1], np.tile(np.array([1e-3, 1.0, 1e4]), (20, 1)), np.full((5, 3), np.nan)):
        scale = starting.measure(X, fit_mean=True)
        same, unit = starting.in_units(scale, np.dtype(np.float64))
        np.testing.assert_array_equal(unit, 1.0)
        assert same.variance == pytest.approx(scale.variance)


def test_start_from_a_scale(rng):
    X = rng.standard_normal((20, 5)) + 3.0
    scale = starting.measure(X, fit_mean=True)
    first = state(scale)
    C, small = fetched(first.C), first.small
    assert C.shape == (5, 3)
    assert first.unseen is None
    np.testing.assert_array_equal(C[:, 2], 0.0)
    np.testing.assert_allclose(small.G, C.T @ C, rtol=1e-12)
    expected = np.diag([scale.variance / 2, scale.variance / 2, scale.variance / 20])
    np.testing.assert_allclose(small.S @ small.S.T, expected, rtol=1e-12)
    assert small.lam == small.noise == pytest.approx(starting.NOISE_SHARE * scale.variance)
    V0, C0 = np.array([[2.0, 0.5], [0.5, 1.0]]), rng.standard_normal((5, 2))
    given = state(scale, noise_variance=0.3, V0=V0, C0=C0, dtype=np.dtype(np.float32))
    np.testing.assert_array_equal(fetched(given.C)[:, :2], C0.astype(np.float32))
    np.testing.assert_allclose((given.small.S @ given.small.S.T)[:2, :2], V0, rtol=1e-12)
    assert given.small.lam == 0.3


def test_values_out_of_range_are_refused_whatever_the_blocks(monkeypatch):
    """Without a warning of an overflow, though sums of such values overflow before all blocks have been seen."""
    X = np.full((6, 4), 1e308)
    X[3:] = -1e308
    for block in (4, 2**18):
        monkeypatch.setattr(starting, "BLOCK", block)
        for rows in (X, sparse.csr_array(X)):
            with pytest.raises(ValueError, match=r"values of size 1e\+308, which float64 arithmetic cannot square"):
                starting.measure(rows, fit_mean=True)
