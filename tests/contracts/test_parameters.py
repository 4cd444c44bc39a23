"""Every parameter acts, at ``fit``; nothing that is set later changes an answer; all that was learned is the state."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import factorstream
from contracts.asking import (
    DRAWS,
    EVERY,
    STREAMS,
    answers,
    assert_same,
    attributes,
    calls,
    fingerprint,
    learned,
    ways,
)
from contracts.estimators import CASES, rows
from contracts.parameters import AGAIN, QUICK, other
from factorstream import progress
from factorstream.arrays import is_here
from factorstream.core.filter.coefficients import COEFFICIENT_STEPS
from factorstream.estimators._validation import MAY_CHANGE
from split_place import Split

FIRST = {type(case.estimator).__name__: case.estimator for case in reversed(CASES)}
"""One estimator of every class, with few parameters that are not its defaults."""
PARAMETERS = [
    *((name, each, other(one, each)) for name, one in FIRST.items() for each in one.get_params(deep=False)),
    *AGAIN,
]
HERE = pytest.mark.here(reason="of tables whose features are kept in one array")


def test_every_public_class_is_in_the_list():
    public = {name for name in factorstream.__all__ if hasattr(getattr(factorstream, name), "fit")}
    assert set(FIRST) == public


def outcome(model, how, X, capsys):
    """What a fit, or a stream, gives and prints."""
    capsys.readouterr()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a feature without any value is dropped
        getattr(model, how)(X)
    told = {name: value for name, value in attributes(model).items() if isinstance(value, int | float | np.ndarray)}
    found = {**{name: np.asarray(value) for name, value in told.items()}, **answers(model, X)}
    said = capsys.readouterr()
    return {name: (value.shape, value.tobytes()) for name, value in found.items()}, said.out, bool(said.err)


OUTCOMES = {}


@pytest.mark.parametrize(
    ("name", "parameter", "changed"), [pytest.param(*each, marks=HERE if each[2].here else ()) for each in PARAMETERS]
)
def test_every_parameter_acts(name, parameter, changed, capsys, monkeypatch):
    """Another value of it changes what is learned, answered or printed, or else the work that is done."""
    monkeypatch.setattr(progress, "DELAY", 0.0)
    X = changed.data(rows(130))
    base = clone(FIRST[name]).set_params(**QUICK.get(name, {}), **changed.beside)
    if parameter in QUICK.get(name, {}):
        base.set_params(**{parameter: FIRST[name].get_params()[parameter]})
    model = clone(base).set_params(**{parameter: changed.value})
    if not changed.costs_only:
        key = repr(base), changed.how, np.asarray(X).tobytes()
        if key not in OUTCOMES:  # the default values are those of nearly every line
            OUTCOMES[key] = outcome(clone(base), changed.how, X, capsys)
        assert outcome(model, changed.how, X, capsys) != OUTCOMES[key]
        return
    assert calls(lambda: model.fit(X)) > 1.5 * calls(lambda: base.fit(X))
    np.testing.assert_allclose(model.transform(X), base.transform(X), rtol=1e-7)


NONSENSE = [
    "x", "", -1, None, float("nan"), float("inf"), [], {}, object(), np.ones((2, 2, 2)), np.array([["a"]]), 2.5, True,
    1 + 2j, [[1, 2], [3]], b"x", Fraction(5, 2), [None], np.datetime64("2020-01-01"), np.ma.masked,
]  # fmt: skip


@pytest.mark.once
@pytest.mark.parametrize(
    ("name", "parameter"), [(name, each) for name, one in FIRST.items() for each in one.get_params(deep=False)]
)
def test_nonsense_is_refused_by_the_name_of_the_parameter(name, parameter):
    """Set as an attribute, as anybody can; some of it makes sense to some parameters."""
    X = rows(12)
    taken, unnamed = 0, []
    for value in NONSENSE:
        for how in ("fit", "partial_fit"):
            model = clone(FIRST[name])
            if hasattr(model, how):
                setattr(model, parameter, value)
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        getattr(model, how)(X)
                    taken += 1
                except ValueError as problem:
                    unnamed += [] if parameter in str(problem) else [(value, str(problem))]
    assert unnamed == []
    assert taken < len(NONSENSE)


@pytest.mark.parametrize("n_draws", [2.7, 0, -1, "3", None, True, np.float64(2.0)])
@pytest.mark.parametrize("case", DRAWS)
def test_a_number_of_draws_that_is_none_is_refused(case, n_draws):
    model = learned(case, rows())
    with pytest.raises(ValueError, match="n_draws must be a whole number of at least 1"):
        model.sample_imputations(rows(), n_draws=n_draws)


@pytest.mark.parametrize(("case", "how"), ways(("fit",), ("partial_fit",)))
def test_answers_survive_every_change_of_parameters(case, how):
    """Nonsense is set in every place: an answer that looked at a parameter could not be given."""
    X = rows()
    model = learned(case, X, how=how)
    before = answers(model, X)
    model.set_params(**dict.fromkeys(model.get_params(deep=False), object()))
    assert_same(answers(model, X), before)


@pytest.mark.parametrize("case", STREAMS)
def test_a_stream_does_not_go_on_with_other_parameters(case):
    """The sentence names the parameter; set back, the stream goes on as if nothing had happened."""
    X = rows(40)
    model = learned(case, X[:30], how="partial_fit")
    before = fingerprint(model)
    for parameter, began_with in model.get_params(deep=False).items():
        if parameter in MAY_CHANGE:
            continue
        value = other(model, parameter).value
        for changed in ([] if value == began_with else [value]) + [object()]:
            model.set_params(**{parameter: changed})
            with pytest.raises(ValueError, match=rf"with {parameter}=.*set it back, or call fit to start again"):
                model.partial_fit(X[30:])
        model.set_params(**{parameter: began_with})
        assert fingerprint(model) == before
    model.partial_fit(X[30:])
    assert fingerprint(model) == fingerprint(learned(case, X[:30], X[30:], how="partial_fit"))
    model.set_params(n_components=4).fit(X)


@pytest.mark.parametrize("case", EVERY)
def test_all_that_was_learned_is_in_the_state(case):
    """Beside parameters and what scikit-learn keeps there is one attribute."""
    model = learned(case, rows())
    kept = set(vars(model)) - set(model.get_params(deep=False))
    assert kept == {"state_", "n_features_in_"}
    assert_plain(model.state_)


def assert_plain(value):
    """Records, tuples, dictionaries, arrays, numbers and text all the way down."""
    if any(value is step for step in COEFFICIENT_STEPS.values()):
        return  # known by its name
    if isinstance(value, Split):
        assert_plain(value.parts)
    elif isinstance(value, tuple | list):
        for part in value:
            assert_plain(part)
    elif isinstance(value, dict):
        assert_plain(list(value.items()))
    elif isinstance(value, np.ndarray):
        assert value.dtype != object
    elif not is_here(value):
        assert value.ndim > 0  # an array of another library
    else:
        plain = (type(None), bool, int, float, str, np.generic, np.dtype)
        assert isinstance(value, plain) or sparse.issparse(value), type(value)
