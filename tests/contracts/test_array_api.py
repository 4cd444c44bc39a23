"""Arrays of other libraries: the same kind on the same device comes out, with the numbers that NumPy arrays give.

The other library is array-api-strict, on a device that is not the host: what is not brought there, and what is no
function of the array API, is an error.
"""

from __future__ import annotations

import copy
import pickle

import array_api_strict
import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone

from contracts.asking import attributes, named
from contracts.estimators import CASES, as_sparse, rows
from factorstream import load, moved
from factorstream.arrays import device_of, dtype_of, is_here, to_host
from factorstream.estimators._absurd import AbsurdValueWarning
from factorstream.tall.array_place import ArrayPlace
from strict_place import DEVICE, STRICT

pytestmark = [
    pytest.mark.here(reason="rows say themselves where they are"),
    pytest.mark.uncompiled,
    pytest.mark.long,  # every estimator, method and type once more
]

THERE = [pytest.param(case, id=named(case)) for case in CASES if getattr(case.estimator, "_takes_devices", False)]
ONE_EACH = [
    case
    for case in THERE
    if case.values[0].estimator.n_components in (3, "auto") and "covariance" not in case.id and "robust" not in case.id
]
"""One of every class: for what does not depend on parameters."""
STREAMS = [case for case in THERE if hasattr(case.values[0].estimator, "partial_fit")]
DTYPES = [np.float64, np.float32]
METHODS = {
    "transform": {},
    "impute": {"return_std": True},
    "predict_interval": {"level": 0.5},
    "sample_imputations": {"n_draws": 2, "random_state": 0},
    "score_samples": {},
}


def there(X):
    return STRICT.put(X, 1)


def answers(model, X):
    """Every answer about the rows, by the method's name; pairs are two answers."""
    out = {}
    for name, options in METHODS.items():
        if hasattr(model, name):
            if name == "impute" and not hasattr(model, "predict_interval"):
                options = {}
            found = getattr(model, name)(X, **options)
            for k, part in enumerate(found if isinstance(found, tuple) else (found,)):
                out[name, k] = part
    if hasattr(model, "inverse_transform"):
        out["inverse_transform", 0] = model.inverse_transform(out["transform", 0])
    return out


def assert_alike(found, expected, dtype):
    """There, of the same types, and equal up to rounding of the type that was computed in."""
    rtol = 1e-8 if dtype == np.float64 else 2e-3
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        assert device_of(found[name]) == DEVICE, name
        assert dtype_of(found[name]) == value.dtype, name
        size = np.abs(value[np.isfinite(value)]).max(initial=1.0)
        np.testing.assert_allclose(to_host(found[name]), value, rtol=rtol, atol=rtol * size, err_msg=str(name))


@pytest.mark.parametrize("case", THERE)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_the_same_kind_on_the_same_device_comes_out(case, dtype, missing):
    X = rows(missing=missing).astype(dtype)
    here, elsewhere = clone(case.estimator).fit(X), clone(case.estimator).fit(there(X))
    asked = rows(20, seed=3).astype(dtype)
    assert_alike(answers(elsewhere, there(asked)), answers(here, asked), dtype)


