"""Vectors that go to a device and come back again and again arrive as they were when they were sent.

What needs a GPU is skipped without one.
"""

from __future__ import annotations

import numpy as np
import pytest

from factorstream.arrays import FromDevice, ToDevice, device_of
from strict_place import DEVICE, STRICT


def test_to_a_device_and_back(rng):
    like, values = STRICT.put(np.zeros(3), 0), rng.standard_normal(5)
    there = ToDevice(like).put(values)
    assert device_of(there) == DEVICE
    np.testing.assert_array_equal(FromDevice(there).get(), values)


@pytest.mark.parametrize("put", [lambda A: A, lambda A: STRICT.put(A, 0)], ids=["numpy", "strict"])
def test_what_has_come_does_not_change_with_its_source(rng, put):
    values = put(rng.standard_normal((2, 3)))
    come = FromDevice(values).get()
    before = come.copy()
    values[...] = 0.0
    np.testing.assert_array_equal(come, before)


def test_arrays_of_numpy_stay_here(rng):
    values = rng.standard_normal(4)
    assert ToDevice(values).put(values) is values


def test_many_vectors_one_after_another_on_a_gpu(rng):
    """In the same memory, behind work that takes the device longer than this process takes to send the next one."""
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no GPU")
    A = torch.rand(4000, 4000, device="cuda")
    to_device, total = ToDevice(A), torch.zeros(5, device="cuda")
    expected, coming = [np.zeros(5)], []
    for _ in range(20):
        values = rng.integers(0, 100, 5).astype(np.float32)
        A @ A
        total += to_device.put(values)
        expected.append(expected[-1] + values)
        coming.append(FromDevice(total))
    for found, sums in zip(coming, expected[1:], strict=True):
        np.testing.assert_array_equal(found.get(), sums)
