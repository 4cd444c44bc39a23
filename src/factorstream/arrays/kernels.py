"""Kernels of our own for tensors of PyTorch on a GPU.

Triton compiles them; it comes with PyTorch on Linux. Whoever has a kernel also has a way through the array API, which
gives the same answers and is taken wherever there is no Triton, or none that works.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

from .where import is_torch, namespace

_failure: Exception | None = None


def launchable(beside: Any) -> bool:
    """Whether kernels are tried for an array: a tensor on a GPU, unless one has failed before.

    ``FACTORSTREAM_COMPILED=0`` in the environment says never, as for the compiled loops of the host.
    """
    if not is_torch(beside) or beside.device.type != "cuda" or os.environ.get("FACTORSTREAM_COMPILED") == "0":
        return False
    return _failure is None


def launched(beside: Any, module: str, name: str, *arguments: Any) -> bool:
    """Call ``name`` of a module of kernels if :func:`launchable`; False, and nothing done, where it cannot.

    Kernels take tensors whose rows lie one after the other in memory, and no views of others.
    """
    global _failure
    if not launchable(beside) or not all(part.is_contiguous() for part in arguments if is_torch(part)):
        return False
    try:
        getattr(import_module(module), name)(*arguments)
    except Exception as failure:  # no Triton, no C compiler for it, a device that it does not know
        cuda = namespace(beside).cuda
        if cuda.is_current_stream_capturing():
            raise  # the recording fails, and not the kernel
        if isinstance(failure, cuda.OutOfMemoryError):
            return False  # it may work the next time
        _failure = failure
    return _failure is None


def failure() -> Exception | None:
    """Why kernels are not used any more; None where none has failed."""
    return _failure
