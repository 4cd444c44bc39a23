"""Compiled samples against NumPy's. The naive loops of other tests meet them too: ``make compiled``."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy import sparse

from compiled_problems import assert_same, both, with_gaps
from factorstream import BroydenFactorization
from factorstream.core import linalg
from factorstream.core.filter import masked, state
from factorstream.core.filter.coefficients import COEFFICIENT_STEPS
from factorstream.core.filter.gains import KalmanGain
from factorstream.core.filter.model import FilterModel
from factorstream.core.filter.state import FilterState, SmallState
from factorstream.tall import rows_numpy
from factorstream.tall.filtering import filter_rows
from filter_problems import paper_filter

pytest.importorskip("numba")
from factorstream.tall import compiled_steps, loops

pytestmark = [
    pytest.mark.here(reason="compiled loops need the features in one array"),
    pytest.mark.once,  # both kinds of rows are asked for here, whatever the environment says
]


SETTINGS = {
    "default": {},
    "no mean": {"fit_mean": False},
    "map": {"coefficients": "map"},
    "drift": {"drift": 1e-3},
    "drift, diagonal": {"drift": [1e-3, 0.0, 1e-2]},
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
    plain, fast = both(monkeypatch, lambda: paper_filter(3, random_state=0, **settings).fit(X))
    assert_same(plain, fast, 1e-7 if m <= 4 else 1e-9)


@pytest.mark.parametrize(("m", "r"), [(40, 1), (40, 15), (100, 16), (100, 17), (300, 31), (300, 40), (3000, 20)])
def test_all_tiles_of_the_gram_matrix(rng, monkeypatch, m, r):
    X = with_gaps(rng, 120, m, r, 0.3)
    plain, fast = both(monkeypatch, lambda: paper_filter(r, random_state=0).fit(X))
    assert_same(plain, fast, 1e-8)


def test_gains_of_the_baselines(rng, monkeypatch):
    X = with_gaps(rng, 200, 20, 3, 0.2)
    assert_same(*both(monkeypatch, lambda: BroydenFactorization(3, random_state=0).fit(X)))


@pytest.mark.parametrize("missing", [0.1, 0.6])
def test_single_precision_is_no_worse(rng, monkeypatch, missing):
    X = with_gaps(rng, 400, 60, 4, missing)
    exact = paper_filter(4, random_state=0).fit(X).state_.filter.C
    plain, fast = both(monkeypatch, lambda: paper_filter(4, random_state=0).fit(X.astype(np.float32)))
    assert fast.state_.filter.C.dtype == np.float32
    wrong = [np.abs(model.state_.filter.C - exact).max() / np.abs(exact).max() for model in (plain, fast)]
    assert wrong[1] < max(2 * wrong[0], 1e-4)


@pytest.mark.parametrize("late", [False, True])
def test_sparse_rows(rng, monkeypatch, late):
    """Also where features have their first value in the middle of the stream, which NumPy has to settle."""
    X = with_gaps(rng, 600, 40, 3, 0.7)
    if late:
        X[:300, :5] = np.nan
    stored = sparse.csr_array(np.nan_to_num(X))
    plain, fast = both(monkeypatch, lambda: paper_filter(3, random_state=0, shuffle=False).partial_fit(stored))
    assert_same(plain, fast)


def test_late_features_and_every_split(rng, monkeypatch):
    X = with_gaps(rng, 500, 20, 3, 0.3)
    X[:200, :4] = np.nan

    def in_parts(cuts):
        model = paper_filter(3, random_state=0)
        for part in np.split(X, cuts):
            model.partial_fit(part)
        return model

    plain, fast = both(monkeypatch, lambda: in_parts([50, 51, 300]))
    assert_same(plain, fast)
    np.testing.assert_allclose(in_parts([]).state_.filter.C, fast.state_.filter.C, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("settings", [{}, {"coefficients": "map"}, {"fit_mean": False}], ids=str)
def test_coefficients_and_fills(rng, monkeypatch, settings, dtype):
    X = with_gaps(rng, 300, 30, 4, 0.4).astype(dtype)
    model = paper_filter(4, random_state=0, **settings).fit(X)
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
    real = rows_numpy.filter_row
    monkeypatch.setattr(rows_numpy, "filter_row", lambda *a: handed_back.append(1) or real(*a))
    settings = {"init": C.T, "noise_variance": 0.01, "prior_covariance": 1e-3, "fit_mean": False, "shuffle": False}
    plain, fast = both(monkeypatch, lambda: handed_back.clear() or paper_filter(2, **settings).fit(X))
    assert 0 < len(handed_back) < 250  # with those that NumPy does while it waits
    assert_same(plain, fast, 1e-6)


def test_read_only_and_strided_rows(rng, monkeypatch):
    X = with_gaps(rng, 600, 30, 3, 0.2)
    X.flags.writeable = False
    for rows in (X, X[::2], np.asfortranarray(X), X[:, ::-1]):
        assert_same(*both(monkeypatch, lambda rows=rows: paper_filter(3, random_state=0, shuffle=False).fit(rows)))


def test_constants_are_those_of_the_core():
    assert (compiled_steps.CANCELLATION, compiled_steps.EPS) == (masked.CANCELLATION, state.EPS)
    assert loops.TILE == linalg.TILE
    for k in (0, 1, 7, 1e6):
        assert compiled_steps.sample_weight(k) == state.sample_weight(k)


BRANCHES = {
    "prior without a root": {"T": np.diag([1.0, 1.0, 0.0])},
    "drift without a root": {"S": np.zeros((3, 3)), "Q": np.zeros((3, 3))},
    "singular dictionary": {"C": np.outer(np.arange(1.0, 13.0), [1.0, 2.0, -1.0])},
    "barely regular dictionary": {"tilt": 1e-7},
    "as many entries as components": {"observed": 3, "min_observed": 3},
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
    track, min_observed = branch.get("track", False), branch.get("min_observed", 6)
    step = COEFFICIENT_STEPS["least_squares"]
    model = FilterModel(r, r, step, KalmanGain(), True, track, min_observed, 1e-14, branch.get("Q"))
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
    model = paper_filter(2, random_state=0).fit(rng.standard_normal((50, 3)))
    (plain, info), (fast, info_2) = both(
        monkeypatch, lambda: filter_rows(model.state_.filter, model.state_.settings.model, Y, 32)
    )
    assert info.n_observed == info_2.n_observed == 9
    for one, other in zip([plain.C, *plain.small, *info], [fast.C, *fast.small, *info_2], strict=True):
        assert np.isfinite(one).all()
        np.testing.assert_allclose(other, one, rtol=1e-9, atol=1e-9)
