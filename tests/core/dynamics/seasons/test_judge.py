"""What hidden runs say of seasons."""

from __future__ import annotations

import numpy as np
import pytest

from factorstream.core.dynamics.fit import filtered, smoothed
from factorstream.core.dynamics.seasons.hidden import APART, bound_together, hidden_runs
from factorstream.core.dynamics.seasons.judge import judge
from factorstream.core.dynamics.stream import StreamOptions


def days(rng, n=60, P=12):
    """A feature with a fixed day, one whose days are of two kinds, and one without a season."""
    kinds, shapes = rng.integers(0, 2, n), 2 * rng.normal(size=(3, P))
    Y = np.stack([np.tile(shapes[2], n), shapes[kinds].ravel(), rng.normal(size=n * P).cumsum() * 0.1], axis=1)
    return Y + 0.2 * rng.normal(size=Y.shape)


def test_features_whose_days_differ_have_shapes(rng):
    found = judge(days(rng), (12,), StreamOptions(), calibrate=False, answers=smoothed)
    assert found.plan.periods == (12,)
    assert found.plan.shaped.tolist() == [1]


@pytest.mark.parametrize("seed", [1, 2])
def test_features_with_the_same_kinds_of_days_are_judged_together(seed):
    rng = np.random.default_rng(seed)
    kinds = rng.integers(0, 2, 40)
    Y = np.stack([*(rng.normal(size=(2, 12))[kinds].ravel() for _ in range(3)), rng.normal(size=480)], axis=1)
    Y += 0.8 * rng.normal(size=Y.shape)
    found = judge(Y, (12,), StreamOptions(), calibrate=False, answers=smoothed)
    assert found.plan.shaped.tolist() == [0, 1, 2]  # by their own shapes at most two of them


@pytest.mark.parametrize(("n", "answers"), [(60, smoothed), (12, smoothed), (60, filtered)])
def test_widths_are_near_one_where_the_model_holds(rng, n, answers):
    found = judge(days(rng, n)[:, :1], (12,), StreamOptions(), calibrate=True, answers=answers)
    assert 0.8 < found.gaps < 1.4
    assert found.ahead.shape[1] == 1
    assert (found.ahead > 0.7).all()
    assert (found.ahead < 1.6).all()


def test_every_entry_is_hidden_and_no_place_is_spared(rng):
    Y = rng.normal(size=(240, 2))
    Y[3] = np.nan
    folds = [hidden_runs(Y, 24, k).hide for k in range(APART)]
    hidden = np.sum(folds, axis=0)
    assert (hidden[np.isfinite(Y).all(1)] <= 1).all()
    assert hidden.mean() > 0.95
    assert not hidden[3].any()
    times = [hidden_runs(rng.normal(size=(24 * 61, 1)), 24).hide.reshape(-1, 24).sum(0)]
    assert np.ptp(times) <= 1


@pytest.mark.parametrize("seed", [0, 2])
def test_a_total_takes_no_shapes_from_its_parts(seed):
    """Beside the other two, each of the three is known exactly: only together do hidden runs tell of their days."""
    rng = np.random.default_rng(seed)
    kinds = rng.integers(0, 2, 60)
    parts = np.stack([rng.normal(size=(2, 12))[kinds].ravel() for _ in range(2)], axis=1)
    parts += 0.8 * rng.normal(size=parts.shape)
    for rows in (parts, np.column_stack([parts, parts.sum(1)])):
        found = judge(rows, (12,), StreamOptions(), calibrate=False, answers=smoothed)
        assert found.plan.shaped.tolist() == list(range(rows.shape[1]))


def test_features_that_determine_each_other_are_bound_together(rng):
    Y = rng.normal(size=(200, 8))
    Y[:, 3] = 32.0 + 1.8 * Y[:, 1]
    Y[:, 6] = Y[:, 4] + 3.0 * Y[:, 5] - Y[:, 2]
    Y[:, 7] = 5.0
    Y *= 10.0 ** rng.integers(-3, 4, 8)
    Y[rng.random(Y.shape) < 0.1] = np.nan
    assert bound_together(Y).tolist() == [0, 1, 2, 1, 2, 2, 2, 7]
    near = Y + 0.02 * np.nanstd(Y, axis=0) * rng.normal(size=Y.shape)
    assert bound_together(near).tolist() == list(range(8))
    assert bound_together(np.where(np.arange(200)[:, None] < 15, Y, np.nan)).tolist() == list(range(8))  # too few rows


def test_what_is_bound_together_is_hidden_together(rng):
    Y = rng.normal(size=(240, 3))
    hide, run, _ = hidden_runs(Y, 24, like=np.array([0, 1, 0]))
    np.testing.assert_array_equal(hide[:, 0], hide[:, 2])
    assert (hide[:, 0] != hide[:, 1]).any()
    column = np.broadcast_to(np.arange(3), hide.shape)[hide]
    assert not set(run[column == 0]) & set(run[column == 2])  # each has runs of its own
