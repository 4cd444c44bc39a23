"""Work of a GPU that is recorded once, and then asked for with one call instead of one for every kernel.

PyTorch takes this process about 10 µs to launch an operation and Triton 50 a kernel; small kernels run no longer than
that. Arrays of other libraries and devices have nothing to record: the work is done anew each time.
"""

from __future__ import annotations

from collections.abc import Callable

from .transfers import on_gpu
from .where import Array, namespace

_failure: Exception | None = None


def recorded(work: Callable[[], None], beside: Array) -> Callable[[], None]:
    """A function that does the same as ``work`` on the same arrays, whose contents may have changed meanwhile.

    ``work`` must have been done once before, so that all its kernels are compiled. It must neither wait for the device
    nor depend on what is in the arrays, and all that is to last must be in arrays that somebody else keeps. Where
    recording fails, ``work`` itself comes back.
    """
    global _failure
    if not on_gpu(beside) or _failure is not None:
        return work
    cuda = namespace(beside).cuda
    try:
        graph, aside = cuda.CUDAGraph(), cuda.Stream(beside.device)  # nothing is recorded of the usual stream
        with cuda.device(beside.device):
            aside.wait_stream(cuda.current_stream())
            with cuda.stream(aside):
                graph.capture_begin(capture_error_mode="thread_local")
                try:
                    work()
                finally:
                    graph.capture_end()
            cuda.current_stream().wait_stream(aside)
    except Exception as failure:  # a driver or a library that cannot
        if not isinstance(failure, cuda.OutOfMemoryError):  # otherwise it may work the next time
            _failure = failure
        return work
    replay: Callable[[], None] = graph.replay
    return replay


def failure() -> Exception | None:
    """Why nothing is recorded any more; None where nothing has failed."""
    return _failure
