import numpy as np
import pytest
from scipy.optimize import nnls
from sklearn.base import clone

from factorstream.baselines.masked_nmf import (
    MaskedNMF,
    masked_objective,
    nonnegative_coefficients,
    update_factors,
)


def naive_update(X, observed, W, H):
    """The multiplicative updates written entry by entry."""
    W = W.copy()
    product = W @ H
    for i, c in np.ndindex(W.shape):
        seen = [j for j in range(H.shape[1]) if observed[i, j]]
        W[i, c] *= sum(X[i, j] * H[c, j] for j in seen) / sum(product[i, j] * H[c, j] for j in seen)
    H = H.copy()
    product = W @ H
    for c, j in np.ndindex(H.shape):
        seen = [i for i in range(W.shape[0]) if observed[i, j]]
        H[c, j] *= sum(X[i, j] * W[i, c] for i in seen) / sum(product[i, j] * W[i, c] for i in seen)
    return W, H


def problem(seed, n=12, m=9, r=3, dtype=np.float64, missing=0.3):
    rng = np.random.default_rng(seed)
    X = (rng.uniform(0, 2, (n, r)) @ rng.uniform(0, 2, (r, m)) + 0.1 * rng.random((n, m))).astype(dtype)
    observed = rng.random((n, m)) >= missing
    observed[0] = observed[:, 0] = True
    return X, observed, rng.random((n, r)).astype(dtype), rng.random((r, m)).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_update_equals_its_naive_twin(seed, dtype):
    X, observed, W, H = problem(seed, dtype=dtype)
    fast = update_factors(np.where(observed, X, 0).astype(dtype), observed.astype(dtype), W, H)
    slow = naive_update(X, observed, W, H)
    rtol = 1e-12 if dtype == np.float64 else 1e-4
    for one, two in zip(fast, slow, strict=True):
        assert one.dtype == dtype
        np.testing.assert_allclose(one, two, rtol=rtol)


@pytest.mark.parametrize("poison", [1e300, np.inf, np.nan])
def test_fit_ignores_what_is_under_the_mask(poison):
    """The twin is handed the poisoned data and the mask; the estimator sees NaN there."""
    X, observed, _, H = problem(0)
    model = MaskedNMF(3, max_iter=15, init=H, random_state=0)
    W, H = model._start(np.where(observed, X, 0.0), observed.astype(float))
    for _ in range(15):
        W, H = naive_update(np.where(observed, X, poison), observed, W, H)
    np.testing.assert_allclose(model.fit(np.where(observed, X, np.nan)).components_, H, rtol=1e-10)
    residual = np.where(observed, X - W @ H, 0.0)
    assert model.reconstruction_err_ == pytest.approx(np.linalg.norm(residual), rel=1e-8)


def test_a_masked_feature_says_nothing_about_the_coefficients():
    X, observed, W, H = problem(0)
    observed[:, 4] = False
    H[:, 4] = 1e6
    Y, M = np.where(observed, X, 0.0), observed.astype(float)
    rest = np.arange(X.shape[1]) != 4
    expected, _ = update_factors(Y[:, rest], M[:, rest], W, H[:, rest])
    np.testing.assert_allclose(update_factors(Y, M, W, H)[0], expected, rtol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_objective_never_increases(seed):
    X, observed, W, H = problem(seed, n=30, m=20, r=4)
    Y, M = np.where(observed, X, 0), observed.astype(float)
    objective = [masked_objective(Y, M, W, H)]
    for _ in range(300):
        W, H = update_factors(Y, M, W, H)
        objective.append(masked_objective(Y, M, W, H))
    assert (np.diff(objective) <= 1e-12 * objective[0]).all()
    assert objective[-1] < objective[0] / 10


@pytest.mark.parametrize("seed", range(3))
def test_coefficients_are_the_nonnegative_least_squares_solution(seed):
    X, observed, _, H = problem(seed)
    Z = nonnegative_coefficients(np.where(observed, X, np.nan), H)
    for x, seen, z in zip(X, observed, Z, strict=True):
        np.testing.assert_allclose(z, nnls(H[:, seen].T, x[seen])[0], atol=1e-8)


def test_values_behind_the_mask_are_recovered():
    X, observed, _, _ = problem(0, n=60, m=40, missing=0.25)
    filled = MaskedNMF(3, random_state=0).fit(holes := np.where(observed, X, np.nan)).impute(holes)
    np.testing.assert_array_equal(filled[observed], X[observed])
    assert np.abs(filled - X)[~observed].max() < 0.35


def test_rows_with_few_or_no_observed_entries():
    X, _, _, _ = problem(0)
    model = MaskedNMF(3, max_iter=50, random_state=0).fit(X)
    holes = np.full((2, X.shape[1]), np.nan)
    holes[1, 0] = 1.0
    filled = model.impute(holes)
    np.testing.assert_array_equal(filled[0], 0)
    assert np.isfinite(filled).all()


def test_float32_stays_float32():
    X, observed, _, _ = problem(0, dtype=np.float32)
    model = MaskedNMF(2, max_iter=20, random_state=0).fit(X)
    assert model.components_.dtype == np.float32
    assert model.transform(X).dtype == np.float32
    assert model.impute(np.where(observed, X, np.float32(np.nan))).dtype == np.float32


def test_history_tol_and_verbose(capsys):
    X = problem(0)[0]
    full = MaskedNMF(3, max_iter=205, random_state=0).fit(X)
    assert full.n_iter_ == 205
    assert [record["iteration"] for record in full.history_][-2:] == [200, 205]
    early = MaskedNMF(3, max_iter=205, tol=0.1, random_state=0, verbose=2).fit(X)
    assert early.n_iter_ < 205
    assert f"iteration {early.n_iter_}" in capsys.readouterr().out
    assert early.reconstruction_err_ == pytest.approx(np.sqrt(early.history_[-1]["objective"]))


def test_init_array_is_used_and_left_alone():
    X, _, _, H = problem(0)
    before = H.copy()
    one = MaskedNMF(3, max_iter=5, init=H, random_state=0).fit(X)
    np.testing.assert_array_equal(H, before)
    assert clone(one).fit(X).n_iter_ == 5
    with pytest.raises(ValueError, match="init must be"):
        MaskedNMF(2, init=H).fit(X)


def test_bad_data_is_named():
    X = problem(0)[0]
    X[4, 2] = -1.5
    with pytest.raises(ValueError, match=r"-1\.5 in row 4, column 2"):
        MaskedNMF(2).fit(X)
    X[:, 2] = np.nan
    with pytest.raises(ValueError, match=r"without any observed value .column 2"):
        MaskedNMF(2).fit(X)
    with pytest.raises(ValueError, match="3 columns but the dictionary has 2 components"):
        MaskedNMF(2, max_iter=1).fit(X[:, :2]).inverse_transform(np.ones((1, 3)))


def test_coefficients_too_large_for_the_rows_are_refused():
    X, tiny = np.outer([1.0, 2.0, 3.0], [1.0, 2.0]), np.full((1, 2), 1e-60)
    model = MaskedNMF(1, max_iter=20, init=tiny, random_state=0).fit(X)
    row = np.array([[1.0, 2.0]])
    np.testing.assert_allclose(model.transform(row) @ model.components_, row)
    with pytest.raises(ValueError, match=r"coefficients of size .* too large for float32; pass float64"):
        model.transform(row.astype(np.float32))
