"""Compiled samples against NumPy's. The naive loops of other tests meet them too: ``make compiled``."""

from __future__ import annotations

import sys
from functools import partial

import numpy as np
import pytest
from scipy import sparse

from conftest import low_rank
from factorstream import BroydenFactorization, DictionaryFilter, SGDFactorization
from factorstream.core import linalg
from factorstream.core.filter import masked, state
from factorstream.core.filter.coefficients import least_squares
from factorstream.core.filter.covariance import kalman_gain
from factorstream.core.filter.state import FilterState, Model, SmallState
from factorstream.tall import filtering, kernel
from factorstream.tall.filtering import filter_rows

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
    assert 0 < len(handed_back) < 250  # with those that NumPy does while it waits
    assert_same(plain, fast, 1e-6)


def test_read_only_and_strided_rows(rng, monkeypatch):
    X = with_gaps(rng, 600, 30, 3, 0.2)
    X.flags.writeable = False
    for rows in (X, X[::2], np.asfortranarray(X), X[:, ::-1]):
        assert_same(*both(monkeypatch, lambda rows=rows: DictionaryFilter(3, random_state=0, shuffle=False).fit(rows)))


def test_constants_are_those_of_the_core():
    assert (compiled.TILE, compiled.CANCELLATION, compiled.EPS) == (linalg.TILE, masked.CANCELLATION, state.EPS)


BRANCHES = {
    "prior without a root": {"T": np.diag([1.0, 1.0, 0.0])},
    "drift without a root": {"S": np.zeros((3, 3)), "Q": np.zeros((3, 3))},
    "singular dictionary": {"C": np.outer(np.arange(1.0, 13.0), [1.0, 2.0, -1.0])},
    "barely regular dictionary": {"tilt": 1e-7},
    "as many entries as components": {"observed": 3, "enough": 3},
    "no noise, tracked": {"exact": True, "track": True},
    "no noise": {"exact": True},
}


@pytest.mark.parametrize("branch", BRANCHES.values(), ids=BRANCHES)
def test_rare_branches(rng, monkeypatch, branch):
    """Handed back or not, what NumPy does is what happens; a branch that is missed shows in the state."""
    m, r = 12, 3
    C = branch.get("C", rng.standard_normal((m, r)))
    if "tilt" in branch:
        C[:, 2] = C[:, 1] + branch["tilt"] * C[:, 2]
    lam = 0.1
    S, T = (np.array(branch.get(name, np.eye(r)), order="F") for name in "ST")
    small = SmallState(np.asfortranarray(C.T @ C), S, T, np.zeros(r), lam, lam, 1.0, 0, 0)
    model = Model(
        r, r, least_squares, kalman_gain, True, True, True, branch.get("track", False), branch.get("enough", 6), 1e-14,
        branch.get("Q"),
    )  # fmt: skip
    X = rng.standard_normal((4, r))
    Y = X @ C.T + (0.0 if "exact" in branch else 0.3) * rng.standard_normal((4, m))
    Y[::2, branch.get("observed", 4) :] = np.nan
    first = FilterState(C, np.zeros(m), None, small)

    def outcome():
        try:
            state, info = filter_rows(first, model, Y, 4)
        except np.linalg.LinAlgError as problem:
            return str(problem)
        return [state.C, *state.small[:-1], *info]

    plain, fast = both(monkeypatch, outcome)
    assert isinstance(plain, str) == isinstance(fast, str)
    if not isinstance(plain, str):
        for one, other in zip(plain, fast, strict=True):
            np.testing.assert_allclose(other, one, rtol=1e-7, atol=1e-9 * np.abs(C).max())


def test_duplicate_entries_do_not_run_over(rng, monkeypatch):
    """The estimators merge them; here they are more than there are features."""
    Y = sparse.csr_array((rng.standard_normal(9), np.array([0, 1, 2] * 3), np.array([0, 9])), shape=(1, 3))
    model = DictionaryFilter(2, random_state=0).fit(rng.standard_normal((50, 3)))
    monkeypatch.setenv("FACTORSTREAM_COMPILED", "1")
    state, _ = filtering.filter_sparse_rows(model.state_, model._model(), Y)
    assert np.isfinite(state.C).all()


