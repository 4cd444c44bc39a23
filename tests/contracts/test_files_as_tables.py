"""A question about the name of a file says in one sentence what to do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from factorstream import BayesianFactorization, DictionaryFilter, LowRankImputer, SequenceFilter

QUESTIONS = ("impute", "transform", "predict_interval", "score_samples", "sample_imputations", "partial_fit")


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 1)) @ rng.normal(size=(1, 4))
    X[rng.random(X.shape) < 0.2] = np.nan
    return X


@pytest.mark.parametrize("path", ["a.csv", Path("a.csv"), ["a.csv", "b.csv"]])
@pytest.mark.parametrize("estimator", [BayesianFactorization, DictionaryFilter, LowRankImputer])
def test_files_are_filled_by_fill(X, estimator, path):
    model = estimator(1, random_state=0).fit(X)
    asked = [getattr(model, name) for name in QUESTIONS if hasattr(model, name)]
    assert len(asked) >= 4
    for ask in asked:
        with pytest.raises(
            TypeError, match=r"^X is text, 'a\.csv', .*; fill a file by factorstream\.fill\(model, path, out\), or"
        ):
            ask(path)


def test_fill_is_not_named_where_it_does_not_help(X):
    for ask in (SequenceFilter(1).fit, SequenceFilter(1).fit(X).impute):
        with pytest.raises(TypeError, match=r"^X is text, 'a\.csv', and no table; read it first"):
            ask("a.csv")
