"""What the contracts compare: everything that an estimator holds, and everything that it can be asked."""

from __future__ import annotations

import copy
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import factorstream
from conftest import settings_of
from contracts.estimators import CASES, named, rows
from factorstream.tall import kernel
from split_place import Split

PACKAGE = str(Path(factorstream.__file__).parent)


def marks(case):
    """What takes long is `long`, and what compiled loops do not know is not tested with them: see the Makefile."""
    begins = hasattr(case.estimator, "_begin")  # no filter runs in the others
    known = begins and kernel.known(settings_of(case.estimator, rows()).model)
    return [pytest.mark.long] * case.long + [pytest.mark.uncompiled] * (not known)


def those(wanted):
    """The cases for which ``wanted(case)`` is true, as pytest takes them."""
    return [pytest.param(case, id=named(case), marks=marks(case)) for case in CASES if wanted(case)]


def ways(*given):
    """Every case with every (method, ...) of ``given`` whose method it has."""
    return [
        pytest.param(case, *way, id="-".join(map(str, (named(case), *way))), marks=marks(case))
        for case in CASES
        for way in given
        if hasattr(case.estimator, way[0])
    ]


EVERY = those(lambda case: True)
STREAMS = those(lambda case: hasattr(case.estimator, "partial_fit"))
INTERVALS = those(lambda case: hasattr(case.estimator, "predict_interval"))
DRAWS = those(lambda case: hasattr(case.estimator, "sample_imputations"))
SPARSE = those(lambda case: case.estimator.__sklearn_tags__().input_tags.sparse)
SPARSE_STREAMS = [case for case in SPARSE if case in STREAMS]


def new(case):
    """An estimator as it is before it has seen anything."""
    return clone(case.estimator)


_LEARNED = {}
_ANSWERS = {}


def content(X):
    return X.dtype.str, X.shape, X.tobytes()


def _original(case, parts, how):
    """What ``learned`` copies, with its fingerprint right after learning."""
    key = type(case.estimator), repr(case.estimator), how, *map(content, parts)
    if key not in _LEARNED:
        model = getattr(new(case), how)(parts[0].copy())
        for X in parts[1:]:
            model.partial_fit(X.copy())
        _LEARNED[key] = model, fingerprint(model)
    return _LEARNED[key]


def learned(case, *parts, how="fit"):
    """The estimator after ``how`` of the first part and ``partial_fit`` of the others. Parts are plain arrays.

    Many checks begin with the same rows: these are learned from once, and every call returns its own copy. To the last
    bit it must be what the original was right after learning: a copy that loses something is noticed here, and so is a
    check that changes more than its copy. A check of learning itself uses ``new``.
    """
    model, before = _original(case, parts, how)
    again = copy.deepcopy(model)
    assert fingerprint(model) == fingerprint(again) == before
    return again


def learned_answers(case, asked, *parts, how="fit"):
    """The answers about ``asked`` after the same learning, by a model that was never copied; found once, read-only."""
    model, before = _original(case, parts, how)
    assert fingerprint(model) == before
    key = id(model), content(asked)  # the model is kept, and so is its id
    if key not in _ANSWERS:
        _ANSWERS[key] = answers(model, asked)
        for value in _ANSWERS[key].values():
            value.flags.writeable = False
    return dict(_ANSWERS[key])


def fingerprint(model):
    """Every attribute, deep into its arrays; whether two of them are one object does not count."""
    return parts(vars(model))


def parts(value):
    if isinstance(value, Split):
        return parts(value.parts)
    if isinstance(value, tuple | list):
        return type(value).__name__, [parts(part) for part in value]
    if isinstance(value, dict):
        return sorted((key, parts(part)) for key, part in value.items())
    if sparse.issparse(value):
        return value.shape, parts([value.data, value.indices, value.indptr])
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.shape, value.dtype.str, value.flags.f_contiguous, value.tobytes()
    return repr(value)


def filled(model, X):
    return model.impute(X) if hasattr(model, "impute") else model.transform(X)


def answers(model, X, n=20):
    """Everything the model can be asked about the first ``n`` rows of X, by name.

    Whatever two models differ in shows in 20 as well, and nine questions about 60 rows can take longer than learning
    from them. Where questions themselves are tested, ``n`` is None: all rows.
    """
    X = X[:n]
    out = {"transform": model.transform(X), "filled": filled(model, X)}
    if hasattr(model, "inverse_transform"):
        out["inverse_transform"] = model.inverse_transform(out["transform"])
    if hasattr(model, "predict_interval"):
        out["lower"], out["upper"] = model.predict_interval(X, level=0.5)
        if hasattr(model, "impute"):
            out["std"] = model.impute(X, return_std=True)[1]
    if hasattr(model, "sample_imputations"):
        out["draws"] = model.sample_imputations(X, n_draws=2, random_state=0)
    if hasattr(model, "score_samples"):
        out["score_samples"] = model.score_samples(X)
    if hasattr(model, "forecast"):
        out["forecast"], out["forecast std"] = model.forecast(3, return_std=True)
        out["forecast lower"], out["forecast upper"] = model.forecast_interval(3, level=0.5)
        out["recent"], out["denoise"] = model.recent(), model.denoise(X)
        alarms = model.alarms(X)
        out["alarms up"], out["alarms fired"] = alarms.up, alarms.fired
        out["deviations"] = model.deviations(X)
    return {name: np.asarray(value) for name, value in out.items()}


def attributes(model):
    """Everything that the model tells about itself, by name."""
    names = [name for name in dir(type(model)) if name.endswith("_") and not name.startswith("_")]
    return {name: getattr(model, name) for name in names if isinstance(getattr(type(model), name), property)}


def assert_same(found, expected):
    assert found.keys() == expected.keys()
    for name in expected:
        np.testing.assert_array_equal(found[name], expected[name], err_msg=name)


def assert_close(found, expected, rtol):
    assert found.keys() == expected.keys()
    for name in expected:
        size = np.abs(expected[name]).max()
        np.testing.assert_allclose(found[name], expected[name], rtol=0, atol=rtol * size, err_msg=name)


class Stop(KeyboardInterrupt):
    """Somebody presses Ctrl-C."""


def calls(action, stop_at=None):
    """How many functions of the package ``action`` calls; at call number ``stop_at`` it is interrupted.

    A trace is told of Python's functions only: a profile would be told of NumPy's as well, and take longer.
    """
    count = 0

    def trace(frame, event, _):
        nonlocal count
        if frame.f_code.co_filename.startswith(PACKAGE):
            count += 1
            if count == stop_at:
                raise Stop

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        action()
    finally:
        sys.settrace(before)
    return count
