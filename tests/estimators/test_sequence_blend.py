"""Gaps that several models fill together: of values and of their normal scores, weighed by hidden entries."""

from __future__ import annotations

import numpy as np
import pytest

from factorstream import SequenceFilter, load
from factorstream.core.dynamics.few import FEW_ROWS
from sequence_problems import check_plain, gappy, hours, panel


def skewed(seed=0, T=600, m=6):
    """Rows whose logarithms are drawn from the model: positive, with a long tail."""
    Y = panel(seed, T, m, r=2, noise=0.4)
    return np.exp(0.7 * (Y - Y.mean(axis=0)) / Y.std(axis=0))


SKEWED = skewed()
GAPPY, REMOVED = gappy(SKEWED, 0.25)


def root(error):
    return float(np.sqrt(np.mean(error**2)))


@pytest.fixture(scope="module", params=["auto", "normal"])
def blended(request):
    return SequenceFilter(3, drift="none", marginals=request.param).fit(GAPPY)


def test_fills_and_bounds_of_skewed_columns_gain(blended):
    alone = SequenceFilter(3, drift="none", marginals="linear").fit(GAPPY)
    assert alone.state_.blend is None
    errors, widths = [], []
    for model in (alone, blended):
        filled = model.impute(GAPPY)
        lower, upper = model.predict_interval(GAPPY)
        errors.append(root((filled - SKEWED)[REMOVED]))
        widths.append(float((upper - lower)[REMOVED].mean()))
        held = ((lower <= SKEWED) & (upper >= SKEWED))[REMOVED].mean()
        assert 0.92 < held < 0.98
    assert errors[1] < 0.98 * errors[0]
    assert widths[1] < 0.95 * widths[0]


def test_answers_agree_with_each_other(blended):
    filled, std = blended.impute(GAPPY, return_std=True)
    np.testing.assert_array_equal(filled[~REMOVED], SKEWED[~REMOVED])
    np.testing.assert_array_equal(std[~REMOVED], 0.0)
    assert (std[REMOVED] > 0.0).all()
    assert (filled >= 0.0).all()  # no column has a negative value
    for level in (0.5, 0.95):
        lower, upper = blended.predict_interval(GAPPY, level)
        assert ((lower <= filled) & (filled <= upper)).all()
        assert (lower >= 0.0).all()
        np.testing.assert_array_equal(lower[~REMOVED], SKEWED[~REMOVED])
    signal, sure = blended.denoise(GAPPY, return_std=True)
    np.testing.assert_allclose(signal[REMOVED], filled[REMOVED], rtol=1e-12)
    assert (sure[REMOVED] < std[REMOVED]).all()
    assert (upper - filled)[REMOVED].mean() > 1.1 * (filled - lower)[REMOVED].mean()  # as skewed as the column


def test_a_file_keeps_it_all(blended, tmp_path):
    check_plain(blended.state_)
    blended.save(tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.impute(GAPPY), blended.impute(GAPPY))
    np.testing.assert_array_equal(again.predict_interval(GAPPY), blended.predict_interval(GAPPY))


def test_a_model_that_was_saved_before_there_were_marginals_answers_as_it_did():
    model = SequenceFilter(3, drift="none", marginals="linear").fit(GAPPY)
    saved = model.__getstate__()
    del saved["tree"]["parameters"]["items"]["marginals"]
    del saved["tree"]["state"]["fields"]["blend"]
    again = SequenceFilter.__new__(SequenceFilter)
    again.__setstate__(saved)
    assert again.marginals == "linear"
    np.testing.assert_array_equal(again.impute(GAPPY), model.impute(GAPPY))
    again.partial_fit(GAPPY[:5])


def test_columns_with_normal_laws_are_filled_as_by_one_model():
    X, _ = gappy(panel(3, 400, 6, r=2, noise=0.3))
    auto, linear = (SequenceFilter(2, drift="none", marginals=one).fit(X) for one in ("auto", "linear"))
    assert auto.state_.blend is None
    np.testing.assert_array_equal(auto.impute(X), linear.impute(X))
    np.testing.assert_array_equal(auto.predict_interval(X), linear.predict_interval(X))


@pytest.mark.parametrize("how", [{}, {"marginals": "normal"}])
def test_random_walks_are_filled_by_straight_lines(how):
    X, removed = gappy(np.random.default_rng(0).normal(size=(400, 4)).cumsum(axis=0))
    filled = SequenceFilter(2, **how).fit(X).impute(X)
    at = np.arange(400.0)
    inside = slice(30, 370)  # ends are constant
    lines = np.column_stack([np.interp(at, at[~gone], x[~gone]) for x, gone in zip(X.T, removed.T, strict=True)])
    if not how:
        np.testing.assert_allclose(filled[inside], lines[inside], atol=1e-5 * X[~removed].std())
    assert root((filled - lines)[inside]) < 0.1 * np.nanstd(X)


