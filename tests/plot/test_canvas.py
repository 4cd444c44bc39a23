"""What holds for every picture: given axes are used, nothing is shown or set, and without matplotlib one sentence."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import matplotlib
import numpy as np
import pytest

from factorstream import DictionaryFilter, plot
from factorstream.plot._canvas import LONGEST_NAME, MANY_ROWS, MOST_NAMES, draw_observed, many_axes, name_ticks

PICTURES = {
    "gaps": lambda s, **ax: plot.gaps(s.X, **ax),
    "series": lambda s, **ax: plot.series(s.model, s.X, columns=[1], **ax),
    "forecast": lambda s, **ax: plot.forecast(s.sequence, 5, columns=[1], **ax),
    "components": lambda s, **ax: plot.components(s.model, n_shown=1, **ax),
    "spectrum": lambda s, **ax: plot.spectrum(s.model, **ax),
    "innovations": lambda s, **ax: plot.innovations(s.model, s.X, **ax),
    "calibration": lambda s, **ax: plot.calibration(s.model, s.X, levels=[0.5], refit=False, **ax),
    "coefficients": lambda s, **ax: plot.coefficients(s.model, s.X, **ax),
}


@pytest.fixture
def subject(gappy, model, sequence):
    return SimpleNamespace(X=gappy, model=model, sequence=sequence)


def test_no_picture_is_forgotten():
    assert set(PICTURES) == set(plot.__all__)


@pytest.mark.parametrize("name", PICTURES)
def test_given_axes_are_drawn_on_and_returned(name, subject, plt):
    figure = matplotlib.figure.Figure()  # no figure of pyplot, as in a program with windows of its own
    ax = figure.subplots()
    found = np.atleast_1d(PICTURES[name](subject, ax=ax))
    assert found.tolist() == [ax]
    assert ax.has_data()
    assert not plt.get_fignums()
    figure.canvas.draw()


@pytest.mark.parametrize("name", PICTURES)
def test_a_new_figure_is_not_shown_and_no_setting_changes(name, subject, plt, monkeypatch):
    monkeypatch.setattr(plt, "show", lambda *args, **kwargs: pytest.fail("shown"))
    before = matplotlib.rcParams.copy()
    first = np.atleast_1d(PICTURES[name](subject))[0]
    assert plt.get_fignums() == [first.figure.number]
    first.figure.canvas.draw()
    assert matplotlib.rcParams == before


@pytest.mark.parametrize("name", PICTURES)
def test_without_matplotlib_one_sentence_says_what_to_install(name, subject, monkeypatch):
    for module in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError) as caught:
        PICTURES[name](subject)
    assert str(caught.value) == 'This needs matplotlib; run `pip install "factorstream[plot]"`.'


def test_importing_pictures_does_not_import_matplotlib():
    code = "import sys; from factorstream import plot; print('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.split() == ["False"]


FAILING = {
    "gaps": lambda s: plot.gaps(s.X, s.X[:5]),
    "series": lambda s: plot.series(s.model, s.X[:, :5]),
    "forecast": lambda s: plot.forecast(s.sequence, 0),
    "components": lambda s: plot.components(s.model, n_shown=0),
    "spectrum": lambda s: plot.spectrum(DictionaryFilter()),
    "innovations": lambda s: plot.innovations(s.model, s.X[:, :5]),
    "calibration": lambda s: plot.calibration(s.model, s.X, levels=2.0),
    "coefficients": lambda s: plot.coefficients(s.model, s.X, [f"kind {k}" for k in range(120)]),
}


@pytest.mark.parametrize("name", PICTURES)
def test_a_failed_call_leaves_no_figure(name, subject, plt):
    with pytest.raises((ValueError, AttributeError)):
        FAILING[name](subject)
    assert not plt.get_fignums()


def test_panels_that_are_given_have_to_be_enough(subject, plt):
    _, axes = plt.subplots(3, 1)
    with pytest.raises(ValueError, match=r"has 1 panel\(s\), and ax 3; pass one Axes for each"):
        plot.series(subject.model, subject.X, columns=[1], ax=axes)
    assert not any(ax.has_data() for ax in axes)
    found = plot.series(subject.model, subject.X, columns=[1, 3, 4], ax=axes)
    assert found.tolist() == axes.tolist()


def test_panels_that_are_left_over_are_empty():
    axes = many_axes(None, 5, (1.0, 1.0), columns=3)
    assert len(axes) == 5
    assert [ax.axison for ax in axes[0].figure.axes] == [True] * 5 + [False]


@pytest.mark.parametrize(("n", "thin"), [(100, False), (MANY_ROWS + 1, True)])
def test_long_series_are_drawn_thinner(n, thin, plt):
    _, ax = plt.subplots()
    draw_observed(ax, np.arange(n), np.arange(n))
    assert (ax.lines[0].get_linewidth() < 1.0) == thin


@pytest.mark.parametrize("n", [1, MOST_NAMES, MOST_NAMES + 1, 1000])
def test_names_are_thinned_out_and_shortened(n, plt):
    _, ax = plt.subplots()
    names = [f"{k} " + "long " * 20 for k in range(n)]
    name_ticks(ax.xaxis, names)
    places, texts = ax.get_xticks(), [label.get_text() for label in ax.get_xticklabels()]
    assert len(texts) <= MOST_NAMES
    assert len(texts) > MOST_NAMES / 2 or len(texts) == n
    for place, text in zip(places, texts, strict=True):
        assert text == names[int(place)][: LONGEST_NAME - 1] + "…"
