"""What is given to a sequence model: dynamics, units, scales."""

from __future__ import annotations

import numpy as np
import pytest

from factorstream import SequenceFilter
from factorstream.core.dynamics.scale import standards
from factorstream.estimators._sequence import LEAST_PROCESS_NOISE
from sequence_problems import GOOD, gappy, panel


def test_given_dynamics_are_kept():
    X, _ = gappy(panel())
    model = SequenceFilter(2, dynamics=0.7, process_noise=0.5, drift="none").fit(X)
    np.testing.assert_array_equal(model.dynamics_, 0.7 * np.eye(2))
    np.testing.assert_array_equal(model.process_noise_, 0.5 * np.eye(2))
    A, Q = np.array([[0.9, 0.1], [0.0, 0.5]]), np.array([[0.2, 0.1], [0.1, 0.3]])
    model = SequenceFilter(2, dynamics=A, process_noise=Q, drift="none").fit(X)
    np.testing.assert_array_equal(model.dynamics_, A)
    np.testing.assert_array_equal(model.process_noise_, Q)
    diagonal = SequenceFilter(2, dynamics="diagonal", drift="none").fit(X).dynamics_
    assert not (diagonal - np.diag(np.diag(diagonal))).any()


def test_given_dynamics_are_not_kept_by_reference(rng):
    A, Y = 0.5 * np.eye(2), rng.standard_normal((60, 4))
    model = SequenceFilter(2, dynamics=A, drift="none").fit(Y)
    before = model.forecast(2)
    A[:] = 0.0
    np.testing.assert_array_equal(model.forecast(2), before)


def test_units_of_a_feature_do_not_matter():
    Y = panel(T=150)
    X, removed = gappy(Y)
    unit, origin = 10.0 ** np.array([-6, -3, 0, 3, 6, 9]), np.array([0, 1, -5, 100, 0, 3])
    plain, plain_std = SequenceFilter(2).fit(X).impute(X, return_std=True)
    other, other_std = SequenceFilter(2).fit((X + origin) * unit).impute((X + origin) * unit, return_std=True)
    np.testing.assert_allclose(other / unit - origin, plain, atol=1e-5)
    np.testing.assert_allclose(other_std / unit, plain_std, rtol=1e-5)
    shift = np.log(unit)[None] * ~removed
    plain_score = SequenceFilter(2).fit(X).score_samples(X)
    other_score = SequenceFilter(2).fit(X * unit).score_samples(X * unit)
    np.testing.assert_allclose(other_score, plain_score - shift.sum(axis=1), atol=1e-5)


def test_many_float32_rows_have_the_right_scale(rng):
    Y = (1e5 + 0.2 * rng.standard_normal((30_000, 2))).astype(np.float32)
    shift, scale = standards(Y)
    np.testing.assert_allclose(shift, Y.astype(float).mean(axis=0), rtol=1e-7)
    np.testing.assert_allclose(scale, Y.astype(float).std(axis=0), rtol=1e-6)


@pytest.mark.parametrize("m", [1, 2])
def test_fewer_features_than_components(m):
    X, _ = gappy(panel(T=120, m=m, r=1))
    model = SequenceFilter().fit(X)
    assert model.n_components_ <= m
    assert np.isfinite(model.impute(X)).all()


def test_constant_features_and_rows_without_data():
    X = GOOD.copy()
    X[:, 1] = 5.0
    X[10:15] = np.nan
    filled, std = SequenceFilter(2).fit(X).impute(X, return_std=True)
    np.testing.assert_allclose(filled[10:15, 1], 5.0, atol=0.05)
    assert (std[10:15] > 0).all()


