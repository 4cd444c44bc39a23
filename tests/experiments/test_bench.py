"""The benchmark's yardsticks are right and its report is complete."""

from __future__ import annotations

import json

import numpy as np
import pytest

import reference
from factorstream.experiments.bench import peers, textbook
from factorstream.experiments.bench.timing import race


def test_textbook_loops_are_the_references(rng):
    Y, C, V = rng.standard_normal((15, 12)), rng.standard_normal((12, 3)), np.eye(3)
    expected = reference.mf_rlf(Y.T, C, V, 0.5)
    for ours, theirs in zip(textbook.filter_loop(Y, C, V, 0.5), expected, strict=False):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)
    seen, X = rng.random(Y.shape) < 0.8, rng.standard_normal((15, 3))
    for ours, theirs in zip(
        textbook.als_sweep(Y, seen, X, C, 0.1), reference.als_sweep(Y, seen, X, C, 0.1), strict=True
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10)


def test_textbook_em_learns_from_the_smoother(rng):
    r, m = 2, 5
    A, Q, C = 0.9 * np.eye(r), 0.2 * np.eye(r), rng.standard_normal((m, r))
    R, mean = np.full(m, 0.1), np.zeros(m)
    Y = reference.simulate(rng, A, Q, np.eye(r), C, R, mean, np.zeros(m), np.zeros(m), np.zeros(m), 60)[2]
    Y[rng.random(Y.shape) < 0.2] = np.nan
    xs, Ps = reference.kalman_rts(A, Q, np.eye(r), C, R, mean, Y)[2:4]
    new = textbook.em_sweep(Y, textbook.Linear(A, Q, np.eye(r), C, mean, R))
    seen = np.isfinite(Y[:, 0])
    second = (Ps + xs[:, :, None] * xs[:, None, :])[seen].sum(axis=0) + 1e-6 * np.eye(r)
    np.testing.assert_allclose(new.C[0], np.linalg.solve(second, xs[seen].T @ Y[seen, 0]), rtol=1e-8)
    before = reference.kalman_rts(A, Q, np.eye(r), C, R, mean, Y)[-1].sum()
    after = reference.kalman_rts(new.A, new.Q, np.eye(r), new.C, new.R, mean, Y)[-1].sum()
    assert after > before


def test_race_takes_turns_and_gives_slow_ones_one_run():
    order = []
    times = race({"a": lambda: order.append("a"), "b": lambda: order.append("b")}, repeats=3)
    assert order == ["a", "b"] * 4
    assert times["a"].repeats == 3
    assert race({"slow": lambda: None}, limit=0.0)["slow"].repeats == 1


def test_a_peer_that_is_not_there_or_fails_is_a_line_of_the_table(rng):
    absent = peers.Peer("absent", "no_such_module", lambda X, r: X)
    assert not peers.installed(absent)
    broken = peers.Peer("broken", "json", lambda X, r: 1 / 0)
    filled, why = peers.attempt(broken, rng.standard_normal((3, 3)), 1)
    assert filled is None
    assert "ZeroDivisionError" in why


def test_report(tmp_path):
    pytest.importorskip("matplotlib")
    from factorstream.experiments.bench.report import run

    table, paths = run(tmp_path / "out", quick=True, cases=["memory"])
    assert len(table.rows) == 3
    assert [path.name for path in paths] == ["benchmark.md", "benchmark.json", "peak_memory.png"]
    data = json.loads(paths[1].read_text())
    assert data["machine"]["flops"] > 0
    assert "copies of C" in paths[0].read_text()
