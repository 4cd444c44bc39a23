"""Tasks that several threads share."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from factorstream.cores import pool
from factorstream.cores.pool import run


@pytest.fixture(autouse=True)
def _undisturbed(monkeypatch):
    """Whatever the tests before have lost to busy neighbours."""
    monkeypatch.setattr(pool._pool, "alone_until", 0.0)


@pytest.mark.parametrize("n_threads", [1, 2, 5])
@pytest.mark.parametrize("n", [0, 1, 3, 200])
def test_results_come_in_order(n, n_threads):
    assert run(lambda i: i * i, n, n_threads) == [i * i for i in range(n)]


def test_threads_work_at_the_same_time():
    meeting = threading.Barrier(3, timeout=20)
    assert len(set(run(lambda i: (meeting.wait(), threading.get_ident())[1], 3, 3))) == 3


def test_after_a_task_that_lost_its_core_the_caller_works_alone_for_a_while(monkeypatch):
    here = threading.local()

    def computed():
        """Ten milliseconds for every task, whatever the machine does."""
        here.calls = getattr(here, "calls", 0) + 1
        return 0.01 * here.calls

    def task(longest):
        def one(i):
            time.sleep(longest if i == 5 else 0.002)
            return threading.get_ident()

        return one

    monkeypatch.setattr(pool, "ALONE", 3.0)
    monkeypatch.setattr(pool, "computed", computed)
    assert len(set(run(task(0.002), 60, 2))) == 2
    assert pool._pool.alone_until == 0.0
    assert len(set(run(task(2.0), 6, 2))) == 2
    assert pool._pool.alone_until > time.perf_counter() + 3.0
    assert set(run(task(0.002), 4, 2)) == {threading.get_ident()}
    monkeypatch.setattr(pool._pool, "alone_until", 0.0)
    assert len(set(run(task(0.002), 60, 2))) == 2


@pytest.fixture
def sleep_counts(monkeypatch):
    """To sleep is to compute: what a busy machine does to real work is then no matter."""
    monkeypatch.setattr(pool, "computed", time.perf_counter)


def test_a_long_job_is_shared_once_the_while_is_over(monkeypatch, sleep_counts):
    monkeypatch.setattr(pool._pool, "alone_until", time.perf_counter() + 0.05)
    found = run(lambda i: (time.sleep(0.02), (i, threading.get_ident()))[1], 20, 2)
    assert [i for i, _ in found] == list(range(20))
    assert {who for _, who in found[:2]} == {threading.get_ident()}
    assert len({who for _, who in found}) == 2


def test_equal_tasks_are_shared_again_and_again(sleep_counts):
    for _ in range(5):
        assert len(set(run(lambda i: (time.sleep(0.02), threading.get_ident())[1], 6, 2))) == 2


def test_a_failure_is_raised_and_the_threads_go_on():
    done = []

    def task(i):
        if i == 3:
            raise ValueError("three")
        time.sleep(0.001)
        done.append(i)

    with pytest.raises(ValueError, match="three"):
        run(task, 1000, 4)
    assert len(done) < 900
    assert run(str, 4, 4) == ["0", "1", "2", "3"]


@pytest.fixture
def interruptible():
    """Ctrl-C raises KeyboardInterrupt, also where the tests run in the background of a shell, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_after_an_interrupt_no_task_begins():
    """Ctrl-C reaches the thread that asked, wherever it is."""
    begun = []

    def task(i):
        begun.append(i)
        time.sleep(0.01)

    threading.Timer(0.05, signal.raise_signal, [signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt):
        run(task, 10_000, 3)
    time.sleep(0.05)
    n = len(begun)
    time.sleep(0.1)
    assert len(begun) == n < 1000


def test_a_task_does_its_own_tasks_itself():
    """Threads that waited for tasks of tasks would wait for each other."""
    assert run(lambda i: run(lambda j: 10 * i + j, 3, 4), 8, 4) == [[10 * i + j for j in range(3)] for i in range(8)]


def test_two_threads_share_the_others():
    found = {}

    def ask(k):
        found[k] = run(lambda i: (time.sleep(0.001), (k, i))[1], 40, 4)

    pair = [threading.Thread(target=ask, args=(k,)) for k in range(2)]
    for thread in pair:
        thread.start()
    for thread in pair:
        thread.join(20)
    assert found == {k: [(k, i) for i in range(40)] for k in range(2)}


def test_what_the_caller_says_about_overflows_holds_for_all():
    def task(i):
        time.sleep(0.001)
        return np.float64(1e200) * np.float64(1e200)

    with np.errstate(over="ignore"):
        assert all(np.isinf(run(task, 20, 4)))
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        run(task, 20, 4)


FORKED = """
import os
from factorstream.cores import pool
from factorstream.cores.pool import run
run(str, 4, 4)
if (child := os.fork()) == 0:
    os._exit(0 if run(lambda i: i, 8, 4) == list(range(8)) else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_has_threads_of_its_own():
    command = [sys.executable, "-W", "ignore", "-c", FORKED]  # newer Pythons warn wherever there are threads
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["0"]
