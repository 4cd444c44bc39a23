"""Rows in rounds, by the twin of the kernel, against rows one after another in NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from factorstream.arrays import kernels, to_host
from factorstream.core.place import HERE
from factorstream.tall import engine, repeated_rounds, rounds
from factorstream.tall.places import using
from factorstream.tall.round_products import Numbers, chosen_products, ends, go, moved, packed, read
from factorstream.tall.rounds import RoundRows
from factorstream.tall.rows_numpy import NumpyRows
from filter_problems import begin, close, paper_model, random_spd
from gap_problems import filtered, rows_with_gaps, same
from reference import gap_round
from strict_place import STRICT

N = 23


def compared(rng, q, m, model, Y, tolerance=1e-10):
    C, V = rng.standard_normal((m, q)), random_spd(rng, q)

    def start():
        return begin(C.astype(Y.dtype), V, 0.3, model.r)

    there = filtered(STRICT, start, RoundRows(STRICT, model), Y)
    same(there, filtered(HERE, start, NumpyRows(HERE, model, None), Y), tolerance)


@pytest.fixture(autouse=True)
def few_rows_are_worth_recording(monkeypatch):
    monkeypatch.setattr(rounds, "WORTH_RECORDING", 1)


@pytest.mark.parametrize("share", [0.02, 0.3, 0.7])
@pytest.mark.parametrize("step", ["least_squares", "map", "marginal"])
def test_as_one_row_after_another(rng, share, step):
    compared(rng, 4, 40, paper_model(4, step=step), rows_with_gaps(rng, N, 40, share))


@pytest.mark.parametrize("q", [3, 33])
def test_with_a_mean_whose_column_may_be_apart(rng, q):
    compared(rng, q, 10 * q, paper_model(q - 1, q), rows_with_gaps(rng, N, 10 * q, 0.3))


def test_with_a_drift(rng):
    compared(rng, 4, 40, paper_model(4, drift=0.01 * np.eye(4)), rows_with_gaps(rng, N, 40, 0.3))


def test_in_single_precision(rng):
    compared(rng, 4, 40, paper_model(4), rows_with_gaps(rng, N, 40, 0.3, np.float32), 1e-4)


def test_the_gram_matrix_is_computed_again_now_and_then(rng, monkeypatch):
    asked = []
    monkeypatch.setattr(engine, "REFRESH", 5)
    monkeypatch.setattr(
        rounds, "refreshed", lambda place, small, C: asked.append(small.age) or refresh(place, small, C)
    )
    refresh = engine.refreshed
    compared(rng, 4, 40, paper_model(4), rows_with_gaps(rng, N, 40, 0.3))
    assert max(asked) == 5


def test_digits_that_a_difference_loses_are_found_again(rng):
    """A feature of huge scale is missing: what remains of CᵀC is taken from the observed features."""
    model, Y = paper_model(4), rows_with_gaps(rng, N, 40, 0.0)
    C, V = rng.standard_normal((40, 4)), random_spd(rng, 4)
    C[5], Y[:, 5] = 1e7, np.nan

    def start():
        return begin(C.copy(), V, 0.3)

    there = filtered(STRICT, start, RoundRows(STRICT, model), Y)
    same(there, filtered(HERE, start, NumpyRows(HERE, model, None), Y))


@pytest.mark.parametrize("q", [5, 33])
@pytest.mark.parametrize("K", [1, 16])
@pytest.mark.parametrize("by_missing", [True, False])
def test_a_round_as_written_out_feature_by_feature(rng, q, K, by_missing):
    m, wide = 50, q + 3
    C, z, gains = rng.standard_normal((m, wide)), rng.standard_normal(q), rng.standard_normal((K, q))
    before, after = (np.where(rng.random(m) < 0.4, np.nan, rng.standard_normal(m)) for _ in range(2))
    group, seen = rng.integers(0, min(K, 3), m), 10.0 * rng.random(m)
    expected = gap_round(C[:, :q], before, z, gains, group, seen, 0.7, after, by_missing)
    like = STRICT.put(C, 0)
    tall = [STRICT.put(part, 0) for part in (before, after, group, seen)]
    out = STRICT.put(np.full(ends(q, K).pulls, np.nan), 0)
    numbers = STRICT.put(packed(Numbers(z, gains, 0.7), C.dtype), 0)
    chosen_products(like, q, tall[1], by_missing, out)
    go(like, q, K, tall[0], numbers, tall[2] if K > 1 else None, tall[3], tall[1], by_missing, out)
    C_moved, counted, square, b, yy, errors, pulls, heard, chosen_errors, chosen_pulls = expected
    assert_allclose(to_host(like)[:, :q], C_moved, rtol=1e-12)
    assert_allclose(to_host(like)[:, q:], C[:, q:], rtol=0)
    assert_allclose(to_host(tall[3]), counted, rtol=1e-12)
    sums = read(to_host(out), q, K)
    close(moved(sums, gains), square, 1e-12)
    close(sums.b, b, 1e-12)
    assert sums.yy == pytest.approx(yy, rel=1e-12)
    assert_allclose(sums.errors, errors, rtol=1e-12)
    assert_allclose(sums.chosen_errors, chosen_errors, rtol=1e-12)
    assert_allclose(sums.chosen_pulls, chosen_pulls, rtol=1e-9, atol=1e-12)
    if K > 1:
        assert_allclose(sums.pulls, pulls, rtol=1e-9, atol=1e-12)
        assert_allclose(sums.heard, heard)


@pytest.mark.parametrize("K", [1, 16])
def test_products_are_made_one_row_ahead_and_once_per_row(rng, monkeypatch, K):
    """Also where somebody else has changed C in between: then those that were made ahead are made again."""
    m, q, made = 40, 3, []
    C, rows = rng.standard_normal((m, q)), np.where(rng.random((4, m)) < 0.3, np.nan, rng.standard_normal((4, m)))
    group, gains = rng.integers(0, min(K, 3), m), rng.standard_normal((K, q))
    some = [rounds.Row(STRICT.put(row, 0), int((~np.isnan(row)).sum())) for row in rows]
    asked = rounds.Rounds(STRICT.put(C, 0))
    monkeypatch.setattr(
        repeated_rounds.round_products,
        "chosen_products",
        lambda C, q, row, *more: made.append(row) or chosen_products(C, q, row, *more),
    )
    for j, row in enumerate(some[:3]):
        before = None
        if j:
            numbers = Numbers(rng.standard_normal(q), gains, 0.5)
            before = rounds.Before(some[j - 1].y, numbers, STRICT.put(group, 0) if K > 1 else None)
        asked.start(before, row, some[j + 1])
        sums = asked.sums()
        for_row = to_host(asked.C)[np.isnan(rows[j])]
        close(sums.square, for_row.T @ for_row, 1e-10)
    ahead = 4 if K == 1 else 5  # the first round has one group, and room for the sums of one
    assert len(made) == ahead
    asked.take(STRICT.put(C, 0))
    asked.start(None, some[3])
    close(asked.sums().square, C[np.isnan(rows[3])].T @ C[np.isnan(rows[3])], 1e-10)
    assert len(made) == ahead + 1


def test_a_block_in_which_nothing_is_observed_changes_nothing(rng):
    """A stream may have such a row between complete ones, and then it comes alone."""
    C, V = rng.standard_normal((40, 4)), random_spd(rng, 4)
    with using(STRICT):
        empty = engine.RowBlock(STRICT.put(np.full((1, 40), np.nan), 1), 1)
        state, records = RoundRows(STRICT, paper_model(4)).run(begin(C, V, 0.3, 4), [empty])
        np.testing.assert_array_equal(STRICT.get(state.C, 0), C)
    assert not records


def test_only_where_kernels_can_be_launched(monkeypatch):
    """Arrays of other libraries, float64, few features and wide dictionaries go another way."""
    C = np.zeros((rounds.FEWEST, 3), np.float32)
    assert not rounds.applies(STRICT.put(C, 0))
    monkeypatch.setattr(rounds, "launchable", lambda C: True)
    assert rounds.applies(C)
    assert not rounds.applies(C[1:])
    assert not rounds.applies(C.astype(np.float64))
    assert not rounds.applies(np.zeros((rounds.FEWEST, rounds.LARGEST + 1), np.float32))


def test_a_kernel_that_fails_leaves_the_round_to_its_twin(rng, monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(kernels, "_failure", RuntimeError("no compiler"))
    C = torch.asarray(rng.standard_normal((30, 3)))
    asked = rounds.Rounds(C)
    asked.start(None, rounds.Row(torch.asarray(rng.standard_normal(30)), 30))
    assert_allclose(asked.sums().b.shape, (3,))
