"""The yardsticks are right."""

from __future__ import annotations

import numpy as np

import reference
import reference_sequences
import reference_variational
from benchmarks import textbook


def test_textbook_loops_are_the_references(rng):
    Y, C, V = rng.standard_normal((15, 12)), rng.standard_normal((12, 3)), np.eye(3)
    expected = reference.mf_rlf(Y.T, C, V, 0.5)
    for ours, theirs in zip(textbook.filter_loop(Y, C, V, 0.5), expected, strict=False):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)
    seen, X = rng.random(Y.shape) < 0.8, rng.standard_normal((15, 3))
    for ours, theirs in zip(
        textbook.als_sweep(Y, seen, X, C, 0.1), reference_variational.als_sweep(Y, seen, X, C, 0.1), strict=True
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10)


def test_textbook_em_learns_from_the_smoother(rng):
    r, m = 2, 5
    A, Q, C = 0.9 * np.eye(r), 0.2 * np.eye(r), rng.standard_normal((m, r))
    R, mean = np.full(m, 0.1), np.zeros(m)
    Y = reference_sequences.simulate(rng, A, Q, np.eye(r), C, R, mean, np.zeros(m), np.zeros(m), np.zeros(m), 60)[2]
    Y[rng.random(Y.shape) < 0.2] = np.nan
    xs, Ps = reference_sequences.kalman_rts(A, Q, np.eye(r), C, R, mean, Y)[2:4]
    new = textbook.em_sweep(Y, textbook.Linear(A, Q, np.eye(r), C, mean, R))
    seen = np.isfinite(Y[:, 0])
    second = (Ps + xs[:, :, None] * xs[:, None, :])[seen].sum(axis=0) + 1e-6 * np.eye(r)
    np.testing.assert_allclose(new.C[0], np.linalg.solve(second, xs[seen].T @ Y[seen, 0]), rtol=1e-8)
    before = reference_sequences.kalman_rts(A, Q, np.eye(r), C, R, mean, Y)[-1].sum()
    after = reference_sequences.kalman_rts(new.A, new.Q, np.eye(r), new.C, new.R, mean, Y)[-1].sum()
    assert after > before
