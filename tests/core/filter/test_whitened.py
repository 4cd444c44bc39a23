"""The fast recursion over complete samples against its slow twin, sample-by-sample ``absorb``."""

from __future__ import annotations

import numpy as np
import pytest

from conftest import first_state, low_rank, settings_of
from factorstream import DictionaryFilter
from factorstream.core.filter import whitened
from factorstream.core.filter.recursion import run_block
from factorstream.core.linalg import cholesky
from factorstream.cores import compiling
from filter_problems import paper_filter
from split_place import fetched

LEARNING = {
    "given": {"noise_variance": 0.3, "prior_covariance": 0.5},
    "learned": {},
    "tracked": {"prior_covariance": 0.5},
}


def block_of(seed, r, fit_mean, learning, covariance="shared", B=50, m=60, noise=0.3):
    """A stream in its middle, and the inner products of the block that comes next."""
    rng = np.random.default_rng(seed)
    Y = low_rank(rng, 40 + B, m, r, noise=noise) + 2.0 * rng.standard_normal(m)
    given = {"covariance": covariance, "scale": False, **LEARNING[learning]}
    model = DictionaryFilter(r, fit_mean=fit_mean, random_state=seed, **given).fit(Y[:40])
    C, small = fetched(model.state_.filter.C), model.state_.filter.small
    Z = Y[40:] - fetched(model.state_.filter.origin)
    small = small._replace(G=np.asfortranarray(C.T @ C))
    return small, model.state_.settings.model, C.T @ Z.T, Z @ Z.T, m


@pytest.fixture(params=["in_numpy", "in_loops"])
def loop(request):
    """Both loops over the samples."""
    if request.param == "in_loops":
        pytest.importorskip("numba")
    return getattr(whitened, request.param)


def both(monkeypatch, problem, loop):
    fast = run_block(*problem, loop)
    with monkeypatch.context() as patch:
        patch.setattr(whitened, "applies", lambda model, m: False)
        return fast, run_block(*problem, loop)


def assert_same(fast, slow, rtol=1e-10):
    (state, block), (state_2, block_2) = fast, slow
    for name in ("G", "T", "xbar", "lam", "noise_sum", "noise_dof"):
        a, b = np.asarray(getattr(state, name)), np.asarray(getattr(state_2, name))
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * np.abs(b).max(initial=0.0), err_msg=name)
    V, V_2 = state.S @ state.S.T, state_2.S @ state_2.S.T
    np.testing.assert_allclose(V, V_2, rtol=rtol, atol=rtol * np.abs(V_2).max())
    for a, b in ((block.A, block_2.A), (block.D, block_2.D)):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * np.abs(b).max())
    for a, b in zip(block.record, block_2.record, strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol)
    assert (state.k, state.age) == (state_2.k, state_2.age)
    assert block.weight == pytest.approx(block_2.weight, rel=rtol)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("fit_mean", [False, True])
@pytest.mark.parametrize("learning", LEARNING)
@pytest.mark.parametrize("r", [1, 2, 7])
@pytest.mark.parametrize("covariance", ["shared", "counted"])
def test_fast_recursion_is_the_slow_one(monkeypatch, seed, fit_mean, learning, r, covariance, loop):
    problem = block_of(seed, r, fit_mean, learning, covariance)
    assert whitened.applies(problem[1], problem[4])
    assert_same(*both(monkeypatch, problem, loop))


@pytest.mark.parametrize("growth", [0.05, 1e3])
@pytest.mark.parametrize("inner", [1, 7, 64])
@pytest.mark.parametrize("covariance", ["shared", "counted"])
def test_samples_still_to_come_are_moved_by_products(monkeypatch, inner, growth, covariance, loop):
    """Also where a run ends, because CᵀC has grown, in the middle of what a loop was to take."""
    problem = block_of(2, 5, True, "learned", covariance, B=150)
    monkeypatch.setattr(whitened, "INNER", inner)
    monkeypatch.setattr(whitened, "GROWTH", growth)
    assert_same(*both(monkeypatch, problem, loop))


@pytest.mark.parametrize("growth", [0.0, 1e-3, 1e-1])
@pytest.mark.parametrize("covariance", ["shared", "counted"])
def test_a_new_basis_may_be_chosen_at_any_time(monkeypatch, growth, covariance, loop):
    problem = block_of(0, 5, True, "learned", covariance)
    monkeypatch.setattr(whitened, "GROWTH", growth)
    assert_same(*both(monkeypatch, problem, loop))


