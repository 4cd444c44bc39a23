"""Rows through the filter: what is left alone, what is brought up to date, and which way they go."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import reference
from conftest import low_rank
from factorstream.core.place import HERE
from factorstream.tall.blocks import Blocks
from factorstream.tall.filtering import _engine, filter_rows
from factorstream.tall.places import place_of
from factorstream.tall.rows_compiled import CompiledRows
from factorstream.tall.rows_numpy import NumpyRows
from filter_problems import begin, close, paper_model, stream
from split_place import SPLIT, fetched

NOISE = 0.4


def snapshot(state):
    """Copies of all that a state holds."""
    tall = [None if part is None else np.array(fetched(part)) for part in state[:3]]
    return [*tall, *(np.array(part) for part in state.small)]


@pytest.mark.parametrize("kind", ["complete", "gappy", "single row", "other dtype", "sparse"])
@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("mean", [False, True])
def test_state_and_rows_are_never_changed_in_place(rng, mean, late, kind):
    q = 3 + mean
    X = low_rank(rng, 1 if kind == "single row" else 20, 15, 3, offset=4.0)
    if kind not in ("complete", "single row"):
        X[::2, 3] = np.nan
        X[:7, 5] = np.nan
    if kind == "other dtype":
        X = X.astype(np.float32)
    rows = sparse.csr_array(np.nan_to_num(X)) if kind == "sparse" else X
    before = begin(rng.standard_normal((15, q)), np.eye(q), 1.0, 3)
    place = place_of(before.C)
    before = before._replace(
        origin=place.put(rng.standard_normal(15), 0),
        unseen=place.put(np.arange(15) == 5, 0) if late else None,
    )
    state, given = snapshot(before), rows.copy()
    after, _ = filter_rows(before, paper_model(3, q)._replace(learn_noise=True, track_noise=True), rows, 4)
    for kept, now in zip(state, snapshot(before), strict=True):
        np.testing.assert_array_equal(kept, now)
    for kept, now in ((given.data, rows.data),) if kind == "sparse" else ((given, rows),):
        np.testing.assert_array_equal(kept, now)
    changed = [not np.array_equal(a, b) for a, b in zip(state, snapshot(after), strict=True)]
    assert changed == [True, late, late, True, True, True, mean, *[True] * 5]  # x̄ stays zero without a mean


def test_a_feature_of_huge_scale_may_be_missing(rng):
    Y = low_rank(rng, 80, 20, 3, noise=0.2)
    missing = rng.random(Y.shape) < 0.1
    missing[:, 7] = True
    C0 = rng.standard_normal((20, 3))
    C0[7] *= 1e9
    state, _ = filter_rows(begin(C0, np.eye(3), 0.04, 3), paper_model(3), np.where(missing, np.nan, Y), 8)
    C, _ = reference.mf_rlf_masked(Y.T, (~missing).T.astype(float), C0, np.eye(3), 0.04)
    others = np.arange(20) != 7
    close(fetched(state.C)[others], C[others])
    np.testing.assert_array_equal(fetched(state.C)[7], C0[7])


@pytest.mark.parametrize("kind", ["complete", "masked", "sparse"])
def test_gram_matrix_is_computed_anew_now_and_then(rng, kind):
    """An error in G, as rounding makes it, is gone after some hundred samples."""
    Y, M, X = stream(rng, 1500, 9, 2, 0.2)
    state = begin(rng.standard_normal((9, 2)), np.eye(2), NOISE, 2)
    wrong = state._replace(small=state.small._replace(G=np.asfortranarray(1.01 * state.small.G)))
    if kind == "sparse":
        rows, columns = np.nonzero(M)
        data = sparse.csr_array((Y[rows, columns], (rows, columns)), shape=Y.shape)
        after, _ = filter_rows(wrong, paper_model(2), data, 32)
    else:
        after, _ = filter_rows(wrong, paper_model(2), X if kind == "masked" else Y, 32)
    close(after.small.G, fetched(after.C).T @ fetched(after.C), 1e-9)
    assert after.small.age < 1000
    assert after.small.k == 1500


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_of_another_dtype_are_those_rows_converted(rng, dtype):
    _, _, X = stream(rng, 60, 9, 2, 0.2)
    other = np.float64 if dtype == np.float32 else np.float32
    state = begin(rng.standard_normal((9, 2)).astype(dtype), np.eye(2), NOISE, 2)
    place = place_of(state.C)
    state = state._replace(origin=place.put(rng.standard_normal(9).astype(dtype), 0))
    given = X.astype(other)
    for rows in (given, sparse.csr_array(np.nan_to_num(given))):
        found, _ = filter_rows(state, paper_model(2), rows, 8)
        expected, _ = filter_rows(state, paper_model(2), rows.astype(dtype), 8)
        np.testing.assert_array_equal(fetched(found.C), fetched(expected.C))
        assert fetched(found.C).dtype == dtype


@pytest.mark.parametrize("block_size", [1, 4, 64])
def test_first_values_set_the_origin(rng, block_size):
    """In every block and between them; the rows of C they had before count for nothing."""
    X = low_rank(rng, 30, 6, 2, offset=50.0)
    X[:11, 1] = X[:17, 4] = np.nan
    state = begin(rng.standard_normal((6, 2)), np.eye(2), NOISE, 2)
    place = place_of(state.C)
    state = state._replace(unseen=place.put(np.array([False, True, False, False, True, False]), 0))
    for rows in (X, sparse.csr_array(np.nan_to_num(X))):
        early, _ = filter_rows(state, paper_model(2), rows[:15], block_size)
        np.testing.assert_array_equal(fetched(early.unseen), [False, False, False, False, True, False])
        after, _ = filter_rows(early, paper_model(2), rows[15:], block_size)
        assert after.unseen is None
        np.testing.assert_array_equal(fetched(after.origin)[[1, 4]], [X[11, 1], X[17, 4]])
        close(after.small.G, fetched(after.C).T @ fetched(after.C), 1e-9)


def test_the_engine_is_chosen_by_place_size_and_environment(monkeypatch):
    pytest.importorskip("numba")
    narrow, wide = np.zeros((20, 3)), np.zeros((20_000, 3))

    def chosen(place, C):
        engine, block_size = _engine(place, place.put(C, 0), paper_model(3), np.zeros((100, len(C))), 100, 32)
        return engine, block_size

    monkeypatch.setenv("FACTORSTREAM_COMPILED", "0")
    for C in (narrow, wide):
        engine, block_size = chosen(HERE, C)
        assert isinstance(engine, Blocks)
        assert isinstance(engine.singles(), NumpyRows)
        assert block_size == 32
    monkeypatch.setenv("FACTORSTREAM_COMPILED", "1")
    engine, block_size = chosen(HERE, narrow)
    assert isinstance(engine, CompiledRows)
    assert block_size == 256
    engine, block_size = chosen(HERE, wide)  # complete rows of so many features are quicker by BLAS
    assert isinstance(engine, Blocks)
    assert isinstance(engine.singles(), CompiledRows)
    assert block_size == 32
    engine, _ = chosen(SPLIT, narrow)  # compiled loops need the features in one array
    assert isinstance(engine, Blocks)
    assert isinstance(engine.singles(), NumpyRows)
