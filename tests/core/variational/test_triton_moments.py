"""The kernel for second moments against NumPy's way.

Needs PyTorch, and a GPU or TRITON_INTERPRET=1 in the environment, with which Triton runs kernels on the host; otherwise
it is skipped.
"""

from __future__ import annotations

import os

import numpy as np
import pytest
from numpy.testing import assert_allclose

from factorstream.core.variational.packed import layout, size
from factorstream.core.variational.packed_moments import exterior, leading_moments, second_moments


def made(X, V, scale, r):
    torch, _ = pytest.importorskip("torch"), pytest.importorskip("triton")
    if not torch.cuda.is_available() and os.environ.get("TRITON_INTERPRET") != "1":
        pytest.skip("no GPU")
    from factorstream.core.variational.triton_moments import moments

    device = "cuda" if torch.cuda.is_available() else "cpu"
    (N, q), o = X.shape, layout(X.shape[1])
    given = X, V, scale, o.i, o.j, *exterior(r, q), np.full((N, size(q)), np.nan)
    there = [None if part is None else torch.asarray(part, device=device) for part in given]
    moments(*there)
    return there[-1].cpu().numpy()


@pytest.mark.parametrize("q", [2, 17, 41, 60])
def test_moments(q):
    rng = np.random.default_rng(q)
    X, V, scale = rng.normal(size=(7, q)), rng.normal(size=(7, size(q))), rng.random(7)
    assert_allclose(made(X, V, scale, q), second_moments(X, V, scale), rtol=1e-14, atol=1e-14)
    Sigma = V[:, : size(q - 1)].copy()
    assert_allclose(made(X, Sigma, None, q - 1), leading_moments(X, Sigma, q - 1), rtol=1e-14, atol=1e-14)
