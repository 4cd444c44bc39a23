"""How many threads work: those of BLAS, which keep to one inside the library, and our own.

NumPy and SciPy bring a thread pool each. Pools that spin while waiting for each other, or for a core that another
process uses, have cost a factor of fifty. BLAS therefore keeps to one thread while we work, and work is divided among
threads of our own (``pool``). They are as many as the process may use, or as BLAS was allowed to: who limits that, by
``threadpoolctl`` or in the environment, limits us. ``FACTORSTREAM_THREADS=4`` in the environment says how many itself.
"""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from threading import RLock, local
from typing import Any

import joblib  # a dependency of scikit-learn, as is the next
import threadpoolctl

SMALL = 4096
"""Below this many entries of C times rows, BLAS works on one thread anyway and setting the limit costs more.

Not tuned: OpenBLAS starts threads at some ten thousand multiplications; speed only."""


@cache
def _controller() -> Any:
    return threadpoolctl.ThreadpoolController()


@cache
def _cores() -> int:
    """Those of the machine, as far as a container may use them."""
    return int(joblib.cpu_count())


def _allowed() -> int:
    """How many threads of our own may work."""
    wanted = os.environ.get("FACTORSTREAM_THREADS")
    if wanted:
        if not wanted.isdecimal() or int(wanted) < 1:
            raise ValueError(f"FACTORSTREAM_THREADS must be a whole number of at least 1; it is {wanted!r}.")
        return int(wanted)
    of_blas = [pool.num_threads for pool in _controller().lib_controllers if pool.user_api == "blas"]
    return int(min(_cores(), _of_this_process(), *of_blas))


def _of_this_process() -> int:
    """Cores that the process may use now; unlike the limits of a container, this may change while it runs."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else _cores()


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
        self.threads = 1

    def __enter__(self) -> None:
        with self.lock:
            if self.inside == 0:
                self.threads = _allowed()
                self.limiter = _controller().limit(limits=1, user_api="blas")
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


def n_threads() -> int:
    """How many threads of our own may work now: one outside of :func:`limited`."""
    return _limit.threads if _limit.inside else 1
