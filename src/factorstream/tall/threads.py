"""How many threads BLAS may use inside the library.

NumPy and SciPy bring a thread pool each. The filter alternates between the two every few microseconds, and
pools that spin while waiting for each other, or for a core that another process uses, have cost a factor of
fifty. One thread is within reach of the best on the block sizes used here and never collapses, so that is
the default; ``FACTORSTREAM_THREADS=4`` in the environment asks for more.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache, wraps
from threading import RLock, local
from typing import Any, Concatenate, ParamSpec, TypeVar

import threadpoolctl  # a dependency of scikit-learn

from ..core.filter.model import FilterModel
from ..core.filter.state import FilterState
from ..core.linalg import Rows

P = ParamSpec("P")
R = TypeVar("R")

SMALL = 4096
"""Below this many entries of C times rows, BLAS works on one thread anyway and setting the limit costs more.

Not tuned: OpenBLAS starts threads at some ten thousand multiplications; speed only."""


@cache
def _controller() -> Any:
    return threadpoolctl.ThreadpoolController()


def _let_any_thread_set_it() -> None:
    """Newer threadpoolctl ties the limit to the thread that set it; ours is lifted by whoever leaves last."""
    clear = getattr(threadpoolctl.OpenBLASController, "clear_controlling_thread", None)
    if clear is not None:
        clear(force=True)


class _Limit:
    """The limit is one setting of the whole process: the first to enter sets it, the last to leave lifts it.

    A process that is forked while other threads are inside has none of these: it counts the thread that it goes on
    with alone, and where that is outside, it lifts the limit.
    """

    def __init__(self) -> None:
        self.lock = RLock()
        self.inside = 0
        self.own = local()
        self.limiter: Any = None

    def __enter__(self) -> None:
        with self.lock:
            if self.inside == 0:
                wanted = os.environ.get("FACTORSTREAM_THREADS", "1")
                if not wanted.isdecimal() or int(wanted) < 1:
                    raise ValueError(f"FACTORSTREAM_THREADS must be a positive number; it is {wanted!r}.")
                threads = int(wanted)
                self.limiter = _controller().limit(limits=threads, user_api="blas")
                _let_any_thread_set_it()
            self.inside += 1
            self.own.inside = getattr(self.own, "inside", 0) + 1

    def __exit__(self, *_: object) -> None:
        with self.lock:
            self.own.inside -= 1
            self.inside -= 1
            if self.inside == 0:
                self._lift()

    def _lift(self) -> None:
        self.limiter.restore_original_limits()
        _let_any_thread_set_it()

    def before_fork(self) -> None:
        """Wait until no thread is changing the limit."""
        self.lock.acquire()

    def after_fork_in_parent(self) -> None:
        self.lock.release()

    def after_fork_in_child(self) -> None:
        """Forget the threads that are not here."""
        was, self.inside = self.inside, getattr(self.own, "inside", 0)
        if was and not self.inside:
            self._lift()
        self.lock = RLock()


_limit = _Limit()

if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(
        before=_limit.before_fork,
        after_in_parent=_limit.after_fork_in_parent,
        after_in_child=_limit.after_fork_in_child,
    )


def limited(size: int = SMALL) -> AbstractContextManager[None]:
    """A context in which BLAS keeps to the library's number of threads; ``size`` is that of C times the rows."""
    return nullcontext() if size < SMALL else _limit


def within_limit(
    function: Callable[Concatenate[FilterState, FilterModel, Rows, P], R],
) -> Callable[Concatenate[FilterState, FilterModel, Rows, P], R]:
    """Run a function of a filter and some rows under :func:`limited`."""

    @wraps(function)
    def wrapper(state: FilterState, model: FilterModel, X: Rows, /, *args: P.args, **kwargs: P.kwargs) -> R:
        n, m = X.shape
        if n * m * model.q < SMALL:
            return function(state, model, X, *args, **kwargs)
        with limited():
            return function(state, model, X, *args, **kwargs)

    return wrapper
