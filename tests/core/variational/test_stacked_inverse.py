"""Inverses by blocks against NumPy's, for arrays of NumPy and of array-api-strict."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from factorstream.arrays import device_of, to_host
from factorstream.core.variational import stacked_inverse
from factorstream.core.variational.stacked_inverse import inverse_and_logdet
from strict_place import STRICT
from variational_problems import spd


@pytest.fixture(params=["whole", "cut"], autouse=True)
def size(request, monkeypatch):
    """Of stacks that are cut in two: those that are large enough, or all."""
    if request.param == "cut":
        monkeypatch.setattr(stacked_inverse, "LARGE", 0)
        monkeypatch.setattr(stacked_inverse, "HALF", 11)


@pytest.mark.parametrize("q", [1, 2, 10, 11, 12, 23, 41])
@pytest.mark.parametrize("put", [lambda A: A, lambda A: STRICT.put(A, 0)], ids=["numpy", "strict"])
def test_inverse_and_determinant(q, put):
    A = spd(np.random.default_rng(q), q, 5)
    given = put(A)
    inverse, logdet = inverse_and_logdet(given)
    assert device_of(inverse) == device_of(given)
    assert_allclose(to_host(inverse), np.linalg.inv(A), rtol=1e-9, atol=1e-12)
    assert_allclose(to_host(logdet), -np.linalg.slogdet(A)[1], rtol=1e-12, atol=1e-12)
    assert_allclose(to_host(given), A, rtol=0.0)  # not changed


@pytest.mark.parametrize("q", [3, 12, 41])
def test_a_badly_scaled_matrix_loses_no_more_digits_than_by_numpy(q):
    scale = np.geomspace(1e-4, 1e4, q)
    A = spd(np.random.default_rng(q), q, 3) * scale[:, None] * scale
    inverse, _ = inverse_and_logdet(A)
    ours, numpys = (np.abs(part @ A - np.eye(q)).max() for part in (inverse, np.linalg.inv(A)))
    assert ours <= 10.0 * numpys


@pytest.mark.parametrize("q", [2, 12, 41])
def test_a_matrix_that_is_not_positive_definite_is_refused(q):
    A = np.stack([np.eye(q), np.diag([*np.ones(q - 1), -1.0])])
    with pytest.raises(np.linalg.LinAlgError):
        inverse_and_logdet(A)
