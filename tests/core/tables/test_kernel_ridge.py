"""Ridge regression on a kernel, beside systems that are solved once more without a row."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from factorstream.core.tables import kernel_ridge
from factorstream.core.tables.kernel_ridge import LANDMARKS, joined_targets, kernel_basis, kernel_values
from reference_tables import kernel_ridge_left_out


def problem(rng, n=50):
    G = rng.standard_normal((n, 2))
    return G, np.column_stack([np.sin(2 * G[:, 0]) + 0.1 * rng.standard_normal(n), rng.standard_normal(n)])


def kernel(A, B, rate):
    return np.exp(-rate * ((A[:, None] - B[None]) ** 2).sum(axis=2))


def test_left_out_rows_are_those_of_fits_without_them(rng, monkeypatch):
    """One length and one ridge: with all rows as landmarks it is kernel ridge regression as in the textbook."""
    monkeypatch.setattr(kernel_ridge, "LENGTHS", (1.0,))
    monkeypatch.setattr(kernel_ridge, "RIDGES", (0.5,))
    G, Y = problem(rng)
    found = kernel_basis(G, rng).fit(Y)
    rate = 1.0 / (2.0 * G.shape[1])
    for i in range(len(G)):
        rest = np.arange(len(G)) != i
        alpha = np.linalg.solve(kernel(G[rest], G[rest], rate) + 0.5 * np.eye(rest.sum()), Y[rest])
        assert_allclose(found.left_out[i], (kernel(G[[i]], G[rest], rate) @ alpha)[0], rtol=1e-5, atol=1e-6)
    alpha = np.linalg.solve(kernel(G, G, rate) + 0.5 * np.eye(len(G)), Y)
    new = rng.standard_normal((9, 2))
    assert_allclose(kernel_values(found.model, new), kernel(new, G, rate) @ alpha, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_every_row_is_told_by_what_rows_of_other_folds_choose(seed, monkeypatch):
    monkeypatch.setattr(kernel_ridge, "LENGTHS", (0.5, 2.0))
    monkeypatch.setattr(kernel_ridge, "RIDGES", (0.1, 1.0, 10.0))
    rng = np.random.default_rng(seed)
    G, Y = problem(rng, 30)
    found = kernel_basis(G, rng).fit(Y)
    chosen = []
    for t in range(2):
        left_out, (length, _) = kernel_ridge_left_out(G, Y[:, t], (0.5, 2.0), (0.1, 1.0, 10.0), kernel_ridge.FOLDS)
        assert_allclose(found.left_out[:, t], left_out, rtol=1e-5, atol=1e-6)
        chosen.append(1.0 / (2.0 * length**2 * 2))
    assert_allclose(found.model.rate, chosen)


def test_the_choice_of_a_row_is_not_its_own(monkeypatch):
    """Noise: the best setting of all rows looks better to them than it is; to other folds' rows it does not."""
    monkeypatch.setattr(kernel_ridge, "LANDMARKS", 30)
    ratios = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        G, Y = rng.standard_normal((30, 2)), rng.standard_normal((30, 5))
        left_out = kernel_basis(G, rng).fit(Y).left_out
        ratios.append(np.mean((Y - left_out) ** 2) / np.mean(Y**2))
    assert np.mean(ratios) > 1.0


def test_noise_is_left_alone_and_a_curve_is_found(rng):
    G, Y = problem(rng, 400)
    found = kernel_basis(G, rng).fit(Y)
    assert len(found.model.landmarks) == LANDMARKS
    left = np.mean((Y - found.left_out) ** 2, axis=0) / np.mean(Y**2, axis=0)
    assert left[0] < 0.1
    assert 0.95 < left[1] < 1.05
    new, _ = problem(rng, 400)
    said = kernel_values(found.model, new)
    assert np.mean((said[:, 0] - np.sin(2 * new[:, 0])) ** 2) < 0.02
    assert np.mean(said[:, 1] ** 2) < 0.1


def test_targets_of_one_basis_are_asked_together(rng):
    G, Y = problem(rng, 100)
    basis = kernel_basis(G, rng)
    together, alone = basis.fit(Y).model, [basis.fit(Y[:, [t]]).model for t in (0, 1)]
    assert_allclose(kernel_values(joined_targets(*alone), G), kernel_values(together, G), rtol=1e-8, atol=1e-8)
