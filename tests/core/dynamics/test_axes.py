"""Principal factors without a decomposition of the whole matrix in every sweep."""

from __future__ import annotations

import numpy as np
import pytest

import reference_sequences as ref
from dynamics_problems import missing, moving_rows
from factorstream.core.dynamics.axes import FEW_FEATURES, principal_axes
from factorstream.core.dynamics.wide import row_covariance


@pytest.mark.parametrize("kind", ["none", "rows", "entries"])
@pytest.mark.parametrize("factors", [0, 3])
def test_axes_of_rows_equal_those_of_the_whole_matrix(kind, factors):
    cov = row_covariance(missing(moving_rows(80, 200, factors), kind))
    S = cov.Z.T @ cov.Z
    np.fill_diagonal(S, cov.diag)
    C = ref.principal_factors(S, cov.diag, 5, 20)
    found = principal_axes(cov, 5)
    np.testing.assert_allclose(found @ found.T, C @ C.T, atol=1e-6)


@pytest.mark.parametrize("factors", [0, 3])
def test_axes_of_a_large_matrix_equal_those_of_every_sweep_decomposed(factors):
    Y = moving_rows(300, FEW_FEATURES + 20, factors)
    S = Y.T @ Y / len(Y)
    C = ref.principal_factors(S, np.abs(S - np.diag(np.diag(S))).max(0), 5, 20)
    found = principal_axes(S, 5)
    np.testing.assert_allclose(found @ found.T, C @ C.T, atol=1e-6)


def test_no_component_and_more_than_there_are_rows():
    cov = row_covariance(moving_rows(6, 200, 2))
    assert principal_axes(cov, 0).shape == (200, 0)
    assert principal_axes(cov, 8).shape == (200, 8)
    assert np.isfinite(principal_axes(cov, 8)).all()


def test_principal_axes_find_loadings_under_unequal_noise():
    rng = np.random.default_rng(0)
    C = rng.normal(size=(12, 2))
    found = principal_axes(C @ C.T + np.diag(rng.uniform(0.1, 1.0, 12)), 2, sweeps=200)
    np.testing.assert_allclose(found @ found.T, C @ C.T, atol=0.05)
