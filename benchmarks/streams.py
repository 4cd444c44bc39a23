"""Streams of made-up rows: what the paper's filter costs beside its own matrix products and a textbook's loop."""

from __future__ import annotations

from functools import partial

import numpy as np

from factorstream.estimators.dictionary_filter import DictionaryFilter
from factorstream.tall import products
from factorstream.tall.filtering import filter_rows

from . import floors, textbook
from .peers import PAPER
from .rows import Contestant, Found, Peak, Point, Row, compete, joined
from .small import low_rank
from .textbook import Array
from .timing import Machine, peak_bytes, race

EXACT, PRODUCTS = "exact recursion", "its matrix products alone"
WITH_MEAN = " with a mean"
LOOP, PUBLIC = "textbook loop", "partial_fit, input checks included"


def complete_stream(machine: Machine, quick: bool) -> Found:
    """m=4096, r=40, nothing missing: the exact recursion, its products alone, and the textbook loop."""
    m, r, n = 4096, 40, 320 if quick else 960
    Y = low_rank(n, m, r)
    return Found([row for fit_mean in (False, True) for row in _complete(machine, Y, r, fit_mean)])


def _complete(machine: Machine, Y: Array, r: int, fit_mean: bool) -> list[Row]:
    (n, m), few = Y.shape, len(Y) // 20
    model = DictionaryFilter(r, fit_mean=fit_mean, random_state=0, **PAPER).fit(Y[:200])
    state, fixed, B = model.state_.filter, model.state_.settings.model, model.state_.settings.block_size
    A, D = np.eye(fixed.q), np.zeros((B, fixed.q))

    def alone() -> None:
        C = state.C
        for start in range(0, n, B):
            Z = Y[start : start + B]
            products.cross(C, Z)
            products.self_products(Z)
            C = products.combine(C, A, Z, D[: len(Z)])

    work, ending = floors.complete_stream(n, m, fixed.q, B), WITH_MEAN if fit_mean else ""
    contestants = {
        EXACT + ending: Contestant(lambda: filter_rows(state, fixed, Y, B), work=work),
        PRODUCTS + ending: Contestant(alone, "yardstick", work),
    }
    if not fit_mean:
        loop = partial(textbook.filter_loop, Y[:few], state.C, np.eye(r), 0.1)
        contestants[LOOP] = Contestant(loop, "yardstick", floors.filter_loop(n, m, r), scale=n / few)
        contestants[PUBLIC] = Contestant(partial(model.partial_fit, Y), work=work)
    rows = compete(f"Complete stream{ending}, m={m}, r={r}, n={n}", contestants, machine, repeats=15)
    part = f"{few} samples, scaled"
    return [row._replace(note=joined(row.note, part)) if row.method == LOOP else row for row in rows]


def memory(machine: Machine, quick: bool) -> Found:
    """Peak extra memory of partial_fit for n, 2n and 4n rows, in copies of C after one block is taken off."""
    m, r = 20_000, 10
    X = low_rank(400, m, r, missing=0.1)
    model = DictionaryFilter(r, random_state=0, **PAPER).partial_fit(X[:40])
    size, block = model.state_.filter.C.nbytes, model.state_.settings.block_size * m * 8
    rows = []
    for n in (100, 200, 400):
        peak = Peak(n, peak_bytes(partial(model.partial_fit, X[:n])), size, block)
        note = f"{peak.extra / 1e6:.1f} MB: {peak.copies:.2f} copies of C and one block; floor: one copy, the new C"
        rows.append(Row(f"Peak extra memory, m={m}, r={r}", f"partial_fit of {n} rows", "ours", note=note, peak=peak))
    return Found(rows)


def scaling(machine: Machine, quick: bool) -> Found:
    """Time per sample against m, r, n and the missing fraction, one setting varied at a time."""

    def cost(size: float, m: int = 2000, r: int = 20, n: int = 300, missing: float = 0.0) -> Point:
        Y = low_rank(n, m, r, missing)
        model = DictionaryFilter(r, random_state=0, **PAPER).fit(Y[:100])
        state, fixed, B = model.state_.filter, model.state_.settings.model, model.state_.settings.block_size
        took = race({"it": lambda: filter_rows(state, fixed, Y, B)}, repeats=9)["it"].median
        work = floors.masked_stream(n, m, fixed.q, missing) if missing else floors.complete_stream(n, m, fixed.q, B)
        return Point(size, took / n * 1e6, work.seconds(machine) / n * 1e6)

    lines = {
        "features m": [cost(m, m=m) for m in (100, 300, 1000, 3000, 10_000)],
        "components r": [cost(r, r=r) for r in (2, 5, 10, 20, 40, 80)],
        "samples n": [cost(n, n=n) for n in (100, 300, 1000, 3000)],
        "share missing": [cost(f, missing=f) for f in (0.02, 0.1, 0.25, 0.5, 0.75, 0.9)],
    }
    return Found(per_sample=lines)
