"""One state: plain data that answers come from, whatever happens to the parameters, and that copies carry whole."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone

import factorstream
from factorstream import SequenceFilter
from sequence_problems import check_plain, gappy, hours, leaves, panel, table

SETTINGS = [
    {},
    {"drift": "none", "robust": True, "lag": 3},
    {"drift": 1e-3, "lag": 2},
    {"dynamics": np.array([[0.9, 0.1], [0.0, 0.5]]), "process_noise": [[0.2, 0.1], [0.1, 0.3]], "robust": 5.0},
]


def same(a, b):
    left, right = list(leaves(a)), list(leaves(b))
    return [path for path, _ in left] == [path for path, _ in right] and all(
        np.array_equal(u, v, equal_nan=isinstance(u, np.ndarray)) for (_, u), (_, v) in zip(left, right, strict=True)
    )


ROWS, _ = gappy(panel(T=300))
LEARNED = {}


def learned(settings, method):
    """A model fitted to ROWS by ``method``. Tests share it, so a test that changes it has to copy it first."""
    key = repr(settings), method
    if key not in LEARNED:
        LEARNED[key] = getattr(SequenceFilter(2, **settings), method)(ROWS.copy())
    return LEARNED[key]


def answers(model, X):
    alarms = model.alarms(X)
    return [
        *model.impute(X, return_std=True),
        *model.denoise(X, return_std=True),
        *model.predict_interval(X),
        *model.forecast(4, return_std=True),
        *model.recent(return_std=True),
        model.transform(X),
        model.score_samples(X),
        alarms.fired,
        alarms.up,
        model.components_,
        model.noise_variance_,
    ]


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_the_state_is_a_tree_of_plain_things_and_the_only_one(settings, method):
    model = learned(settings, method)
    check_plain(model.state_)
    parameters = set(SequenceFilter(2).get_params())
    assert set(vars(model)) - parameters == {"state_", "n_features_in_"}


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_the_state_is_plain_after_tables_too(library):
    X = table(library, panel(T=40), hours(library, 40))
    model = SequenceFilter(2, lag=3).fit(X[:30]).partial_fit(X[30:])
    check_plain(model.state_)
    assert set(vars(model)) - set(model.get_params()) == {"state_", "n_features_in_", "feature_names_in_"}


@pytest.mark.parametrize("settings", SETTINGS)
def test_parameters_set_after_a_fit_change_no_answer(settings):
    for method in ("fit", "partial_fit"):
        model = copy.deepcopy(learned(settings, method))
        before = answers(model, ROWS[:80])
        model.set_params(
            n_components=1, smooth=False, lag=9, robust=3.0, drift=0.5, alarm_rate=0.5, calibrate=False, dynamics=0.1
        )
        for a, b in zip(before, answers(model, ROWS[:80]), strict=True):
            np.testing.assert_array_equal(a, b)


def test_a_matrix_changed_after_a_fit_changes_no_answer_and_is_refused():
    A = np.array([[0.9, 0.1], [0.0, 0.5]])
    X, _ = gappy(panel(T=150))
    model = SequenceFilter(2, dynamics=A).fit(X)
    before = model.forecast(3)
    A[0, 1] = 0.3
    np.testing.assert_array_equal(model.forecast(3), before)
    with pytest.raises(ValueError, match=r"cannot go on with dynamics=.* began with other numbers; set it back"):
        model.partial_fit(X)
    A[0, 1] = 0.1
    model.partial_fit(X)


@pytest.mark.long
@pytest.mark.parametrize("settings", SETTINGS)
def test_copies_made_in_the_middle_of_a_stream_go_on_bit_for_bit(settings):
    X, _ = gappy(panel(1, T=120))
    model = learned(settings, "partial_fit")
    whole = SequenceFilter(2, **settings).partial_fit(np.vstack([ROWS, X]))  # never copied
    for made in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        made.partial_fit(X)
        assert same(made.state_, whole.state_)
        for a, b in zip(answers(made, X[:50]), answers(whole, X[:50]), strict=True):
            np.testing.assert_array_equal(a, b)
    assert model.n_samples_seen_ == 300
    assert not hasattr(clone(model), "state_")


@pytest.mark.parametrize("settings", SETTINGS[:2])
def test_a_stream_saved_while_it_learns_goes_on_bit_for_bit(settings, tmp_path):
    """At every row of some that fit, catch up and adjust."""
    whole, saved, busy = SequenceFilter(2, **settings), SequenceFilter(2, **settings), 0
    for t, row in enumerate(ROWS[:90]):
        whole.partial_fit(row[None])
        saved.partial_fit(row[None])
        if t % 4 == 3:
            saved.save(tmp_path / "stream")
            saved = factorstream.load(tmp_path / "stream")
            busy += saved.state_.stream.job is not None
            assert same(saved.state_, whole.state_)
    assert busy > 10


def test_one_more_row_does_not_change_the_answers_about_a_table():
    """A dictionary that drifts follows the stream; what it was when last learned is where every table begins."""
    X, _ = gappy(panel(T=300))
    for drift in ("none", 1e-3):
        model = SequenceFilter(2, drift=drift).fit(X)
        filled, components, ahead = model.impute(X), model.components_, model.forecast(1)
        for row in panel(3, T=5):
            model.partial_fit(row[None])
            np.testing.assert_array_equal(model.impute(X), filled)
            np.testing.assert_array_equal(model.components_, components)
        assert (model.forecast(1) != ahead).any()


def test_what_drifts_is_followed_by_forecasts():
    X = panel(T=300)
    model = SequenceFilter(2, drift=1e-2).fit(X)
    now, learned = model.state_.fitted.now.emission.C, model.state_.model.emission.C
    assert np.abs(now - learned).max() > 0.05
    model.partial_fit(panel(1, T=128))  # a window later it is learned again
    np.testing.assert_array_equal(model.state_.fitted.now.emission.C, model.state_.model.emission.C)
