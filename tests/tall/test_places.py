"""Which place an array belongs to, and where filters start."""

from __future__ import annotations

from threading import Thread

import numpy as np
import pytest
from scipy import sparse

from conftest import low_rank
from factorstream import DictionaryFilter
from factorstream.core.place import HERE
from factorstream.tall.places import place_of, place_to_start, using
from split_place import SPLIT, Split, fetched


def test_arrays_know_their_place():
    assert place_of(np.zeros(3)) is HERE
    assert place_of(sparse.csr_array((2, 3))) is HERE
    assert place_of(SPLIT.put(np.zeros(3), 0)) is SPLIT


def test_plain_rows_go_where_using_says_in_this_thread_only():
    with using(HERE):
        found = []
        with using(SPLIT):
            assert place_to_start() is SPLIT
            assert place_to_start() is SPLIT
            other = Thread(target=lambda: found.append(place_to_start()))
            other.start()
            other.join()
        assert found == [HERE]
        with pytest.raises(RuntimeError), using(SPLIT):
            raise RuntimeError
        assert place_to_start() is HERE


@pytest.mark.parametrize("kind", ["complete", "gappy", "sparse", "late"])
def test_a_filter_stays_where_it_started(rng, kind):
    """Also after the end of the ``with`` block, and with the same result as here."""
    X = low_rank(rng, 80, 7, 2, offset=3.0)
    if kind != "complete":
        X[rng.random(X.shape) < 0.3] = np.nan
    if kind == "late":
        X[:50, 2] = np.nan
    rows = sparse.csr_array(np.nan_to_num(X)) if kind == "sparse" else X
    models = []
    for place in (HERE, SPLIT):
        with using(place):
            model = DictionaryFilter(2, random_state=0).partial_fit(rows[:30])
        models.append(model.partial_fit(rows[30:]))
    here, split = models
    for tall in (split.state_.filter.C, split.state_.filter.origin):
        assert isinstance(tall, Split)
        assert [len(part) for part in tall.parts] == [3, 4]
    np.testing.assert_allclose(fetched(split.state_.filter.C), here.state_.filter.C, rtol=1e-9, atol=1e-9)
    for a, b in zip(split.impute(X, return_std=True), here.impute(X, return_std=True), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("fit_mean", [False, True])
def test_a_piece_whose_features_have_mean_zero_is_no_reason_not_to_centre_the_others(fit_mean):
    """The origin is zero in the first array only; and in no array, or in all, it is the same."""
    X = np.tile([[1.0], [-1.0]], (10, 6)) * np.arange(1.0, 7.0)
    X += 0.1 * np.random.default_rng(0).standard_normal((1, 6)) * np.tile([[1.0], [-1.0]], (10, 1))
    for offset in ([0, 0, 0, 10, 10, 10], [10] * 6, [0] * 6):
        models = []
        for place in (HERE, SPLIT):
            with using(place):
                models.append(DictionaryFilter(2, fit_mean=fit_mean, random_state=0, shuffle=False).fit(X + offset))
        here, split = models
        if fit_mean:
            np.testing.assert_array_equal(here.state_.filter.origin == 0.0, np.array(offset) == 0)
        np.testing.assert_allclose(split.mean_, here.mean_, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(fetched(split.state_.filter.C), here.state_.filter.C, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_a_stream_of_few_rows_stays_where_it_started(rng, kind):
    """Its first rows are kept, and every call starts over from them: at the same place."""
    X = low_rank(rng, 30, 7, 2, offset=3.0)
    rows = sparse.csr_array(X) if kind == "sparse" else X
    models = []
    for place, other in ((HERE, SPLIT), (SPLIT, HERE)):
        with using(place):
            model = DictionaryFilter(2, random_state=0).partial_fit(rows[:3])
        with using(other):
            model.partial_fit(rows[3:6])
            assert model.state_.warm_rows is not None
            assert place_of(model.state_.filter.C) is place
            models.append(model.partial_fit(rows[6:]))
        assert place_of(model.state_.filter.C) is place
    here, split = models
    np.testing.assert_allclose(fetched(split.state_.filter.C), here.state_.filter.C, rtol=1e-9, atol=1e-9)


def test_tuples_of_tall_arrays_are_taken_apart_and_put_together():
    pair = SPLIT.put((np.arange(5.0), np.ones((5, 2))), 0)
    doubled = SPLIT.each(lambda pair: (2 * pair[0], 2 * pair[1]), pair)
    np.testing.assert_array_equal(SPLIT.get(doubled[0], 0), 2.0 * np.arange(5))
    assert SPLIT.total(lambda pair: (pair[0].sum(), len(pair[1])), pair) == (10.0, 5)
