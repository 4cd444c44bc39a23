from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_hex

from factorstream import LowRankImputer, MaskedNMF, plot, principal_axes
from factorstream.plot._canvas import CLASSES
from plot_artists import labels


def points(ax):
    return np.concatenate([np.asarray(one.get_offsets()) for one in ax.collections])


def test_points_are_the_first_two_rotated_coefficients(model, gappy):
    ax = plot.coefficients(model, gappy)
    axes = principal_axes(model)
    np.testing.assert_array_equal(points(ax), (model.transform(gappy) @ axes.rotation)[:, :2])
    share = axes.explained_variance / axes.explained_variance.sum()
    assert ax.get_xlabel() == f"coefficient 1 ({100 * share[0]:.3g}% of what is explained)"
    assert ax.get_legend() is None


def test_words_have_a_legend_and_numbers_a_bar(model, gappy):
    words = np.where(np.arange(len(gappy)) < 50, "early", "late")
    ax = plot.coefficients(model, gappy, words)
    assert labels(ax) == ["early", "late"]
    assert [len(one.get_offsets()) for one in ax.collections] == [50, 70]
    assert [to_hex(one.get_facecolor()[0]).upper() for one in ax.collections] == list(CLASSES[:2])
    ax = plot.coefficients(model, gappy, np.arange(120))
    np.testing.assert_array_equal(ax.collections[0].get_array(), np.arange(120))
    assert len(ax.figure.axes) == 2  # the second is the colour bar
    with pytest.raises(ValueError, match="color has 9 words, and more than 8 colours cannot be told apart"):
        plot.coefficients(model, gappy, [f"kind {k % 9}" for k in range(120)])
    with pytest.raises(ValueError, match="one entry for each of the 120 rows"):
        plot.coefficients(model, gappy, [1, 2])


def test_an_imputer_has_the_map_of_its_factorisation(frame):
    imputer = LowRankImputer(2, random_state=0).fit(frame)
    rows = ((frame - imputer.statistics_) / imputer.scale_).to_numpy()
    factorization = imputer.factorization_
    expected = factorization.transform(rows) @ principal_axes(factorization).rotation
    np.testing.assert_allclose(points(plot.coefficients(imputer, frame)), expected)


def test_baselines_need_axes(gappy):
    X = np.abs(gappy)
    model = MaskedNMF(3, max_iter=20, random_state=0).fit(X)
    axes = principal_axes(model, X)
    found = points(plot.coefficients(model, X, principal=axes))
    np.testing.assert_array_equal(found, (model.transform(X) @ axes.rotation)[:, :2])
