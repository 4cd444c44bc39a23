"""What is measured. Every case makes its data before the clock starts and returns rows of the table."""

from __future__ import annotations

import importlib
import subprocess
import sys
import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...core.dynamics.em import Prior, maximise
from ...core.dynamics.fit import expect
from ...core.dynamics.start import start as sequence_start
from ...core.dynamics.stream import standards
from ...core.variational.relevance import KAPPA, Relevance
from ...core.variational.sweep import LEAST, Options, sweep
from ...core.variational.sweep import fit as featurewise_fit
from ...datasets import load_london_air, load_olivetti
from ...estimators.dictionary_filter import DictionaryFilter
from ...metrics import snr
from ...tall import local
from ...tall.filtering import filter_rows
from . import peers, textbook
from .timing import Machine, Timing, peak_bytes, race

Array = textbook.Array


class Row(NamedTuple):
    """One line of the table."""

    case: str
    method: str
    seconds: float | None
    """Median per repeat; None where it did not run."""
    floor: float | None = None
    """Least seconds that this machine's rates allow for the operations that cannot be avoided."""
    ratio: float | None = None
    """Seconds over those of this package in the same case."""
    quality: float | None = None
    note: str = ""
    peak: tuple[int, int] | None = None
    """Number of rows and peak extra bytes, where memory is measured."""


def rows_of(case: str, times: dict[str, Timing], own: str, floors: dict[str, float]) -> list[Row]:
    """The timings as rows, ratios against the one named ``own``."""
    base = times[own].median
    return [
        Row(case, name, t.median, floors.get(name), t.median / base, note="" if t.repeats > 1 else "one run")
        for name, t in times.items()
    ]


def low_rank(n: int, m: int, r: int, missing: float = 0.0, seed: int = 0) -> Array:
    """A noisy low-rank matrix, entries removed at random."""
    rng = np.random.default_rng(seed)
    X: Array = rng.standard_normal((n, r)) @ rng.standard_normal((r, m)) + 0.3 * rng.standard_normal((n, m))
    X[rng.random(X.shape) < missing] = np.nan
    return X


def product_flops(m: int, q: int, B: int) -> float:
    """Operations per sample in the tall products of a block: CᵀYᵀ, YYᵀ (half of it), C₀A and YᵀD."""
    return m * (2.0 * q + B + 2.0 * q * q / B + 2.0 * q)


def complete_stream(machine: Machine, quick: bool) -> list[Row]:
    """m=4096, r=40, nothing missing: the exact recursion, its products alone, and the textbook loop."""
    m, r, n = 4096, 40, 320 if quick else 960
    Y = low_rank(n, m, r)
    return [row for fit_mean in (False, True) for row in _complete(machine, Y, r, fit_mean)]


def _complete(machine: Machine, Y: Array, r: int, fit_mean: bool) -> list[Row]:
    (n, m), few = Y.shape, len(Y) // 20
    model = DictionaryFilter(r, fit_mean=fit_mean, random_state=0).fit(Y[:200])
    state, fixed, B = model.state_, model._model(), model._block_size()
    A, D = np.eye(fixed.q), np.zeros((B, fixed.q))

    def products() -> None:
        C = state.C
        for start in range(0, n, B):
            Z = Y[start : start + B]
            local.cross(C, Z)
            local.self_products(Z)
            C = local.combine(C, A, Z, D[: len(Z)])

    own = "exact recursion" + (" with a mean" if fit_mean else "")
    loop = f"textbook loop ({few} samples, scaled)"
    calls: dict[str, Callable[[], object]] = {
        own: lambda: filter_rows(state, fixed, Y, B),
        "its matrix products alone": products,
    }
    if not fit_mean:
        calls[loop] = lambda: textbook.filter_loop(Y[:few], state.C, np.eye(r), 0.1)
    times = race(calls, repeats=15)
    if loop in times:
        times[loop] = times[loop]._replace(median=times[loop].median * n / few, best=times[loop].best * n / few)
    floors = dict.fromkeys(times, n * product_flops(m, fixed.q, B) / machine.flops)
    floors[loop] = n * m * (r * r + 6.0 * r) / machine.flops
    return rows_of(f"Complete stream, m={m}, r={r}, n={n}", times, own, floors)


