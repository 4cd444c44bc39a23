"""Rows with gaps whose features are divided into pieces: as NumPy does them, and the same bits from any threads."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest

from compiled_problems import assert_same, with_gaps
from counted_problems import begin_counted, counted_model, feature_covariances, problem
from factorstream import DictionaryFilter
from factorstream.core.filter import groups as grouping
from factorstream.cores.compiling import HalfDone
from factorstream.tall import counted_rows, divided_rows, rows_numpy
from factorstream.tall.filtering import filter_rows
from filter_problems import close, paper_filter, random_spd

pytest.importorskip("numba")
from factorstream.tall import compiled_between, compiled_pieces

pieces = import_module("factorstream.cores.pieces")

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


@pytest.fixture(autouse=True)
def divided(monkeypatch):
    """Pieces of a few features; the list has an entry for every call in which there were such."""
    monkeypatch.setattr(pieces, "PIECE", 16.0)
    monkeypatch.setenv("FACTORSTREAM_THREADS", "3")
    calls = []
    for name in ("filter_rows", "filter_counted_rows"):
        real = getattr(divided_rows, name)
        monkeypatch.setattr(divided_rows, name, lambda *a, real=real: calls.append(1) or real(*a))
    return calls


@pytest.fixture
def by_numpy(monkeypatch):
    """An entry for every row that NumPy did."""
    rows = []
    for owner, name in ((counted_rows.CountedRows, "row"), (rows_numpy, "filter_row")):
        real = getattr(owner, name)
        monkeypatch.setattr(owner, name, lambda *a, real=real: rows.append(1) or real(*a))
    return rows


def both(monkeypatch, by_numpy, divided, work):
    """What NumPy gives, and what pieces give."""
    monkeypatch.setenv("FACTORSTREAM_COMPILED", "0")
    plain = work()
    assert not divided
    by_numpy.clear()
    monkeypatch.setenv("FACTORSTREAM_COMPILED", "1")
    fast = work()
    assert divided
    return plain, fast


@pytest.mark.parametrize("missing", [0.0, 0.1, 0.6, 0.95])
@pytest.mark.parametrize("m", [15, 70])
@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("covariance", ["shared", "counted"])
def test_fits_agree(rng, monkeypatch, by_numpy, divided, covariance, settings, m, missing):
    """Rows with every share of gaps: more missing than observed, complete ones, and empty ones among them."""
    X = with_gaps(rng, 300, m, 3, missing)
    kind = paper_filter if covariance == "shared" else DictionaryFilter
    plain, fast = both(monkeypatch, by_numpy, divided, lambda: kind(3, random_state=0, **settings).fit(X))
    assert_same(plain, fast)
    assert len(by_numpy) < 30
    if covariance == "counted":
        one, other = plain.state_.filter, fast.state_.filter
        np.testing.assert_array_equal(one.groups.group, other.groups.group)
        close(feature_covariances(one), feature_covariances(other), 1e-7)
        np.testing.assert_allclose(one.groups.seen, other.groups.seen, rtol=1e-7)


@pytest.mark.parametrize("missing", [0.3, 0.7])
@pytest.mark.parametrize(("m", "r"), [(300, 1), (300, 15), (300, 16), (300, 40), (3000, 20)])
def test_all_tiles_of_the_gram_matrix(rng, monkeypatch, by_numpy, divided, m, r, missing):
    """Pieces of more rows than are gathered at once, and of fewer than are worked on at a time."""
    monkeypatch.setattr(pieces, "MOST", 2 if m == 3000 else 64)
    X = with_gaps(rng, 120, m, r, missing)
    plain, fast = both(monkeypatch, by_numpy, divided, lambda: paper_filter(r, random_state=0).fit(X))
    assert_same(plain, fast, 1e-8)


@pytest.mark.parametrize("drift", [False, True])
@pytest.mark.parametrize("room", [0, 40, 8192])
def test_groups_are_chosen_as_by_numpy(rng, monkeypatch, by_numpy, divided, room, drift):
    """Features of every rarity, some of them late: with levels alone, with too little room, and with enough."""
    monkeypatch.setattr(grouping, "ROOM", room)
    monkeypatch.setattr(grouping, "ROOM_PER_ENTRY", 0.0)
    m, r = 24, 3
    Y, C, V0 = problem(rng, 600, m, r)
    Y[rng.random(Y.shape) > np.geomspace(0.02, 1.0, m)] = np.nan
    Y[:, -4:] = np.nan_to_num(Y[:, -4:])
    Y[:40, 3:6], Y[200:, 10] = np.nan, np.nan
    unseen = [i for i in range(m) if np.isnan(Y[0, i])]
    start = begin_counted(C, V0, 0.2, r, unseen)
    model = counted_model(r, r + 1, drift=random_spd(rng, r + 1, 1e-3) if drift else None, learn_noise=True)
    (one, record), (other, record_2) = both(monkeypatch, by_numpy, divided, lambda: filter_rows(start, model, Y, 50))
    close(one.C, other.C, 1e-7 if drift else 1e-9)
    np.testing.assert_array_equal(one.groups.group, other.groups.group)
    np.testing.assert_array_equal(one.groups.shares, other.groups.shares)
    close(feature_covariances(one), feature_covariances(other), 1e-7 if drift else 1e-9)
    for a, b in zip(record, record_2, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6 if drift else 1e-7)
    np.testing.assert_array_equal(start.groups.seen, np.zeros(m))
    assert not by_numpy


def test_samples_that_lose_too_many_digits_go_to_numpy(rng, monkeypatch, by_numpy, divided):
    """A component lives on few features, and they are missing: the difference of Gram matrices is all rounding."""
    C = rng.standard_normal((40, 2))
    C[:, 1] = 0.0
    C[:2, 1] = 1e4
    X = rng.standard_normal((300, 2)) @ C.T + 0.1 * rng.standard_normal((300, 40))
    X[50:, :2] = np.where(rng.random((250, 1)) < 0.3, np.nan, X[50:, :2])
    settings = {"init": C.T, "noise_variance": 0.01, "prior_covariance": 1e-3, "fit_mean": False, "shuffle": False}
    plain, fast = both(monkeypatch, by_numpy, divided, lambda: paper_filter(2, **settings).fit(X))
    assert 0 < len(by_numpy) < 250  # with those that NumPy does while it waits
    assert_same(plain, fast, 1e-6)


def test_a_row_without_an_answer_is_handed_back(rng, monkeypatch, by_numpy, divided):
    """Too few values, and a prior whose covariance has no Cholesky factor."""
    Y, C, V0 = problem(rng, 40, 12, 3, missing=0.3)
    start = begin_counted(C, V0, 0.2, 3)
    start = start._replace(small=start.small._replace(T=np.diag([1.0, 1.0, 0.0])))
    model = counted_model(3, 4, min_observed=13)
    (one, _), (other, _) = both(monkeypatch, by_numpy, divided, lambda: filter_rows(start, model, Y, 6))
    assert 0 < len(by_numpy) < 5
    close(one.C, other.C, 1e-7)


@pytest.mark.long  # loops for float32 have to be compiled
@pytest.mark.parametrize("kind", [paper_filter, DictionaryFilter])
def test_single_precision_is_no_worse(rng, monkeypatch, by_numpy, divided, kind):
    X = with_gaps(rng, 400, 60, 4, 0.3)
    exact = kind(4, random_state=0).fit(X).state_.filter.C
    plain, fast = both(monkeypatch, by_numpy, divided, lambda: kind(4, random_state=0).fit(X.astype(np.float32)))
    assert fast.state_.filter.C.dtype == np.float32
    wrong = [np.abs(model.state_.filter.C - exact).max() / np.abs(exact).max() for model in (plain, fast)]
    assert wrong[1] < max(2 * wrong[0], 1e-4)


@pytest.mark.parametrize("kind", [paper_filter, DictionaryFilter])
def test_the_number_of_threads_changes_nothing(rng, monkeypatch, divided, kind):
    monkeypatch.setenv("FACTORSTREAM_COMPILED", "1")
    X = with_gaps(rng, 200, 60, 4, 0.3)
    X[:, :3] = np.where(rng.random((200, 3)) < 0.9, np.nan, X[:, :3])
    found = []
    for threads in ("1", "2", "7"):
        monkeypatch.setenv("FACTORSTREAM_THREADS", threads)
        found.append(kind(4, random_state=0).fit(X).state_.filter)
    assert divided
    for other in found[1:]:
        np.testing.assert_array_equal(found[0].C, other.C)
        np.testing.assert_array_equal(found[0].small.G, other.small.G)


@pytest.mark.parametrize("kind", [paper_filter, DictionaryFilter])
def test_with_a_compiler_that_fails(rng, monkeypatch, divided, kind):
    """The call goes on with NumPy, from where it was."""
    X = with_gaps(rng, 100, 20, 3, 0.2)
    monkeypatch.setenv("FACTORSTREAM_COMPILED", "0")
    expected = kind(3, random_state=0).fit(X)

    def fails(*_):
        raise OSError("no space left")

    compiling = import_module("factorstream.cores.compiling")
    monkeypatch.setattr(compiling, "_failure", None)
    for name in ("next_row", "next_counted_row"):
        monkeypatch.setattr(compiled_between, name, fails)
    monkeypatch.setattr(compiling, "applies", lambda *_: True)
    with pytest.warns(RuntimeWarning, match="OSError: no space left"):
        found = kind(3, random_state=0).fit(X)
    assert divided
    assert_same(expected, found)


@pytest.mark.parametrize(("kind", "name"), [(paper_filter, "shared_piece"), (DictionaryFilter, "counted_piece")])
@pytest.mark.parametrize(("failure", "said"), [(MemoryError, MemoryError), (OSError, HalfDone)])
def test_a_failure_in_the_middle_of_a_call_changes_nothing(rng, monkeypatch, kind, name, failure, said):
    """When rows before have moved the dictionary already: NumPy would take them once more."""
    monkeypatch.setenv("FACTORSTREAM_COMPILED", "1")
    X = with_gaps(rng, 100, 20, 3, 0.2)
    model = kind(3, random_state=0).partial_fit(X[:50])
    C, seen = model.state_.filter.C.copy(), model.n_samples_seen_
    real, calls = getattr(compiled_pieces, name), []

    def fails(*args):
        calls.append(1)
        if len(calls) > 60 and args[2] >= 0:  # a row before is to move this piece
            raise failure
        return real(*args)

    monkeypatch.setattr(compiled_pieces, name, fails)
    with pytest.raises(said):
        model.partial_fit(X[50:])
    np.testing.assert_array_equal(model.state_.filter.C, C)
    assert model.n_samples_seen_ == seen


def test_few_features_are_not_divided(monkeypatch):
    """Threads would take longer to wake than one takes for all of them."""
    monkeypatch.undo()
    assert not divided_rows.is_worth_it(np.empty((1000, 41)))
    assert divided_rows.is_worth_it(np.empty((100_000, 41)))
