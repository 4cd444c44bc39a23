"""However the rows are divided, the result is the same."""

from __future__ import annotations

import numpy as np
import pytest

from contracts.asking import (
    EVERY,
    SPARSE,
    SPARSE_STREAMS,
    STREAMS,
    answers,
    assert_close,
    assert_same,
    filled,
    fingerprint,
    learned,
    learned_answers,
    new,
    those,
)
from contracts.estimators import CASES, as_sparse, rows
from factorstream import BayesianFactorization, DictionaryFilter


@pytest.mark.parametrize("case", STREAMS)
@pytest.mark.parametrize(
    "cuts", [range(1, 60), [1, 2, 5, 11, 30], [59], [25]], ids=["singly", "growing", "last", "two"]
)
def test_any_split_of_a_stream_gives_the_same(case, cuts):
    X = rows()
    model = new(case)
    for part in np.split(X, list(cuts)):
        model.partial_fit(part)
    same(case, answers(model, X), learned_answers(case, X, X, how="partial_fit"))


def test_streams_of_several_cases_get_past_their_start():
    """What holds of a stream is said of its start and of what comes after."""
    cases = [case for case in CASES if isinstance(case.estimator, BayesianFactorization)]
    started = [learned(case, rows(), how="partial_fit").state_.settled is not None for case in cases]
    assert 1 < sum(started) < len(cases)


def test_rows_of_the_contracts_have_units():
    """What holds of every estimator is said of columns in their own units, too."""
    default = next(case for case in CASES if isinstance(case.estimator, DictionaryFilter))
    for how in ("fit", "partial_fit"):
        assert np.ptp(learned(default, rows(), how=how).state_.unit) > 0.01


def same(case, found, expected):
    if case.exact:
        assert_same(found, expected)
    else:
        assert_close(found, expected, rtol=1e-9)


@pytest.mark.parametrize("case", SPARSE_STREAMS)
@pytest.mark.parametrize("cuts", [range(1, 60), [1, 25]], ids=["singly", "three"])
def test_any_split_of_a_sparse_stream_gives_the_same(case, cuts):
    X = rows()
    model = new(case)
    for part in np.split(X, list(cuts)):
        model.partial_fit(as_sparse(part))
    same(case, answers(model, X), answers(new(case).partial_fit(as_sparse(X)), X))


@pytest.mark.parametrize("case", STREAMS)
@pytest.mark.parametrize("cuts", [range(1, 30), [1, 25]], ids=["singly", "three"])
def test_any_split_of_a_stream_after_a_fit_gives_the_same(case, cuts):
    X, more = rows(), rows(30, seed=1)
    model = learned(case, X)
    for part in np.split(more, list(cuts)):
        model.partial_fit(part)
    same(case, answers(model, X), learned_answers(case, X, X, more))


@pytest.mark.parametrize("case", [case for case in STREAMS if not case.values[0].ordered])  # those compute in float64
@pytest.mark.parametrize(("first", "then"), [("float64", "float32"), ("float32", "float64")])
@pytest.mark.parametrize("how", ["fit", "partial_fit"])
def test_a_stream_keeps_the_type_that_it_began_with(case, first, then, how):
    X, more = rows(30).astype(first), rows(30, seed=1).astype(then)
    model = learned(case, X, how=how).partial_fit(more)
    same(case, answers(model, X), learned_answers(case, X, X, more.astype(first), how=how))


@pytest.mark.parametrize("case", SPARSE_STREAMS)
@pytest.mark.parametrize("how", ["fit", "partial_fit"])
@pytest.mark.parametrize("seen", [3, 40])
def test_sparse_and_dense_rows_can_follow_each_other(case, how, seen):
    """The stream goes on as if all rows were of the kind that it began with."""
    X = rows()
    X[::7] = np.where(np.isnan(X[::7]), np.nan, 0.0)  # observed zeros are stored
    for first, then in ((as_sparse, np.asarray), (np.asarray, as_sparse)):
        began = rows() if how == "fit" else X[:seen]
        mixed, pure = (getattr(new(case), how)(first(began)) for _ in range(2))
        for part in np.split(X[seen:], [2]):
            mixed.partial_fit(then(part))
            pure.partial_fit(first(part))
        assert_close(answers(mixed, X), answers(pure, X), rtol=1e-9)


@pytest.mark.parametrize("case", those(lambda case: not case.ordered))
def test_rows_are_answered_one_by_one_as_all_together(case):
    X = rows()
    model = learned(case, X)
    whole = filled(model, X)
    singly = np.concatenate([filled(model, X[k : k + 1]) for k in range(len(X))])
    np.testing.assert_allclose(singly, whole, rtol=1e-9)
    np.testing.assert_allclose(filled(model, X[::-1]), whole[::-1], rtol=1e-9)


@pytest.mark.parametrize("case", EVERY)
def test_fitting_again_forgets_what_was_before(case):
    X = rows()
    model = new(case).fit(rows(seed=1)).fit(X)
    assert_same(answers(model, X), learned_answers(case, X, X))


@pytest.mark.parametrize("case", EVERY)
def test_the_same_seed_gives_the_same_bits(case):
    X = rows()
    assert fingerprint(new(case).fit(X)) == fingerprint(learned(case, X))


@pytest.mark.parametrize("case", SPARSE)
def test_sparse_rows_are_answered_as_dense_ones(case):
    """What is not stored is missing."""
    X = rows(missing=0.6)
    model = learned(case, X)
    assert_close(answers(model, as_sparse(X), n=None), answers(model, X, n=None), rtol=1e-9)


@pytest.mark.parametrize("case", SPARSE)
@pytest.mark.parametrize("how", ["fit", "partial_fit"])
def test_sparse_rows_teach_what_dense_ones_teach(case, how):
    X = rows(missing=0.6)
    dense, sparse = (getattr(new(case), how)(given) for given in (X, as_sparse(X)))
    np.testing.assert_allclose(filled(sparse, X), filled(dense, X), rtol=case.sparse_rtol)
    dense.partial_fit(X[:7])
    sparse.partial_fit(as_sparse(X[:7]))
    np.testing.assert_allclose(filled(sparse, X), filled(dense, X), rtol=case.sparse_rtol)
