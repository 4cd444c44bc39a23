"""Kernels for GPUs are called for tensors on a GPU only, and one that fails is no error.

What needs a GPU is skipped without one.
"""

from __future__ import annotations

import numpy as np
import pytest

from factorstream.arrays import kernels, launched
from strict_place import STRICT


@pytest.mark.parametrize("put", [lambda A: A, lambda A: STRICT.put(A, 0)], ids=["numpy", "strict"])
def test_other_arrays_have_no_kernels(put):
    assert not launched(put(np.zeros(3)), "no_such_module", "f")
    assert kernels.failure() is None


def tensor_on_gpu():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no GPU")
    return torch.zeros(3, 2, device="cuda", dtype=torch.float64)


def test_a_kernel_that_fails_is_given_up(monkeypatch):
    values = tensor_on_gpu()
    monkeypatch.delenv("FACTORSTREAM_COMPILED", raising=False)
    monkeypatch.setattr(kernels, "_failure", None)
    assert not launched(values, "no_such_module", "f")
    assert isinstance(kernels.failure(), ModuleNotFoundError)


def test_neither_views_nor_the_environment_let_kernels_be_called(monkeypatch):
    values = tensor_on_gpu()
    assert not launched(values, "no_such_module", "f", values.T)
    monkeypatch.setenv("FACTORSTREAM_COMPILED", "0")
    assert not launched(values, "no_such_module", "f", values)
    assert kernels.failure() is None
