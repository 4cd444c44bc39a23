"""Entries left out alone, and with the gaps of other rows where columns are missing together."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from factorstream import LowRankImputer
from factorstream.core.tables.gaps import as_where_missing
from factorstream.estimators import _table_left_out
from factorstream.estimators._table_left_out import TableToAsk


def table(rng, n=300):
    """Four columns of one factor, of which two are another's as well, and curves."""
    f, g = rng.standard_normal((2, n))
    noise = 0.3 * rng.standard_normal((6, n))
    return np.column_stack([f, f, np.exp(f / 2), f + g, g, g**2]) + noise.T


def in_blocks(rng, X):
    gone = np.zeros(X.shape, dtype=bool)
    for row in np.flatnonzero(rng.random(len(X)) < 0.5):
        first = rng.integers(0, 4)
        gone[row, first : first + 3] = True
    return gone


def at_random(rng, X):
    return rng.random(X.shape) < 0.25


def asked(gone, X):
    gappy = np.where(gone, np.nan, X)
    model = LowRankImputer(random_state=0).fit(gappy)
    Z = (gappy - np.nanmean(gappy, axis=0)) / np.nanstd(gappy, axis=0)
    return model.state_.table.readings, Z


@pytest.mark.parametrize(("gaps", "tolerance"), [(at_random, 0.1), (in_blocks, 1e-7)])
def test_what_is_said_of_an_entry_does_not_come_from_it(gaps, tolerance, rng):
    """Left out alone, its own part in the doubt about the dictionary stays, which is the smaller one."""
    X = table(rng)
    readings, Z = asked(gaps(rng, X), X)
    other = Z.copy()
    seen = ~np.isnan(Z[:, 2])
    other[seen, 2] = rng.permutation(Z[seen, 2])
    before, after = (TableToAsk(readings, some, ()).left_out([2], np.random.default_rng(0)) for some in (Z, other))
    assert_array_equal(before.rows, np.flatnonzero(seen))
    assert_allclose(after.G, before.G, atol=1e-7)
    for one, two in zip(before.fills, after.fills, strict=True):
        assert_allclose(two[:, 2], one[:, 2], atol=1e-7)
    for one, two in zip(before.variances, after.variances, strict=True):
        assert_allclose(two, one, rtol=tolerance)


def test_where_gaps_come_together_entries_are_those_of_a_row_with_such_gaps(rng):
    """Every row is asked once more on its own, with its own and the lent gaps."""
    X = table(rng, 80)
    readings, Z = asked(in_blocks(rng, X), X)
    found = TableToAsk(readings, Z, ()).left_out([1], np.random.default_rng(5))
    missing = as_where_missing(~np.isnan(Z), 1, np.random.default_rng(5))
    for k, reading in enumerate(readings):
        scores = np.where(missing, np.nan, reading.scores(Z))
        for i, row in enumerate(found.rows):
            fills, variance = reading.run.dictionary.predict(scores[[row]])
            assert_allclose(found.fills[k][i], fills[0], rtol=1e-7, atol=1e-9)
            assert_allclose(found.variances[k][i], variance[0, [1]], rtol=1e-7)
    assert_allclose(found.G, found.fills[-1], atol=1e-12)


def test_an_entry_left_out_alone_is_nearly_that_of_a_row_without_it(rng):
    X = table(rng)
    readings, Z = asked(at_random(rng, X), X)
    found = TableToAsk(readings, Z, ()).left_out([3], np.random.default_rng(0))
    for k, reading in enumerate(readings):
        scores = reading.scores(Z)[found.rows]
        scores[:, 3] = np.nan
        fills, variance = reading.run.dictionary.predict(scores)
        assert_allclose(found.fills[k][:, 3], fills[:, 3], atol=0.02)
        assert_allclose(found.variances[k][:, 0], variance[:, 3], rtol=0.05)
    own = np.flatnonzero(~np.isnan(Z[found.rows, 0]))
    assert_allclose(found.G[own, 0], readings[-1].scores(Z)[found.rows[own], 0], rtol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_bounds_hold_where_columns_are_missing_together(seed):
    """Entries left out alone would promise too much: their neighbours are there."""
    rng = np.random.default_rng(seed)
    X = table(rng, 500)
    gone = in_blocks(rng, X)
    gappy = np.where(gone, np.nan, X)
    model = LowRankImputer(random_state=0).fit(gappy)
    lower, upper = model.predict_interval(gappy)
    assert np.mean(((lower <= X) & (upper >= X))[gone]) == pytest.approx(0.95, abs=0.025)
    linear = LowRankImputer(marginals="linear", residual=None, random_state=0).fit_transform(gappy)
    errors = [np.mean(((filled - X) / X.std(axis=0))[gone] ** 2) for filled in (model.transform(gappy), linear)]
    assert errors[0] < errors[1]


@pytest.mark.parametrize("seed", range(3))
def test_labels_and_numbers_that_are_missing_together(seed):
    """A category is left out as a whole, with its neighbours' gaps."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(seed)
    z, y = rng.normal(size=(2, 400))
    size = np.where(z > 0.7, "large", np.where(z < -0.7, "small", "middle"))
    X = pandas.DataFrame({"a": z + 0.3 * rng.normal(size=400), "size": size, "b": z + y, "c": np.exp(y / 2), "d": y})
    gone = np.zeros(X.shape, dtype=bool)
    for row in np.flatnonzero(rng.random(400) < 0.4):
        first = rng.integers(0, 3)
        gone[row, first : first + 3] = True
    gappy = X.mask(gone)
    model = LowRankImputer(random_state=0).fit(gappy)
    P = model.predict_proba(gappy)["size"].to_numpy()[gone[:, 1]]
    truth = (model.categories_["size"] == size[gone[:, 1], None]).argmax(axis=1)
    assert np.mean(P.argmax(axis=1) == truth) > 0.55
    sure = P.max(axis=1)
    assert np.mean(sure) == pytest.approx(np.mean(P.argmax(axis=1) == truth), abs=0.1)
    lower, upper = model.predict_interval(gappy)
    numbers, holes = ["a", "b", "c", "d"], gone[:, [0, 2, 3, 4]]
    held = (lower[numbers] <= X[numbers]) & (X[numbers] <= upper[numbers])
    assert np.mean(held.to_numpy()[holes]) == pytest.approx(0.95, abs=0.03)


@pytest.mark.parametrize("seed", range(3))
def test_gaps_at_random_of_categories_do_not_come_together(seed, monkeypatch):
    """The columns of a category are always missing together; that says nothing."""
    pandas = pytest.importorskip("pandas")
    calls = []
    monkeypatch.setattr(_table_left_out, "as_where_missing", lambda *given: calls.append(1) or as_where_missing(*given))
    rng = np.random.default_rng(seed)
    z = rng.normal(size=300)
    X = pandas.DataFrame({"a": z + 0.1 * rng.normal(size=300), "b": 2 * z, "c": 1e3 * np.exp(z.clip(-3, 2))})
    X = X.assign(size=np.where(z > 1, "large", np.where(z < -1, "small", "middle")), d=3600 * np.exp(z))
    LowRankImputer(random_state=0).fit(X.mask(rng.random(X.shape) < 0.15))
    assert not calls
    gone = np.zeros(X.shape, dtype=bool)
    gone[rng.random(300) < 0.2, 1:4] = True
    LowRankImputer(random_state=0).fit(X.mask(gone))
    assert len(calls) == 3  # the columns that have gaps