def masked_stream(machine: Machine, quick: bool) -> list[Row]:
    """Faces with a quarter of the pixels removed: one automatic pass against every peer."""
    images = np.asarray(load_olivetti().images, dtype=np.float64)
    r = 20 if quick else 40
    if quick:
        images = images[:200, ::2, ::2]
    truth = images.reshape(len(images), -1)
    n, m = truth.shape
    gone = np.random.default_rng(0).random(truth.shape) < 0.25
    X = np.where(gone, np.nan, truth)
    case = f"Masked stream, faces {n}×{m}, 25% random, r={r}"
    own = "DictionaryFilter, one pass, fit and fill"
    calls: dict[str, Callable[[], object]] = {own: lambda: peers.ours(X, r)}
    calls["DictionaryFilter, fit alone"] = lambda: DictionaryFilter(r, random_state=0).fit(X)
    quality, refused = {own: snr(truth, peers.ours(X, r), where=gone)}, []
    for peer in peers.PEERS:
        if not peers.installed(peer):
            refused.append(Row(case, peer.name, None, note="not installed on this machine"))
            continue
        attempts: list[tuple[Array | None, str]] = []

        def run(peer: peers.Peer = peer, attempts: list[tuple[Array | None, str]] = attempts) -> None:
            attempts[:] = [peers.attempt(peer, X, r)]

        first = race({peer.name: run}, limit=0.0)[peer.name]
        filled, why = attempts[0]
        if filled is None:
            refused.append(Row(case, peer.name, None, note=why))
            continue
        quality[peer.name] = snr(truth, filled, where=gone)
        if first.median > (2.0 if quick else 20.0):
            refused.append(Row(case, peer.name, first.median, quality=quality[peer.name], note="one run"))
        else:
            calls[peer.name] = run
    times = race(calls)
    flops = n * (0.25 * m * (r + 1) ** 2 + 8.0 * m * (r + 1))
    rows = rows_of(case, times, own, {"DictionaryFilter, fit alone": flops / machine.flops})
    rows = [row._replace(quality=quality.get(row.method)) for row in rows]
    base = times[own].median
    late = [row._replace(ratio=row.seconds / base if row.seconds else None) for row in refused]
    return rows + late


def featurewise_sweep(machine: Machine, quick: bool) -> list[Row]:
    """One variational sweep with a posterior per feature against one plain ALS sweep."""
    images = np.asarray(load_olivetti().images, dtype=np.float64)
    r = 40
    if quick:
        images = images[:, ::2, ::2]
    Y = images.reshape(len(images), -1) / 255.0
    Y = Y - Y.mean()
    n, m = Y.shape
    seen = np.random.default_rng(0).random(Y.shape) > 0.25
    W = seen.astype(np.float64)
    Z = np.where(seen, Y, 0.0)
    model = featurewise_fit(Z, W, Options(r=r, max_sweeps=1, prune=False)).model
    floor, how = np.full(m, LEAST), Relevance(KAPPA, 1.0 / r)
    rng = np.random.default_rng(0)
    X0, C0 = rng.standard_normal((n, r)), rng.standard_normal((m, r))
    own = "variational sweep, one covariance per feature"
    times = race(
        {
            own: lambda: sweep(Z, W, model, floor, how),
            "plain ALS sweep, no covariance": lambda: textbook.als_sweep(Y, seen, X0, C0, 0.1),
        }
    )
    q = r + 1
    flops = 4.0 * n * m * q * (q + 1) / 2 + (n + m) * q**3
    return rows_of(f"Featurewise sweep, faces {n}×{m}, r={r}", times, own, {own: flops / machine.flops})


