"""A copy, through a file or not, is the same estimator: also in the middle of a stream."""

from __future__ import annotations

import copy
import pickle

import joblib
import numpy as np
import pytest
from sklearn.base import clone

from contracts.asking import EVERY, STREAMS, answers, assert_same, fingerprint, learned, learned_answers, new
from contracts.estimators import rows
from factorstream import load

of_this_process = pytest.mark.here(reason="what another place keeps cannot be saved yet")


def saved(model, folder):
    model.save(folder / "model")
    return load(folder / "model")


def through_joblib(model, folder):
    joblib.dump(model, folder / "model")
    return joblib.load(folder / "model")


COPIES = {
    "save": saved,
    "joblib": through_joblib,
    "pickle": lambda model, _: pickle.loads(pickle.dumps(model)),
    "deepcopy": lambda model, _: copy.deepcopy(model),
}


@of_this_process
@pytest.mark.parametrize("case", EVERY)
@pytest.mark.parametrize("how", COPIES)
def test_a_copy_answers_as_the_original(case, how, tmp_path):
    X = rows()
    for given in (X, X.astype(np.float32)):
        model = learned(case, given)
        again = COPIES[how](model, tmp_path)
        assert type(again) is type(model)
        assert fingerprint(again) == fingerprint(model)
        assert_same(answers(again, X), learned_answers(case, X, given))
    unfitted = COPIES[how](new(case), tmp_path)
    assert repr(unfitted) == repr(case.estimator)
    assert "state_" not in vars(unfitted)


def go_on(model, parts, expected, X, tmp_path):
    """Every kind of copy goes on with the parts, beside the model itself; at the end they give the expected answers."""
    copies = {how: COPIES[how](model, tmp_path) for how in COPIES}
    for part in parts:
        model.partial_fit(part)
        after = fingerprint(model)
        for how, again in copies.items():
            assert fingerprint(again.partial_fit(part)) == after, how
    assert fingerprint(model) == after
    for again in copies.values():
        assert_same(answers(again, X), expected)


@of_this_process
@pytest.mark.parametrize("case", STREAMS)
@pytest.mark.parametrize("seen", [1, 7, 40])
def test_a_copy_goes_on_bit_for_bit(case, seen, tmp_path):
    X = rows(50)
    parts = X[:seen], *np.split(X[seen:], [1, 4])
    model = learned(case, parts[0], how="partial_fit")
    go_on(model, parts[1:], learned_answers(case, X, *parts, how="partial_fit"), X, tmp_path)


@of_this_process
@pytest.mark.parametrize("case", STREAMS)
def test_a_copy_of_a_fit_goes_on_bit_for_bit(case, tmp_path):
    X = rows(50)
    parts = X[:40], *np.split(X[40:], [1, 4])
    go_on(learned(case, parts[0]), parts[1:], learned_answers(case, X, *parts), X, tmp_path)


@of_this_process
@pytest.mark.parametrize("case", STREAMS)
def test_a_copy_and_its_original_do_not_share_anything(case):
    X = rows()
    model = learned(case, X[:40], how="partial_fit")
    again, before = copy.deepcopy(model), fingerprint(model)
    again.partial_fit(X)
    assert fingerprint(model) == before


@pytest.mark.parametrize("case", EVERY)
def test_a_clone_has_the_parameters_and_nothing_else(case):
    X = rows()
    model = learned(case, X)
    other = clone(model)
    assert fingerprint(other) == fingerprint(new(case))
    assert repr(other.get_params()) == repr(model.get_params())
    assert fingerprint(other.fit(X)) == fingerprint(model)
