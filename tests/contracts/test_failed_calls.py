"""A call that fails, or is interrupted, changes nothing."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from contracts.asking import EVERY, STREAMS, Stop, answers, calls, fingerprint, learned, new, ways
from contracts.estimators import rows

BAD = {
    "infinite": lambda X: np.where(np.arange(X.size).reshape(X.shape) == 7, np.inf, X),
    "complex": lambda X: X + 1j,
    "words": lambda X: np.full(X.shape, "a", dtype=object),
    "nested": lambda X: np.array([[*X[0, 1:].tolist(), [2.0]]], dtype=object),
    "one row": lambda X: X[0],
    "empty": lambda X: X[:0],
}
OF_ANOTHER_WIDTH = {"narrow": lambda X: X[:, 1:], "wide": lambda X: np.hstack([X, X])}
WITHOUT_DATA = {"all missing": lambda X: np.full_like(X, np.nan)}


@pytest.mark.parametrize("case", EVERY)
@pytest.mark.parametrize("kind", [*BAD, *WITHOUT_DATA])
def test_a_failed_fit_changes_nothing(case, kind):
    X = rows()
    for model in (new(case), learned(case, X)):
        before = fingerprint(model)
        with pytest.raises((ValueError, TypeError)):
            model.fit({**BAD, **WITHOUT_DATA}[kind](X))
        assert fingerprint(model) == before


@pytest.mark.parametrize("case", STREAMS)
@pytest.mark.parametrize(
    ("kind", "seen"),
    [(kind, seen) for kind in (*BAD, *OF_ANOTHER_WIDTH) for seen in (0, 3, 40) if seen or kind in BAD],
)
def test_a_failed_partial_fit_changes_nothing(case, kind, seen):
    X = rows()
    model = learned(case, X[:seen], how="partial_fit") if seen else new(case)
    before = fingerprint(model)
    with pytest.raises((ValueError, TypeError)):
        model.partial_fit({**BAD, **OF_ANOTHER_WIDTH}[kind](X))
    assert fingerprint(model) == before


@pytest.mark.parametrize("case", EVERY)
def test_questions_change_nothing_and_bad_ones_are_refused(case):
    X = rows()
    model = learned(case, X)
    before = fingerprint(model)
    answers(model, X)
    for spoil in (*BAD.values(), *OF_ANOTHER_WIDTH.values()):
        with pytest.raises((ValueError, TypeError)):
            model.transform(spoil(X))
    assert fingerprint(model) == before


QUESTIONS = (
    "transform", "inverse_transform", "impute", "predict_interval", "sample_imputations", "score_samples", "score",
    "denoise", "alarms", "deviations", "get_feature_names_out",
)  # fmt: skip


@pytest.mark.parametrize("case", EVERY)
def test_before_fitting_every_question_says_so(case):
    model = new(case)
    for method in QUESTIONS:
        if hasattr(model, method):
            with pytest.raises(NotFittedError, match="not fitted yet"):
                getattr(model, method)(rows())
    for method, given in (("forecast", [3]), ("recent", [])):
        if hasattr(model, method):
            with pytest.raises(NotFittedError, match="not fitted yet"):
                getattr(model, method)(*given)


@pytest.mark.parametrize(
    ("case", "how", "seen"), ways(("fit", 0), ("fit", 25), ("partial_fit", 0), ("partial_fit", 5), ("partial_fit", 25))
)
def test_a_call_that_is_interrupted_anywhere_changes_nothing(case, how, seen):
    """Calls are counted on the second of two twins, for the first may fill a cache; then they are stopped soon, half
    way and at the very last one.
    """
    begin = "partial_fit" if hasattr(case.estimator, "partial_fit") else "fit"
    X = rows(30)
    model, twin, another = (learned(case, X[:seen], how=begin) if seen else new(case) for _ in range(3))
    getattr(twin, how)(X)
    before, count = fingerprint(model), calls(lambda: getattr(another, how)(X))
    for stop_at in (2, count // 4, count // 2, count):
        with pytest.raises(Stop):
            calls(lambda: getattr(model, how)(X), stop_at)
        assert fingerprint(model) == before
