"""Rounds that are recorded, by the twin of the kernels, which does everything anew."""

from __future__ import annotations

import numpy as np

from factorstream.core.place import HERE
from factorstream.tall import repeated_rounds, rounds
from factorstream.tall.rounds import RoundRows
from factorstream.tall.rows_numpy import NumpyRows
from filter_problems import begin, paper_model, random_spd
from gap_problems import filtered, same
from strict_place import STRICT


def test_recorded_rounds_are_those_that_are_not(rng, monkeypatch):
    """Rows with few and with many gaps, so that two kinds are recorded, and neither is gone on with all the time."""
    m, recorded = 40, []
    share = np.where(np.arange(60) % 20 < 14, 0.2, 0.8)
    Y = np.where(rng.random((60, m)) < share[:, None], np.nan, rng.standard_normal((60, m)))
    C, V = rng.standard_normal((m, 4)), random_spd(rng, 4)

    def start():
        return begin(C.copy(), V, 0.3, 4)

    here = filtered(HERE, start, NumpyRows(HERE, paper_model(4), None), Y)
    monkeypatch.setattr(repeated_rounds, "recorded", lambda work, beside: recorded.append(work) or work)
    monkeypatch.setattr(rounds, "WORTH_RECORDING", 1)
    for unrecorded, calls in ((len(Y), 0), (1, 4)):  # two kinds, and two calls for each
        monkeypatch.setattr(rounds, "UNRECORDED", unrecorded)
        same(filtered(STRICT, start, RoundRows(STRICT, paper_model(4)), Y), here)
        assert len(recorded) == calls
