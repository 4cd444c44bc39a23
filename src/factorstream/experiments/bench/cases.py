"""What is measured. Every case makes its data before the clock starts and returns rows of the table."""

from __future__ import annotations

import importlib
import warnings
from functools import partial
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
from ...tall import products
from ...tall.filtering import filter_rows
from . import floors, textbook
from .masked import masked_stream
from .rows import Contestant, Peak, Row, compete, joined, readable, with_ratios
from .small import low_rank, one_row, small_table
from .textbook import Array
from .timing import Machine, peak_bytes, race

EXACT, PRODUCTS = "exact recursion", "its matrix products alone"
WITH_MEAN = " with a mean"
LOOP, PUBLIC = "textbook loop", "partial_fit, input checks included"
VARIATIONAL, ALS = "variational sweep, covariance per feature", "plain ALS sweep, no covariance"
EM, TEXTBOOK_EM = "EM sweep", "textbook filter-smoother sweep"
STATSMODELS = "DynamicFactorMQ, one EM iteration"


class Point(NamedTuple):
    """One point of a plot of time per sample."""

    size: float
    microseconds: float
    floor: float


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
            products.cross(C, Z)
            products.self_products(Z)
            C = products.combine(C, A, Z, D[: len(Z)])

    work, ending = floors.complete_stream(n, m, fixed.q, B), WITH_MEAN if fit_mean else ""
    contestants = {
        EXACT + ending: Contestant(lambda: filter_rows(state, fixed, Y, B), work=work),
        PRODUCTS + ending: Contestant(products, "yardstick", work),
    }
    if not fit_mean:
        loop = partial(textbook.filter_loop, Y[:few], state.C, np.eye(r), 0.1)
        contestants[LOOP] = Contestant(loop, "yardstick", floors.filter_loop(n, m, r), scale=n / few)
        contestants[PUBLIC] = Contestant(partial(model.partial_fit, Y), work=work)
    rows = compete(f"Complete stream{ending}, m={m}, r={r}, n={n}", contestants, machine, repeats=15)
    part = f"{few} samples, scaled"
    return [row._replace(note=joined(row.note, part)) if row.method == LOOP else row for row in rows]


def featurewise_sweep(machine: Machine, quick: bool) -> list[Row]:
    """One variational sweep with a posterior per feature against one plain ALS sweep."""
    faces, r = load_olivetti(), 40
    images = faces.images[:, ::2, ::2] if quick else faces.images
    Y = images.reshape(len(images), -1) / 255.0
    Y = Y - Y.mean()
    n, m = Y.shape
    seen = np.random.default_rng(0).random(Y.shape) > 0.25
    W = seen.astype(np.float64)
    Z = np.where(seen, Y, 0.0)
    model = featurewise_fit(Z, W, Options(r=r, max_sweeps=1, prune=False)).model
    least, how = np.full(m, LEAST), Relevance(KAPPA, 1.0 / r)
    rng = np.random.default_rng(0)
    X0, C0 = rng.standard_normal((n, r)), rng.standard_normal((m, r))
    contestants = {
        VARIATIONAL: Contestant(lambda: sweep(Z, W, model, least, how), work=floors.variational_sweep(n, m, r + 1)),
        ALS: Contestant(lambda: textbook.als_sweep(Y, seen, X0, C0, 0.1), "yardstick", floors.als_sweep(seen, r)),
    }
    rows = compete(f"Featurewise sweep, faces {n}×{m}, r={r}", contestants, machine)
    return [row._replace(data=f"faces: {faces.source}") for row in rows]