@pytest.mark.parametrize("case", STREAMS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_stream_of_arrays_is_that_of_numpy(case, dtype):
    X = rows().astype(dtype)
    here, elsewhere = clone(case.estimator), clone(case.estimator)
    for first, last in ((0, 1), (1, 4), (4, 30), (30, 60)):
        here.partial_fit(X[first:last])
        elsewhere.partial_fit(there(X[first:last]) if first != 4 else X[first:last])  # NumPy rows are brought there
    assert elsewhere.n_samples_seen_ == here.n_samples_seen_
    assert_alike(answers(elsewhere, there(X[:20])), answers(here, X[:20]), dtype)


@pytest.mark.parametrize("case", THERE)
def test_what_was_learned_is_of_the_kind_of_the_rows(case):
    X = rows()
    here, elsewhere = attributes(clone(case.estimator).fit(X)), attributes(clone(case.estimator).fit(there(X)))
    assert here.keys() == elsewhere.keys()
    for name, value in here.items():
        if isinstance(value, np.ndarray) and value.dtype != object:
            assert device_of(elsewhere[name]) == DEVICE, name
            assert dtype_of(elsewhere[name]) == value.dtype, name
            np.testing.assert_allclose(to_host(elsewhere[name]), value, rtol=1e-6, atol=1e-8, err_msg=name)
        else:
            assert isinstance(elsewhere[name], float if isinstance(value, float) else type(value)), name


@pytest.mark.parametrize("case", ONE_EACH)
def test_numpy_rows_asked_of_a_model_elsewhere_come_back_as_numpy(case):
    X = rows()
    model = clone(case.estimator).fit(there(X))
    expected = answers(model, there(X[:20]))
    for name, value in answers(model, X[:20]).items():
        assert is_here(value), name
        np.testing.assert_array_equal(value, to_host(expected[name]), err_msg=str(name))


@pytest.mark.parametrize("case", [case for case in THERE if hasattr(case.values[0].estimator, "score_samples")])
def test_sparse_rows_asked_of_a_model_elsewhere(case):
    X = rows()
    model = clone(case.estimator).fit(there(X))
    np.testing.assert_array_equal(model.impute(as_sparse(X[:5])), model.impute(X[:5]))


@pytest.mark.parametrize("case", THERE)
@pytest.mark.parametrize("to", ["device", "host"])
def test_a_moved_model_answers_alike(case, to):
    X = rows()
    there_X = there(X)
    begun = clone(case.estimator).fit(X if to == "device" else there_X)
    model = moved(begun, there_X if to == "device" else None)
    assert places(begun.state_) == places(clone(case.estimator).fit(X if to == "device" else there_X).state_)
    assert places(model.state_) == places(clone(case.estimator).fit(there_X if to == "device" else X).state_)
    asked, before = X[:20], answers(begun, X[:20] if to == "device" else there_X[:20, :])
    after = answers(model, there(asked) if to == "device" else asked)
    for name in before:
        assert device_of(after[name]) == (DEVICE if to == "device" else None)
        np.testing.assert_allclose(
            to_host(after[name]), to_host(before[name]), rtol=1e-12, atol=1e-12, err_msg=str(name)
        )


def places(value):
    """Where every array of a state is, by the names of its fields."""
    if hasattr(value, "_fields"):
        return {name: found for name in value._fields if (found := places(getattr(value, name)))}
    return str(device_of(value)) if getattr(value, "shape", ()) else None


@pytest.mark.parametrize("case", ONE_EACH)
def test_a_model_elsewhere_is_saved_as_one_of_the_host(case, tmp_path):
    X = rows()
    model = clone(case.estimator).fit(there(X))
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    expected = answers(moved(model), X[:20])
    for name, value in answers(loaded, X[:20]).items():
        np.testing.assert_array_equal(value, expected[name], err_msg=str(name))


@pytest.mark.parametrize("case", ONE_EACH)
@pytest.mark.parametrize("how", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_copies_and_pickles_stay_where_they_are(case, how):
    X = there(rows())
    model = clone(case.estimator).fit(X)
    found, expected = answers(how(model), X), answers(model, X)
    for name in expected:
        assert device_of(found[name]) == DEVICE
        np.testing.assert_array_equal(to_host(found[name]), to_host(expected[name]), err_msg=str(name))


# ------------------------------------------------------------------ what is refused, and in which words


@pytest.mark.parametrize("case", ONE_EACH)
def test_rows_of_another_place_are_refused(case):
    X = rows()
    here, elsewhere = clone(case.estimator).fit(X), clone(case.estimator).fit(there(X))
    farther = array_api_strict.asarray(X, device=array_api_strict.Device("device2"))
    for model, rows_of in ((here, there(X)), (elsewhere, farther)):
        for method in ("transform", "impute", "predict_interval", "partial_fit", "inverse_transform"):
            if hasattr(model, method):
                words = (
                    rf"to \w+\.{method}\(\) must use the same namespace and device.*factorstream\.moved\(model, X\)\.$"
                )
                with pytest.raises(ValueError, match=words):
                    getattr(model, method)(rows_of)


BAD = {
    "Reshape your data to a 2D array": lambda X: X[0, :],
    "Found array with dim 3": lambda X: X[None, ...],
    "Found array with 0 sample": lambda X: X[:0, :],
    "Found array with 0 feature": lambda X: X[:, :0],
    "Complex data not supported": lambda X: array_api_strict.astype(X, array_api_strict.complex128),
    "infinity at row 3, column 2; ": lambda X: _with_entry(X, np.inf),
}


def _with_entry(X, value):
    X = array_api_strict.asarray(X, copy=True)
    X[3, 2] = value
    return X


@pytest.mark.parametrize("case", ONE_EACH)
@pytest.mark.parametrize("words", BAD)
def test_bad_rows_elsewhere_are_refused_and_change_nothing(case, words):
    X = there(rows())
    model = clone(case.estimator).fit(X)
    state = model.state_
    for method in ("fit", "partial_fit", "transform"):
        if hasattr(model, method):
            with pytest.raises(ValueError, match=words):
                getattr(model, method)(BAD[words](X))
    assert model.state_ is state


@pytest.mark.parametrize("case", [case for case in CASES if not getattr(case.estimator, "_takes_devices", False)])
def test_estimators_of_the_host_say_so(case):
    with pytest.raises(TypeError, match=r"in the memory of the host, and X are arrays of .*; pass NumPy rows\.$"):
        clone(case.estimator).fit(there(rows(missing=0.0)))
    with pytest.raises(TypeError, match=r"computes in the memory of the host only; use it with NumPy rows\.$"):
        moved(clone(case.estimator), there(rows()))


@pytest.mark.parametrize("case", ONE_EACH)
def test_absurd_values_are_found_there(case):
    X = rows()
    X[7, 3], X[9, 1] = 1e9, 9.969209968386869e36
    with pytest.warns(AbsurdValueWarning, match="at row 7, column 3, which is taken as missing, like 1 more"):
        here = clone(case.estimator).fit(X)
    with pytest.warns(AbsurdValueWarning, match="at row 7, column 3, which is taken as missing, like 1 more"):
        elsewhere = clone(case.estimator).fit(there(X))
    with pytest.warns(AbsurdValueWarning, match="at row 7, column 3"):
        expected = here.impute(X)
    with pytest.warns(AbsurdValueWarning, match="at row 7, column 3"):
        found = to_host(elsewhere.impute(there(X)))
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert to_host(there(X))[7, 3] == 1e9


@pytest.mark.parametrize("case", ONE_EACH)
def test_whole_numbers_are_taken(case):
    X = np.rint(np.nan_to_num(rows(), nan=7.0))
    whole = array_api_strict.astype(there(X), array_api_strict.int32)
    found = clone(case.estimator).fit(whole).impute(whole)
    assert dtype_of(found) == np.float64
    np.testing.assert_array_equal(to_host(found), X)


@pytest.mark.parametrize("case", ONE_EACH)
def test_rows_elsewhere_are_not_changed(case):
    X = rows()
    given = there(X.copy())
    model = clone(case.estimator).fit(given)
    answers(model, given)
    np.testing.assert_array_equal(to_host(given), X)
    expected = {name: to_host(value).copy() for name, value in answers(model, given).items()}
    given[:, :] = 1e3
    for name, value in answers(model, there(X)).items():
        np.testing.assert_array_equal(to_host(value), expected[name], err_msg=str(name))


@pytest.mark.parametrize("case", ONE_EACH)
def test_the_convention_of_scikit_learn(case):
    """With its dispatch the same comes out; NumPy rows asked of a model elsewhere are then refused, as it wants."""
    X = rows()
    with config_context(array_api_dispatch=True):
        model = clone(case.estimator).fit(there(X))
        found = answers(model, there(X[:20]))
        with pytest.raises(ValueError, match="must use the same namespace"):
            model.transform(X)
    for name, value in answers(model, there(X[:20])).items():
        np.testing.assert_array_equal(to_host(found[name]), to_host(value), err_msg=str(name))


class OutOfMemoryError(RuntimeError):
    """What PyTorch and CuPy call theirs."""


@pytest.mark.parametrize("case", ONE_EACH)
@pytest.mark.parametrize("method", ["fit", "partial_fit", "transform", "impute"])
def test_a_device_without_memory_is_one_sentence(case, method, monkeypatch):
    """The error comes from the place itself, wherever it is asked for an array, as that of a full device would."""
    X = there(rows())
    model = clone(case.estimator)
    if not hasattr(model, method):
        pytest.skip("no such method")
    if hasattr(model, "marginals"):
        model.set_params(marginals="linear", residual=None)  # what goes beyond a factorisation is done by the host
    state = model.fit(X).state_

    def full(*_):
        raise OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")

    monkeypatch.setattr(ArrayPlace, "each", full)
    with pytest.raises(MemoryError, match=r"^The device has too little memory .* fewer rows per call, or lower .*\.$"):
        getattr(model, method)(X)
    assert model.state_ is state
