"""All eight pictures of real faces and of the air of London: what they show is what is known of these data."""

from __future__ import annotations

import numpy as np
import pytest

from factorstream import DictionaryFilter, SequenceFilter, plot, principal_axes
from factorstream.datasets import DatasetNotFoundError, load_london_air, load_olivetti
from factorstream.masks import random_mask, segment_mask
from plot_artists import labels, line


@pytest.fixture(scope="module")
def faces():
    try:
        images = load_olivetti().images
    except DatasetNotFoundError as problem:
        pytest.skip(str(problem))
    Y = images.reshape(len(images), -1)
    return np.where(random_mask(Y.shape, 0.25, rng=0), np.nan, Y)


@pytest.fixture(scope="module")
def eigenfaces(faces):
    return DictionaryFilter(20, random_state=0).fit(faces)


@pytest.fixture(scope="module")
def air():
    """Two weeks at ten stations as a table with time stamps, a fifth of it removed in runs of 20 hours."""
    pandas = pytest.importorskip("pandas")
    try:
        values = load_london_air().values[:336, :10]
    except DatasetNotFoundError as problem:
        pytest.skip(str(problem))
    times = pandas.date_range("2019-01-01", periods=336, freq="h")
    truth = pandas.DataFrame(values, index=times, columns=[f"station {k}" for k in range(10)])
    return truth, truth.mask(segment_mask(values.shape, 0.2, 20, rng=0, missing=np.isnan(values)))


@pytest.fixture(scope="module")
def panel(air):
    return SequenceFilter(4, drift="none", calibrate=False).fit(air[1])


def test_faces(faces, eigenfaces):
    assert labels(plot.gaps(faces)) == ["observed 75.0%", "missing 25.0%"]
    images = plot.components(eigenfaces, "images", shape=(64, 64))
    assert len(images) == 12
    first = images[0].images[0].get_array()
    assert (first > 0).mean() > 0.8  # the first component of photographs is how bright they are
    (loadings,) = plot.components(eigenfaces, "loadings")
    assert loadings.images[0].get_array().shape == (4096, 20)
    bars = [bar.get_height() for bar in plot.spectrum(eigenfaces).containers[0]]
    assert 0.15 < bars[0] < 0.4
    assert bars == sorted(bars, reverse=True)
    found = plot.coefficients(eigenfaces, faces).collections[0].get_offsets()
    brightness = np.nanmean(faces, axis=1)
    assert np.corrcoef(found[:, 0], brightness)[0, 1] > 0.8
    assert line(plot.innovations(eigenfaces, faces)[0], "log-density")[1].shape == (400,)
    (ax,) = plot.series(eigenfaces, faces, columns=[2000])
    assert line(ax, "observed")[1].shape == (400,)


def test_eigenfaces_do_not_depend_on_the_start(faces, eigenfaces):
    """The components of two runs have nothing in common; their principal axes are nearly the same."""
    other = DictionaryFilter(20, random_state=1).fit(faces)
    one, two = (principal_axes(model).components[:3] for model in (eigenfaces, other))
    assert (one * two).sum(axis=1).min() > 0.95


def test_faces_are_held_as_promised(faces):
    some = faces[:, ::16]
    ax = plot.calibration(DictionaryFilter(20, random_state=0).fit(some), some, levels=(0.5, 0.8, 0.95))
    promised, held = ax.lines[-1].get_data()
    assert np.abs(np.asarray(held) - promised).max() < 0.08


def test_air(air, panel):
    truth, gappy = air
    assert labels(plot.gaps(gappy, panel.impute(gappy)))[-1].startswith("filled")
    axes = plot.series(panel, gappy, truth=truth)
    assert len(axes) == 4
    low, high = (np.asarray(bound) for bound in panel.predict_interval(gappy))
    hidden = (gappy.isna() & truth.notna()).to_numpy()
    assert ((low <= truth) & (truth <= high)).to_numpy()[hidden].mean() > 0.9  # most points lie in their bands
    assert np.isfinite(line(axes[1], "truth")[1]).sum() == hidden[:, 1].sum()
    fan = plot.forecast(panel, 24, gappy)
    assert line(fan[0], "observed")[0][-1] < line(fan[0], "forecast")[0][0]
    scores, alarms = plot.innovations(panel, truth)
    assert np.isfinite(line(scores, "log-density")[1]).all()
    assert "threshold" in labels(alarms)
    (loadings,) = plot.components(panel, "loadings")
    assert (np.asarray(loadings.images[0].get_array())[:, 0] > 0).all()  # all stations share the air of the city
    assert [text.get_text() for text in loadings.get_yticklabels()] == list(truth.columns)
    assert len(plot.spectrum(panel).containers[0]) == panel.n_components_
    assert len(plot.coefficients(panel, gappy, np.arange(336)).collections[0].get_offsets()) == 336
    held = plot.calibration(panel, gappy, levels=(0.8, 0.95), length=20, refit=False).lines[-1].get_ydata()
    assert np.all(np.asarray(held) > [0.7, 0.88])
