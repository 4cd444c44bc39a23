"""Which library an array is of, on which device, and the way from one to another."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import array_api_compat as compat
import numpy as np
from numpy.typing import NDArray

Array = Any
"""An array of any library."""

NARROW = ("float16", "bfloat16")
"""Types of numbers, of other libraries, that are computed with as float32."""

_OF_NUMPY = np.ndarray, np.generic

_NUMPY: Any = np if np.lib.NumpyVersion(np.__version__) >= "2.3.0" else import_module("array_api_compat.numpy")
"""NumPy itself where it follows the standard, which saves a call for each of its functions."""


def is_here(values: Any) -> bool:
    """Whether this is no array of another library than NumPy: also for sparse rows, numbers and None."""
    if type(values) is np.ndarray or values is None:  # quicker, and almost always enough
        return True
    return isinstance(values, _OF_NUMPY) or not compat.is_array_api_obj(values)


def namespace(values: Array) -> Any:
    """The functions of the array API for an array, as its library has them; NumPy's for numbers."""
    return _NUMPY if type(values) is np.ndarray or is_here(values) else compat.array_namespace(values)


def device_of(values: Array) -> Any:
    """Where an array is, as its library says it; None for one of NumPy."""
    return None if is_here(values) else compat.device(values)


def is_array(values: Any) -> bool:
    """Whether this is an array, of NumPy or of another library."""
    return isinstance(values, _OF_NUMPY) or compat.is_array_api_obj(values)


def refuse_without_float64(values: Any) -> None:
    """Raise an error if the device of an array has no float64: Apple's GPUs ("mps") have none."""
    if not is_here(values) and not _has_float64(values):
        raise TypeError(
            f"factorstream computes with float64, which {words_for(values)} cannot have; pass NumPy rows, and it "
            "computes in the memory of the host."
        )


_with_float64: dict[tuple[str, str], bool] = {}


def _has_float64(values: Array) -> bool:
    """Asked once of each device: PyTorch makes an array of every type to answer. Not every device can be hashed."""
    xp, device = namespace(values), device_of(values)
    known = xp.__name__, str(device)
    if known not in _with_float64:
        _with_float64[known] = "float64" in xp.__array_namespace_info__().dtypes(device=device)
    return _with_float64[known]


def is_torch(values: Any) -> bool:
    """Whether this is a tensor of PyTorch."""
    return compat.is_torch_array(values)


def is_torch_on_host(values: Any) -> bool:
    """Whether this is a tensor of PyTorch in the memory of the host, which NumPy can share."""
    return compat.is_torch_array(values) and values.device.type == "cpu"


def is_dask(values: Any) -> bool:
    """Whether this is an array of Dask, whose numbers are found when they are asked for."""
    return compat.is_dask_array(values)


def stays(values: Any) -> bool:
    """Whether work on an array is done where it is, by its own library.

    Not where NumPy can share its memory, and not for libraries whose arrays cannot be written into (JAX), are no
    numbers yet (Dask), or have no gaps (sparse): those become arrays of NumPy.
    """
    if is_here(values):
        return False
    others = compat.is_jax_array, is_dask, compat.is_pydata_sparse_array
    return not is_torch_on_host(values) and not any(is_one(values) for is_one in others)


def words_for(values: Any) -> str:
    """What an array is and where, for a message."""
    if is_here(values):
        return "NumPy arrays"
    library = compat.array_namespace(values).__name__.removeprefix("array_api_compat.")
    return f"arrays of {library} on {device_of(values)}"


def dtype_of(values: Any) -> np.dtype[Any]:
    """The type of an array's numbers, as NumPy names it."""
    kind = values.dtype
    return kind if isinstance(kind, np.dtype) else np.dtype(str(kind).rpartition(".")[2])


def widened(values: Array) -> Array:
    """An array of another library of float16 or bfloat16, which NumPy does not have, as one of float32."""
    if is_here(values) or str(values.dtype).rpartition(".")[2] not in NARROW:
        return values
    xp = namespace(values)
    return xp.astype(values, xp.float32)


def to_host(values: Any) -> Any:
    """The same numbers as an array of NumPy, which may share its memory; what is here stays as it is."""
    if is_here(values):
        return values
    if compat.is_torch_array(values):
        return widened(values.detach().cpu()).numpy()
    if compat.is_cupy_array(values):
        return values.get()
    return np.from_dlpack(values)


def to_device(values: NDArray[Any], xp: Any, device: Any) -> Array:
    """An array of NumPy as one of another library on a device.

    PyTorch would wait until the device has done all that it was told before: it may go on.
    """
    if compat.is_torch_namespace(xp):
        if not values.flags.writeable or min(values.strides, default=0) < 0:  # PyTorch warns of one, has not the other
            values = values.copy()
        return xp.asarray(values).to(device, non_blocking=True)
    return xp.asarray(values, device=device)


def beside(values: Array, other: Array) -> Array:
    """An array of NumPy as one of the library and on the device of another; itself where it is there already.

    Numbers are Python's there, so that they have the type of what they meet.
    """
    if is_here(other) or not is_here(values):
        return values
    if not np.ndim(values):
        return values.item() if isinstance(values, np.ndarray | np.generic) else values
    return to_device(values, namespace(other), device_of(other))
