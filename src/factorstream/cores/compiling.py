"""Whether compiled loops can be used, and calls of them.

They need ``numba`` (the extra ``fast``). ``FACTORSTREAM_COMPILED=0`` in the environment says never, ``=1``
wherever there are loops for the call; otherwise whoever has loops decides from its size whether they pay.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

from numpy.typing import NDArray


def applies(worth: bool, *modules: str) -> bool:
    """Whether to use the loops of these modules, which are ``worth`` loading for the call at hand or are not."""
    wanted = os.environ.get("FACTORSTREAM_COMPILED") or "auto"
    if wanted not in ("0", "1", "auto"):
        raise ValueError(f"FACTORSTREAM_COMPILED must be 0, 1 or auto; it is {wanted!r}.")
    if wanted == "0" or (wanted == "auto" and not worth):
        return False
    failure = import_failure(*modules)
    if wanted == "1" and failure is not None:
        raise ImportError(f"FACTORSTREAM_COMPILED=1, but {_reason(failure)}") from failure
    return failure is None


def import_failure(*modules: str) -> Exception | None:
    """Why the loops of these modules cannot be used; None where they can.

    Warns once if numba is installed but fails to import.
    """
    if _failure is None:
        try:
            for module in (*modules, "factorstream.cores.compiling_said"):
                import_module(module)
        except Exception as failure:  # a numba that does not know this NumPy, or finds no place for its cache
            _give_up(failure)
    return _failure


class HalfDone(RuntimeError):
    """Compiled code has failed after it has changed something, so that NumPy cannot take over."""


def call(function: Callable[..., int], *args: Any) -> int:
    """What a compiled function returns, or 0 where it could not be compiled.

    What is raised comes from the compiler, before anything has changed, but for what is passed on here.
    """
    if _failure is not None:
        return 0
    try:
        return int(function(*args))
    except (IndexError, MemoryError, HalfDone):  # the first under NUMBA_BOUNDSCHECK: a mistake in the loops
        raise
    except Exception as failure:  # no room for its cache, a damaged one, an interrupted first call
        _give_up(failure)
        return 0


def plain(values: NDArray[Any]) -> NDArray[Any]:
    """The array as the loops are compiled for it: they would be compiled once more for every other kind."""
    return values if values.flags.c_contiguous and values.flags.writeable else values.copy()


_failure: Exception | None = None


def _give_up(failure: Exception) -> None:
    """From now on NumPy does it."""
    global _failure
    _failure = failure
    if not (isinstance(failure, ModuleNotFoundError) and failure.name == "numba"):
        warnings.warn(f"NumPy takes over: {_reason(failure)}", RuntimeWarning, stacklevel=2)


def _reason(failure: Exception) -> str:
    first_line = str(failure).partition("\n")[0]
    return (
        f"compiled code cannot be used ({type(failure).__name__}: {first_line}); it needs a working numba, "
        'pip install "factorstream[fast]", and a folder for its cache, which NUMBA_CACHE_DIR may name.'
    )
