"""One value out of all proportion ruins nothing: it is taken as missing, with a warning, or refused."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from contracts.asking import (
    EVERY,
    SPARSE_STREAMS,
    STREAMS,
    answers,
    assert_same,
    filled,
    fingerprint,
    learned,
    learned_answers,
    new,
    those,
)
from contracts.estimators import as_sparse, rows

judged_first = pytest.mark.once
"""Rows are judged before the filter gets them: neither compiled code nor a place takes part in what is tested."""

REMOVED = (..., slice(None, None, 3))
QUESTIONS = ("transform", "impute", "predict_interval", "sample_imputations", "denoise")
"""Those that fill or explain rows; ``score_samples`` and ``alarms`` look for odd values, and are shown them."""


def error_after(model, how, X, truth):
    """Error of the entries of the last rows when every third of them is hidden."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        getattr(model, how)(X)
    asked = truth.copy()
    asked[REMOVED] = np.nan
    part = filled(model, asked)[:, : truth.shape[1]] - truth  # an imputer may append indicators
    return float(np.sqrt(np.nanmean(part[REMOVED] ** 2)))


def spoiled(X, row, value=None, column=2):
    """X with one entry 10⁶ standard deviations of its feature away, or with a given value."""
    X = X.copy()
    X[row, column] = 1e6 * np.nanstd(X[:, column]) + np.nanmean(X[:, column]) if value is None else value
    return X


@pytest.mark.parametrize("case", STREAMS)
@pytest.mark.parametrize("row", [0, 60])
def test_a_stream_forgets_one_absurd_entry(case, row):
    """200 rows after it the error is what it is in the clean stream, to 10%. Widths do not count in it."""
    X = rows(row + 201)
    truth = rows(40, missing=0.0)
    plain, other = new(case), new(case)
    for model in (plain, other):
        if "calibrate" in model.get_params():
            model.set_params(calibrate=False)
    expected = error_after(plain, "partial_fit", X, truth)
    assert error_after(other, "partial_fit", spoiled(X, row), truth) < 1.1 * expected


@judged_first
@pytest.mark.parametrize("case", EVERY)
def test_a_fit_takes_one_absurd_entry_as_missing(case):
    X = rows()
    with pytest.warns(UserWarning, match=r"absurd value at row 30, column 2.*taken as missing"):
        model = new(case).fit(spoiled(X, 30))
    assert_same(answers(model, X), learned_answers(case, X, spoiled(X, 30, np.nan)))


@judged_first
@pytest.mark.parametrize("case", STREAMS)
@pytest.mark.parametrize(
    ("value", "dtype"),
    [(9.96921e36, "float32"), (-9.96921e36, "float64"), (1e20, "float64"), (3.4028235e38, "float32")],
)
def test_a_fill_value_in_a_stream_is_missing_and_named(case, value, dtype):
    X = rows(60).astype(dtype)
    model = learned(case, X[:40], how="partial_fit")
    with pytest.warns(UserWarning, match="fill value"):
        model.partial_fit(spoiled(X[40:], 3, value))
    expected = learned_answers(case, X, X[:40], spoiled(X[40:], 3, np.nan), how="partial_fit")
    assert_same(answers(model, X), expected)


@judged_first
@pytest.mark.parametrize("case", STREAMS)
def test_a_call_warns_of_absurd_values_once(case):
    X = rows(120)
    X[40::3, 2] = 9.96921e36
    model = learned(case, X[:40], how="partial_fit")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.partial_fit(X[40:])
    told = [str(one.message) for one in caught if "absurd" in str(one.message)]
    assert len(told) == 1
    assert "row 0, column 2, which is taken as missing, like 26 more" in told[0]


@judged_first
@pytest.mark.parametrize("case", STREAMS)
def test_what_later_rows_show_to_be_absurd_is_warned_of(case):
    """The first value of a feature has nothing to be compared with."""
    X = rows(120, missing=0.0)
    X[0, 2] = 1e12
    model = new(case)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for row in X:
            model.partial_fit(row[None])
    assert any("absurd value" in str(one.message) for one in caught)


@judged_first
@pytest.mark.parametrize("case", STREAMS)
@pytest.mark.parametrize(("seen", "row"), [(0, 0), (0, 45), (3, 1), (3, 12), (40, 0), (40, 45)])
def test_what_is_absurd_does_not_depend_on_the_split(case, seen, row):
    X = spoiled(rows(60), row, 1e9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = learned_answers(case, rows(60), X, how="partial_fit")
        model = new(case)
        for part in np.split(X, sorted([seen, seen + 1, 20])) if seen else np.split(X, range(1, 60)):
            if len(part):
                model.partial_fit(part)
    found = answers(model, rows(60))
    for name in expected:
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-7, atol=1e-9, err_msg=name)


