"""Sensors that fall silent while the dictionary drifts: do their intervals still hold when they return?

Every loading and every mean of 20 columns walks by the variance ``DRIFT`` per row. Five columns fall silent after 500
rows, for as many rows as ``SILENT`` says. They are asked for in 200 further rows when they return, and after some rows
in which they are seen again. The filter is given the drift, and learns everything else.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from factorstream import DictionaryFilter
from factorstream.cores import limited

from .defaults import Array
from .peers import PAPER

DRIFT, NOISE, R, COLUMNS, FEWER, BEFORE, ASKED = 1e-4, 0.3, 3, 20, 5, 500, 200
SILENT = (1000, 5000, 20_000)
"""Rows without these sensors."""
AFTER = (0, 1, 10, 30)
"""Rows since their return when they are asked for."""
KINDS: dict[str, dict[str, Any]] = {"counted": {}, "shared": PAPER}


def asked(silent: int, seed: int, kind: str = "counted") -> list[tuple[float, float]]:
    """Coverage of 95% intervals and mean squared error of the silent columns, each time they are asked for."""
    rng = np.random.default_rng(seed)
    n = BEFORE + silent + AFTER[-1]
    C = rng.standard_normal((COLUMNS, R + 1))
    model = DictionaryFilter(R, drift=DRIFT, random_state=seed, **KINDS[kind])
    rows: list[Array] = []
    found = []
    with limited(1):
        for k in range(n + 1):
            if k - BEFORE - silent in AFTER:  # what is asked is what the next row would be
                model.partial_fit(np.array(rows))
                rows = []
                found.append(_held(model, C, rng))
            C = C + np.sqrt(DRIFT) * rng.standard_normal(C.shape)
            row = _rows(C, 1, rng)[0]
            if BEFORE <= k < BEFORE + silent:
                row[:FEWER] = np.nan
            rows.append(row)
    return found


def _rows(C: Array, n: int, rng: np.random.Generator) -> Array:
    """Rows of a dictionary whose last column is the mean."""
    z = np.column_stack([rng.standard_normal((n, R)), np.ones(n)])
    return np.asarray(z @ C.T + NOISE * rng.standard_normal((n, COLUMNS)))


def _held(model: DictionaryFilter, C: Array, rng: np.random.Generator) -> tuple[float, float]:
    truth = _rows(C, ASKED, rng)
    gappy = truth.copy()
    gappy[:, :FEWER] = np.nan
    lower, upper = (bound[:, :FEWER] for bound in model.predict_interval(gappy))
    truth = truth[:, :FEWER]
    held = np.mean((lower <= truth) & (truth <= upper))
    return float(held), float(np.mean(((lower + upper) / 2.0 - truth) ** 2))
