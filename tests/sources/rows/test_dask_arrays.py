"""Arrays of Dask in blocks."""

from __future__ import annotations

import dask.array as da
import numpy as np
import pytest
from numpy.testing import assert_allclose

from cluster_problems import gappy
from factorstream import BayesianFactorization, DictionaryFilter, LowRankImputer, open_rows
from factorstream.sources.table import TableError


@pytest.mark.parametrize("chunks", [(600, 20), (77, 7)])
def test_a_block_is_a_chunk(chunks):
    X = gappy()
    source = open_rows(da.from_array(X, chunks=chunks))
    assert (source.n_rows, source.n_columns, source.names, source.rewinds) == (600, 20, None, True)
    for start in (0, 100):
        blocks = list(source.blocks(start))
        assert blocks[0].first == start
        assert [block.first for block in blocks[1:]] == list(range(chunks[0], 600, chunks[0]))[start > 77 :]
        np.testing.assert_array_equal(np.concatenate([block.values for block in blocks]), X[start:])


def test_columns_and_marks():
    X = np.arange(20).reshape(10, 2)
    source = open_rows(da.from_array(X, chunks=(4, 2)), columns=[1], missing=["5"])
    assert source.dtype == np.float64
    values = np.concatenate([block.values for block in source.blocks()])
    np.testing.assert_array_equal(values[:, 0], [1, 3, np.nan, 7, 9, 11, 13, 15, 17, 19])


@pytest.mark.parametrize("chunks", [(600, 20), (77, 7)])
def test_a_stream_of_chunks_is_a_stream_of_rows(chunks):
    X, Z = gappy(), gappy(1)
    want = DictionaryFilter(3, random_state=0).partial_fit(X)
    found = DictionaryFilter(3, random_state=0).fit(da.from_array(X, chunks=chunks))
    assert_allclose(found.components_, want.components_, rtol=1e-10, atol=1e-12)
    want.partial_fit(Z)
    found.partial_fit(da.from_array(Z, chunks=chunks))
    assert_allclose(found.components_, want.components_, rtol=1e-10, atol=1e-12)
    assert found.n_samples_seen_ == want.n_samples_seen_ == 1200


def test_a_refused_chunk_leaves_the_stream_as_it_was():
    X = gappy()
    model = DictionaryFilter(3, random_state=0).partial_fit(X)
    before, Z = model.components_.copy(), gappy(1)
    Z[500, 3] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        model.partial_fit(da.from_array(Z, chunks=(100, 20)))
    np.testing.assert_array_equal(model.components_, before)
    assert model.n_samples_seen_ == 600


def test_an_imputer_learns_from_chunks():
    X = gappy()
    want = LowRankImputer(3, random_state=0).fit(X)
    found = LowRankImputer(3, random_state=0).fit(da.from_array(X, chunks=(77, 7)))
    assert_allclose(found.transform(X), want.transform(X), rtol=1e-10)


@pytest.mark.parametrize("model", [BayesianFactorization(2), DictionaryFilter(2)], ids=["fit", "stream"])
def test_what_cannot_be_used_is_refused_in_a_sentence(model):
    X = da.from_array(np.ones((10, 3)), chunks=5)
    with pytest.raises((ValueError, TableError), match=r"call X\.compute_chunk_sizes"):
        model.fit(X[X[:, 0] > 0])
    with pytest.raises((TypeError, TableError), match="real numbers"):
        model.fit(X.astype(complex))
    with pytest.raises((ValueError, TableError), match="dim 2"):
        model.fit(X[0])
    assert not hasattr(model, "n_features_in_")
