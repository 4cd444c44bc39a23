"""Few rows: every observed entry is judged once, by a fit that knows nothing of it."""

from __future__ import annotations

import numpy as np
import pytest

from dynamics_problems import draw, make, standardised
from factorstream.core.dynamics.choose import HIDDEN_RUN, MIN_STRETCH, Choice
from factorstream.core.dynamics.few import (
    FEWEST_ROWS,
    FOLDS,
    choose_few,
    folds,
    hidden_once,
    ranked,
    ranked_stretch,
    stretches,
    usual_gap,
)
from factorstream.core.dynamics.fit import ALL_LEVELS, LEVELS, STATES, filtered, fit, smoothed
from factorstream.core.dynamics.noise import GaussianSpec


def few(seed=0, T=40, m=4, missing=0.5):
    Y = draw(make(seed, m=m), T, seed, gaps="none")[3]
    Y[np.random.default_rng(seed).random(Y.shape) < missing] = np.nan
    return Y


@pytest.mark.parametrize("missing", [0.0, 0.3, 0.9])
def test_every_observed_entry_is_hidden_once(missing):
    Y = few(missing=missing)
    hidden = list(folds(Y))
    assert len(hidden) == FOLDS
    np.testing.assert_array_equal(np.sum(hidden, axis=0), np.isfinite(Y))


def test_runs_are_as_long_as_the_gaps():
    Y = np.zeros((60, 2))
    assert usual_gap(Y) == HIDDEN_RUN
    Y[10:13, 0] = Y[40:45, 1] = np.nan
    assert usual_gap(Y) == 4
    Y[::2, 0] = np.nan
    assert usual_gap(Y) == 1
    Y[:, 0] = np.nan
    Y[:2, 0] = 0.0
    assert usual_gap(Y) == HIDDEN_RUN
    Y[1, 0] = np.nan  # of one value nothing can be hidden: only the other feature counts
    assert usual_gap(Y) == 5


def test_nothing_is_hidden_where_nothing_would_be_left():
    Y = np.full((10, 2), np.nan)
    Y[3, 0] = 1.0
    assert not list(folds(Y))
    gaps, ahead = stretches(Y, 1, STATES, answers=smoothed)
    assert gaps == 1.0
    np.testing.assert_array_equal(ahead, 1.0)


@pytest.mark.parametrize("answers", [smoothed, filtered])
@pytest.mark.parametrize("kind", [STATES, LEVELS])
def test_errors_are_those_of_fits_that_never_saw_the_entry(kind, answers):
    """A plain loop over the folds, each in the units of what it may see, with Student's quantiles from a table."""
    Y = few(m=3, missing=0.7)
    table = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262, 10: 2.228,
             11: 2.201, 12: 2.179, 13: 2.160, 14: 2.145, 15: 2.131, 16: 2.120}  # fmt: skip
    expected = []
    for hide in folds(Y):
        seen = np.where(hide, np.nan, Y)
        mean, sd = np.nanmean(seen, 0), np.nanstd(seen, 0)
        model = fit((seen - mean) / sd, 2, kind, sweeps=8).model
        answer = answers(model, (seen - mean) / sd)
        for t, i in np.argwhere(hide):
            std = sd[i] * np.sqrt(answer.var[t, i] + model.noise.R[i])
            wide = table[int(np.isfinite(seen[:, i]).sum()) - 1] / 1.95996
            expected.append(abs(Y[t, i] - mean[i] - sd[i] * answer.signal[t, i]) / std / wide)
    np.testing.assert_allclose(hidden_once(Y, 2, kind, answers=answers).sizes, expected, rtol=1e-3)


def test_one_more_error_is_below_the_rank_as_often_as_promised():
    rng = np.random.default_rng(0)
    for n in (19, 25, 60):
        inside = np.mean(
            [abs(rng.standard_cauchy()) <= ranked(abs(rng.standard_cauchy(n)), 0.95) for _ in range(20_000)]
        )
        assert 0.945 < inside < 0.975
    assert ranked(np.arange(5.0), 0.95) == 4.0


def test_widths_are_at_least_what_hidden_entries_ask_for():
    noise = GaussianSpec()
    assert ranked_stretch(np.zeros(0), noise) == 1.0
    assert ranked_stretch(np.full(50, 0.01), noise) == MIN_STRETCH
    assert ranked_stretch(np.append(np.zeros(3), 5 * 1.959964), noise) == pytest.approx(5.0)


@pytest.mark.parametrize("drift", [None, 1e-3])
def test_forecasts_are_no_more_certain_than_gaps(drift):
    for seed in range(3):
        gaps, ahead = stretches(few(seed), 2, STATES, answers=smoothed, drift=drift)
        assert ahead.min() >= max(gaps, 1.0)


def test_forecasts_of_few_rows_are_made_wider_where_their_errors_are():
    Y = standardised(draw(make(1, m=6, r=2), 60, 1)[3])
    Y[40:] *= 10.0
    assert stretches(Y, 2, STATES, answers=smoothed)[1].min() > 3.0


def test_few_rows_get_the_kind_that_fills_hidden_entries_with_less_loss(monkeypatch):
    """The last candidate where its errors are smaller; what it did comes with it and is not done again."""
    rng = np.random.default_rng(0)
    wave = standardised(np.sin(np.arange(60)[:, None] / 4 + np.arange(3)) + 0.02 * rng.normal(size=(60, 3)))
    walk = standardised(rng.normal(size=(60, 3)).cumsum(axis=0))
    for Y, expected in ((wave, STATES), (walk, LEVELS)):
        choice, hidden = choose_few(Y, 2, (LEVELS, ALL_LEVELS, STATES), answers=smoothed)
        kind = choice.kind
        assert choice == Choice(expected)
        losses = {each: hidden_once(Y, 2, each, answers=smoothed).loss for each in (LEVELS, STATES)}
        assert hidden.loss == losses[kind] == min(losses.values())
        again = stretches(Y, 2, kind, answers=smoothed)
        monkeypatch.setattr("factorstream.core.dynamics.few.folds", lambda Y: pytest.fail("hidden again"))
        for one, other in zip(stretches(Y, 2, kind, answers=smoothed, hidden=hidden), again, strict=True):
            np.testing.assert_array_equal(one, other)
        monkeypatch.undo()


def test_the_loss_is_in_the_units_of_the_rows():
    """Every fold has units of its own; a plain sum of squares in those of Y."""
    Y = 7.0 + 5.0 * few(m=3, missing=0.2)
    squares = 0.0
    for hide in folds(Y):
        seen = np.where(hide, np.nan, Y)
        mean, sd = np.nanmean(seen, 0), np.nanstd(seen, 0)
        model = fit((seen - mean) / sd, 2, STATES, sweeps=8).model
        squares += ((mean + sd * smoothed(model, (seen - mean) / sd).signal - Y)[hide] ** 2).sum()
    assert hidden_once(Y, 2, STATES, answers=smoothed).loss == pytest.approx(squares, rel=1e-6)


def test_nothing_is_compared_without_a_choice_or_with_too_few_rows():
    Y = few(T=FEWEST_ROWS - 1, missing=0.0)
    assert choose_few(Y, 2, (LEVELS, STATES), answers=smoothed) == (Choice(LEVELS), None)
    assert choose_few(few(), 2, (STATES,), answers=smoothed) == (Choice(STATES), None)
