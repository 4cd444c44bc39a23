"""Drawings as SVG that a page can hold many of."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np

from factorstream.report.charts import accuracy, excerpt, excerpts, figure_of, gap_map, to_svg
from factorstream.report.given import answers, given
from sequence_problems import quick


def texts(svg):
    return [one.text for one in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def test_svg_is_one_element_without_size_ground_or_shared_names():
    figure, ax = figure_of(4.0, 2.0)
    ax.plot([0, 1], [1, 0], "o-")
    ax.set_title("$x^{$ 列 <b>", fontsize=3)
    svg = to_svg(figure, "one")
    root = ElementTree.fromstring(svg)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert root.get("viewBox") == "0 0 288 144"
    assert root.get("width") is None
    assert "#ffffff" not in svg
    assert "$x^{$ 列 <b>" in texts(svg)
    assert min(float(size) for size in re.findall(r"font-size: ([\d.]+)px", svg)) >= 9.0
    assert "font-family" not in svg
    assert not re.search(r"<g id=", svg)
    own = set(re.findall(r' id="([^"]+)"', svg))
    assert own
    assert own >= set(re.findall(r'(?:url\(|href=")#([^")]+)', svg))
    assert to_svg(figure, "one") == svg
    assert not own & set(re.findall(r' id="([^"]+)"', to_svg(figure, "two")))


def test_no_setting_of_matplotlib_changes_and_no_figure_stays(gappy, imputer):
    import matplotlib
    from matplotlib import pyplot

    before = dict(matplotlib.rcParams)
    gap_map(given(imputer, gappy), imputer.transform(gappy))
    assert dict(matplotlib.rcParams) == before
    assert pyplot.get_fignums() == []


def test_an_excerpt_shows_gaps_beside_what_is_observed():
    gap = np.zeros(2000, dtype=bool)
    gap[300:1200] = True  # rows within would show nothing observed
    shown = excerpt(gap)
    assert (shown.stop - shown.start, gap[shown].sum()) == (240, 120)
    assert excerpt(gap[:50]) == slice(0, 50)
    few = np.zeros(2000, dtype=bool)
    few[1000:1011] = True
    assert excerpt(few) == slice(886, 1126)  # 114 rows before the gap, 115 after it


def test_errors_are_drawn_where_they_are():
    chart = accuracy(
        ["a long name of a column", "b"], {"this model": np.array([0.2, 0.4]), "mean": np.array([1.0, 0.9])}
    )
    assert "a long name o…" in texts(chart.svg)
    assert "a long name of a column" in texts(chart.wide)
    assert {"this model", "mean", "error, in standard deviations"} <= set(texts(chart.svg))
    assert "straight lines" not in texts(chart.svg)


def test_rows_of_an_excerpt_have_the_numbers_of_the_table(rng):
    Y = np.cumsum(rng.normal(size=(600, 2)), axis=0)
    Y[400:420, 1] = np.nan
    found = given(quick(1).fit(Y), Y)
    (chart,) = excerpts(found, answers(found, 0.9), [1])
    numbers = [int(text) for text in texts(chart.svg) if text.isdecimal() and int(text) > 100]
    shown = excerpt(np.isnan(Y[:, 1]))
    assert len(numbers) >= 3
    assert all(shown.start - 12 <= number < shown.stop + 12 for number in numbers)
    assert all(number % 20 == 0 for number in numbers)
