"""Compiled samples against NumPy's. The naive loops of other tests meet them too: ``make compiled``."""

from __future__ import annotations

import sys
from functools import partial

import numpy as np
import pytest
from scipy import sparse

from conftest import low_rank
from factorstream import BroydenFactorization, DictionaryFilter, SGDFactorization
from factorstream.tall import filtering, kernel

pytest.importorskip("numba")
from factorstream.tall import compiled


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
    a, b = plain.state_, fast.state_
    for one, other in [(a.C, b.C), (a.origin, b.origin), *zip(a.small[:-1], b.small[:-1], strict=True)]:
        assert np.asarray(one).dtype == np.asarray(other).dtype
        np.testing.assert_allclose(one, other, rtol=rtol, atol=rtol * np.abs(one).max())
    assert a.small.k == b.small.k
    for one, other in zip(plain.history_, fast.history_, strict=True):
        assert one == pytest.approx(other, rel=100 * rtol)


SETTINGS = {
    "default": {},
    "no mean": {"fit_mean": False},
    "map": {"coefficients": "map"},
    "drift": {"process_noise": 1e-3},
    "drift, diagonal": {"process_noise": [1e-3, 0.0, 1e-2]},
    "given numbers": {"noise_variance": 0.1, "prior_covariance": 1.0},
    "tracked noise": {"prior_covariance": 1.0},
    "two passes": {"n_passes": 2},
}


@pytest.mark.parametrize("missing", [0.0, 0.1, 0.6, 0.95])
@pytest.mark.parametrize(("m", "n"), [(1, 12), (4, 300), (15, 300), (60, 300)])
@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_fits_agree(rng, monkeypatch, settings, m, n, missing):
    """Features below, at and above what least squares needs, rows with every share of gaps.

    Three components of one feature are told apart by nothing: the recursion is chaotic, and any rounding grows
    tenfold every two samples, so that only its beginning can be compared.
    """
    X = with_gaps(rng, n, m, 3, missing)
    plain, fast = both(monkeypatch, lambda: DictionaryFilter(3, random_state=0, **settings).fit(X))
    assert_same(plain, fast, 1e-7 if m <= 4 else 1e-9)


@pytest.mark.parametrize(("m", "r"), [(40, 1), (40, 15), (100, 16), (100, 17), (300, 31), (300, 40), (3000, 20)])
def test_all_tiles_of_the_gram_matrix(rng, monkeypatch, m, r):
    X = with_gaps(rng, 120, m, r, 0.3)
    plain, fast = both(monkeypatch, lambda: DictionaryFilter(r, random_state=0).fit(X))
    assert_same(plain, fast, 1e-8)


def test_gains_of_the_baselines(rng, monkeypatch):
    X = with_gaps(rng, 200, 20, 3, 0.2)
    assert_same(*both(monkeypatch, lambda: BroydenFactorization(3, random_state=0).fit(X)))
    monkeypatch.setenv("FACTORSTREAM_COMPILED", "1")
    assert not kernel.applies(SGDFactorization(3).fit(X)._model(), 10**6, 20)  # its steps are any function
    assert not kernel.applies(DictionaryFilter(3, coefficients="marginal").fit(X)._model(), 10**6, 20)


@pytest.mark.parametrize("missing", [0.1, 0.6])
def test_single_precision_is_no_worse(rng, monkeypatch, missing):
    X = with_gaps(rng, 400, 60, 4, missing)
    exact = DictionaryFilter(4, random_state=0).fit(X).state_.C
    plain, fast = both(monkeypatch, lambda: DictionaryFilter(4, random_state=0).fit(X.astype(np.float32)))
    assert fast.state_.C.dtype == np.float32
    wrong = [np.abs(model.state_.C - exact).max() / np.abs(exact).max() for model in (plain, fast)]
    assert wrong[1] < max(2 * wrong[0], 1e-4)


