import numpy as np
import pytest

from factorstream import DictionaryFilter
from factorstream.experiments.methods import Method, PixelMean, Settings, paper_methods
from factorstream.experiments.restoration import (
    NothingLeftError,
    fit_in_passes,
    paper_readings,
    random_reading,
    run,
)
from factorstream.experiments.tuning import choose
from factorstream.metrics import snr

SMALL = Settings(
    n_components=3,
    passes=3,
    nmf_iterations=20,
    step_sizes=(1e-3, 1e-2),
    decays=(0.0,),
    drifts=(1e-6, 1e-4),
    tuning_passes=2,
)


@pytest.fixture(scope="module")
def images():
    rng = np.random.default_rng(0)
    flat = rng.random((80, 3)) @ rng.random((3, 64)) * 80 + rng.random((80, 64))
    return flat.reshape(80, 8, 8)


@pytest.fixture(scope="module")
def result(images):
    return run(images, paper_readings(), paper_methods(SMALL), seeds=[0, 1])


def test_every_method_is_scored_under_every_reading_and_seed(result):
    assert len(result.scores) == 3 * 10 * 2
    assert {(s.reading, s.method, s.seed) for s in result.scores} == {
        (r.key, m.key, seed) for r in result.readings for m in result.methods for seed in (0, 1)
    }
    assert all(np.isfinite([s.missing, s.all, s.filled, s.seconds]).all() for s in result.scores)


def test_factorisations_beat_the_floor_where_little_is_missing(result):
    floor = result.of("random", "mean")[0].missing
    for method in ("mf-rlf", "kalman", "nmf", "recommended"):
        assert result.of("random", method)[0].missing > floor + 3


def test_initial_snr_of_the_readings(result):
    initial = {reading.key: result.of(reading.key, "mean")[0].initial for reading in result.readings}
    assert initial["random"] == pytest.approx(6.0, abs=0.5)
    assert initial["block"] == pytest.approx(6.0, abs=1.0)
    assert initial["initial-snr"] == pytest.approx(0.68, abs=0.2)


def test_curves_end_at_the_score_and_pictures_keep_observed_pixels(result):
    for reading in result.readings:
        for method in result.methods:
            curve = result.curves[reading.key, method.key]
            score = result.of(reading.key, method.key)[0]
            assert curve[-1] == (score.passes, score.missing)
            assert score.passes == method.passes or method.key == "sweeps"
            assert [passes for passes, _ in curve] == sorted({passes for passes, _ in curve})
            corrupted = result.pictures[reading.key, "corrupted"]
            seen = ~np.isnan(corrupted)
            np.testing.assert_array_equal(result.pictures[reading.key, method.key][seen], corrupted[seen])
    assert [p for p, _ in result.curves["random", "mf-rlf"]] == [1, 2, 3]
    assert [p for p, _ in result.curves["random", "nmf"]] == [1, 10, 20]


def test_a_pixel_that_is_left_nowhere_is_said(images):
    with pytest.raises(NothingLeftError, match="remove fewer"):
        run(images, [random_reading(0.99)], paper_methods(SMALL), [0])


def test_same_seed_same_scores(images, result):
    again = run(images, paper_readings()[:1], paper_methods(SMALL)[:1], seeds=[0])
    assert again.scores[0].missing == result.of("random", "mf-rlf")[0].missing


def test_progress_is_told_once_per_unit_of_work(images):
    told = []
    methods = [Method("mean", "mean", lambda seed: PixelMean())]
    run(images, [random_reading(0.1), random_reading(0.2)], methods, [0, 1, 2], told.append)
    assert len(told) == 6
    assert told[0] == "mean · 10% of the pixels at random · seed 0"


def test_passes_through_partial_fit_are_what_fit_does():
    rng = np.random.default_rng(0)
    X = rng.random((30, 3)) @ rng.random((3, 12))
    X[rng.random(X.shape) < 0.2] = np.nan
    options = {"noise_variance": 0.1, "prior_covariance": 1.0, "fit_mean": False, "init": "uniform", "scale": False}
    one = DictionaryFilter(3, n_passes=4, shuffle=False, random_state=0, **options).fit(X)
    orders = []

    class Ordered(DictionaryFilter):
        def partial_fit(self, rows, y=None):
            orders.append(rows)
            return super().partial_fit(X)

    two = fit_in_passes(Ordered(3, random_state=0, **options), X, 4, seed=0)
    np.testing.assert_allclose(two.components_, one.components_, rtol=1e-9)
    for rows in orders:  # every pass is a permutation of the rows, and not always the same
        np.testing.assert_array_equal(np.sort(rows, axis=0), np.sort(X, axis=0))
    assert any((orders[0] != rows).any() for rows in orders[1:])


def test_settings_are_never_chosen_on_removed_entries():
    """Changing what was removed changes no choice: the removed values are not even passed."""
    rng = np.random.default_rng(0)
    X = rng.random((20, 10))
    X[rng.random(X.shape) < 0.3] = np.nan
    seen = []

    def restore(setting, train):
        seen.append(train)
        return np.full_like(train, setting["value"])

    best = choose(restore, [{"value": 0.0}, {"value": 0.5}], X, np.random.default_rng(1))
    assert best == {"value": 0.5}
    hidden = np.isnan(seen[0]) & ~np.isnan(X)
    assert 0.02 < hidden.mean() < 0.15
    np.testing.assert_array_equal(seen[0], seen[1])
    scores = [snr(X, np.full_like(X, v), where=hidden) for v in (0.0, 0.5)]
    assert scores[1] > scores[0]


def test_a_diverged_setting_is_never_chosen():
    def restore(setting, train):
        return np.full_like(train, setting["value"])

    grid = [{"value": np.nan}, {"value": 9.0}]
    assert choose(restore, grid, np.ones((20, 20)), np.random.default_rng(0)) == {"value": 9.0}
