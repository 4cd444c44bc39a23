"""Compiled rows where every feature has its own doubt against NumPy's; ``make compiled`` holds them to the twin."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy import sparse

from compiled_problems import assert_same, with_gaps
from counted_problems import begin_counted, counted_model, feature_covariances, problem
from factorstream import DictionaryFilter
from factorstream.core.filter import counted
from factorstream.core.filter import groups as grouping
from factorstream.tall import counted_rows, counted_sparse, kernel
from factorstream.tall.filtering import filter_rows
from filter_problems import close, random_spd

pytest.importorskip("numba")
from factorstream.tall import compiled_groups

pytestmark = [
    pytest.mark.here(reason="compiled loops need the features in one array"),
    pytest.mark.once,  # both kinds of rows are asked for here, whatever the environment says
]

SETTINGS = {
    "default": {},
    "no mean": {"fit_mean": False},
    "map": {"coefficients": "map"},
    "given numbers": {"noise_variance": 0.1, "prior_covariance": 1.0},
    "tracked noise": {"prior_covariance": 1.0},
    "two passes": {"n_passes": 2},
    "drift": {"drift": 1e-3},
}


@pytest.fixture
def by_numpy(monkeypatch):
    """How many rows NumPy did in compiled calls."""
    rows = []
    real = counted_rows.CountedRows.row
    monkeypatch.setattr(counted_rows.CountedRows, "row", lambda *a: rows.append(1) or real(*a))
    return rows


def both(monkeypatch, by_numpy, work):
    monkeypatch.setenv("FACTORSTREAM_COMPILED", "0")
    plain = work()
    by_numpy.clear()
    monkeypatch.setenv("FACTORSTREAM_COMPILED", "1")
    return plain, work()


@pytest.mark.parametrize("missing", [0.0, 0.1, 0.6, 0.95])
@pytest.mark.parametrize(("m", "n"), [(4, 300), (15, 300), (60, 300)])
@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_fits_agree(rng, monkeypatch, by_numpy, settings, m, n, missing):
    X = with_gaps(rng, n, m, 3, missing)
    plain, fast = both(
        monkeypatch, by_numpy, lambda: DictionaryFilter(3, covariance="counted", random_state=0, **settings).fit(X)
    )
    assert_same(plain, fast, 1e-7 if m <= 4 else 1e-9)
    one, other = plain.state_.filter, fast.state_.filter
    np.testing.assert_array_equal(one.groups.group, other.groups.group)
    close(feature_covariances(one), feature_covariances(other), 1e-7)
    np.testing.assert_allclose(one.groups.seen, other.groups.seen, rtol=1e-7)
    assert len(by_numpy) < 0.1 * n


@pytest.mark.parametrize("room", [0, 40, 8192])
def test_groups_are_chosen_as_by_numpy(rng, monkeypatch, by_numpy, room):
    """Features of every rarity, some of them late: with levels alone, with too little room, and with enough."""
    monkeypatch.setattr(grouping, "ROOM", room)
    monkeypatch.setattr(grouping, "ROOM_PER_ENTRY", 0.0)
    m, r = 24, 3
    Y, C, V0 = problem(rng, 600, m, r)
    Y[rng.random(Y.shape) > np.geomspace(0.02, 1.0, m)] = np.nan
    Y[:, -4:] = np.nan_to_num(Y[:, -4:])
    Y[:40, 3:6], Y[200:, 10] = np.nan, np.nan
    unseen = [i for i in range(m) if np.isnan(Y[0, i])]
    start, model = begin_counted(C, V0, 0.2, r, unseen), counted_model(r, r + 1, learn_noise=True)
    (one, record), (other, record_2) = both(monkeypatch, by_numpy, lambda: filter_rows(start, model, Y, 50))
    close(one.C, other.C, 1e-9)
    np.testing.assert_array_equal(one.groups.group, other.groups.group)
    np.testing.assert_array_equal(one.groups.shares, other.groups.shares)
    close(feature_covariances(one), feature_covariances(other), 1e-9)
    for a, b in zip(record, record_2, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-7)
    np.testing.assert_array_equal(start.groups.seen, np.zeros(m))
    assert not by_numpy


@pytest.mark.parametrize("room", [0, 40, 8192])
@pytest.mark.parametrize("drift", [False, True])
def test_sparse_rows(rng, monkeypatch, room, drift):
    """Features of every rarity, of which half have their first value late, one never; a row without any."""
    monkeypatch.setattr(grouping, "ROOM", room)
    monkeypatch.setattr(grouping, "ROOM_PER_ENTRY", 0.0)
    m, r, n = 24, 3, 500
    Y, C, V0 = problem(rng, n, m, r)
    Y[rng.random(Y.shape) > np.geomspace(0.02, 0.8, m)] = np.nan
    Y[:40, 12:16], Y[:, 6], Y[77] = np.nan, np.nan, np.nan
    row, column = np.nonzero(~np.isnan(Y))
    stored = sparse.csr_array((Y[row, column], (row, column)), shape=Y.shape)
    start = begin_counted(C, V0, 0.2, r, range(0, m, 2))
    model = counted_model(r, r + 1, drift=random_spd(rng, r + 1, 1e-3) if drift else None, learn_noise=True)
    calls = []
    real = counted_sparse.CountedSparseRows.row
    monkeypatch.setattr(counted_sparse.CountedSparseRows, "row", lambda *a: calls.append(1) or real(*a))
    (one, record), (other, record_2) = both(monkeypatch, calls, lambda: filter_rows(start, model, stored, 50))
    close(one.C, other.C, 1e-7)
    np.testing.assert_array_equal(one.origin, other.origin)
    np.testing.assert_array_equal(one.unseen, other.unseen)
    np.testing.assert_array_equal(one.groups.group, other.groups.group)
    close(feature_covariances(one), feature_covariances(other), 1e-7)
    np.testing.assert_allclose(one.groups.seen, other.groups.seen, rtol=1e-9)
    for a, b in zip(record, record_2, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)
    assert len(calls) < 0.1 * n
    assert np.count_nonzero(start.unseen) == m / 2


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("settings", [{}, {"coefficients": "map"}, {"fit_mean": False}, {"drift": 1e-6}], ids=str)
def test_answers(rng, monkeypatch, settings, dtype):
    """Of a filter with levels and with features of their own, some of which are doubted; also of rows without data."""
    X = with_gaps(rng, 300, 30, 4, 0.4).astype(dtype)
    X[20:, :3] = np.where(rng.random((280, 3)) < 0.95, np.nan, X[20:, :3])
    model = DictionaryFilter(4, random_state=0, **settings).fit(X)
    groups = model.state_.filter.groups
    assert 0 < groups.n_levels < len(groups.shares)
    calls = []
    real = kernel.project_rows
    monkeypatch.setattr(kernel, "project_rows", lambda *a: calls.append(real(*a)) or calls[-1])
    near = {"rtol": 1e-9, "atol": 1e-9} if dtype == np.float64 else {"rtol": 1e-5, "atol": 1e-5}
    for work in (model.transform, model.impute, partial(model.impute, return_std=True), model.predict_interval):
        plain, fast = both(monkeypatch, calls, lambda work=work: np.asarray(work(X)))
        assert plain.dtype == fast.dtype == dtype
        assert sum(calls) > 0.9 * len(X)
        np.testing.assert_allclose(fast, plain, **near)


def test_a_row_that_the_loops_cannot_do_is_handed_back(rng, monkeypatch, by_numpy):
    """Too few values, and a prior whose covariance has no Cholesky factor."""
    Y, C, V0 = problem(rng, 40, 12, 3, missing=0.3)
    start = begin_counted(C, V0, 0.2, 3)
    start = start._replace(small=start.small._replace(T=np.diag([1.0, 1.0, 0.0])))
    model = counted_model(3, 4, min_observed=13)
    (one, _), (other, _) = both(monkeypatch, by_numpy, lambda: filter_rows(start, model, Y, 6))
    assert 0 < len(by_numpy) < 5
    close(one.C, other.C, 1e-7)


def test_single_precision_is_no_worse(rng, monkeypatch, by_numpy):
    X = with_gaps(rng, 400, 60, 4, 0.3)
    exact = DictionaryFilter(4, covariance="counted", random_state=0).fit(X).state_.filter.C
    plain, fast = both(
        monkeypatch,
        by_numpy,
        lambda: DictionaryFilter(4, covariance="counted", random_state=0).fit(X.astype(np.float32)),
    )
    assert fast.state_.filter.C.dtype == np.float32
    wrong = [np.abs(model.state_.filter.C - exact).max() / np.abs(exact).max() for model in (plain, fast)]
    assert wrong[1] < max(2 * wrong[0], 1e-4)


def test_what_the_loops_know(monkeypatch):
    monkeypatch.setenv("FACTORSTREAM_COMPILED", "1")
    assert kernel.applies(counted_model(3, 4), 10, 10)
    assert not kernel.applies(counted_model(3, 4, "marginal"), 10, 10)
    assert kernel.applies(counted_model(3, 4, drift=np.eye(4)), 10, 10)
    monkeypatch.setenv("FACTORSTREAM_COMPILED", "auto")
    assert kernel.applies(counted_model(3, 4), 4400, 20)
    assert not kernel.applies(counted_model(3, 4), 4300, 20)


def test_rules_are_those_of_the_core():
    assert (compiled_groups.EVERY_ROW, compiled_groups.EVERY) == (grouping.EVERY_ROW, grouping.EVERY)
    assert compiled_groups.TRUST_POWER == counted.TRUST_POWER
    for k in range(200):
        assert compiled_groups.is_time(float(k)) == counted_rows.is_time(k)
    seen = np.linspace(0.0, 100.0, 777)
    levels = grouping.chosen_levels(seen, 100.0)
    low, high = grouping.level_bounds(2.0 ** (-levels / 2))
    assert ((low * 100.0 < seen) & (seen <= high * 100.0)).all()
    assert grouping.level_bounds(np.zeros(1)) == (-1.0, grouping.level_bounds(np.array([2.0**-0.5]))[1])
