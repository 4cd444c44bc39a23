"""Chunks of rows, and trees of tasks over them."""

from __future__ import annotations

import operator
import subprocess
import sys

import dask.array as da
import numpy as np
import pytest

from factorstream.cluster.chunks import FAN_IN, held, merged, results, row_chunks, task, whole_rows
from factorstream.cores import n_threads


def test_chunks_of_rows_are_numbered():
    X = da.from_array(np.arange(24.0).reshape(8, 3), chunks=((3, 0, 5), (3,)))
    assert [(first, n) for _, first, n in row_chunks(X)] == [(0, 3), (3, 5)]
    np.testing.assert_array_equal(results(row_chunks(X)[1].values)[0], np.arange(24.0).reshape(8, 3)[3:])


def test_rows_are_made_whole_and_stay_small():
    X = da.zeros((1000, 4000), chunks=(1000, 500))
    assert whole_rows(X[:, :500]).chunks == ((1000,), (500,))
    assert whole_rows(X).chunks == ((1000,), (4000,))
    import dask

    with dask.config.set({"array.chunk-size": "8 MiB"}):
        cut = whole_rows(X)
    assert cut.numblocks[1] == 1
    assert max(cut.chunks[0]) * 4000 * 8 <= 8 * 2**20


@pytest.mark.parametrize("n", [1, 2, FAN_IN, FAN_IN + 1, 3 * FAN_IN**2 + 1])
def test_a_tree_keeps_the_order(n):
    parts = [task(operator.mul, [i], 1) for i in range(n)]
    assert results(merged(operator.add, parts))[0] == list(range(n))


def test_a_task_works_on_one_thread(monkeypatch):
    monkeypatch.setenv("FACTORSTREAM_THREADS", "3")
    from factorstream.cores import pieces

    assert results(task(pieces, 1000, 1e12)) == ([slice(0, 1000)],)
    assert n_threads() == 1


def test_a_value_is_held_once():
    value = held(np.arange(5))
    assert results(*(task(operator.getitem, value, i) for i in range(5))) == (0, 1, 2, 3, 4)


def test_settings_of_a_cluster_that_is_imported_later_stay():
    """Dask looks for a client when it computes, and imports the package of clusters for that."""
    code = "import dask.array as da, numpy as np; from factorstream import BayesianFactorization as B\n"
    code += "X = da.from_array(np.random.default_rng(0).normal(size=(40, 4)), chunks=20)\n"
    code += "B(1).fit(X).impute(X).compute(); B(1).fit(X)"
    subprocess.run([sys.executable, "-c", code], check=True)
