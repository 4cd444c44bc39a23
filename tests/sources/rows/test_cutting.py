"""However rows arrive, blocks end where a loop over single rows would end them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from factorstream.sources.rows.cutting import recut, rows_per_block, skipped
from factorstream.sources.rows.numbers import joined


def naive_blocks(n, rows, start):
    """Numbers of rows, one by one, a block ending before every multiple of `rows`."""
    blocks = []
    for k in range(start, n):
        if not blocks or k % rows == 0:
            blocks.append([])
        blocks[-1].append(k)
    return blocks


@pytest.mark.parametrize("rows", [1, 3, 7, 100])
@pytest.mark.parametrize("start", [0, 1, 6, 7, 22])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_blocks_end_at_the_same_rows(rng, rows, start, kind):
    n = 23
    X = np.column_stack([np.arange(n), rng.normal(size=n)]) + 1.0
    for _ in range(5):
        cuts = np.sort(rng.integers(0, n + 1, size=rng.integers(0, 9)))
        pieces = [kind(part) for part in np.split(X, cuts) if len(part)]
        found = list(recut(skipped(pieces, start), rows, start, joined))
        wanted = naive_blocks(n, rows, start)
        assert [first for first, _ in found] == [block[0] for block in wanted]
        for (_, piece), block in zip(found, wanted, strict=True):
            dense = piece.toarray() if sparse.issparse(piece) else piece
            np.testing.assert_array_equal(dense, X[block])


def test_a_block_has_a_row_at_least():
    assert rows_per_block(10, 1e9) == 1
    assert rows_per_block(2**20, 2**10) == 2**10
