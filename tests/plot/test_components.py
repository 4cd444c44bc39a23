from __future__ import annotations

import numpy as np
import pytest

from conftest import low_rank
from factorstream import BayesianFactorization, DictionaryFilter, LowRankImputer, MaskedNMF, plot, principal_axes
from plot_artists import line


def effects(axes):
    """What a feature changes by where a coefficient is one standard deviation higher."""
    return axes.components * np.sqrt(axes.explained_variance)[:, None]


def test_curves_are_the_principal_components(model):
    panels = plot.components(model)
    axes = principal_axes(model)
    share = axes.explained_variance / axes.explained_variance.sum()
    for j, ax in enumerate(panels):
        x, y = line(ax, "component")
        np.testing.assert_array_equal(x, np.arange(6))
        np.testing.assert_array_equal(y, effects(axes)[j])
        assert ax.get_title("left") == f"component {j + 1} ({100 * share[j]:.3g}%)"
    assert panels[-1].get_xlabel() == "feature"
    (one,) = plot.components(model, n_shown=1, x=[1, 2, 4, 8, 16, 32])
    np.testing.assert_array_equal(line(one, "component")[0], [1, 2, 4, 8, 16, 32])
    with pytest.raises(ValueError, match=r"one place for each of the 6 features; got the shape \(2,\)"):
        plot.components(model, x=[1, 2])


def test_images_have_their_shape_and_zero_in_the_middle(model):
    panels = plot.components(model, "images", shape=(2, 3))
    axes = principal_axes(model)
    for j, ax in enumerate(panels):
        (image,) = ax.images
        np.testing.assert_array_equal(image.get_array(), effects(axes)[j].reshape(2, 3))
        low, high = image.get_clim()
        assert low == -high == -np.abs(effects(axes)[j]).max()
    for shape in (None, (2, 2), (6,), (1, 2, 3)):
        with pytest.raises(ValueError, match="whose product is 6"):
            plot.components(model, "images", shape=shape)


def test_images_fill_their_lines(rng):
    model = DictionaryFilter(14, random_state=0).fit(rng.normal(size=(60, 16)))
    panels = plot.components(model, "images", shape=(4, 4))
    assert len(panels) == 12
    assert panels[0].get_gridspec().get_geometry() == (2, 6)
    assert plot.components(model, "images", shape=(4, 4), n_shown=14)[0].get_gridspec().get_geometry() == (3, 5)


def test_loadings_are_one_map(frame):
    model = DictionaryFilter(2, random_state=0).fit(frame)
    (ax,) = plot.components(model, "loadings")
    (image,) = ax.images
    np.testing.assert_array_equal(image.get_array(), effects(principal_axes(model)).T)
    assert [text.get_text() for text in ax.get_yticklabels()] == list(frame.columns)
    assert [text.get_text() for text in ax.get_xticklabels()] == ["1", "2"]
    assert [text.get_text() for text in plot.components(model)[-1].get_xticklabels()] == list(frame.columns)


def test_an_imputer_names_the_features_that_vary(frame):
    imputer = LowRankImputer(2, random_state=0).fit(frame.assign(**{"sensor c": 1.0}))
    (ax,) = plot.components(imputer, "loadings")
    assert [text.get_text() for text in ax.get_yticklabels()] == [f"sensor {name}" for name in "abdef"]


def test_axes_of_ones_own(gappy):
    X = np.abs(gappy)
    model = MaskedNMF(2, max_iter=20, random_state=0).fit(X)
    axes = principal_axes(model, X)
    panels = plot.components(model, principal=axes)
    np.testing.assert_array_equal(line(panels[0], "component")[1], effects(axes)[0])
    with pytest.raises(TypeError, match=r"pass principal=principal_axes\(model, X\)"):
        plot.components(model)


def test_what_cannot_be_drawn_is_refused(model, rng):
    with pytest.raises(ValueError, match="kind must be 'curves', 'images' or 'loadings'; got 'bars'"):
        plot.components(model, "bars")
    empty = BayesianFactorization(random_state=0).fit(rng.standard_normal((200, 30)))
    with pytest.raises(ValueError, match="The model has no components, and this picture needs 1"):
        plot.components(empty)
    with pytest.raises(ValueError, match=r"has 1 component\(s\), and this picture needs 2"):
        plot.coefficients(DictionaryFilter(1, random_state=0).fit(low_rank(rng, 50, 5, 1)), np.ones((3, 5)))
