"""Where the time goes on a GPU: for rows with gaps, and for complete rows. And which settings of the kernels are best.

python -m benchmarks.gpu --only gaps parts       # rows with gaps: what waits for what
python -m benchmarks.gpu --only kernels          # every kernel alone, with the settings around its own
python -m benchmarks.gpu --only stream products  # complete rows; ways to make YYᵀ
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
from threadpoolctl import threadpool_limits

from factorstream.arrays import FromDevice, kernels, replays
from factorstream.tall import array_products, blocks, counted_rounds, rounds

try:
    import torch
except ImportError:  # said by gpu.main
    torch = None

SPENT = (
    ("the engine", rounds.RoundRows, "run"),
    ("the engine", counted_rounds.CountedRounds, "run"),
    ("asking the device", rounds.Rounds, "start"),
    ("waiting for the device", FromDevice, "get"),
    ("small step", rounds, "absorb"),
    ("small step", counted_rounds, "absorb"),
    ("small step", counted_rounds, "_observed"),
    ("small step", counted_rounds, "weighted_root"),
    ("small step", counted_rounds, "step_of"),
    ("learning", counted_rounds, "_learned"),
    ("conditioning", counted_rounds, "condition"),
    ("levels", counted_rounds, "regrouped"),
    ("levels", counted_rounds, "with_room"),
    ("recursion", blocks, "run_block"),
    ("asking for products", array_products, "summed"),
)
"""Functions whose time is taken, and under which name. "small step" and "learning" are between two rounds."""


@contextmanager
def timed() -> Iterator[dict[str, float]]:
    """Seconds that this process spends in the functions of ``SPENT``, waiting included."""
    spent: dict[str, float] = defaultdict(float)

    def wrapped(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def wrapper(*arguments: Any, **named: Any) -> Any:
            start = time.perf_counter()
            try:
                return function(*arguments, **named)
            finally:
                spent[name] += time.perf_counter() - start

        return wrapper

    with ExitStack() as stack:
        for name, owner, function in SPENT:
            stack.enter_context(patch.object(owner, function, wrapped(name, getattr(owner, function))))
        yield spent


def shares(title: str, work: Callable[[], Any], n: int, runs: int = 3) -> None:
    """Microseconds per row of the quickest of several runs, as a whole and by functions."""
    work()
    found = []
    for _ in range(runs):
        with timed() as spent:
            torch.cuda.synchronize()
            start = time.perf_counter()
            work()
            torch.cuda.synchronize()
            found.append((time.perf_counter() - start, dict(spent)))
    whole, spent = min(found, key=lambda each: each[0])
    parts = ", ".join(f"{name} {1e6 * seconds / n:.0f}" for name, seconds in spent.items())
    print(f"{title}: {1e6 * whole / n:.0f} µs per row; of these {parts}", flush=True)


def of_calls(title: str, work: Callable[[], Any], n: int) -> None:
    """The same as it is, and with one thread for BLAS."""
    shares(title, work, n)
    with threadpool_limits(1):
        shares(f"{title}, BLAS on one thread", work, n)
    if kernels.failure() is not None:
        print(f"A KERNEL HAS FAILED, operations of PyTorch were timed: {kernels.failure()!r}")
    if replays.failure() is not None:
        print(f"NOTHING IS RECORDED any more: {replays.failure()!r}")


def on_device(work: Callable[[], Any], runs: int = 20) -> float:
    """Microseconds of the device alone: several calls, one behind the other, between two events."""
    work()
    times: list[float] = []
    for _ in range(3):
        ends = [torch.cuda.Event(enable_timing=True) for _ in "12"]
        torch.cuda.synchronize()
        torch.cuda._sleep(20_000_000)  # so that all launches are made before the first of them begins
        ends[0].record()
        for _ in range(runs):
            work()
        ends[1].record()
        torch.cuda.synchronize()
        times.append(1e3 * ends[0].elapsed_time(ends[1]) / runs)
    return min(times)


def _tried(title: str, module: Any, name: str, settings: list[Any], work: Callable[[], Any]) -> None:
    """The device's time with each setting of a constant; the first is the one in use."""
    for setting in [getattr(module, name), *settings]:
        with patch.object(module, name, setting):
            module.divided.cache_clear()
            try:
                print(f"{title} {name} = {setting}: {on_device(work):.1f} µs", flush=True)
            except Exception as failure:  # too large for the device
                print(f"{title} {name} = {setting}: {type(failure).__name__}", flush=True)
    module.divided.cache_clear()


