"""Threads of our own, which wait until there is work to share.

NumPy and compiled loops let go of Python's lock while they compute, so that several threads work at once; SciPy's calls
of BLAS and LAPACK do not, and are no use here.

Where other processes keep the cores busy, a thread that loses its core in the middle of a task makes all others wait. A
job that took longer than its tasks have computed, all together, is taken for a sign of it, though waiting for a disk
looks the same: the next jobs are then done by the caller alone for a while.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from itertools import count
from queue import SimpleQueue
from threading import Lock, Thread, local
from time import perf_counter, thread_time
from typing import Any

import numpy as np

Task = Callable[[int], Any]

ALONE = 20.0
"""For so many times as long as such a job has lost, the caller does all tasks alone; then threads are tried again. Not
tuned: to try costs a 20th then; speed only."""

computed = perf_counter if sys.platform == "win32" else thread_time
"""For how long a thread has had a core; Windows counts that in steps longer than a task.
There the clock stands for it, and a core that is lost goes unnoticed."""


class _Job:
    """Tasks with numbers, of which every thread takes the next that nobody has taken."""

    def __init__(self, task: Task, n: int) -> None:
        self.task, self.n = task, n
        self.results: list[Any] = [None] * n
        self.times = [0.0] * n
        self.failure: BaseException | None = None
        self.floats = np.geterr()  # what the caller wants to hear about overflows is a setting of its thread
        self._numbers = count()
        self._open = n
        self._lock = Lock()
        self._over = Lock()
        self._over.acquire()

    def work(self) -> None:
        """Take tasks until none is left."""
        while (i := next(self._numbers)) < self.n:
            try:
                if self.failure is None:
                    start = computed()
                    self.results[i] = self.task(i)
                    self.times[i] = computed() - start
            except BaseException as failure:  # raised again by the thread that waits
                self.failure = failure
            with self._lock:
                self._open -= 1
                if self._open == 0:
                    self._over.release()

    def wait(self) -> list[Any]:
        """The results in order, once all tasks are done. A thread that has not begun by then is not waited for."""
        with self._over:
            if self.failure is not None:
                raise self.failure
            return self.results


class _Pool:
    """Threads that start when they are first needed and end with the process."""

    def __init__(self) -> None:
        self.jobs: SimpleQueue[_Job] = SimpleQueue()
        self.n = 0
        self.lock = Lock()
        self.here = local()
        self.alone_until = 0.0

    def ask(self, n: int, job: _Job) -> None:
        """Let n threads work at a job."""
        with self.lock:
            while self.n < n:
                Thread(target=self._serve, name="factorstream", daemon=True).start()
                self.n += 1
        for _ in range(n):
            self.jobs.put(job)

    def _serve(self) -> None:
        self.here.serves = True
        while True:
            job = self.jobs.get()
            with np.errstate(**job.floats):
                job.work()
            del job  # its results are the caller's


_pool = _Pool()


def _begin_again() -> None:
    """A forked process has none of the threads."""
    global _pool
    _pool = _Pool()


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=_begin_again)


def run(task: Task, n: int, n_threads: int) -> list[Any]:
    """[task(0), …, task(n - 1)], by up to ``n_threads`` threads, of which the caller's is one.

    Where a task fails, those that nobody has begun are left out, and the failure is raised. A task that has tasks of
    its own does them itself.
    """
    helpers = min(n_threads, n) - 1
    if helpers < 1 or getattr(_pool.here, "serves", False):
        return [task(i) for i in range(n)]
    results: list[Any] = []
    while len(results) < n and perf_counter() < _pool.alone_until:
        results.append(task(len(results)))
    done = len(results)
    return results + (_shared(lambda i: task(i + done), n - done, helpers) if done < n else [])


def _shared(task: Task, n: int, helpers: int) -> list[Any]:
    """The same by the caller and so many other threads."""
    start = perf_counter()
    job = _Job(task, n)
    _pool.ask(helpers, job)
    try:
        job.work()
        results = job.wait()
        end = perf_counter()
        lost = end - start - sum(job.times)
        if lost > 0.0:
            _pool.alone_until = end + ALONE * lost
        return results
    except BaseException as failure:  # an interrupt may come between two tasks: the others begin no more of them
        job.failure = failure
        raise
