"""Work in pieces: the same as in one, and the same bits whatever the number of threads."""

from __future__ import annotations

import numpy as np
import pytest

from factorstream import BayesianFactorization, DictionaryFilter, LowRankImputer
from factorstream.cores import (
    accumulate,
    each_piece,
    each_tile,
    limited,
    n_threads,
    pieces,
    product,
    sum_of_pieces,
    tiles,
)
from factorstream.cores.pieces import MOST, PIECE

BIG = 10 * PIECE


@pytest.fixture(params=["1", "2", "5"])
def threads(request, monkeypatch):
    monkeypatch.setenv("FACTORSTREAM_THREADS", request.param)
    with limited():
        yield int(request.param)


@pytest.mark.parametrize("n", [1, 2, 63, 1000, 12345])
@pytest.mark.parametrize("cost", [0.0, PIECE, 7.5 * PIECE, 1e9 * PIECE])
def test_pieces_cover_everything_once(n, cost):
    parts = pieces(n, cost)
    assert [i for part in parts for i in range(n)[part]] == list(range(n))
    assert len(parts) <= min(max(1, cost / PIECE), MOST, n)
    sizes = [part.stop - part.start for part in parts]
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("cost", [0.0, 7.5 * PIECE, 1e9 * PIECE])
@pytest.mark.parametrize("shape", [(1, 1), (1, 5000), (3, 1000), (1000, 3), (500, 400)])
@pytest.mark.usefixtures("threads")
def test_tiles_cover_everything_once(shape, cost):
    """Those of a pass over a matrix, and those of a product."""
    for cut in (
        lambda count: each_tile(count, shape, cost),
        lambda count: [count(tile) for tile in tiles(*shape, cost / (shape[0] * shape[1]))],
    ):
        times = np.zeros(shape, int)

        def count(tile, times=times):
            times[tile] += 1

        cut(count)
        np.testing.assert_array_equal(times, 1)


def test_results_and_sums(threads):
    assert n_threads() == threads
    assert sum(each_piece(lambda some: some.stop - some.start, 1000, BIG)) == 1000
    values = np.arange(1000.0)
    assert sum_of_pieces(lambda some: values[some].sum(), 1000, BIG) == values.sum()
    total, count = sum_of_pieces(lambda some: (values[some].sum() * np.ones(3), len(values[some])), 1000, BIG)
    np.testing.assert_array_equal(total, values.sum() * np.ones(3))
    assert count == 1000


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize(
    "shape",
    [
        (700, 300, 400),
        (50, 20_000, 40),
        (20_000, 50, 40),
        (40, 50, 20_000),
        (300, 200, 2500),
        (2001, 100, 861),
        (4500, 30, 861),
        (3, 4, 5),
    ],
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_products_are_those_of_numpy(rng, shape, dtype):
    n, k, m = shape
    A, B = rng.standard_normal((n, k)).astype(dtype), rng.standard_normal((k, m)).astype(dtype)
    expected = A.astype(float) @ B
    within = {"rtol": 0, "atol": 100 * np.sqrt(k) * np.finfo(dtype).eps}
    found = product(A, B)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, expected, **within)
    np.testing.assert_allclose(product(np.asfortranarray(A), B.T.copy().T), expected, **within)
    total = np.ones((n, m), dtype)
    accumulate(total, A, B)
    np.testing.assert_allclose(total, 1 + expected, **within)


def of_all(model, X):
    """Everything that a fitted model answers."""
    answers = [model.impute(X, return_std=True), model.predict_interval(X)]
    return [array for answer in answers for array in answer]


@pytest.mark.parametrize(
    ("model", "exact"),
    [
        (lambda: DictionaryFilter(8, random_state=0), True),
        (lambda: DictionaryFilter(8, covariance="shared", random_state=0), True),
        (lambda: BayesianFactorization(8, max_iter=4, random_state=0), False),
        (lambda: LowRankImputer(8, random_state=0), False),
    ],
    ids=["counted", "shared", "variational", "imputer"],
)
def test_the_number_of_threads_changes_nothing(rng, monkeypatch, model, exact):
    """Bit for bit from two threads on; on one, BLAS takes large products as they are, which rounds otherwise."""
    X = rng.standard_normal((300, 8)) @ rng.standard_normal((8, 3000)) + 0.1 * rng.standard_normal((300, 3000))
    gaps = X[:40].copy()
    gaps[rng.random(gaps.shape) < 0.2] = np.nan
    X[100:][rng.random((200, 3000)) < 0.05] = np.nan
    answers = {}
    for threads in ("1", "2", "7"):
        monkeypatch.setenv("FACTORSTREAM_THREADS", threads)
        answers[threads] = of_all(model().fit(X), gaps)
    for one, two, seven in zip(*answers.values(), strict=True):
        np.testing.assert_array_equal(two, seven)
        if exact:
            np.testing.assert_array_equal(one, two)
        else:
            np.testing.assert_allclose(one, two, rtol=1e-9, atol=1e-9)
