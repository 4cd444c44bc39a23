"""Scores of rows with different gaps, and the columns to blame."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from factorstream import BayesianFactorization, DictionaryFilter, SequenceFilter
from factorstream.core.normal_score import normal_score
from factorstream.jobs import strangeness
from factorstream.jobs.strangeness import blamed_for_alarm, blamed_in_row, row_scores


def rows_of(rng, n=500, m=6):
    return rng.normal(size=(n, 2)) @ rng.normal(size=(2, m)) + 0.2 * rng.normal(size=(n, m))


@pytest.fixture(
    params=[DictionaryFilter(2, random_state=0), BayesianFactorization(2)], ids=lambda one: type(one).__name__
)
def fitted(request, rng):
    X = rows_of(rng)
    return request.param.fit(X), X


def test_rows_with_one_value_are_as_strange_as_others(rng):
    X = rows_of(rng)
    sparse = rng.choice(500, 100, replace=False)
    for row in sparse:
        X[row, rng.permutation(6)[:5]] = np.nan
    score = row_scores(DictionaryFilter(3, random_state=0).fit(X), X)
    assert np.isin(np.argsort(-score)[:50], sparse).sum() <= 18  # 10 are expected; by densities nearly all
    for some in (score[sparse], np.delete(score, sparse)):
        assert abs(np.mean(some)) < 0.4
        assert 0.8 < np.std(some) < 1.25


def precision_of(model, x):
    """The precision matrix of a Gaussian log-density, by second differences, which are exact for any step."""
    steps = np.eye(len(x))
    corners = [[x + a + b, x + a - b, x - a + b, x - a - b] for a in steps for b in steps]
    density = model.score_samples(np.concatenate(corners)).reshape(len(x), len(x), 4)
    return -(density @ [1, -1, -1, 1]) / 4


def test_scores_and_blame_come_from_the_mahalanobis_distance(fitted):
    model, X = fitted
    mean = model.mean_
    P = precision_of(model, mean)
    squared = np.einsum("ni,ij,nj->n", X - mean, P, X - mean)
    np.testing.assert_allclose(row_scores(model, X), normal_score(squared, 6), rtol=1e-6, atol=1e-6)
    row = X[3].copy()
    row[4] -= 8.0
    pulled = P @ (row - mean)
    away = pulled / np.sqrt(np.diag(P))
    (j, most), *more = blamed_in_row(model, row)
    assert (j, more) == (4, [])  # though others are off as well by what this one says of them
    assert np.sum(np.abs(away) > 5.0) > 1
    assert most == pytest.approx(
        away[4], rel=0.05
    )  # nearly: the filter's doubt is a mean over the columns that are seen


def test_two_columns_to_blame_and_none(fitted, rng):
    model, X = fitted
    row = X[3].copy()
    row[[1, 4]] += [3.0, -8.0]
    assert [(j, away > 0) for j, away in blamed_in_row(model, row)] == [(4, False), (1, True)]
    blamed = [bool(blamed_in_row(model, x)) for x in X[:200]]
    assert 0.01 < np.mean(blamed) < 0.2


def test_columns_that_the_model_has_not_seen_do_not_count(rng):
    X = rows_of(rng)
    X[:, 5] = np.nan
    model = DictionaryFilter(2, random_state=0).partial_fit(X)
    asked = X[:3].copy()
    asked[1:, 5] = 1e6
    asked[2, :5] = np.nan
    score = row_scores(model, asked)
    np.testing.assert_array_equal(score[:2], row_scores(model, X[:2]))
    assert score[2] == -np.inf
    assert blamed_in_row(model, asked[2]) == []


def test_wide_rows_are_searched_first(monkeypatch):
    X = load_breast_cancer().data[:200].copy()
    model = DictionaryFilter(5, random_state=0).fit(X)
    X[7, 20] *= 3
    alone = blamed_in_row(model, X[7])
    monkeypatch.setattr(strangeness, "ALONE", 6)
    assert blamed_in_row(model, X[7])[0] == alone[0]
    assert alone[0][0] == 20


def test_alarms_blame_the_rows_that_have_led_to_them(rng):
    X = np.sin(np.arange(900)[:, None] / 9 + np.arange(4)) + 0.2 * rng.normal(size=(900, 4))
    model = SequenceFilter(3, calibrate=False).fit(X[:400])
    X[500:600, 1] += 0.5 * rng.normal(size=100)
    cycle = np.sin(np.arange(700, 900)[:, None] / 9 + np.arange(4))
    X[700:] = cycle + [0.4, 0.4, 0.0, 0.4] * (X[700:] - cycle)  # all become quieter, and one silent
    alarms, away = model.alarms(X), np.asarray(model.deviations(X))
    rows = np.flatnonzero(alarms.fired)
    loud, quiet = rows[(rows >= 500) & (rows < 600)], rows[rows >= 710]
    assert loud.size
    for row in loud:
        (j, size), *_ = blamed_for_alarm(alarms, away, row)
        assert (j, abs(size) > 1.2) == (1, True)
    for row in quiet:
        assert [j for j, _ in blamed_for_alarm(alarms, away, row)] == [2]
    assert quiet.size
