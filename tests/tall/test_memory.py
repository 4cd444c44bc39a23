"""A stream needs no more memory than its dictionary and one block, however long it is."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from factorstream import DictionaryFilter

M, R = 20_000, 10


def peak(model, X):
    """Bytes that one call needs on top of what was there before it."""
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    model.partial_fit(X)
    highest = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return highest - before


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_peak_memory_of_partial_fit_is_flat(missing):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, R)) @ rng.standard_normal((R, M)) + rng.standard_normal((400, M))
    X[rng.random(X.shape) < missing] = np.nan
    model = DictionaryFilter(R, random_state=0, batch_size=32).partial_fit(X[:40])
    dictionary, block = model.state_.C.nbytes, 32 * M * 8
    peaks = [peak(model, X[:n]) for n in (100, 200, 400)]
    assert max(peaks) <= 3 * dictionary + block + 300_000, [p / 1e6 for p in peaks]
    assert max(peaks) <= 1.02 * min(peaks)
