"""A stream needs no more memory than its dictionary and one block, however long it is."""

from __future__ import annotations

import tracemalloc
from copy import deepcopy

import numpy as np
import pytest

from factorstream import DictionaryFilter

pytestmark = [
    pytest.mark.here(reason="another place keeps copies of its own"),
    pytest.mark.one_thread(reason="each thread has temporaries of its own, for as long as it works"),
]

M, R, B = 20_000, 10, 32
ROWS = (200, 300, 400)
"""More than a block is left after the look at the kept rows, which each of these calls has after 72 rows."""


def peak(model, X):
    """Bytes that one call needs on top of what was there before it."""
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    model.partial_fit(X)
    highest = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return highest - before


def rows(missing=0.0, dtype=np.float64, n=ROWS[-1]):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, R)) @ rng.standard_normal((R, M))
    X[rng.random(X.shape) < missing] = np.nan
    return X.astype(dtype)


def assert_flat(X, blocks=1):
    """Four copies of C, two of the rows that are kept, and the blocks.

    All calls begin after the same rows, and have one look at the kept ones. All that grows with the rows is a record of
    each, under 0.5% of a row.
    """
    model = DictionaryFilter(R, random_state=0, batch_size=B).partial_fit(rows()[1:41])
    dictionary, kept, block = model.state_.filter.C.nbytes, model.state_.columns.recent.nbytes, B * M * 8
    model.partial_fit(X)  # may load compiled code; and from now on no range is widened, which would take 2.25 rows
    peaks = [peak(deepcopy(model), X[:n]) for n in ROWS]
    assert max(peaks) <= 4 * dictionary + 2 * kept + blocks * block + 300_000, [p / 1e6 for p in peaks]
    assert max(peaks) - min(peaks) <= 0.005 * (ROWS[-1] - ROWS[0]) * M * 8, [p / 1e6 for p in peaks]


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_peak_memory_of_partial_fit_is_flat(missing):
    assert_flat(rows(missing))


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_rows_without_data_cost_no_copy(missing):
    X = rows(missing)
    X[::50] = np.nan
    assert_flat(X)


def test_rows_of_another_dtype_are_converted_block_by_block():
    assert_flat(rows(0.2, np.float32), blocks=2)


def test_the_first_call_copies_only_the_rows_it_starts_from():
    X = rows(n=800)
    X[5] = np.nan
    start = peak(model := DictionaryFilter(R, random_state=0, batch_size=B), X)
    C, kept = model.state_.filter.C, model.state_.columns.recent
    first = 2 * 10 * M * 8  # the rows that it starts from, as they came and without absurd values
    assert start <= 4 * C.nbytes + 2 * kept.nbytes + first + B * M * 8 + 500_000