def sequence_sweep(machine: Machine, quick: bool) -> list[Row]:
    """One EM sweep over the London air against a textbook filter-smoother, and statsmodels."""
    air = load_london_air().values[: 800 if quick else None]
    shift, scale = standards(air)
    Y = (air - shift) / scale
    r = 10
    model = sequence_start(Y, r, False, select=False)
    prior = Prior(np.ones(len(model.A)))
    plain = textbook.Linear(model.A, model.Q, model.P0, model.C, model.mean, model.R)

    def own_sweep() -> object:
        return maximise(model, expect(model, Y)[1], prior)

    own = "EM sweep"
    case = f"Sequence, London PM10 {Y.shape[0]}×{Y.shape[1]}, r={r}"
    times = race({own: own_sweep, "textbook filter-smoother sweep": lambda: textbook.em_sweep(Y, plain)}, limit=60.0)
    T, m = Y.shape
    rows = rows_of(case, times, own, {own: T * (2.0 * m * r * r + 14.0 * r**3) / machine.flops})
    name = "statsmodels DynamicFactorMQ, one EM iteration"
    try:
        DynamicFactorMQ = importlib.import_module("statsmodels.tsa.api").DynamicFactorMQ
    except ImportError:
        return [*rows, Row(case, name, None, note="not installed on this machine")]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            other = DynamicFactorMQ(Y, factors=1, factor_multiplicities=r, idiosyncratic_ar1=False, standardize=False)
            took = race({name: lambda: other.fit_em(maxiter=1, disp=False)}, repeats=1, limit=10.0)[name]
    except Exception as problem:  # it starts from the complete rows and refuses a panel with too few
        whole = int(np.isfinite(Y).all(axis=1).sum())
        why = str(problem).partition(".")[0][:80]
        return [*rows, Row(case, name, None, note=f"refuses this panel, which has {whole} complete rows: {why}")]
    return [*rows, Row(case, name, took.median, ratio=took.median / times[own].median)]


def one_row(machine: Machine, quick: bool) -> list[Row]:
    """partial_fit of a single row at m=20, r=5, and the price of the import."""
    from sklearn.decomposition import IncrementalPCA

    S = np.random.default_rng(0).standard_normal((200, 20))
    mine, pca = DictionaryFilter(5, random_state=0).partial_fit(S), IncrementalPCA(5).partial_fit(S)
    row, k = S[:1], 200

    def many(call: Callable[[Array], object]) -> Callable[[], object]:
        return lambda: [call(row) for _ in range(k)]

    own = "DictionaryFilter.partial_fit"
    times = race({own: many(mine.partial_fit), "IncrementalPCA.partial_fit": many(pca.partial_fit)}, repeats=15)
    single = {name: Timing(t.median / k, t.best / k, t.repeats) for name, t in times.items()}
    rows = rows_of("One more row, m=20, r=5", single, own, {own: 40 * 20 * 8 / machine.bandwidth})
    code = "import time, sklearn.decomposition; a = time.perf_counter(); import factorstream\n"
    code += "print(time.perf_counter() - a)"
    spent = [float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(5)]
    return [*rows, Row("Import", "factorstream after sklearn.decomposition", float(np.median(spent)))]


def memory(machine: Machine, quick: bool) -> list[Row]:
    """Peak extra memory of partial_fit for n, 2n and 4n rows, in copies of C after one block is taken off."""
    m, r = 20_000, 10
    X = low_rank(400, m, r, missing=0.1)
    model = DictionaryFilter(r, random_state=0).partial_fit(X[:40])
    size, block = model.state_.C.nbytes, model._block_size() * m * 8
    rows = []
    for n in (100, 200, 400):
        peak = peak_bytes(lambda n=n: model.partial_fit(X[:n]))  # type: ignore[misc]
        note = f"{peak / 1e6:.1f} MB: {(peak - block) / size:.2f} copies of C and one block"
        rows.append(
            Row(f"Peak extra memory, m={m}, r={r}", f"partial_fit of {n} rows", None, note=note, peak=(n, peak))
        )
    return rows


def scaling(machine: Machine, quick: bool) -> dict[str, list[tuple[float, float]]]:
    """Microseconds per sample against m, r, n and the missing fraction, one setting varied at a time."""

    def cost(m: int = 2000, r: int = 20, n: int = 300, missing: float = 0.0) -> float:
        Y = low_rank(n, m, r, missing)
        model = DictionaryFilter(r, random_state=0).fit(Y[:100])
        state, fixed, B = model.state_, model._model(), model._block_size()
        return race({"it": lambda: filter_rows(state, fixed, Y, B)})["it"].median / n * 1e6

    return {
        "features m": [(m, cost(m=m)) for m in (100, 300, 1000, 3000, 10_000)],
        "components r": [(r, cost(r=r)) for r in (2, 5, 10, 20, 40, 80)],
        "samples n": [(n, cost(n=n)) for n in (100, 300, 1000, 3000)],
        "missing fraction": [(f, cost(missing=f)) for f in (0.02, 0.1, 0.25, 0.5, 0.75, 0.9)],
    }


CASES = (complete_stream, masked_stream, featurewise_sweep, sequence_sweep, one_row, memory)
