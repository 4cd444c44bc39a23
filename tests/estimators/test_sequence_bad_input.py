"""Bad data, settings and questions: one sentence each, and nothing is changed."""

from __future__ import annotations

import copy
from functools import cache

import numpy as np
import pytest

from factorstream import SequenceFilter
from sequence_problems import GOOD, hours, quick


def with_value(value):
    X = GOOD.copy()
    X[3, 2] = value
    return X


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (GOOD[:4], r"n_samples=4 time steps, fewer than n_components=5.*partial_fit"),
        (with_value(np.inf), "infinity at row 3, column 2"),
        (with_value(-np.inf), "infinity at row 3, column 2"),
        (np.full((20, 4), np.nan), "no observed entry"),
        (GOOD[0], "2D array"),
        (GOOD[:0], "0 sample"),
    ],
)
def test_bad_data(X, message):
    model = SequenceFilter(5)
    with pytest.raises(ValueError, match=message):
        model.fit(X)
    assert vars(model) == vars(SequenceFilter(5))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_components": 0}, "n_components"),
        ({"robust": 0}, "robust"),
        ({"robust": -1.0}, "robust"),
        ({"robust": 2.0}, "robust"),
        ({"lag": -1}, "lag"),
        ({"drift": "yes"}, "drift"),
        ({"dynamics": 1.5}, "dynamics"),
        ({"dynamics": "wild"}, "dynamics"),
        ({"dynamics": np.eye(3)}, r"dynamics.*shape \(2, 2\)"),
        ({"dynamics": [[1.0, 1.0], [1.0, 1.0]]}, "spectral radius is 2"),
        ({"n_components": 9, "dynamics": np.eye(9)}, "n_features=6"),
        ({"process_noise": 0.0}, "process_noise"),
        ({"process_noise": 1e-13}, "process_noise must be at least 1e-12"),
        ({"process_noise": np.diag([1.0, 1e-18])}, "process_noise must be at least 1e-12"),
        ({"process_noise": np.diag([1e8, 1e-10])}, r"process_noise must be at least 0\.0001"),
        ({"process_noise": -np.eye(2)}, "process_noise must be positive definite"),
        ({"drift": -1.0}, "drift"),
        ({"drift": True}, "The .drift. parameter of SequenceFilter must be .* or a float in .* Got True instead"),
        ({"dynamics": False}, "The .dynamics. parameter .* or an array-like. Got False instead"),
        ({"process_noise": True}, "The .process_noise. parameter .* Got True instead"),
        ({"drift": np.inf}, "drift"),
        ({"dynamics": [["a", "b"], ["c", "d"]]}, "dynamics must be an array of numbers"),
        ({"alarm_rate": 0.0}, "alarm_rate"),
        ({"max_iter": 0}, "max_iter"),
        ({"tol": -1.0}, "tol"),
    ],
)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_bad_settings(settings, message, method):
    model = SequenceFilter(**{"n_components": 2, **settings})
    with pytest.raises(ValueError, match=message):
        getattr(model, method)(GOOD)
    assert not hasattr(model, "state_")


def test_bad_questions():
    model = SequenceFilter(2).fit(GOOD)
    for steps in (0, -1, 2.5, True, "two"):
        with pytest.raises(ValueError, match="whole number of at least 1"):
            model.forecast(steps)
    with pytest.raises(ValueError, match="strictly between 0 and 1"):
        model.predict_interval(GOOD, level=95)
    with pytest.raises(ValueError, match="2 components"):
        model.set_params(drift="none").fit(GOOD).inverse_transform(GOOD)
    with pytest.raises(ValueError, match="5 features"):
        model.impute(GOOD[:, :5])


@pytest.mark.parametrize(
    "other",
    [
        {"n_components": 3},
        {"robust": True},
        {"drift": "level"},
        {"dynamics": 0.5},
        {"process_noise": np.eye(2)},
        {"lag": 3},
        {"smooth": False},
        {"alarm_rate": 1e-3},
        {"calibrate": True},
        {"max_iter": 3},
        {"tol": 0.0},
    ],
)
@pytest.mark.parametrize("began", ["fit", "partial_fit"])
def test_a_stream_goes_on_as_it_began(other, began):
    model = copy.deepcopy(taught(began))
    state = model.state_
    with pytest.raises(
        ValueError, match=f"cannot go on with {next(iter(other))}=.* the stream began with .*; set it back"
    ):
        model.set_params(**other).partial_fit(GOOD)
    assert model.state_ is state
    before = quick(2, verbose=1).get_params()
    assert model.set_params(**before).partial_fit(GOOD).n_samples_seen_ == 80


@cache
def taught(how):
    """A model that has seen GOOD; tests share it, and copy it before they change it."""
    return getattr(quick(2), how)(GOOD)


def test_a_row_or_column_without_its_second_dimension():
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(GOOD, columns=list("abcdef"))
    model = SequenceFilter(2).fit(X)
    for ask in (model.fit, model.partial_fit, model.impute):
        with pytest.raises(ValueError, match=r"pass one row as df\.iloc\[\[k\]\]"):
            ask(X.iloc[3])
        with pytest.raises(ValueError, match=r"pass one row as x\[None, :\]"):
            ask(GOOD[3])
    assert model.partial_fit(X.iloc[[3]]).n_samples_seen_ == 41


@pytest.mark.parametrize("method", ["impute", "denoise", "predict_interval"])
def test_answers_that_float32_cannot_hold_are_refused_in_one_sentence(method):
    """What was learned in float64 is asked for with float32 rows; the suite makes an error of every warning."""
    X = 1e60 * np.abs(GOOD)
    model = SequenceFilter(2).fit(X)
    with pytest.raises(ValueError, match=r"X has .* of size .*e\+6\d, too large for float32; pass float64"):
        getattr(model, method)(np.full((3, 6), np.nan, dtype=np.float32))
    assert np.isfinite(getattr(model, method)(np.full((3, 6), np.nan))).all()


def test_rows_of_states_that_float32_cannot_hold_are_refused_in_one_sentence():
    model = SequenceFilter(2, drift="none").fit(1e60 * GOOD)
    states = np.ones((3, model.n_components_))
    with pytest.raises(ValueError, match=r"X has rows of size .*e\+6\d, too large for float32; pass float64"):
        model.inverse_transform(states.astype(np.float32))
    assert model.inverse_transform(states).dtype == np.float64


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_table_of_time_stamps_alone(library):
    frames = pytest.importorskip(library)
    with pytest.raises(ValueError, match=r"X has no column of numbers \(time stamps do not count\)"):
        quick(1).fit(frames.DataFrame({"when": hours(library, 5)}))
