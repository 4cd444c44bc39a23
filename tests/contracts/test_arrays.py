"""The caller's arrays: never changed, never kept; any layout and type; and what comes back is the caller's."""

from __future__ import annotations

import numpy as np
import pytest

from contracts.asking import EVERY, STREAMS, answers, assert_same, attributes, filled, fingerprint, learned, new
from contracts.estimators import rows
from factorstream import DictionaryFilter


@pytest.mark.parametrize("case", EVERY)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("missing", [0.0, 0.2])  # complete rows need not be copied on their way
def test_rows_are_neither_changed_nor_kept(case, order, missing):
    X = rows(missing=missing)
    given = np.array(X, order=order)
    model = new(case).fit(given)
    expected = answers(model, X)
    np.testing.assert_array_equal(given, X)
    given[:] = 1e3
    found = answers(model, X)
    assert_same(found, expected)
    for value in found.values():
        assert not np.shares_memory(value, X)


@pytest.mark.parametrize("case", STREAMS)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_rows_of_a_stream_are_neither_changed_nor_kept(case, order, missing):
    """After every call, those while a stream is starting too, the caller's array is overwritten; a twin gets copies."""
    X = rows(missing=missing)
    model, twin = new(case), new(case)
    for part in np.split(X, [1, 3, 12, 40]):
        given = np.array(part, order=order)
        model.partial_fit(given)
        np.testing.assert_array_equal(given, part)
        given[:] = 1e3
        twin.partial_fit(np.array(part, order=order))
        assert fingerprint(model) == fingerprint(twin)


LAYOUTS = {
    "list": lambda X: X.tolist(),
    "by columns": np.asfortranarray,
    "every second column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "backwards": lambda X: X[::-1].copy()[::-1],
    "read-only": lambda X: np.frombuffer(X.tobytes()).reshape(X.shape),
    "masked": lambda X: np.ma.masked_array(np.where(np.isnan(X), 1e6, X), np.isnan(X)),
}


@pytest.mark.parametrize("case", EVERY)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_layout_of_the_rows_does_not_matter(case, layout):
    X = rows()
    model = learned(case, X)
    other = new(case).fit(LAYOUTS[layout](X))
    np.testing.assert_allclose(filled(other, LAYOUTS[layout](X)), filled(model, X), rtol=1e-7)


OF_THE_ROWS = ("transform", "filled", "lower", "upper", "std", "draws", "denoise")
"""Answers that are about entries of the rows: they come in the rows' type."""


@pytest.mark.parametrize("case", EVERY)
def test_answers_come_in_the_type_of_the_rows(case):
    X = rows()
    for dtype in (np.float32, np.float64):
        found = answers(new(case).fit(X.astype(dtype)), X.astype(dtype))
        assert {name: found[name].dtype for name in OF_THE_ROWS if name in found and found[name].dtype != dtype} == {}
    whole = np.rint(np.nan_to_num(X, nan=7.0)).astype(int)
    np.testing.assert_array_equal(filled(new(case).fit(whole), whole), whole)


@pytest.mark.parametrize("case", EVERY)
def test_what_was_learned_cannot_be_written_through(case):
    """An attribute is read-only or a copy; so is every answer."""
    X = rows()
    model = learned(case, X)
    before, expected = fingerprint(model), answers(model, X)
    told = attributes(model)
    assert told
    for value in [*told.values(), *answers(model, X).values()]:
        if isinstance(value, np.ndarray) and value.flags.writeable:
            value[...] = 7
        if isinstance(value, list):
            value.clear()
    assert fingerprint(model) == before
    assert_same(answers(model, X), expected)


@pytest.mark.parametrize("case", EVERY)
@pytest.mark.parametrize("x", [rows()[0], rows()[0].tolist(), 3.0], ids=["array", "list", "number"])
def test_data_of_one_dimension_are_refused_in_one_sentence(case, x):
    model = learned(case, rows())
    questions = ("transform", "impute", "predict_interval", "score_samples", "sample_imputations", "alarms")
    for how in ("fit", "partial_fit", "inverse_transform", *questions):
        if hasattr(model, how):
            with pytest.raises(ValueError, match=r"^Reshape your data to a 2D array: .*, or one column as .*\.$"):
                getattr(model, how)(x)


@pytest.mark.parametrize("m", [20, 200])  # smaller and larger than what is worked on as a whole
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bounds_lie_around_what_was_filled(rng, m, dtype):
    """Both are made in the memory of what they are made of."""
    X = (rng.standard_normal((60, 3)) @ rng.standard_normal((3, m)) + rng.standard_normal((60, m))).astype(dtype)
    gone = rng.random(X.shape) < 0.2
    X[gone] = np.nan
    model = DictionaryFilter(3, random_state=0).fit(X)
    given = X.copy()
    (mean, std), (lower, upper) = model.impute(X, return_std=True), model.predict_interval(X)
    np.testing.assert_array_equal(X, given)
    assert not np.shares_memory(lower, upper)
    close = {"rtol": 20 * np.finfo(dtype).eps, "atol": 20 * np.finfo(dtype).eps * np.abs(mean).max()}
    reach = model._dictionary().half_width(0.95) * std
    np.testing.assert_allclose(lower, mean - reach, **close)
    np.testing.assert_allclose(upper, mean + reach, **close)
    np.testing.assert_array_equal(lower[~gone], X[~gone])
    np.testing.assert_array_equal(upper[~gone], X[~gone])
