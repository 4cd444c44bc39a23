"""Kernels for GPUs are called for tensors on a GPU only, and one that fails is no error.

What needs a GPU is skipped without one.
"""

from __future__ import annotations

import sys
from types import SimpleNamespace

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


class Device:
    """What is asked of PyTorch about a GPU, without one."""

    class OutOfMemoryError(RuntimeError):
        """As PyTorch's."""

    def __init__(self, *, recording):
        self.cuda, self.is_current_stream_capturing = self, lambda: recording


@pytest.mark.parametrize("recording", [False, True])
@pytest.mark.parametrize("failure", [Device.OutOfMemoryError, ValueError])
def test_a_lack_of_memory_and_work_that_cannot_be_recorded_are_no_failures_of_kernels(monkeypatch, recording, failure):
    """They may work the next time. What is being recorded must not go on in another way."""

    def kernel(values):
        raise failure

    monkeypatch.setitem(sys.modules, "kernels_of_a_test", SimpleNamespace(kernel=kernel))
    monkeypatch.setattr(kernels, "launchable", lambda values: True)
    monkeypatch.setattr(kernels, "namespace", lambda values: Device(recording=recording))
    monkeypatch.setattr(kernels, "_failure", None)
    if recording:
        with pytest.raises(failure):
            launched(np.zeros(3), "kernels_of_a_test", "kernel", np.zeros(3))
    else:
        assert not launched(np.zeros(3), "kernels_of_a_test", "kernel", np.zeros(3))
    assert isinstance(kernels.failure(), ValueError) == (failure is ValueError and not recording)
