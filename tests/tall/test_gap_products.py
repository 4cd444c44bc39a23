"""Blocks of rows with gaps: NumPy's functions and the compiled ones, each against its definition."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest

from factorstream import DictionaryFilter
from factorstream.core.place import HERE
from factorstream.cores import compiling, limited
from factorstream.tall import gap_products, projecting_products
from split_place import SPLIT

pytestmark = [
    pytest.mark.here(reason="compiled loops need the features in one array"),
    pytest.mark.once,  # both ways are asked for here, whatever the environment says
    pytest.mark.long,
]

SHAPES = [(1, 3, 1), (4, 50, 3), (7, 3000, 5), (3, 20_000, 12), (2, 700, 200)]
"""Rows, features and columns of the dictionary: fewer and more than are gathered, or kept in cache, at once."""


@pytest.fixture(params=["numpy", "compiled"])
def way(request):
    if request.param == "numpy":
        return projecting_products
    pytest.importorskip("numba")
    return gap_products


@pytest.fixture(params=["1", "3"], autouse=True)
def threads(request, monkeypatch):
    monkeypatch.setenv("FACTORSTREAM_THREADS", request.param)
    with limited():
        yield


def problem(rng, n, m, q, dtype=np.float64):
    """Rows of which the first is complete and the last is empty, if there are so many, and a dictionary."""
    Y = rng.standard_normal((n, m)).astype(dtype)
    Y[rng.random(Y.shape) < np.linspace(0.05, 0.9, n)[:, None]] = np.nan
    if n > 2:
        Y[0], Y[-1] = 1.0, np.nan
    return Y, rng.standard_normal((m, q))


@pytest.mark.parametrize(("n", "m", "q"), SHAPES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_gaps_are_taken_out(rng, way, n, m, q, dtype):
    Y, _ = problem(rng, n, m, q, dtype)
    origin = rng.standard_normal(m).astype(dtype)
    block, missing = way.block_without_gaps(Y, origin)
    assert block.dtype == np.float64
    np.testing.assert_array_equal(missing, np.isnan(Y))
    np.testing.assert_array_equal(block, np.where(np.isnan(Y), 0.0, Y - origin))
    np.testing.assert_allclose(projecting_products.row_squares(block), (block**2).sum(axis=1), rtol=1e-12)


@pytest.mark.parametrize(("n", "m", "q"), SHAPES)
def test_gram_matrices_are_those_of_the_rows_that_are_wanted(rng, way, n, m, q):
    Y, C = problem(rng, n, m, q)
    missing, of_missing = np.isnan(Y), np.arange(n) % 2 == 0
    grams = way.grams(C, missing, of_missing)
    for found, gaps, wanted in zip(grams, missing, of_missing, strict=True):
        some = C[gaps == wanted]
        np.testing.assert_allclose(found, some.T @ some, rtol=1e-10, atol=1e-10 * m)


@pytest.mark.parametrize(("n", "m", "q"), SHAPES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("everything", [False, True])
def test_variances_are_set_where_entries_are_missing(rng, way, n, m, q, dtype, everything):
    """With a mean, which Σ has no part in, where there is more than one column."""
    Y, C = problem(rng, n, m, q)
    r, missing = max(q - 1, 1), np.isnan(Y)
    F, common = rng.standard_normal((n, r, r)), rng.random((n, 4))
    group, ratio, scale = rng.integers(4, size=m), rng.random(m), rng.random(m)
    out = np.full(Y.shape, 7.0, dtype)
    own = (group, ratio, scale) if everything else (None, None, None)
    assert way.set_variances(out, missing, C, F, common, *own) is out
    shared = common[:, group] * ratio if everything else common[:, :1]
    expected = shared + np.einsum("mi,nij,nkj,mk->nm", C[:, :r], F, F, C[:, :r], optimize=True)
    expected = np.where(missing, expected * scale if everything else expected, 7.0)
    np.testing.assert_allclose(out, expected, rtol=1e-9 if dtype == np.float64 else 1e-5)


@pytest.mark.parametrize(("n", "m", "q"), SHAPES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("in_units", [False, True])
def test_predictions_are_set_where_entries_are_missing(rng, way, n, m, q, dtype, in_units):
    Y, C = problem(rng, n, m, q, dtype)
    r = max(q - 1, 1)
    mu, X, unit = rng.standard_normal(m), rng.standard_normal((n, r)), 10.0 ** rng.uniform(-3, 3, m)
    out = way.set_gaps(Y.copy(), C, mu, X, unit if in_units else None)
    predicted = (X @ C[:, :r].T + mu) * (unit if in_units else 1.0)
    within = 1e-10 if dtype == np.float64 else 1e-5
    np.testing.assert_allclose(out, np.where(np.isnan(Y), predicted, Y), rtol=within, atol=within)
    seen = ~np.isnan(Y)
    np.testing.assert_array_equal(out[seen], Y[seen])


@pytest.mark.parametrize("threads", [("1", "2", "3")])  # in the stead of the fixture's: a limit holds what is within
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_pieces_give_the_same_bits_whatever_the_number_of_threads(rng, way, monkeypatch, dtype, threads):
    """Pieces of a few features: the other tests have none that are worth dividing."""
    pieces = import_module("factorstream.cores.pieces")
    monkeypatch.setattr(pieces, "PIECE", 16.0)
    assert len(pieces.pieces(3000, 3000.0)) > 1
    Y, C = problem(rng, 6, 3000, 5, dtype)
    missing, mu, unit = np.isnan(Y), rng.standard_normal(3000), 10.0 ** rng.uniform(-3, 3, 3000)
    F, common, X = rng.standard_normal((6, 4, 4)), rng.random((6, 1)), rng.standard_normal((6, 4))
    found = []
    for number in threads:
        monkeypatch.setenv("FACTORSTREAM_THREADS", number)
        with limited():
            found.append(
                [
                    *way.block_without_gaps(Y, mu.astype(dtype)),
                    way.grams(C, missing, np.arange(6) % 2 == 0),
                    way.set_variances(np.zeros(Y.shape, dtype), missing, C, F, common, None, None, None),
                    way.set_gaps(Y.copy(), C, mu, X, unit),
                ]
            )
    for others in found[1:]:
        for one, other in zip(found[0], others, strict=True):
            np.testing.assert_array_equal(one, other)
    for k, gaps in enumerate(missing):
        some = C[gaps == (k % 2 == 0)]
        np.testing.assert_allclose(found[0][2][k], some.T @ some, rtol=1e-10, atol=1e-10 * len(C))
    predicted = (X @ C[:, :4].T + mu) * unit
    within = 1e-10 if dtype == np.float64 else 1e-5
    np.testing.assert_allclose(found[0][4], np.where(missing, predicted, Y), rtol=within, atol=within)


def test_arrays_of_every_kind_give_the_same(rng, way):
    """Read-only, columns first, single precision, and rows that are a part of others."""
    Y, C = problem(rng, 5, 2000, 6)
    mu, X = rng.standard_normal(2000), rng.standard_normal((5, 5))
    expected = way.set_gaps(Y.copy(), C, mu, X, None)
    strange = np.asfortranarray(C)
    strange.flags.writeable = False
    np.testing.assert_allclose(way.set_gaps(Y.copy(), strange, mu, X, None), expected, rtol=1e-10, atol=1e-10)
    part = np.full((5, 4000), np.nan)[:, ::2]
    part[...] = Y
    np.testing.assert_allclose(way.set_gaps(part, C, mu, X, None), expected, rtol=1e-10, atol=1e-10)
    narrow = way.set_gaps(Y.copy(), C.astype(np.float32), mu, X, None)
    np.testing.assert_allclose(narrow, expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(
        way.grams(np.asfortranarray(C), np.isnan(Y), np.ones(5, bool)),
        way.grams(C, np.isnan(Y), np.ones(5, bool)),
        rtol=1e-9,
        atol=1e-9,
    )


@pytest.mark.parametrize("way", ["compiled"], indirect=True)
def test_numpy_takes_over_where_nothing_can_be_compiled(rng, way, monkeypatch):
    Y, C = problem(rng, 4, 50, 3)
    given = (Y, np.zeros(50)), (C, np.isnan(Y), np.ones(4, bool)), (Y, C, np.zeros(50), np.ones((4, 2)), None)
    monkeypatch.setattr(compiling, "_failure", ImportError("no compiler"))
    for name, arguments in zip(("block_without_gaps", "grams", "set_gaps"), given, strict=True):
        expected = getattr(projecting_products, name)(*arguments)
        np.testing.assert_array_equal(getattr(way, name)(*arguments), expected)
    more = np.isnan(Y), C, rng.random((4, 2, 2)), rng.random((4, 1)), None, None, None
    expected = projecting_products.set_variances(np.zeros(Y.shape), *more)
    np.testing.assert_array_equal(way.set_variances(np.zeros(Y.shape), *more), expected)


def test_only_many_long_rows_of_this_process_are_worth_it(monkeypatch):
    pytest.importorskip("numba")
    monkeypatch.delenv("FACTORSTREAM_COMPILED")
    chosen = gap_products.gap_products
    assert chosen(HERE, 20, 200_000, 41).grams is gap_products.grams
    for place, n, m, q in ((SPLIT, 20, 200_000, 41), (HERE, 1, 200_000, 41), (HERE, 10**6, 100, 41)):
        assert chosen(place, n, m, q).grams is projecting_products.grams


@pytest.mark.parametrize("compiled", ["0", "1"])
def test_answers_about_long_rows_are_those_of_their_parts(rng, monkeypatch, compiled):
    """Rows with gaps that several threads answer together, as each is answered on its own; some are nearly empty."""
    if compiled == "1":
        pytest.importorskip("numba")
    monkeypatch.setenv("FACTORSTREAM_COMPILED", compiled)
    m, r = 60_000, 20
    rows = rng.standard_normal((60, r)) @ rng.standard_normal((r, m)) + 0.1 * rng.standard_normal((60, m))
    gaps = rows[:6].copy()
    gaps[rng.random(gaps.shape) < np.array([0.05, 0.3, 0.6, 0.97, 1.0, 0.0])[:, None]] = np.nan
    model = DictionaryFilter(r, random_state=0).fit(rows)
    filled, std = model.impute(gaps, return_std=True)
    x = model.transform(gaps)
    seen = ~np.isnan(gaps)
    np.testing.assert_array_equal(filled[seen], gaps[seen])
    assert (std[seen] == 0.0).all()
    assert (std[~seen] > 0.0).all()
    off = (filled - rows[:6])[:3][~seen[:3]]
    assert np.sqrt(np.mean(off**2)) < 0.1 * rows.std()
    for k in range(len(gaps)):
        alone, alone_std = model.impute(gaps[k : k + 1], return_std=True)
        np.testing.assert_allclose(filled[k], alone[0], rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(std[k], alone_std[0], rtol=1e-8)
        np.testing.assert_allclose(x[k], model.transform(gaps[k : k + 1])[0], rtol=1e-7, atol=1e-8)
