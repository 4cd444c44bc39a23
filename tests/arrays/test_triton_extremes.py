"""The kernel for the extremes of columns against NumPy.

Needs PyTorch, and a GPU or TRITON_INTERPRET=1 in the environment, with which Triton runs kernels on the host; otherwise
it is skipped.
"""

from __future__ import annotations

import os

import numpy as np
import pytest


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1, 3), (9, 513), (100, 40), (5000, 7)])
def test_one_pass_finds_both(rng, shape, dtype):
    torch, _ = pytest.importorskip("torch"), pytest.importorskip("triton")
    if not torch.cuda.is_available() and os.environ.get("TRITON_INTERPRET") != "1":
        pytest.skip("no GPU")
    from factorstream.arrays.triton_extremes import extremes

    values = rng.normal(size=shape).astype(dtype)
    values[rng.random(shape) < 0.3] = np.nan
    values[:, 0], values[0, 1], values[-1, 2] = np.nan, np.inf, -np.inf
    found = []
    extremes(torch.asarray(values, device="cuda" if torch.cuda.is_available() else "cpu"), found)
    low, high = (part.cpu().numpy() for part in found)
    np.testing.assert_array_equal(low, np.fmin.reduce(values, axis=0, initial=np.inf))
    np.testing.assert_array_equal(high, np.fmax.reduce(values, axis=0, initial=-np.inf))