def sequence_sweep(machine: Machine, quick: bool) -> list[Row]:
    """One EM sweep over the London air against a textbook filter-smoother, and statsmodels."""
    air = load_london_air()
    values = air.values[: 800 if quick else None]
    values = values[:, np.isfinite(values).any(axis=0)]  # a station may be silent in the first hours
    shift, scale = standards(values)
    Y, r = (values - shift) / scale, 10
    seen = np.isfinite(Y)
    model = sequence_start(Y, r, False, select=False)
    prior = Prior(np.ones(len(model.A)))
    plain = textbook.Linear(model.A, model.Q, model.P0, model.C, model.mean, model.R)
    contestants = {
        EM: Contestant(lambda: maximise(model, expect(model, Y)[1], prior), work=floors.em_sweep(seen, r)),
        TEXTBOOK_EM: Contestant(lambda: textbook.em_sweep(Y, plain), "yardstick", floors.textbook_em_sweep(seen, r)),
    }
    case = f"Sequence, London PM10 {Y.shape[0]}×{Y.shape[1]}, r={r}"
    rows = compete(case, contestants, machine, limit=60.0)
    rows = with_ratios([*rows, _statsmodels(case, Y, r)])
    return [row._replace(data=f"London PM10: {air.source}") for row in rows]


def _statsmodels(case: str, Y: Array, r: int) -> Row:
    """The cost of one EM iteration without that of the start: the difference of four iterations and one."""
    row = Row(case, STATSMODELS, "peer")
    try:
        DynamicFactorMQ = importlib.import_module("statsmodels.tsa.api").DynamicFactorMQ
    except ImportError:
        return row._replace(note="not installed on this machine")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            other = DynamicFactorMQ(Y, factors=1, factor_multiplicities=r, idiosyncratic_ar1=False, standardize=False)
            calls = {k: partial(other.fit_em, maxiter=k, disp=False) for k in (1, 4)}
            found = race({str(k): call for k, call in calls.items()}, limit=60.0)  # after a warm-up each
            one, four = found["1"].median, found["4"].median
    except Exception as problem:  # a panel in which some station never reports, for one
        return row._replace(note=f"refuses this panel: {str(problem).partition('.')[0][:80]}")
    each = (four - one) / 3.0
    if each <= 0.0:
        return row._replace(note="four iterations took no longer than one: its start hides them")
    note = f"a third of what four iterations take more than one; its start takes {readable(one - each)} more"
    return row._replace(seconds=each, note=note)


def memory(machine: Machine, quick: bool) -> list[Row]:
    """Peak extra memory of partial_fit for n, 2n and 4n rows, in copies of C after one block is taken off."""
    m, r = 20_000, 10
    X = low_rank(400, m, r, missing=0.1)
    model = DictionaryFilter(r, random_state=0).partial_fit(X[:40])
    size, block = model.state_.C.nbytes, model._block_size() * m * 8
    rows = []
    for n in (100, 200, 400):
        peak = Peak(n, peak_bytes(partial(model.partial_fit, X[:n])), size, block)
        note = f"{peak.extra / 1e6:.1f} MB: {peak.copies:.2f} copies of C and one block; floor: one copy, the new C"
        rows.append(Row(f"Peak extra memory, m={m}, r={r}", f"partial_fit of {n} rows", "ours", note=note, peak=peak))
    return rows


def scaling(machine: Machine, quick: bool) -> dict[str, list[Point]]:
    """Time per sample against m, r, n and the missing fraction, one setting varied at a time."""

    def cost(size: float, m: int = 2000, r: int = 20, n: int = 300, missing: float = 0.0) -> Point:
        Y = low_rank(n, m, r, missing)
        model = DictionaryFilter(r, random_state=0).fit(Y[:100])
        state, fixed, B = model.state_, model._model(), model._block_size()
        took = race({"it": lambda: filter_rows(state, fixed, Y, B)}, repeats=9)["it"].median
        work = floors.masked_stream(n, m, fixed.q, missing) if missing else floors.complete_stream(n, m, fixed.q, B)
        return Point(size, took / n * 1e6, work.seconds(machine) / n * 1e6)

    return {
        "features m": [cost(m, m=m) for m in (100, 300, 1000, 3000, 10_000)],
        "components r": [cost(r, r=r) for r in (2, 5, 10, 20, 40, 80)],
        "samples n": [cost(n, n=n) for n in (100, 300, 1000, 3000)],
        "share missing": [cost(f, missing=f) for f in (0.02, 0.1, 0.25, 0.5, 0.75, 0.9)],
    }


CASES = (complete_stream, masked_stream, small_table, featurewise_sweep, sequence_sweep, one_row, memory)
