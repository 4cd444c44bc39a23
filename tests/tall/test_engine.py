"""The hand-back from compiled code to NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from factorstream.tall.engine import REFRESH, Backoff, compiled_or_numpy


@pytest.mark.parametrize("n", [0, 1, 255, 256, 257, 1000])
@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 1.0])
def test_every_row_is_done_once_and_in_order(rng, n, share):
    refused = rng.random(n) < share
    runs = []

    def compiled(done, rows):
        assert rows.stop - rows.start <= REFRESH
        stop = next((k for k in range(rows.start, rows.stop) if refused[k]), rows.stop)
        runs.append(stop - rows.start)
        return done + list(range(rows.start, stop)), stop - rows.start

    def numpy(done, k):
        return [*done, k]

    assert compiled_or_numpy(n, [], compiled, numpy) == list(range(n))
    if share == 1.0:
        assert len(runs) <= 2 * np.log2(n + 2) + n / 128


def test_back_off_doubles_and_is_forgiven():
    backoff, waits = Backoff(), []
    assert backoff.over()
    for done in (0, 0, 0, 15, 16, 0):
        backoff.start(done)
        waits.append(next(k for k in range(1, 200) if backoff.over()))
    assert waits == [2, 4, 8, 16, 1, 2]
    for _ in range(20):
        backoff.start(0)
    assert backoff.length == 128