@pytest.mark.parametrize("T", [40, 120, 300])
@pytest.mark.parametrize("known", [0, 1])
def test_a_feature_with_one_value_or_none_has_infinite_bounds(known, T):
    """As in the other estimators: the spread of the other features says nothing about it, and theirs stay calibrated.

    The lengths are those at which every entry is hidden once, and at which some runs are.
    """
    X = panel(T=T)
    X[5:9, 0] = np.nan
    without = SequenceFilter(2).fit(np.delete(X, 5, axis=1))
    X[known:, 5] = np.nan
    X[:known, 5] = 7.0
    with pytest.warns(
        UserWarning, match=r"Bounds are infinite where one value of a feature is known, or none, .*: 5\."
    ):
        model = SequenceFilter(2).fit(X)
    gaps = np.isnan(X)
    filled, std = model.impute(X, return_std=True)
    assert np.isfinite(filled).all()
    np.testing.assert_array_equal(std[gaps[:, 5], 5], np.inf)
    lower, upper = model.predict_interval(X, level=0.5)
    np.testing.assert_array_equal(lower[gaps[:, 5], 5], -np.inf)
    np.testing.assert_array_equal(upper[gaps[:, 5], 5], np.inf)
    np.testing.assert_array_equal(lower[:known, 5], 7.0)
    mean, ahead = model.forecast(2, return_std=True)
    assert np.isfinite(mean).all()
    np.testing.assert_array_equal(np.isinf(ahead), np.broadcast_to(np.arange(6) == 5, ahead.shape))
    assert np.isfinite(upper - lower)[gaps & (np.arange(6) != 5)].all()
    assert model.interval_scale_ == pytest.approx(without.interval_scale_, rel=0.1)


def test_a_stream_has_bounds_once_two_values_are_known():
    """A feature that starts after the warm-up: infinite until it has been learned, finite from then on."""
    X = panel(T=400)
    X[:300, 3] = np.nan
    model = SequenceFilter(2).partial_fit(X[:280])
    assert np.isinf(model.recent(return_std=True)[1][0, 3])
    model.partial_fit(X[280:301])
    assert np.isinf(model.forecast(1, return_std=True)[1][0, 3])
    model.partial_fit(X[301:])
    assert np.isfinite(model.forecast(1, return_std=True)[1]).all()


def test_a_feature_never_observed_is_named_at_the_callers_line():
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(GOOD, columns=["a", "b", "c", "salt", "e", "f"]).assign(salt=np.nan)
    with pytest.warns(UserWarning, match=r"Bounds are infinite .*: salt\.") as told:
        SequenceFilter(2).fit(X)
    assert told[0].filename == __file__


def test_the_least_process_noise_is_that_of_states_that_do_not_move():
    X, _ = gappy(panel())
    for drift in ("none", "level"):
        least, more = (
            SequenceFilter(2, process_noise=noise, drift=drift, calibrate=False).fit(X) for noise in (1e-12, 1e-10)
        )
        np.testing.assert_allclose(least.impute(X), more.impute(X), atol=1e-3)


def test_the_least_process_noise_is_the_one_that_is_documented():
    X, _ = gappy(panel())
    assert f"must be at least {LEAST_PROCESS_NOISE:g}" in SequenceFilter.__doc__
    SequenceFilter(2, process_noise=LEAST_PROCESS_NOISE).fit(X)
    with pytest.raises(ValueError, match="process_noise must be at least 1e-12"):
        SequenceFilter(2, process_noise=0.99 * LEAST_PROCESS_NOISE).fit(X)


@pytest.mark.parametrize(
    ("drift", "levels", "follows"), [("level", True, False), ("none", False, False), (1e-3, False, True)]
)
def test_drift_says_what_changes_slowly(drift, levels, follows):
    X, _ = gappy(panel(level=0.05))
    for model in (SequenceFilter(2, drift=drift).fit(X), SequenceFilter(2, drift=drift).partial_fit(X)):
        assert (model.state_.model.levels is not None) == levels
        assert (model.state_.fitted.followed is not None) == follows
        assert bool(model.level_variance_.any()) == levels


@pytest.mark.parametrize("drift", ["auto", "level", "none", 1e-3])
def test_calibrate_acts_whatever_drifts(drift):
    X, _ = gappy(panel(T=150))
    plain, wide = (SequenceFilter(2, drift=drift, calibrate=calibrate).fit(X) for calibrate in (False, True))
    assert plain.interval_scale_ == plain.forecast_scale_ == 1.0
    assert wide.interval_scale_ != 1.0
    X[100:] *= 10.0  # the last third moves further than what came before could teach
    plain, wide = (SequenceFilter(2, drift=drift, calibrate=calibrate).fit(X) for calibrate in (False, True))
    assert plain.forecast_scale_ == 1.0
    assert wide.forecast_scale_ > 1.5