@pytest.mark.parametrize("marginals", ["auto", "normal"])
def test_constant_and_rarely_varying_columns_do_not_matter(marginals):
    X = np.column_stack([GAPPY[:400], np.full(400, 5.0), np.arange(400) % 7 == 0])
    model = SequenceFilter(3, drift="none", marginals=marginals).fit(X)
    X[3:8, 6:] = np.nan
    filled = model.impute(X)
    np.testing.assert_allclose(filled[:, 6], 5.0, rtol=1e-6)
    assert ((filled[:, 7] >= 0.0) & (filled[:, 7] <= 1.0)).all()
    assert root((filled - np.column_stack([SKEWED[:400], filled[:, 6:]]))[:, :6][REMOVED[:400]]) < SKEWED.std()


def test_what_is_beside_the_gaps_is_told_by_the_model_of_the_values(blended):
    alone = SequenceFilter(3, drift="none", marginals="linear").fit(GAPPY)
    np.testing.assert_array_equal(blended.forecast(5), alone.forecast(5))
    np.testing.assert_array_equal(blended.transform(GAPPY), alone.transform(GAPPY))
    np.testing.assert_array_equal(blended.score_samples(GAPPY), alone.score_samples(GAPPY))


def test_a_stream_goes_on_with_the_model_of_the_values():
    auto, linear = (SequenceFilter(3, drift="none", marginals=one).fit(GAPPY) for one in ("auto", "linear"))
    assert auto.state_.blend is not None
    for model in (auto, linear):
        model.partial_fit(GAPPY[:5])
    assert auto.state_.blend is None
    np.testing.assert_array_equal(auto.impute(GAPPY), linear.impute(GAPPY))
    with pytest.raises(ValueError, match="cannot be streamed"):
        SequenceFilter(3, marginals="normal").partial_fit(GAPPY)


@pytest.mark.parametrize("layer", [{"period": 24}, {"period": "auto"}, {"trend": True}])
def test_scores_are_refused_beside_what_is_taken_off_the_values(layer):
    with pytest.raises(ValueError, match="cannot go with period, trend or known"):
        SequenceFilter(3, marginals="normal", **layer).fit(GAPPY)
    with pytest.raises(ValueError, match="cannot go with period, trend or known"):
        SequenceFilter(3, marginals="normal").fit(GAPPY, known=np.ones((len(GAPPY), 1)))


@pytest.mark.parametrize("how", [{"robust": True}, {"smooth": False}, {"drift": 1e-3}, {"calibrate": False}])
def test_scores_go_with_other_settings(how):
    X, truth, removed = GAPPY[:300], SKEWED[:300], REMOVED[:300]
    filled = SequenceFilter(3, marginals="normal", **{"drift": "none", **how}).fit(X).impute(X)
    assert root((filled - truth)[removed]) < 0.9 * root((np.nanmean(X, axis=0) - truth)[removed])


@pytest.mark.filterwarnings("ignore:Bounds are infinite")
@pytest.mark.parametrize("T", [12, 60, FEW_ROWS])
def test_few_rows_have_scores_where_a_column_has_values_enough(T):
    X = GAPPY[:T].copy()
    X[1:, 5] = np.nan
    X[0, 5] = 3.0  # one value: nothing says how far others lie
    model = SequenceFilter(2, marginals="normal").fit(X)
    filled, (lower, upper) = model.impute(X), model.predict_interval(X)
    several = np.isfinite(X).sum(axis=0) > 1
    assert np.isfinite(filled).all()
    assert (lower[1:, 5] == -np.inf).all()
    assert (upper[1:, 5] == np.inf).all()
    assert (np.isfinite(lower) & np.isfinite(upper))[:, several].all()
    assert SequenceFilter(2).fit(X).state_.blend is None  # few hidden entries do not weigh models


def test_wide_and_large_tables_have_one_model(monkeypatch):
    from factorstream.estimators import _sequence_blend_fit

    def blend():
        return SequenceFilter(3, drift="none").fit(GAPPY).state_.blend

    assert blend() is not None
    with monkeypatch.context() as few:
        few.setattr(_sequence_blend_fit, "MOST_COLUMNS", 5)
        assert blend() is None
    monkeypatch.setattr(_sequence_blend_fit, "MOST_ENTRIES", GAPPY.size - 1)
    assert blend() is None


def test_steps_between_time_stamps_stay_out_of_the_answers():
    pandas = pytest.importorskip("pandas")
    keep = np.random.default_rng(0).random(600) < 0.8
    table = pandas.DataFrame(GAPPY, index=hours("pandas", 600))[keep]
    sparse = SequenceFilter(3, drift="none", spacing="time", marginals="normal").fit(table)
    full = SequenceFilter(3, drift="none", marginals="normal").fit(np.where(keep[:, None], GAPPY, np.nan))
    np.testing.assert_allclose(sparse.impute(table), full.impute(np.where(keep[:, None], GAPPY, np.nan))[keep])


def test_limits_are_those_that_a_column_comes_near_to():
    far = SKEWED + 50.0
    X = np.column_stack([SKEWED[:, :3], far[:, 3:], np.minimum(SKEWED[:, :1], 1.5)])
    X = np.where(np.column_stack([REMOVED, REMOVED[:, :1]]), np.nan, X)
    blend = SequenceFilter(3, drift="none", marginals="normal").fit(X).state_.blend
    np.testing.assert_array_equal(blend.low, [0.0, 0.0, 0.0, -np.inf, -np.inf, -np.inf, 0.0])
    np.testing.assert_array_equal(blend.high, [*[np.inf] * 6, 1.5])
