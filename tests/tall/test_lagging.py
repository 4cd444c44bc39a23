"""A dictionary that lags behind the rows, against one that follows every row."""

from __future__ import annotations

import numpy as np
import pytest

from counted_problems import begin_counted, counted_model
from factorstream.core.filter.groups import Groups
from factorstream.core.place import HERE
from factorstream.tall import lagging
from factorstream.tall.array_place import ArrayPlace
from factorstream.tall.counted_rows import CountedRows
from factorstream.tall.engine import RowBlock
from factorstream.tall.lagging import LaggingRows
from factorstream.tall.places import place_of, using
from factorstream.tall.rows_numpy import NumpyRows
from filter_problems import begin, close, paper_model, random_spd
from split_place import fetched
from strict_place import DEVICE, STRICT

M, Q, N = 40, 4, 23


class Lag(ArrayPlace):
    """A device with another lag than that of a GPU."""

    def __init__(self, lag):
        super().__init__(STRICT.xp, DEVICE)
        self.lag = lag


def rows(rng, share, dtype=np.float64):
    """Rows of which this share is missing, but nothing of every fifth, and all of one."""
    Y = rng.standard_normal((N, 3)) @ rng.standard_normal((3, M)) + 0.1 * rng.standard_normal((N, M))
    missing = rng.random(Y.shape) < share
    missing[::5], missing[7] = False, True
    return np.where(missing, np.nan, Y).astype(dtype)


def filtered(place, start, engine, Y):
    with using(place):
        state, records = engine.run(start(), [RowBlock(place.put(part, 1), len(part)) for part in (Y[:20], Y[20:])])
    return fetched(state), np.concatenate([np.array(record) for record in records], axis=1)


def same(state, twin, tolerance=1e-10):
    (a, facts), (b, facts_of_twin) = state, twin
    for one, other in ((a.C, b.C), (a.small.G, b.small.G), (a.small.S, b.small.S), (facts, facts_of_twin)):
        close(one, other, tolerance)


@pytest.mark.parametrize("lag", [2, 16])
@pytest.mark.parametrize("share", [0.02, 0.3, 0.7])
@pytest.mark.parametrize("step", ["least_squares", "map", "marginal"])
def test_as_if_the_dictionary_followed_every_row(rng, lag, share, step):
    model, Y = paper_model(Q, step=step), rows(rng, share)
    C, V = rng.standard_normal((M, Q)), random_spd(rng, Q)

    def start():
        return begin(C.copy(), V, 0.3)

    same(
        filtered(Lag(lag), start, LaggingRows(Lag(lag), model), Y),
        filtered(HERE, start, NumpyRows(HERE, model, None), Y),
    )


@pytest.mark.parametrize("lag", [3, 16])
def test_where_every_feature_has_its_own_doubt(rng, lag):
    """Groups change while rows are under way: the dictionary then follows at once."""
    model, Y = counted_model(Q, Q), np.concatenate([rows(rng, 0.0)[:6], rows(rng, 0.3)])
    C, V = rng.standard_normal((M, Q)), random_spd(rng, Q)

    def start():
        return begin_counted(C.copy(), V, 0.3, Q)

    place = Lag(lag)
    same(
        filtered(place, start, CountedRows(place, model, None), Y),
        filtered(HERE, start, CountedRows(HERE, model, None), Y),
    )


@pytest.mark.parametrize("lag", [3, 16])
def test_where_all_features_are_in_one_of_several_groups(rng, lag):
    """Seen in seven of ten rows so far, they have a level of their own, which nobody leaves soon."""
    model, Y = counted_model(Q, Q), rows(rng, 0.3)
    C, V = rng.standard_normal((M, Q)), random_spd(rng, Q)

    def start():
        state = begin_counted(C.copy(), V, 0.3, Q)
        seen, group = (place_of(state.C).put(np.full(M, value), 0) for value in (700.0, 1))
        level = Groups(seen, group, 0.5 * np.linalg.cholesky(V)[None], np.array([0.5**0.5]), 1000.0, state.groups.prior)
        return state._replace(groups=level, small=state.small._replace(k=1000))

    place = Lag(lag)
    there = filtered(place, start, CountedRows(place, model, None), Y)
    same(there, filtered(HERE, start, CountedRows(HERE, model, None), Y))
    assert there[0].groups.group.tolist() == [1] * M


def test_single_precision_is_summed_in_pieces(rng, monkeypatch):
    monkeypatch.setattr(lagging, "PIECE", 4)
    model, Y = paper_model(Q), rows(rng, 0.4, np.float32)
    C, V = rng.standard_normal((M, Q)), random_spd(rng, Q)

    def start():
        return begin(C.astype(np.float32), V, 0.3)

    here = filtered(HERE, start, NumpyRows(HERE, model, None), Y)
    same(filtered(STRICT, start, LaggingRows(STRICT, model), Y), here, 1e-4)


def test_small_residuals_of_single_precision_keep_their_digits(rng):
    """‖y‖² is three million times as large as ‖e‖², more than float32 tells apart: it is the sum of e² that is kept.

    An entry of e is a difference of float32 numbers of size 1, wrong by some 2e-7 where it is 1e-3 itself,
    independently of the others: by 2e-4 of it, which the sum over 20,000 features takes down to 1e-6. Coefficients
    that are wrong by 1e-6, as sums in float32 are, add (1e-6 / 1e-3)², the same again. Twenty times that is allowed.
    """
    m, r, scale = 20_000, 3, 1e-3
    W = rng.standard_normal((m, r))
    Y = rng.standard_normal((N, r)) @ W.T + scale * rng.standard_normal((N, m))
    Y = np.where(rng.random(Y.shape) < 0.3, np.nan, Y).astype(np.float32)
    C = (W + scale * rng.standard_normal((m, r))).astype(np.float32)
    V, model = scale**2 * np.eye(r), counted_model(r, r)

    def start(dtype):
        state = begin_counted(C.astype(dtype), V, scale**2, r)
        seen, group = (place_of(state.C).put(np.full(m, value), 0) for value in (700.0, 1))
        level = Groups(seen, group, 0.5 * np.linalg.cholesky(V)[None], np.array([0.5**0.5]), 1000.0, state.groups.prior)
        return state._replace(groups=level, small=state.small._replace(k=1000))

    exact = filtered(HERE, lambda: start(np.float64), CountedRows(HERE, model, None), Y.astype(np.float64))
    there = filtered(STRICT, lambda: start(np.float32), CountedRows(STRICT, model, None), Y)
    np.testing.assert_allclose(there[1][0], exact[1][0], rtol=2e-5)
    assert there[0].groups.group.tolist() == [1] * m


def test_digits_that_a_difference_loses_are_found_again(rng):
    """A feature of huge scale is missing: what remains of CᵀC is taken from the observed features."""
    model, Y = paper_model(Q), rows(rng, 0.0)
    C, V = rng.standard_normal((M, Q)), random_spd(rng, Q)
    C[5], Y[:, 5] = 1e7, np.nan

    def start():
        return begin(C.copy(), V, 0.3)

    same(filtered(STRICT, start, LaggingRows(STRICT, model), Y), filtered(HERE, start, NumpyRows(HERE, model, None), Y))