@pytest.mark.parametrize("late", [False, True])
def test_sparse_rows(rng, monkeypatch, late):
    """Also where features have their first value in the middle of the stream, which NumPy has to settle."""
    X = with_gaps(rng, 600, 40, 3, 0.7)
    if late:
        X[:300, :5] = np.nan
    stored = sparse.csr_array(np.nan_to_num(X))
    plain, fast = both(monkeypatch, lambda: DictionaryFilter(3, random_state=0, shuffle=False).partial_fit(stored))
    assert_same(plain, fast)


def test_late_features_and_every_split(rng, monkeypatch):
    X = with_gaps(rng, 500, 20, 3, 0.3)
    X[:200, :4] = np.nan

    def in_parts(cuts):
        model = DictionaryFilter(3, random_state=0)
        for part in np.split(X, cuts):
            model.partial_fit(part)
        return model

    plain, fast = both(monkeypatch, lambda: in_parts([50, 51, 300]))
    assert_same(plain, fast)
    np.testing.assert_allclose(in_parts([]).state_.C, fast.state_.C, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("settings", [{}, {"coefficients": "map"}, {"fit_mean": False}], ids=str)
def test_coefficients_and_fills(rng, monkeypatch, settings, dtype):
    X = with_gaps(rng, 300, 30, 4, 0.4).astype(dtype)
    model = DictionaryFilter(4, random_state=0, **settings).fit(X)
    close = {"rtol": 1e-9, "atol": 1e-9} if dtype == np.float64 else {"rtol": 1e-5, "atol": 1e-5}
    for work in (model.transform, model.impute, partial(model.impute, return_std=True), model.predict_interval):
        plain, fast = both(monkeypatch, lambda work=work: np.asarray(work(X)))
        assert plain.dtype == fast.dtype == dtype
        np.testing.assert_allclose(fast, plain, **close)


def test_samples_that_lose_too_many_digits_go_to_numpy(rng, monkeypatch):
    """A component lives on few features, and they are missing: the difference of Gram matrices is all rounding."""
    C = rng.standard_normal((40, 2))
    C[:, 1] = 0.0
    C[:2, 1] = 1e4
    X = rng.standard_normal((300, 2)) @ C.T + 0.1 * rng.standard_normal((300, 40))
    X[50:, :2] = np.where(rng.random((250, 1)) < 0.3, np.nan, X[50:, :2])
    handed_back = []
    real = filtering._masked
    monkeypatch.setattr(filtering, "_masked", lambda *a: handed_back.append(1) or real(*a))
    settings = {"init": C.T, "noise_variance": 0.01, "prior_covariance": 1e-3, "fit_mean": False, "shuffle": False}
    plain, fast = both(monkeypatch, lambda: handed_back.clear() or DictionaryFilter(2, **settings).fit(X))
    assert 0 < len(handed_back) < 150
    assert_same(plain, fast, 1e-6)


def test_read_only_and_strided_rows(rng, monkeypatch):
    X = with_gaps(rng, 600, 30, 3, 0.2)
    X.flags.writeable = False
    for rows in (X, X[::2], np.asfortranarray(X), X[:, ::-1]):
        assert_same(*both(monkeypatch, lambda rows=rows: DictionaryFilter(3, random_state=0, shuffle=False).fit(rows)))


def test_the_size_of_a_call_decides(rng, monkeypatch):
    model = DictionaryFilter(3).fit(with_gaps(rng, 50, 20, 3, 0.2))._model()
    for unset in ("", "auto"):
        monkeypatch.setenv("FACTORSTREAM_COMPILED", unset)
        assert not kernel.applies(model, 100, 20)
        assert kernel.applies(model, 2000, 20)
        assert kernel.applies(model, 400, 4096)
    monkeypatch.setenv("FACTORSTREAM_COMPILED", "yes")
    with pytest.raises(ValueError, match="must be 0, 1 or auto; it is 'yes'"):
        kernel.applies(model, 1, 1)


@pytest.mark.parametrize(
    "kind", ["fit", "shuffled fit", "stream", "float32 into float64", "late", "sparse", "late sparse"]
)
def test_a_large_call_is_compiled_however_it_is_cut(rng, monkeypatch, kind):
    """Shuffled rows are gathered, other dtypes converted, and new features settled a part at a time."""
    X = with_gaps(rng, 2500, 20, 3, 0.2)
    if "late" in kind:
        X[:1200, 0] = X[:, 1] = np.nan
    rows = sparse.csr_array(np.nan_to_num(X)) if "sparse" in kind else X
    taken = []
    real = kernel._call
    monkeypatch.setattr(kernel, "_call", lambda *a: taken.append(real(*a)) or taken[-1])
    model = DictionaryFilter(3, random_state=0, shuffle=kind == "shuffled fit")
    monkeypatch.setenv("FACTORSTREAM_COMPILED", "auto")
    if "fit" in kind:
        model.fit(rows)
    else:
        first = model.partial_fit(rows[:40])
        first.partial_fit(rows.astype(np.float32) if "dtype" in kind else rows)
    assert sum(taken) > 2200  # of 2273 with data


@pytest.fixture
def another_process(monkeypatch):
    """As if compiled code had not been loaded yet."""
    monkeypatch.setattr(kernel, "_failure", None)
    monkeypatch.delattr(sys.modules["factorstream.tall"], "compiled", raising=False)


@pytest.mark.usefixtures("another_process")
def test_without_numba(rng, monkeypatch):
    """NumPy takes over without a word; who insists is told what to install."""
    X = with_gaps(rng, 2500, 20, 3, 0.2)
    monkeypatch.delitem(sys.modules, "factorstream.tall.compiled", raising=False)
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.setenv("FACTORSTREAM_COMPILED", "auto")
    DictionaryFilter(3).fit(X).impute(X)
    monkeypatch.setenv("FACTORSTREAM_COMPILED", "1")
    with pytest.raises(ImportError, match=r'needs a working numba, pip install "factorstream\[fast\]"'):
        DictionaryFilter(3).fit(X)


@pytest.mark.usefixtures("another_process")
def test_with_a_numba_that_does_not_load(rng, monkeypatch):
    X = with_gaps(rng, 2500, 20, 3, 0.2)
    monkeypatch.setitem(sys.modules, "factorstream.tall.compiled", None)
    monkeypatch.setenv("FACTORSTREAM_COMPILED", "auto")
    with pytest.warns(RuntimeWarning, match="NumPy takes over: compiled code cannot be used") as said:
        DictionaryFilter(3).fit(X).impute(X)
    assert len(said) == 1


@pytest.mark.usefixtures("another_process")
@pytest.mark.parametrize("work", ["fit", "transform", "sparse"])
def test_with_a_compiler_that_fails(rng, monkeypatch, work):
    """No room for its cache, say: the call goes on with NumPy, from where it was, and says so once."""
    X = with_gaps(rng, 2500, 20, 3, 0.2)
    rows = sparse.csr_array(np.nan_to_num(X)) if work == "sparse" else X
    monkeypatch.setenv("FACTORSTREAM_COMPILED", "0")
    expected = DictionaryFilter(3, random_state=0).fit(rows)

    def fails(*_):
        raise OSError("no space left")

    for name in ("filter_rows", "filter_sparse_rows", "project_rows"):
        monkeypatch.setattr(compiled, name, fails)
    monkeypatch.setenv("FACTORSTREAM_COMPILED", "auto")
    with pytest.warns(RuntimeWarning, match="OSError: no space left.*NUMBA_CACHE_DIR") as said:
        found = expected.transform(X) if work == "transform" else DictionaryFilter(3, random_state=0).fit(rows)
    assert len(said) == 1
    if work == "transform":
        monkeypatch.setenv("FACTORSTREAM_COMPILED", "0")
        np.testing.assert_allclose(found, expected.transform(X), rtol=1e-12, atol=1e-12)
    else:
        assert_same(expected, found)
