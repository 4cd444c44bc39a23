"""What a GPU gives: every job beside the least time that its matrix products, or its bytes, take on the same device.

    python -m benchmarks.gpu                  # all parts; needs PyTorch with CUDA, and 40 GB on the device
    python -m benchmarks.gpu --only sweeps    # variational sweeps
    python -m benchmarks.gpu --only faces     # Olivetti with "auto", from the start to filled images (needs the data)
    python -m benchmarks.gpu --only stream    # the exact stream of complete rows
    python -m benchmarks.gpu --only gaps      # rows with gaps
    python -m benchmarks.gpu --only parts kernels products    # where the time of rows goes (see ``gpu_parts``)

Times are the best of several runs, each until the device has finished. Everything is in double precision but the
stream's rows and dictionary, which are single.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from typing import Any
from unittest.mock import patch

import numpy as np

from factorstream import BayesianFactorization, DictionaryFilter
from factorstream.core.variational import fit as variational
from factorstream.core.variational.packed import size
from factorstream.core.variational.sweep import sweep
from factorstream.datasets import load_olivetti
from factorstream.masks import random_mask
from factorstream.metrics import snr

from . import gpu_parts

try:
    import torch
except ImportError:  # said by main
    torch = None

COMPONENTS, GAPS = 40, 0.25
"""Of the variational fits."""
TABLES = ((400, 4096), (20_000, 4096), (20_000, 20_000))
"""Samples and features."""
FEATURES, STREAMED, BLOCK, CALL = 1_000_000, 64, 256, 1024
"""Features, components, rows per block and rows per call of the stream."""
ONE_CORE = (4000, 8192)
"""Samples and features of a sweep that one core does as well."""
RUNS = 5


def best(work: Callable[[], Any], runs: int = RUNS) -> float:
    """The least time of several runs after a first one, in seconds."""
    times = []
    for _ in range(runs + 1):
        torch.cuda.synchronize()
        start = time.perf_counter()
        work()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return min(times[1:])


def rows(n: int, m: int, r: int, gaps: float = 0.0, dtype: Any = None, seed: int = 0) -> Any:
    """Samples of m features that follow r components, on the device."""
    dtype = dtype or torch.float64
    random = torch.Generator("cuda").manual_seed(seed)
    base = torch.randn(r, m, device="cuda", dtype=dtype, generator=torch.Generator("cuda").manual_seed(1))
    X = torch.randn(n, r, device="cuda", dtype=dtype, generator=random) @ base
    for row in X:  # one at a time: no second array as large as X
        row += 0.3 * torch.randn(m, device="cuda", dtype=dtype, generator=random)
        if gaps:
            row[torch.rand(m, device="cuda", generator=random) < gaps] = torch.nan
    return X


# ------------------------------------------------------------------ variational sweeps


def sweep_times(X: Any, sweeps: int = 6, **settings: Any) -> tuple[list[float], BayesianFactorization]:
    """Seconds of every sweep of a fit, and the fit."""
    times = []

    def timed(*arguments: Any) -> Any:
        torch.cuda.synchronize()
        start = time.perf_counter()
        swept = sweep(*arguments)
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
        return swept

    with patch.object(variational, "sweep", timed):
        model = BayesianFactorization(
            COMPONENTS, max_iter=sweeps, tol=0.0, calibrate=False, random_state=0, **settings
        ).fit(X)
    return times, model


def sweep_products(n: int, m: int) -> float:
    """Seconds of the two matrix products of a sweep alone."""
    p = size(COMPONENTS + 1)
    W, M, Z = (torch.rand(*shape, device="cuda", dtype=torch.float64) for shape in ((n, m), (m, p), (n, p)))
    return best(lambda: (W @ M, W.T @ Z))


def sweeps() -> None:
    """A sweep beside its products, beside one core, and its results beside the CPU's."""
    print("| samples × features | sweep, ms | products alone, ms | over them |")
    print("|---|---:|---:|---:|")
    for n, m in TABLES:
        X = rows(n, m, COMPONENTS, GAPS)
        time_of, products = min(sweep_times(X)[0][1:]), sweep_products(n, m)
        print(f"| {n} × {m} | {1e3 * time_of:.2f} | {1e3 * products:.2f} | {time_of / products:.2f} |", flush=True)
        del X
        torch.cuda.empty_cache()
    n, m = ONE_CORE
    X = rows(n, m, COMPONENTS, GAPS)
    there, model = sweep_times(X, 3)
    with patch.dict(os.environ, {"FACTORSTREAM_THREADS": "1"}):
        here, twin = sweep_times(X.cpu().numpy(), 3)
    print(f"\n{n} × {m}: {1e3 * min(here[1:]):.0f} ms on one core, {min(here[1:]) / min(there[1:]):.0f} times as long.")
    components = torch.as_tensor(np.array(twin.components_), device="cuda")
    filled, filled_here = model.impute(X), torch.as_tensor(twin.impute(X.cpu().numpy()), device="cuda")
    for name, a, b in (("components", model.components_, components), ("filled entries", filled, filled_here)):
        off = float((torch.as_tensor(a, device="cuda") - b).abs().max() / b.abs().max())
        print(f"Largest difference of the {name} after {len(there)} sweeps, relative to the largest: {off:.1e}.")


def faces() -> None:
    """Olivetti with "auto", on the device and on the CPU."""
    images = load_olivetti().images.reshape(400, -1).astype(np.float64)
    hidden = random_mask(images.shape, GAPS, 0)
    gappy = np.where(hidden, np.nan, images)
    there = torch.as_tensor(gappy, device="cuda")
    print("| | seconds | SNR of the filled pixels, dB |")
    print("|---|---:|---:|")
    for name, X in (("GPU", there), ("CPU", gappy)):
        found: list[Any] = []

        def fill(X: Any = X, found: list[Any] = found) -> None:
            found[:] = [BayesianFactorization("auto", random_state=0).fit(X).impute(X)]

        seconds = best(fill, 2 if X is there else 1)
        filled = found[0].cpu().numpy() if X is there else found[0]
        print(f"| {name} | {seconds:.2f} | {snr(images, filled, where=hidden):.3f} |", flush=True)


