"""How many threads BLAS uses while we work, and afterwards."""

from __future__ import annotations

import os
import subprocess
import sys
from threading import Thread

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from conftest import low_rank
from factorstream import BayesianFactorization, DictionaryFilter
from factorstream.core.variational import posterior
from factorstream.cores import limit, limited, n_threads
from factorstream.estimators import _sizes
from factorstream.tall import rows


def gappy(rng, n=40, m=10, missing=0.2):
    X = np.abs(low_rank(rng, n, m, 3, offset=4.0))
    return np.where(rng.random(X.shape) < missing, np.nan, X)


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def run_python(code, **environment):
    """A fresh interpreter, since who may set the limit is remembered for the whole process."""
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment}, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout.split()


def test_the_thread_limit_ends_with_the_call_even_if_it_fails():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with limited(10**6):
            with limited(10**6):
                assert set(blas_threads()) <= {1}
            assert set(blas_threads()) <= {1}
        assert blas_threads() == before
        with pytest.raises(RuntimeError), limited(10**6):
            raise RuntimeError
        assert blas_threads() == before


def test_the_data_are_checked_within_the_thread_limit(rng, monkeypatch):
    X = gappy(rng, n=40, m=200)
    model = DictionaryFilter(3, random_state=0).fit(X)
    seen = []
    for module, function in ((_sizes, "square_sum"), (rows, "square_sum")):
        original = getattr(module, function)
        monkeypatch.setattr(module, function, lambda Y, f=original: (seen.append(max(blas_threads())), f(Y))[1])
    with threadpool_limits(2, user_api="blas"):
        model.partial_fit(X).transform(X)
    assert len(seen) >= 2
    assert set(seen) == {1}


THREADS = """
from threading import Barrier, Thread
import numpy, scipy.linalg
from threadpoolctl import threadpool_info, threadpool_limits
from factorstream.cores import limit, limited, n_threads

def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

def run(*functions):
    threads = [Thread(target=function) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""

OVERLAP = (
    THREADS
    + """
before = blas_threads()
entered, both, left, done = (Barrier(2, timeout=30) for _ in range(4))

def early():
    with limited(10**6):
        entered.wait()
        both.wait()
    left.wait()
    done.wait()  # alive while the other leaves, like a thread of a pool

def late():
    entered.wait()
    with limited(10**6):
        both.wait()
        left.wait()
    done.wait()

run(early, late)
print("same" if blas_threads() == before else f"{before}->{blas_threads()}")
"""
)

ANOTHER = (
    THREADS
    + """
def user():
    with threadpool_limits(1, user_api="blas"):
        print(*blas_threads())

with limited(10**6):
    pass
run(user)
"""
)


FORK = (
    THREADS
    + """
import os, signal
from threading import Event

outside = blas_threads()
inside, forked = Event(), Event()

def other():
    with limited(10**6):
        inside.set()
        forked.wait()

def child():
    lifted = blas_threads() == outside
    with limited(10**6):
        limit = set(blas_threads())
    return lifted and limit <= {1} and blas_threads() == outside

def fork():
    inside.wait()
    pid = os.fork()
    if pid == 0:
        signal.alarm(20)  # a child that waits for ever ends with a signal
        os._exit(0 if child() else 1)
    forked.set()
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))

run(other, fork)
print(*outside, *blas_threads())
"""
)

FORK_AT_ANY_TIME = (
    THREADS
    + """
import os, signal, warnings
from threading import Event

warnings.simplefilter("ignore")  # Python 3.12 and later about forks of threads
done = Event()

def other():
    while not done.is_set():
        with limited(10**6):
            pass

def fork():
    for _ in range(60):
        pid = os.fork()
        if pid == 0:
            signal.alarm(10)  # a child that waits for ever ends with a signal
            with limited(10**6):
                os._exit(0)
        status = os.waitpid(pid, 0)[1]
        if status:
            print("stuck")
    done.set()

run(other, fork)
"""
)

FORK_INSIDE = (
    THREADS
    + """
import os

before = blas_threads()
with limited(10**6):
    pid = os.fork()
    limit = set(blas_threads())
same = limit <= {1} and blas_threads() == before
if pid == 0:
    os._exit(0 if same else 1)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), same)