@judged_first
@pytest.mark.parametrize("case", SPARSE_STREAMS)
def test_an_absurd_entry_of_sparse_rows_is_missing_as_in_dense_ones(case):
    X = rows(60)
    X[40 + 3, 2] = 8.0
    model, expected = new(case).partial_fit(as_sparse(X[:40])), new(case).partial_fit(as_sparse(X[:40]))
    with pytest.warns(UserWarning, match="absurd value at row 3, column 2"):
        model.partial_fit(as_sparse(spoiled(X[40:], 3, -9999e9)))
    expected.partial_fit(as_sparse(spoiled(X[40:], 3, np.nan)))
    assert_same(answers(model, X), answers(expected, X))


@pytest.mark.parametrize("case", STREAMS)
def test_a_feature_that_has_changed_is_followed(case):
    """The eighth row elsewhere is believed."""
    X = rows(80, missing=0.0)
    X[50:, 2] += 1e6
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = new(case).partial_fit(X[:57])
        model.partial_fit(X[57:])
    seen = model.state_.seen
    assert seen is None or seen.high[2] > 1e6  # None: the stream is still starting
    assert all(np.isfinite(value).all() for value in answers(model, rows(20)).values())


def asked(model, X):
    """The answers to all of QUESTIONS that the model has, by name."""
    given = {"sample_imputations": {"random_state": 0}}
    return {
        name: np.asarray(getattr(model, name)(X, **given.get(name, {}))) for name in QUESTIONS if hasattr(model, name)
    }


@judged_first
@pytest.mark.parametrize("case", EVERY)
def test_questions_take_an_absurd_entry_as_missing(case):
    X = rows()
    model = learned(case, X)
    before, expected = fingerprint(model), asked(model, spoiled(X, 3, np.nan))
    for name in expected:
        with pytest.warns(
            UserWarning, match=r"absurd value at row 3, column 2, which is taken as missing: 1e\+09"
        ) as told:
            found = np.asarray(
                getattr(model, name)(spoiled(X, 3, 1e9), **({"random_state": 0} if "sample" in name else {}))
            )
        assert len(told) == 1
        np.testing.assert_array_equal(found, expected[name], err_msg=name)
    assert fingerprint(model) == before


@judged_first
@pytest.mark.parametrize("case", EVERY)
def test_questions_take_as_missing_what_fit_did(case):
    X = rows()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model, expected = new(case).fit(spoiled(X, 30)), learned(case, spoiled(X, 30, np.nan))
        assert_same(asked(model, spoiled(X, 30)), asked(expected, spoiled(X, 30, np.nan)))


@judged_first
@pytest.mark.filterwarnings("ignore:The dictionary and mean")  # are learned from few rows
@pytest.mark.parametrize("case", STREAMS)
@pytest.mark.parametrize("n", [2, 7, 60])
def test_questions_to_a_stream_take_a_fill_value_as_missing(case, n):
    X = rows(n, missing=0.0)
    model = learned(case, X, how="partial_fit")
    with pytest.warns(UserWarning, match="is .*fill value"):
        found = asked(model, spoiled(X, 1, 9.96921e36))
    assert_same(found, asked(model, spoiled(X, 1, np.nan)))


@judged_first
@pytest.mark.parametrize("case", SPARSE_STREAMS)
def test_questions_with_sparse_rows_take_absurd_entries_as_missing(case):
    X = rows()
    model = learned(case, X)
    with pytest.warns(UserWarning, match="absurd value at row 3, column 2"):
        found = asked(model, as_sparse(spoiled(X, 3, 1e9)))
    assert_same(found, asked(model, as_sparse(spoiled(X, 3, np.nan))))


@judged_first
@pytest.mark.parametrize("case", STREAMS)
@pytest.mark.parametrize("how", ["partial_fit", "transform"])
def test_a_warning_about_one_row_names_its_column_alone(case, how):
    """The number of a row within a call of one row would say nothing."""
    X = rows()
    model = learned(case, X, how="partial_fit")
    with pytest.warns(UserWarning, match="X has an absurd value in column 2, which is taken as missing: 1e"):
        getattr(model, how)(spoiled(X[:1], 0, 1e9))


@pytest.mark.parametrize("case", those(lambda case: hasattr(case.estimator, "score_samples")))
def test_odd_rows_are_found_by_their_absurd_entries(case):
    X = rows()
    model = learned(case, X)
    assert model.score_samples(spoiled(X, 3, 1e9)).argmin() == 3


def grown(model):
    """The stream in ever larger values, until it refuses them; what it was before that."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for size in 8.0 * 10.0 ** np.arange(3, 90, 3):
            before = fingerprint(model)
            try:
                model.partial_fit(np.full((9, 8), size))
            except ValueError as problem:
                return before, str(problem)
    return before, "taken"


@pytest.mark.parametrize("case", STREAMS)
def test_growth_beyond_what_can_be_computed_with_is_refused(case):
    model = learned(case, rows(60, missing=0.0), how="partial_fit")
    before, message = grown(model)
    assert "multiply the data by a constant" in message or "scale the features to similar units" in message
    assert "\n" not in message
    assert fingerprint(model) == before