def kernel_times(m: int, r: int, gaps: float) -> None:
    """The kernels of a round one by one, with the settings that are in use and with others."""
    from factorstream.tall import triton_rounds as of
    from factorstream.tall.round_products import ends

    S = of.Setting
    for q, K in ((r, 1), (r + 1, 1), (r + 1, 8), (r + 1, 16)):
        C = torch.zeros(m, -(-q // 4) * 4, device="cuda")
        C[:, :q].normal_()
        y, after = torch.randn(2, m, device="cuda")
        for row in (y, after):
            row[torch.rand(m, device="cuda") < gaps] = torch.nan
        group, seen = torch.randint(0, 3, (m,), device="cuda"), torch.zeros(m, device="cuda", dtype=torch.float64)
        numbers = torch.zeros(2 + q + K * q, device="cuda")  # moves by nothing: C stays as it is
        out = torch.zeros(ends(q, K).pulls, device="cuda", dtype=torch.float64)
        given = C, q, K, y, numbers, group if K > 1 else None, seen if q > r else None, after, True, out
        title = f"q = {q}, K = {K}:"
        if K == 1:

            def products(C: Any = C, q: int = q, after: Any = after, out: Any = out) -> None:
                of.chosen_products(C, q, after, True, out)

            print(f"{title} chosen_products (choose + multiply + total): {on_device(products):.1f} µs", flush=True)
            if q == r:
                _tried(title, of, "CHUNK", [1024, 4096], products)
                _tried(title, of, "CHOOSE_WARPS", [4, 16], products)
                _tried(title, of, "CHOSEN_SUMS", [of.Adding(16, 512, 8), of.Adding(64, 128, 8)], products)
                others = [
                    (32, 4, 1),
                    (32, 4, 2),
                    (32, 4, 4),
                    (16, 4, 4),
                    (64, 4, 2),
                    (32, 8, 3),
                    (64, 8, 2),
                    (32, 2, 3),
                ]
                _tried(title, of, "MULTIPLY", [S(rows, warps, stages, 0) for rows, warps, stages in others], products)

        def moved(given: tuple[Any, ...] = given) -> None:
            of.go(*given)

        print(f"{title} go (move + total): {on_device(moved):.1f} µs", flush=True)
        if (q, K) == (r, 1):
            settings = [S(16, 2, 1, 2112), S(32, 4, 1, 2112), S(32, 4, 1, 1056), S(32, 2, 1, 1056), S(32, 2, 1, 4224)]
            _tried(title, of, "MOVE", [*settings, S(16, 1, 1, 4224), S(64, 4, 1, 1056)], moved)
            adding = [of.Adding(32, 256, 8), of.Adding(16, 512, 8), of.Adding(4, 1024, 4), of.Adding(4, 2048, 8)]
            _tried(title, of, "MOVED_SUMS", adding, moved)
        if K == 8:
            settings = [S(32, 4, 1, 528), S(32, 4, 1, 2112), S(32, 2, 1, 2112), S(64, 4, 1, 1056), S(64, 8, 1, 528)]
            _tried(title, of, "MOVE_GROUPED", settings, moved)
        del C, group, seen
        torch.cuda.empty_cache()


def product_times(m: int, n: int) -> None:
    """Ways to make YYᵀ of a block: whole, without the half that symmetry gives, and in other lengths of sums."""
    Y = torch.rand(n, m, device="cuda")

    def halves(Y: Any) -> Any:
        h = n // 2
        return Y[:h] @ Y.T, Y[h:] @ Y[h:].T

    print(
        f"YYᵀ of {n} × {m} at once: {on_device(lambda: Y @ Y.T, 5):.0f} µs; two halves: "
        f"{on_device(lambda: halves(Y), 5):.0f} µs",
        flush=True,
    )
    for power in (16, 17, 18, 19, 20):
        with patch.object(array_products, "AT_ONCE", 2**power):
            whole = on_device(lambda: array_products.self_products(Y), 5)
            print(f"AT_ONCE = 2**{power}: {whole:.0f} µs", flush=True)
            step = 2**power
            pieces = [Y[:, at : at + step] for at in range(0, m, step)]
            parts = on_device(lambda pieces=pieces: [halves(some) for some in pieces], 5)  # type: ignore[misc]
            print(f"the same in two halves: {parts:.0f} µs", flush=True)


def small_step_times(q: int) -> None:
    """What this process needs for the small step of a row, without any device."""
    from scipy.linalg import lapack

    A = np.eye(q, order="F")
    b = np.ones(q)
    for name, work in (
        ("dpotrf", lambda: lapack.dpotrf(A, lower=1)),
        ("dpotrs", lambda: lapack.dpotrs(A, b, lower=1)),
        ("SSᵀ", lambda: A.dot(A.T)),
        ("Gx", lambda: A.dot(b)),
    ):
        for threads in (None, 1):
            with threadpool_limits(threads):
                work()
                start = time.perf_counter()
                for _ in range(500):
                    work()
                taken = 2e3 * (time.perf_counter() - start)
            print(f"{name} of {q} columns, BLAS on {threads or 'all'} threads: {taken:.1f} µs", flush=True)