@pytest.mark.parametrize("covariance", ["shared", "counted"])
def test_early_samples_make_the_gram_matrix_grow(monkeypatch, covariance, loop):
    """From a start a thousand times too small; the basis is chosen again on the way."""
    small, model, K, N, m = block_of(1, 4, True, "learned", covariance)
    shrink = np.diag([1e-3] * 4 + [1.0])
    problem = (small._replace(G=np.asfortranarray(shrink @ small.G @ shrink)), model, shrink @ K, N, m)
    fast, slow = both(monkeypatch, problem, loop)
    assert_same(fast, slow, rtol=1e-9)


def test_singular_gram_matrix_is_left_to_the_slow_twin(monkeypatch, loop):
    small, model, K, N, m = block_of(2, 3, True, "learned")
    small.G[2, :], small.G[:, 2] = small.G[1, :], small.G[:, 1]
    small.G[2, 2] = small.G[1, 1]
    K = np.vstack([K[:2], K[1], K[3]])
    assert_same(*both(monkeypatch, (small, model, K, N, m), loop), rtol=1e-6)


def sample_loop(Y, C, V, lam):
    """Algorithm 1 over the rows of Y in long double, the Gram matrix from C at every sample: C, V and all ‖e‖²."""
    Y, C, V, lam = (np.array(value, dtype=np.longdouble) for value in (Y, C, V, lam))
    squares = []
    for y in Y:
        x = solve_long(C.T @ C, C.T @ y)
        s = lam + x @ V @ x
        e = y - C @ x
        C = C + np.outer(e, V @ x) / s
        V = V - np.outer(V @ x, V @ x) / s
        squares.append(e @ e)
    return C, V, np.array(squares)


def solve_long(G, b):
    """Gaussian elimination without pivots, for a positive definite G: NumPy's own solver knows no long double."""
    G, b = G.copy(), b.copy()
    for j in range(len(b)):
        for i in range(j + 1, len(b)):
            factor = G[i, j] / G[j, j]
            G[i] -= factor * G[j]
            b[i] -= factor * b[j]
    for j in reversed(range(len(b))):
        b[j] = (b[j] - G[j, j + 1 :] @ b[j + 1 :]) / G[j, j]
    return b


@pytest.mark.skipif(np.finfo(np.longdouble).eps == np.finfo(float).eps, reason="long double is double here")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("rcond", [1e-2, 1e-5, 1e-8])
def test_ill_conditioned_gram_matrix_costs_no_more_than_its_condition(seed, rcond, loop):
    """The fast recursion against a loop in long double, which keeps three more digits."""
    rng = np.random.default_rng(seed)
    r, m, B = 6, 60, 50
    Y = low_rank(rng, B, m, r, noise=0.3)
    U, W = (np.linalg.qr(rng.standard_normal((k, r)))[0] for k in (m, r))
    C = 5.0 * U * np.geomspace(1.0, np.sqrt(rcond), r) @ W.T
    given = {"noise_variance": 0.3, "prior_covariance": 0.5, "fit_mean": False}
    model = paper_filter(r, init=C.T, random_state=0, **given)
    start = first_state(model, Y).small
    assert cholesky(start.G, whitened.MIN_RCOND) is not None  # not left to the slow twin

    end, block = run_block(start, settings_of(model, Y).model, C.T @ Y.T, Y @ Y.T, m, loop)
    expected = sample_loop(Y, C, start.S @ start.S.T, start.lam)

    # Every number of the block comes from G, K and N in double precision, G with an error of about ε‖G‖. In
    # x = G⁻¹b it becomes, relative to x, ε‖G‖‖G⁻¹‖ = ε / rcond, to first order and whatever the method; x enters
    # g, and with it C and V, as a factor. Each of the B samples may add as much: G only grows from its start.
    found = C @ block.A + Y.T @ block.D, end.S @ end.S.T, block.record.innovation
    for name, a, b in zip(("C", "V", "innovation"), found, expected, strict=True):
        error = float(np.abs(a - b).max() / np.abs(b).max())
        assert error <= B * np.finfo(float).eps / rcond, (name, error)


def test_numpy_takes_over_where_nothing_can_be_compiled(monkeypatch):
    pytest.importorskip("numba")
    problem = block_of(0, 5, True, "learned")
    expected = run_block(*problem)
    monkeypatch.setattr(compiling, "call", lambda function, *arguments: 0)
    assert_same(run_block(*problem, whitened.in_loops), expected, rtol=0.0)
