"""Work that is recorded."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from factorstream.arrays import recorded, replays


def test_where_there_is_no_gpu_the_work_is_done_as_it_is():
    def work():
        raise AssertionError("it is not done while it is recorded")

    assert recorded(work, np.zeros(3)) is work


@pytest.mark.parametrize("lack", [True, False])
def test_a_lack_of_memory_does_not_end_recording_for_good(monkeypatch, lack):
    class OutOfMemoryError(RuntimeError):
        """As PyTorch's."""

    def graph():
        raise OutOfMemoryError if lack else RuntimeError

    cuda = SimpleNamespace(CUDAGraph=graph, OutOfMemoryError=OutOfMemoryError)
    monkeypatch.setattr(replays, "on_gpu", lambda values: True)
    monkeypatch.setattr(replays, "namespace", lambda values: SimpleNamespace(cuda=cuda))
    monkeypatch.setattr(replays, "_failure", None)
    assert recorded(print, np.zeros(3)) is print
    assert (replays.failure() is None) == lack


def test_on_a_gpu_it_is_done_again_with_what_is_in_the_arrays_by_then():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no GPU")
    a, b = (torch.zeros(1000, device="cuda") for _ in range(2))

    def work():
        b[...] = 2.0 * a + 1.0

    work()
    again = recorded(work, a)
    assert replays.failure() is None
    assert again is not work
    assert float(b.sum()) == 1000.0
    a += 1.0
    again()
    assert b.tolist() == [3.0] * 1000


def test_what_cannot_be_recorded_is_done_as_it_is(monkeypatch):
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no GPU")
    monkeypatch.setattr(replays, "_failure", None)
    a = torch.zeros(1000, device="cuda")

    def work():
        a.sum().item()  # waits for the device

    assert recorded(work, a) is work
    assert replays.failure() is not None
    work()
