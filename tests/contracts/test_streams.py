"""However the rows are divided, the result is the same."""

from __future__ import annotations

import numpy as np
import pytest

from contracts.asking import EVERY, SPARSE, STREAMS, answers, assert_close, assert_same, filled, fingerprint, new, those
from contracts.estimators import as_sparse, rows


@pytest.mark.parametrize("case", STREAMS)
@pytest.mark.parametrize(
    "cuts", [range(1, 60), [1, 2, 5, 11, 30], [59], [25]], ids=["singly", "growing", "last", "two"]
)
def test_any_split_of_a_stream_gives_the_same(case, cuts):
    X = rows()
    whole = answers(new(case).partial_fit(X), X)
    model = new(case)
    for part in np.split(X, list(cuts)):
        model.partial_fit(part)
    if case.exact:
        assert_same(answers(model, X), whole)
    else:
        assert_close(answers(model, X), whole, rtol=1e-9)


@pytest.mark.parametrize("case", those(lambda case: not case.ordered))
def test_rows_are_answered_one_by_one_as_all_together(case):
    X = rows()
    model = new(case).fit(X)
    whole = filled(model, X)
    singly = np.concatenate([filled(model, X[k : k + 1]) for k in range(len(X))])
    np.testing.assert_allclose(singly, whole, rtol=1e-9)
    np.testing.assert_allclose(filled(model, X[::-1]), whole[::-1], rtol=1e-9)


@pytest.mark.parametrize("case", EVERY)
def test_fitting_again_forgets_what_was_before(case):
    X = rows()
    model = new(case).fit(rows(seed=1)).fit(X)
    assert_same(answers(model, X), answers(new(case).fit(X), X))


@pytest.mark.parametrize("case", EVERY)
def test_the_same_seed_gives_the_same_bits(case):
    X = rows()
    assert fingerprint(new(case).fit(X)) == fingerprint(new(case).fit(X))


@pytest.mark.parametrize("case", SPARSE)
def test_sparse_rows_are_answered_as_dense_ones(case):
    """What is not stored is missing."""
    X = rows(missing=0.6)
    model = new(case).fit(X)
    assert_close(answers(model, as_sparse(X)), answers(model, X), rtol=1e-9)


@pytest.mark.parametrize("case", SPARSE)
@pytest.mark.parametrize("how", ["fit", "partial_fit"])
def test_sparse_rows_teach_what_dense_ones_teach(case, how):
    X = rows(missing=0.6)
    dense, sparse = (getattr(new(case), how)(given) for given in (X, as_sparse(X)))
    np.testing.assert_allclose(filled(sparse, X), filled(dense, X), rtol=case.sparse_rtol)
    dense.partial_fit(X[:7])
    sparse.partial_fit(as_sparse(X[:7]))
    np.testing.assert_allclose(filled(sparse, X), filled(dense, X), rtol=case.sparse_rtol)
