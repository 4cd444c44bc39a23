"""Features in shards of Dask: the same numbers as in one array, and tasks that can be run again."""

from __future__ import annotations

import dask
import numpy as np
import pytest
from numpy.testing import assert_allclose

from cluster_problems import gappy
from factorstream import BayesianFactorization, DictionaryFilter
from factorstream.core.place import HERE
from factorstream.tall.dask_place import DaskPlace
from factorstream.tall.places import place_of, using

pytestmark = pytest.mark.here(reason="says itself where the features are")


@pytest.fixture(autouse=True)
def _in_this_thread():
    with dask.config.set(scheduler="sync"):
        yield


def add_in_place(C, more):
    C += more
    return C, None


def test_arrays_come_back_as_they_were_put():
    place, X = DaskPlace(3), np.arange(14.0).reshape(2, 7)
    there = place.put((X, None, X + 1.0), 1)
    assert len(there[0].parts) == 3
    assert there[1] is None
    np.testing.assert_array_equal(place.get(there[0], 1), X)
    np.testing.assert_array_equal(place.get(place.put(X[0, :2], 0), 0), [0.0, 1.0])  # fewer features than shards
    assert place_of(there[0]) is place
    assert place_of(X) is HERE


def test_functions_see_every_feature_once():
    place, X = DaskPlace(3), np.arange(14.0).reshape(2, 7)
    there = place.put(X, 1)
    np.testing.assert_array_equal(place.total(np.sum, there, 1), X.sum(axis=1))
    assert place.total(len, place.put(X.T, 0)) == 7


def test_what_a_function_writes_into_is_a_copy():
    place, C = DaskPlace(2), np.zeros(5)
    there = place.put(C, 0)
    small = np.array([2.0])
    (first, nothing), (again, _) = place.each(add_in_place, there, 1.0), place.each(add_in_place, there, small)
    small[:] = 7.0  # the caller goes on with its own
    C[:] = 9.0
    assert nothing is None
    for values, want in ((there, 0.0), (first, 1.0), (again, 2.0)):
        np.testing.assert_array_equal(place.get(values, 0), np.full(5, want))
    with pytest.raises(ValueError, match="read-only"):
        place.total(add_in_place, there, 1.0)


@pytest.mark.parametrize("gaps", [False, True], ids=["complete", "gaps"])
@pytest.mark.parametrize("covariance", ["shared", "counted"])
def test_a_stream_of_shards_is_the_stream(covariance, gaps):
    X = gappy(n=24, m=9)
    if not gaps:
        X = np.nan_to_num(X, nan=5.0)

    def streamed():
        return DictionaryFilter(2, covariance=covariance, random_state=0).partial_fit(X)

    want = streamed()
    with using(DaskPlace(3)):
        found = streamed()
        components = found.components_
    assert_allclose(components, want.components_, rtol=1e-10, atol=1e-12)


def test_a_fit_of_shards_is_the_fit():
    X = gappy(n=60, m=9)
    want = BayesianFactorization(2, max_iter=3).fit(X)
    with using(DaskPlace(3)):
        found = BayesianFactorization(2, max_iter=3).fit(X)
        filled = found.impute(X)
    assert_allclose(filled, want.impute(X), rtol=1e-10)
