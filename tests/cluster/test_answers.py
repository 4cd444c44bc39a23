"""Answers about Dask arrays are Dask arrays, and equal those about NumPy arrays."""

from __future__ import annotations

import dask.array as da
import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import NotFittedError

from cluster_problems import gappy
from factorstream import BayesianFactorization, DictionaryFilter

QUESTIONS = {
    "impute": lambda model, X: model.impute(X),
    "std": lambda model, X: model.impute(X, return_std=True)[1],
    "lower": lambda model, X: model.predict_interval(X, level=0.9)[0],
    "upper": lambda model, X: model.predict_interval(X, level=0.9)[1],
    "transform": lambda model, X: model.transform(X),
    "inverse_transform": lambda model, X: model.inverse_transform(model.transform(X)),
    "score_samples": lambda model, X: model.score_samples(X),
}


@pytest.fixture(scope="module", params=[BayesianFactorization, DictionaryFilter])
def model(request):
    return request.param(3, random_state=0).fit(gappy())


@pytest.mark.parametrize("chunks", [(600, 20), (77, 20), (77, 7)], ids=["one", "rows", "rows and features"])
@pytest.mark.parametrize("ask", QUESTIONS.values(), ids=QUESTIONS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_answers_are_those_of_the_rows(model, ask, chunks, dtype):
    X = gappy(1).astype(dtype)
    want, found = ask(model, X), ask(model, da.from_array(X, chunks=chunks))
    assert isinstance(found, da.Array)
    assert (found.shape, found.dtype, found.ndim) == (want.shape, want.dtype, want.ndim)
    assert_allclose(found.compute(), want, rtol=1e-12 if dtype == np.float64 else 1e-5, atol=1e-6)
    if chunks[0] == 77:
        assert found.chunks[0] == (77,) * 7 + (61,)


def test_nothing_is_computed_before_it_is_asked_for(model):
    asked = []

    def noted(block):
        asked.append(len(block))
        return block

    X = gappy(1)
    rows = da.from_array(X, chunks=(100, 20)).map_blocks(noted, dtype=np.float64, meta=np.empty((0, 0)))
    filled = model.impute(rows)
    assert asked == []
    assert_allclose(filled[:150].compute(scheduler="sync"), model.impute(X[:150]), rtol=1e-12)
    assert asked == [100, 100]


def test_an_answer_is_that_of_the_model_when_it_was_asked():
    X = gappy()
    model = DictionaryFilter(3, random_state=0).fit(X)
    want, found = model.impute(X), model.impute(da.from_array(X, chunks=(100, 20)))
    model.partial_fit(gappy(1))
    np.testing.assert_array_equal(found.compute(), want)


def test_bad_questions_are_refused_at_once(model):
    X = da.from_array(gappy(1), chunks=(100, 20))
    with pytest.raises(ValueError, match="level"):
        model.predict_interval(X, level=1.5)
    with pytest.raises(ValueError, match="features"):
        model.impute(X[:, :5])
    with pytest.raises(NotFittedError):
        type(model)().impute(X)
    assert isinstance(model.score(X), float)
