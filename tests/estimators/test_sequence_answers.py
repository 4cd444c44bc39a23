"""What a fitted sequence model can be asked: forecasts, states, scores, alarms; and its copies."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy import stats

import reference_sequences as ref
from dynamics_problems import changed, linear
from factorstream import SequenceFilter, progress
from factorstream.core.dynamics.fit import filtered, smoothed
from factorstream.core.dynamics.scale import student_factor
from factorstream.estimators._sequence_answers import Alarms
from factorstream.metrics import rmse
from sequence_problems import gappy, panel, quick

ASKED = {
    "impute": lambda model, X: model.impute(X),
    "denoise": lambda model, X: model.denoise(X),
    "predict_interval": lambda model, X: model.predict_interval(X, level=0.8),
    "transform": lambda model, X: model.transform(X),
    "score_samples": lambda model, X: model.score_samples(X),
    "alarms": lambda model, X: model.alarms(X).score,
    "forecast": lambda model, X: model.forecast(3),
    "forecast_interval": lambda model, X: model.forecast_interval(3, level=0.8),
}


@pytest.mark.parametrize("question", ASKED)
def test_questions_that_take_long_say_so_and_answer_the_same(question, monkeypatch, capsys):
    X, _ = gappy(panel(T=60))
    model = quick(2, verbose=1).fit(X)
    capsys.readouterr()
    soon = ASKED[question](model, X)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr(progress, "DELAY", 0.0)
    late = ASKED[question](model, X)
    said = capsys.readouterr()
    assert said.out == ""
    assert re.search(r"^SequenceFilter:.* done after [0-9]+ s$", said.err, re.MULTILINE)
    np.testing.assert_array_equal(soon, late)


@pytest.mark.parametrize("drift", ["none", 1e-3])
def test_a_forecast_is_what_rows_without_data_would_be_filled_with(drift):
    X, _ = gappy(panel(T=150))
    model = SequenceFilter(2, drift=drift, calibrate=False).fit(X)
    longer = np.vstack([X, np.full((5, 6), np.nan)])
    mean, std = model.forecast(5, return_std=True)
    filled, filled_std = model.impute(longer, return_std=True)
    np.testing.assert_allclose(mean, filled[-5:], rtol=1e-8)
    np.testing.assert_allclose(std, filled_std[-5:], rtol=1e-8)
    assert (np.diff(std, axis=0) > 0).all()


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95])
def test_forecast_intervals_are_students_with_the_values_of_each_feature(level):
    X, _ = gappy(panel(T=150))
    X[:, 3] = np.where(np.arange(150) % 30 == 0, X[:, 3], np.nan)  # a feature with five values
    X[75, 3] = np.nan
    model = SequenceFilter(2, drift="none", calibrate=False).fit(X)
    mean, std = model.forecast(5, return_std=True)
    N = np.isfinite(X).sum(0)
    std = std * stats.norm.ppf(0.975) / stats.t.ppf(0.975, N - 1)  # the model's own
    lower, upper = model.forecast_interval(5, level)
    np.testing.assert_allclose([lower, upper], stats.t.interval(level, N - 1, mean, std), rtol=1e-8)
    gaps = model.predict_interval(np.vstack([X, np.full((5, 6), np.nan)]), level)
    np.testing.assert_allclose([lower, upper], [bound[-5:] for bound in gaps], rtol=1e-8)


def test_levels_of_forecast_intervals_are_checked():
    model = quick(1).fit(panel(T=40))
    with pytest.raises(ValueError, match="level must lie strictly between"):
        model.forecast_interval(2, level=95)


def test_states_and_their_way_back():
    X = panel(T=150, noise=0.05)
    model = SequenceFilter(2, drift="none")
    states = model.fit_transform(X)
    assert states.shape == (150, model.n_components_)
    assert list(model.get_feature_names_out()) == ["sequencefilter0", "sequencefilter1"]
    assert rmse(X, model.inverse_transform(states)) < 0.1
    assert model.transform(X.astype(np.float32)).dtype == np.float32


def test_scores_are_densities_of_the_rows_given_those_before():
    X, _ = gappy(panel(T=60))
    X[20] = np.nan
    model = SequenceFilter(2, drift="none", max_iter=5).fit(X)
    known, s = changed(model.state_.model, V=None), model.state_.stream
    one = s.bank[0]._replace(fitted=s.fitted._replace(model=known))
    model.state_ = model.state_._replace(stream=s._replace(bank=(one,)))
    *_, logp = ref.kalman_rts(*linear(known), (X - s.shift) / s.scale)
    expected = logp - (~np.isnan(X) * np.log(s.scale)).sum(axis=1)
    np.testing.assert_allclose(model.score_samples(X), expected, atol=1e-8)
    assert model.score_samples(X)[20] == 0.0
    assert model.score(X) == pytest.approx(expected.mean())


@pytest.mark.long
def test_alarms_come_after_changes_and_seldom_otherwise():
    """A rate of 1e-3 and 10 x 500 rows without a change: 5 false alarms expected, 12 would be far too many."""
    false = found = 0
    for seed in range(10):
        Y = panel(seed, T=1000, m=8)
        model = SequenceFilter(2, drift="none", max_iter=10, alarm_rate=1e-3).fit(Y[:500])
        Y[800:] += 0.6 * (-1.0) ** np.arange(8)  # three standard deviations of the noise
        alarms = model.alarms(Y)
        assert alarms.fired.dtype == bool
        assert alarms.score.shape == (1000,)
        false += int(alarms.fired[300:800].sum())
        found += int(alarms.fired[800:815].any())
    assert false <= 12
    assert found == 10


def test_alarms_print_in_one_line():
    no = np.zeros(1000)
    assert repr(Alarms(no > 0, no, no, no, np.flatnonzero(no))) == "Alarms(0 alarms in 1000 rows)"
    fired = np.arange(1000) % 100 == 99
    told = "Alarms(10 alarms in 1000 rows, at 99, 199, 299, 399, 499 and 5 more)"
    assert repr(Alarms(fired, no, no, no, np.flatnonzero(fired))) == told
    days = pytest.importorskip("pandas").date_range("2024-01-01", periods=1)
    assert repr(Alarms(fired[99:], no, no, no, days)).endswith("1 alarm in 901 rows, at 2024-01-01 00:00:00)")


@pytest.mark.long
@pytest.mark.parametrize("value", [1e6, -1e9, 9.96921e36, 1e160])
@pytest.mark.parametrize("settings", [{"drift": "none"}, {"drift": "level"}, {"drift": 1e-3}, {"robust": True}])
def test_an_absurd_value_is_one_alarm_and_later_rows_are_judged_without_it(settings, value):
    Y = panel(T=600)
    model = SequenceFilter(2, max_iter=5, calibrate=False, **settings).fit(Y[:300])
    Y[350:, 0] += 3.0  # so that there are other alarms
    Y[400, 1] = np.nan
    clean = model.alarms(Y)
    assert clean.fired.any()
    Y[400, 1] = value
    found = model.alarms(Y)  # without a warning: the alarm says it
    expected = clean.fired.copy()
    expected[400] = True
    np.testing.assert_array_equal(found.fired, expected)
    np.testing.assert_array_equal(found.when, np.flatnonzero(expected))
    np.testing.assert_array_equal(found.up, clean.up)
    np.testing.assert_array_equal(found.down, clean.down)
    assert found.score[400] == np.inf
    np.testing.assert_array_equal(np.delete(found.score, 400), np.delete(clean.score, 400))


@pytest.mark.parametrize("settings", [{}, {"drift": "none", "robust": True}, {"smooth": False}])
def test_the_signal_is_the_models_part_of_every_entry(settings):
    X, removed = gappy(panel(T=150))
    model = SequenceFilter(2, **settings).fit(X)
    signal, std = model.denoise(X, return_std=True)
    s = model.state_.stream
    answer = (smoothed if model.smooth else filtered)(s.fitted.model, (X - s.shift) / s.scale)
    np.testing.assert_allclose(signal, s.shift + s.scale * answer.signal)
    wide = stats.t.ppf(0.975, np.isfinite(X).sum(0) - 1) / stats.norm.ppf(0.975)
    np.testing.assert_allclose(std, model.interval_scale_ * wide * s.scale * np.sqrt(answer.var))
    np.testing.assert_array_equal(model.denoise(X), signal)
    filled, filled_std = model.impute(X, return_std=True)
    np.testing.assert_array_equal(signal[removed], filled[removed])
    assert (std[removed] < filled_std[removed]).all()
    assert model.denoise(X.astype(np.float32)).dtype == np.float32


def test_an_outlier_gives_way_to_a_plausible_value():
    Y = panel(T=300, m=8)
    X = Y.copy()
    X[100, 3] += 30.0
    signal = SequenceFilter(2, drift="none", robust=True).fit(X).denoise(X)
    assert signal.shape == X.shape
    assert Y[:, 3].min() - 1.0 < signal[100, 3] < Y[:, 3].max() + 1.0


def test_without_components_there_is_still_a_way_back():
    X = np.cumsum(np.random.default_rng(1).normal(size=(300, 3)), axis=0)
    model = SequenceFilter().fit(X)
    assert model.n_components_ == 0
    assert model.inverse_transform(model.transform(X)).shape == X.shape


def test_intervals_of_a_feature_with_few_values_are_students_at_every_level():
    X = panel(T=150)
    X[5:, 2] = np.nan
    model = SequenceFilter(2, drift="none", calibrate=False).fit(X)
    fill, std = model.impute(X, return_std=True)
    inner, outer = (model.predict_interval(X, level)[1][5:, 2] - fill[5:, 2] for level in (0.5, 0.95))
    np.testing.assert_allclose(outer, 1.959964 * std[5:, 2], rtol=1e-6)
    np.testing.assert_allclose(outer / inner, stats.t.ppf(0.975, 4) / stats.t.ppf(0.75, 4), rtol=1e-6)
    stream = SequenceFilter(2, drift="none", calibrate=False).partial_fit(X[:128])
    learned_from = stream.state_.stream.known  # rows of the last fit that is done
    assert learned_from > 100
    np.testing.assert_array_equal(stream.state_.counts, np.isfinite(X[:learned_from]).sum(0))


def test_deviations_are_those_from_the_forecast_that_the_rows_before_make(rng):
    """Against `impute` of a filter that has seen the rows before and nothing of the row itself."""
    Y = np.sin(np.arange(120)[:, None] / 7 + np.arange(4)) + 0.1 * rng.normal(size=(120, 4))
    Y[rng.random(Y.shape) < 0.1] = np.nan
    model = SequenceFilter(3, smooth=False, drift="none", calibrate=False).fit(Y)
    away = model.deviations(Y)
    assert (away[np.isnan(Y)] == 0).all()
    assert 0.8 < np.sqrt(np.mean(away[~np.isnan(Y)] ** 2)) < 1.2
    for t in (1, 40, 119):
        before = np.vstack([Y[:t], np.full((1, 4), np.nan)])
        mean, std = (part[-1] for part in model.impute(before, return_std=True))
        std = std / student_factor(model.state_.counts)  # which widens what is reported where values are few
        expected = np.where(np.isnan(Y[t]), 0.0, (Y[t] - mean) / std)
        np.testing.assert_allclose(away[t], expected, rtol=1e-6, atol=1e-9)


def test_a_value_out_of_all_proportion_is_infinitely_far_and_changes_no_other(rng):
    Y = np.sin(np.arange(80)[:, None] / 7 + np.arange(3)) + 0.1 * rng.normal(size=(80, 3))
    model = SequenceFilter(2, drift="none", calibrate=False).fit(Y)
    spoiled = Y.copy()
    spoiled[40, 1] = -1e12
    hidden = Y.copy()
    hidden[40, 1] = np.nan
    away, expected = model.deviations(spoiled), model.deviations(hidden)
    assert away[40, 1] == -np.inf
    expected[40, 1] = -np.inf
    np.testing.assert_array_equal(away, expected)


@pytest.mark.parametrize(
    ("level", "value", "expected"), [(-1e6, -2.0, np.inf), (1e6, 2.0, -np.inf), (-1e6, 0.0, np.inf)]
)
def test_a_value_out_of_all_proportion_lies_above_or_below_the_forecast(level, value, expected, rng):
    Y = level + np.sin(np.arange(80)[:, None] / 7 + np.arange(3)) + 0.1 * rng.normal(size=(80, 3))
    model = SequenceFilter(2, drift="none", calibrate=False).fit(Y)
    Y[40, 1] = value
    assert model.deviations(Y)[40, 1] == expected