# ------------------------------------------------------------------ the exact stream


def begun(**settings: Any) -> DictionaryFilter:
    """A filter that has taken in its first rows."""
    return DictionaryFilter(STREAMED, random_state=0, **settings).partial_fit(
        rows(4 * STREAMED, FEATURES, STREAMED, dtype=torch.float32)
    )


def stream_products(q: int) -> float:
    """Seconds of the products of a block of complete rows alone: CᵀYᵀ, YYᵀ and C₀A + YᵀD."""
    C, Y, A, D = (torch.rand(*shape, device="cuda") for shape in ((FEATURES, q), (BLOCK, FEATURES), (q, q), (BLOCK, q)))
    return best(lambda: (Y @ C, Y @ Y.T, torch.addmm(C @ A, Y.T, D)))


def stream() -> None:
    """Complete rows of single precision, in blocks."""
    X = rows(CALL, FEATURES, STREAMED, dtype=torch.float32, seed=2)
    print(f"| {FEATURES} features, calls of {CALL} rows, blocks of {BLOCK} | µs per row | products alone | over them |")
    print("|---|---:|---:|---:|")
    for name, settings in SETTINGS.items():
        model = begun(batch_size=BLOCK, **settings)
        q = STREAMED + (0 if settings.get("fit_mean") is False else 1)
        whole, products = best(lambda model=model: model.partial_fit(X)), stream_products(q)  # type: ignore[misc]
        a, b = 1e6 * whole / CALL, 1e6 * products / BLOCK
        print(f"| r = {STREAMED}, {name} | {a:.1f} | {b:.1f} | {a / b:.2f} |", flush=True)
        del model
        torch.cuda.empty_cache()


SETTINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "shared covariance": {"covariance": "shared", "scale": False},
    "shared covariance, no mean": {"covariance": "shared", "scale": False, "fit_mean": False},
}
"""Of the filter in the stream."""


def row_floor(q: int) -> float:
    """The floor of one fused pass for a row with gaps, in seconds: C read once, its observed rows written once, at the
    speed at which an array is copied, and half of the product of the observed rows with themselves, which is symmetric,
    at the rate of a large product. Who changes C once for several rows, or multiplies the missing rows where these are
    fewer, does less than is counted here."""
    C = torch.rand(FEATURES, q, device="cuda")
    copied = 2.0 * C.nbytes / best(C.clone)
    A = torch.rand(8192, 8192, device="cuda")
    multiplied = 8192.0**3 / best(lambda: A @ A)
    return float(C.nbytes * (2.0 - GAPS) / copied + (1.0 - GAPS) * FEATURES * q * q / 2.0 / multiplied)


def gaps() -> None:
    """Rows with gaps, one after another, in calls of several lengths."""
    X = rows(CALL, FEATURES, STREAMED, GAPS, dtype=torch.float32, seed=2)
    print(f"| {FEATURES} features, {GAPS:.0%} gaps | rows of a call | ms per row | floor | over it |")
    print("|---|---:|---:|---:|---:|")
    for name, settings in SETTINGS.items():
        model = begun(**settings)
        floor = row_floor(STREAMED + (0 if settings.get("fit_mean") is False else 1))
        for some in (X[:STREAMED], X):
            one = best(lambda model=model, some=some: model.partial_fit(some), 3) / len(some)  # type: ignore[misc]
            told = f"{len(some)} | {1e3 * one:.3f} | {1e3 * floor:.3f} | {one / floor:.2f}"
            print(f"| r = {STREAMED}, {name} | {told} |", flush=True)
        del model
        torch.cuda.empty_cache()


def parts() -> None:
    """Where the time of rows with gaps goes, and that of complete rows."""
    for q in (STREAMED, STREAMED + 1):
        gpu_parts.small_step_times(q)
    print()
    gappy, complete = (rows(CALL, FEATURES, STREAMED, gone, dtype=torch.float32, seed=2) for gone in (GAPS, 0.0))
    for name, settings in SETTINGS.items():
        model = begun(batch_size=BLOCK, **settings)
        gpu_parts.of_calls(f"complete rows, {name}", lambda model=model: model.partial_fit(complete), CALL)  # type: ignore[misc]
        gpu_parts.of_calls(f"rows with gaps, {name}", lambda model=model: model.partial_fit(gappy), CALL)  # type: ignore[misc]
        del model
        torch.cuda.empty_cache()


PARTS = {"sweeps": sweeps, "faces": faces, "stream": stream, "gaps": gaps}
DETAILS = {
    "parts": parts,
    "kernels": lambda: gpu_parts.kernel_times(FEATURES, STREAMED, GAPS),
    "products": lambda: gpu_parts.product_times(FEATURES, BLOCK),
}
"""What is run only if it is asked for."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the parts that are asked for."""
    parser = argparse.ArgumentParser(description="What a GPU gives.")
    parser.add_argument("--only", nargs="+", choices=[*PARTS, *DETAILS], default=list(PARTS))
    chosen = parser.parse_args(arguments)
    if torch is None or not torch.cuda.is_available():
        parser.error("this needs PyTorch and a GPU that it can use.")
    print(f"{torch.cuda.get_device_name()}; PyTorch {torch.__version__}; NumPy {np.__version__}")
    for part in chosen.only:
        print(f"\n## {part}\n")
        (PARTS | DETAILS)[part]()


if __name__ == "__main__":
    main()