def test_rows_without_information_are_not_handed_back(rng, monkeypatch):
    """The degrees of freedom they take are zero but for rounding, which may be negative."""
    X = with_gaps(rng, 400, 15, 4, 0.3)
    X[::2] = np.nan
    handed_back = []
    real = kernel._call
    monkeypatch.setattr(kernel, "_call", lambda f, C, Y, *a: handed_back.append(len(Y)) or real(f, C, Y, *a))
    for seed in range(20):
        model = DictionaryFilter(4, random_state=seed).fit(X)
        monkeypatch.setenv("FACTORSTREAM_COMPILED", "1")
        handed_back.clear()
        model.transform(X)
        assert handed_back == [256, 144]
        monkeypatch.setenv("FACTORSTREAM_COMPILED", "0")


def test_the_size_of_a_call_decides(rng, monkeypatch):
    model = DictionaryFilter(3).fit(with_gaps(rng, 50, 20, 3, 0.2))._model()
    for unset in ("", "auto"):
        monkeypatch.setenv("FACTORSTREAM_COMPILED", unset)
        assert not kernel.applies(model, 7000, 20)
        assert kernel.applies(model, 8000, 20)
        assert kernel.applies(model, 1000, 4096)
    monkeypatch.setenv("FACTORSTREAM_COMPILED", "yes")
    with pytest.raises(ValueError, match="must be 0, 1 or auto; it is 'yes'"):
        kernel.applies(model, 1, 1)


@pytest.mark.parametrize("kind", ["fit", "shuffled fit", "stream", "other dtype", "late", "sparse", "late sparse"])
def test_a_large_call_is_compiled_however_it_is_cut(rng, monkeypatch, kind):
    """Shuffled rows are gathered, other dtypes converted, and new features settled a part at a time."""
    X = with_gaps(rng, 9000, 20, 3, 0.2)
    if "late" in kind:
        X[:5000, 0] = X[:, 1] = np.nan
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
    assert sum(taken) > 8000  # of 8182 with data


@pytest.fixture
def another_process(monkeypatch):
    """As if compiled code had not been loaded yet."""
    monkeypatch.setattr(kernel, "_failure", None)
    monkeypatch.delattr(sys.modules["factorstream.tall"], "compiled", raising=False)


@pytest.mark.usefixtures("another_process")
def test_without_numba(rng, monkeypatch):
    """NumPy takes over without a word; who insists is told what to install."""
    X = with_gaps(rng, 9000, 20, 3, 0.2)
    monkeypatch.delitem(sys.modules, "factorstream.tall.compiled", raising=False)
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.setenv("FACTORSTREAM_COMPILED", "auto")
    DictionaryFilter(3).fit(X).impute(X)
    monkeypatch.setenv("FACTORSTREAM_COMPILED", "1")
    with pytest.raises(ImportError, match=r'needs a working numba, pip install "factorstream\[fast\]"'):
        DictionaryFilter(3).fit(X)


@pytest.mark.usefixtures("another_process")
def test_with_a_numba_that_does_not_load(rng, monkeypatch):
    X = with_gaps(rng, 9000, 20, 3, 0.2)
    monkeypatch.setitem(sys.modules, "factorstream.tall.compiled", None)
    monkeypatch.setenv("FACTORSTREAM_COMPILED", "auto")
    with pytest.warns(RuntimeWarning, match="NumPy takes over: compiled code cannot be used") as said:
        DictionaryFilter(3).fit(X).impute(X)
    assert len(said) == 1


@pytest.mark.usefixtures("another_process")
@pytest.mark.parametrize("work", ["fit", "transform", "sparse"])
def test_with_a_compiler_that_fails(rng, monkeypatch, work):
    """No room for its cache, say: the call goes on with NumPy, from where it was, and says so once."""
    X = with_gaps(rng, 9000, 20, 3, 0.2)
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