"""
)

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")


@forks
def test_a_process_that_is_forked_while_another_thread_is_inside_has_its_own_limit():
    code = "import warnings; warnings.simplefilter('ignore')" + FORK
    status, *threads = run_python(code, OPENBLAS_NUM_THREADS="2")
    assert status == "0"
    assert threads[: len(threads) // 2] == threads[len(threads) // 2 :]


@forks
@pytest.mark.once
def test_a_process_can_be_forked_while_another_thread_sets_the_limit():
    assert run_python(FORK_AT_ANY_TIME, OPENBLAS_NUM_THREADS="2") == []


@forks
def test_a_process_that_is_forked_inside_is_inside():
    assert run_python(FORK_INSIDE, OPENBLAS_NUM_THREADS="2") == ["0", "True"]


def test_overlapping_calls_leave_the_thread_limit_as_it_was():
    """A enters, B enters, A leaves, B leaves."""
    assert run_python(OVERLAP, OPENBLAS_NUM_THREADS="2") == ["same"]


def test_a_call_leaves_other_threads_free_to_set_their_own_limit():
    assert set(run_python(ANOTHER, OPENBLAS_NUM_THREADS="2")) <= {"1"}


@pytest.mark.here(reason="the place that using() names is that of one thread")
def test_fits_in_two_threads_give_what_they_give_alone(rng):
    X = low_rank(rng, 60, 500, 10)  # large enough for the limit to be set
    alone = [DictionaryFilter(10, random_state=seed).fit(X).components_ for seed in (0, 1)]
    found = {}

    def fit(seed):
        for _ in range(3):
            found[seed] = DictionaryFilter(10, random_state=seed).fit(X).components_

    with threadpool_limits(2, user_api="blas"):
        pair = [Thread(target=fit, args=(seed,)) for seed in (0, 1)]
        for thread in pair:
            thread.start()
        for thread in pair:
            thread.join()
        assert set(blas_threads()) == {2}
    for seed in (0, 1):
        np.testing.assert_array_equal(found[seed], alone[seed])


def test_a_limit_that_is_no_number_is_refused(monkeypatch):
    for wanted in ("many", "1.5", "0"):
        monkeypatch.setenv("FACTORSTREAM_THREADS", wanted)
        words = f"FACTORSTREAM_THREADS must be a whole number of at least 1; it is '{wanted}'"
        with pytest.raises(ValueError, match=words), limited():
            pass


def test_as_many_threads_as_the_process_may_use(monkeypatch):
    """Whoever limits BLAS, or the process, limits us; the environment has the last word."""
    monkeypatch.delenv("FACTORSTREAM_THREADS", raising=False)
    monkeypatch.setattr(limit, "_cores", lambda: 16)
    monkeypatch.setattr(limit, "_of_this_process", lambda: 12)
    assert n_threads() == 1
    with threadpool_limits(8, user_api="blas"), limited():
        assert n_threads() == min(8, *blas_threads_allowed(8))
        with limited():
            assert n_threads() == min(8, *blas_threads_allowed(8))
    with threadpool_limits(1, user_api="blas"), limited():
        assert n_threads() == 1
    monkeypatch.setenv("FACTORSTREAM_THREADS", "3")
    with threadpool_limits(1, user_api="blas"), limited():
        assert n_threads() == 3
        assert set(blas_threads()) <= {1}
    assert n_threads() == 1


def blas_threads_allowed(wanted):
    """As many as BLAS takes: some were built for fewer threads than that."""
    with threadpool_limits(wanted, user_api="blas"):
        return blas_threads()


def test_the_cores_of_this_process():
    assert 1 <= limit._of_this_process() <= os.cpu_count()
    assert 1 <= limit._cores() <= os.cpu_count()


def test_many_short_rows_are_answered_within_the_limit(rng, monkeypatch):
    X = gappy(rng, n=500, m=6)
    model = BayesianFactorization(2, max_iter=2, random_state=0).fit(X)
    seen, invert = [], posterior.invert
    monkeypatch.setattr(posterior, "invert", lambda *a: (seen.append(max(blas_threads())), invert(*a))[1])
    with threadpool_limits(2, user_api="blas"):
        model.impute(X)
        model.predict_interval(X)
    assert seen
    assert set(seen) == {1}