@pytest.mark.parametrize("T", [150, 300])
def test_a_shift_of_one_feature_does_not_widen_the_forecasts_of_the_others(T):
    """With one factor of all, those of 150 rows were 2.3 times as wide."""
    X = panel(T=T)
    shifted = X.copy()
    shifted[int(0.8 * T) :, 2] += 4.0 * X[:, 2].std()
    before, after = (SequenceFilter(2).fit(Z) for Z in (X, shifted))
    wider = np.divide(*(model.forecast(10, return_std=True)[1] for model in (after, before)))
    others = np.arange(6) != 2
    assert wider[:, others].max() < 1.4
    assert wider[:, 2].min() > 1.4
    assert after.forecast_scale_ == pytest.approx(after.state_.forecast_scale.mean())
    for row in range(40):  # widths go on from those of the fit
        after.partial_fit(X[row : row + 1])
    assert after.forecast(1, return_std=True)[1].shape == (1, 6)


def test_no_drift_is_none():
    X, _ = gappy(panel(T=150))
    none, zero = (SequenceFilter(2, drift=drift).fit(X) for drift in ("none", 0))
    np.testing.assert_array_equal(zero.impute(X), none.impute(X))
    assert zero.state_.fitted.followed is None
    np.testing.assert_array_equal(
        SequenceFilter(2, drift=0.0, smooth=False).fit(X).impute(X),
        SequenceFilter(2, drift="none", smooth=False).fit(X).impute(X),
    )


@pytest.mark.parametrize("name", ["drift", "dynamics", "process_noise"])
@pytest.mark.parametrize("value", [True, False, np.True_])
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_a_bool_is_no_number(name, value, method):
    with pytest.raises(ValueError, match=f"{name}.* must "):
        getattr(SequenceFilter(2, **{name: value}), method)(GOOD)


def test_parameters_are_kept_as_plain_numbers():
    model = SequenceFilter(np.int64(2), drift=np.float64(1e-3), alarm_rate=np.float64(1e-3), tol=np.float32(0.5))
    kept = model.fit(GOOD).state_.parameters
    kinds = {"n_components": int, "drift": float, "alarm_rate": float, "tol": float, "calibrate": bool, "smooth": bool}
    assert {name: type(kept[name]) for name in kinds} == kinds


@pytest.mark.parametrize("drift", ["none", "level", 1e-3])
def test_smooth_acts_whatever_drifts(drift):
    X, removed = gappy(panel(T=150))
    both, past = (SequenceFilter(2, drift=drift, smooth=smooth).fit(X) for smooth in (True, False))
    for answer in ("impute", "transform", "denoise"):
        assert (getattr(both, answer)(X) != getattr(past, answer)(X)).any()
    assert (both.predict_interval(X)[0] != past.predict_interval(X)[0])[removed].all()


def test_numbers_of_numpy_are_numbers():
    X, _ = gappy(panel())
    plain = SequenceFilter(2, robust=5.0, lag=2, drift="none").partial_fit(X)
    other = SequenceFilter(np.int64(2), robust=np.float32(5.0), lag=np.int32(2), drift="none").partial_fit(X)
    np.testing.assert_array_equal(plain.recent(), other.recent())
    assert SequenceFilter(2, robust=np.False_).partial_fit(X).degrees_of_freedom_ == np.inf


@pytest.mark.parametrize("drift", ["level", "none"])
def test_few_huge_values_beside_small_ones(drift):
    X = np.full((13, 2), np.nan)
    X[[5, 9, 12], 0] = -1.6, 0.1, -1.7
    X[[9, 12], 1] = 0.0, 1e77
    model = SequenceFilter(2, drift=drift, robust=True, calibrate=False, max_iter=2).fit(X)
    assert np.isfinite(model.impute(X)).all()
