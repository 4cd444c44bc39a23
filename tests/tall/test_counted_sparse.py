"""Sparse rows where every feature has its own doubt: the same filter as for dense ones."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from counted_problems import begin_counted, counted_model, feature_covariances, problem
from factorstream.core.filter import groups as grouping
from factorstream.tall.filtering import filter_rows
from filter_problems import close, random_spd
from split_place import fetched

LAM = 0.2


def as_sparse(X):
    row, column = np.nonzero(~np.isnan(X))
    return sparse.csr_array((X[row, column], (row, column)), shape=X.shape)


def assert_same(one, other, rtol=1e-9):
    close(fetched(one.C), fetched(other.C), rtol)
    close(feature_covariances(one), feature_covariances(other), rtol)
    close(fetched(one.groups.seen), fetched(other.groups.seen), rtol)
    close(one.small.G, other.small.G, rtol)
    close(one.small.T, other.small.T, rtol)
    np.testing.assert_array_equal(fetched(one.origin), fetched(other.origin))
    np.testing.assert_array_equal(fetched(one.groups.group), fetched(other.groups.group))
    assert one.small.noise == pytest.approx(other.small.noise, rel=rtol)


@pytest.mark.parametrize("drift", [False, True])
@pytest.mark.parametrize("step", ["least_squares", "map", "marginal"])
@pytest.mark.parametrize("room", [0, 8192])
def test_sparse_rows_are_dense_rows(rng, monkeypatch, step, room, drift):
    monkeypatch.setattr(grouping, "ROOM", room)
    r = 2
    Y, C, V0 = problem(rng, 150, 12, r, missing=0.6)
    Y[:50, 3], Y[:, 5] = np.nan, np.nan  # starts late; never has a value
    Y[::10] = np.where(np.isnan(Y[::10]), 1.0, Y[::10])
    Y[::10, 5], Y[:50, 3] = np.nan, np.nan
    Y[77] = np.nan
    model = counted_model(r, r + 1, step, drift=random_spd(rng, r + 1, 1e-3) if drift else None, learn_noise=True)
    unseen = np.flatnonzero(np.isnan(Y[0])).tolist()
    start = begin_counted(C, V0, LAM, r, unseen)
    dense, record = filter_rows(start, model, Y, 8)
    stored, stored_record = filter_rows(start, model, as_sparse(Y), 8)
    assert_same(stored, dense, 1e-6 if step == "marginal" else 1e-9)  # a minimum is found to half the digits
    np.testing.assert_allclose(stored_record.dictionary_share, record.dictionary_share, rtol=1e-6)
    parts = start
    for k in range(0, len(Y), 40):
        parts, _ = filter_rows(parts, model, as_sparse(Y[k : k + 40]), 8)
    assert_same(parts, stored)


def test_what_was_given_stays_as_it_is(rng):
    Y, C, V0 = problem(rng, 100, 12, 2, missing=0.6)
    start = begin_counted(C, V0, LAM, 2)
    model = counted_model(2, 3)
    for rows in (Y, as_sparse(Y)):
        state, _ = filter_rows(start, model, Y[:50], 8)
        before = [np.copy(fetched(a)) for a in (state.C, state.groups.seen, state.groups.group)]
        before += [state.groups.roots.copy(), state.small.S.copy(), state.small.G.copy(), state.small.T.copy()]
        filter_rows(state, model, rows[50:], 8)
        after = [fetched(a) for a in (state.C, state.groups.seen, state.groups.group)]
        after += [state.groups.roots, state.small.S, state.small.G, state.small.T]
        for a, b in zip(before, after, strict=True):
            np.testing.assert_array_equal(a, b)
