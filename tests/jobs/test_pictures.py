"""Pictures show the rows of the table that a job writes, at their dates."""

from __future__ import annotations

import numpy as np
import pytest

from cli_problems import series, table, write
from factorstream.jobs.detection import DetectionSettings, detect_file
from factorstream.jobs.factors import FactorSettings, factorize_file
from factorstream.jobs.forecasting import ForecastSettings, forecast_file

pytest.importorskip("matplotlib")
from matplotlib import pyplot
from matplotlib.dates import date2num

from factorstream.jobs.pictures import draw_detection, draw_factors, draw_rows_to_come


@pytest.fixture(autouse=True)
def _closed():
    yield
    pyplot.close("all")


def line(ax, label):
    (found,) = [one for one in ax.lines if one.get_label() == label]
    return found.get_xdata(), found.get_ydata()


def test_the_rows_of_the_table_are_marked_at_their_dates(tmp_path):
    series(tmp_path / "x.csv", n=80, left_out=(30,), missing=0.0)
    found = detect_file(tmp_path / "x.csv", DetectionSettings(top=3, sequence=True, components=2))
    ax, alarms = draw_detection(found)
    x, y = line(ax, "strangest 3")
    np.testing.assert_allclose(x, [date2num(np.datetime64(one.when)) for one in found.rows])
    np.testing.assert_allclose(y, [one.score for one in found.rows])
    assert len(line(ax, "score")[0]) == 80
    assert alarms.get_xlabel() == ""


def test_rows_without_dates_lie_at_their_lines(tmp_path):
    header, rows, _, _ = table(n=40)
    found = detect_file(write(tmp_path / "x.csv", header, rows), DetectionSettings(top=2))
    (ax,) = draw_detection(found)
    assert line(ax, "strangest 2")[0].tolist() == [one.place for one in found.rows]
    assert ax.get_xlabel() == "line"


def test_a_fan_begins_where_the_file_ends(tmp_path):
    series(tmp_path / "x.csv", n=60)
    found = forecast_file(tmp_path / "x.csv", ForecastSettings(2, components=2))
    axes = draw_rows_to_come(found, 0.99)
    assert len(axes) == 4
    assert [text.get_text() for text in axes[0].get_legend().get_texts()][:3] == ["99%", "80%", "50%"]
    x, y = line(axes[0], "forecast")
    np.testing.assert_allclose(x, date2num(np.array(["2024-05-03T12", "2024-05-03T13"], dtype="M8[us]")))
    np.testing.assert_array_equal(y, found.mean[:, 0])
    assert line(axes[0], "observed")[0][-1] == pytest.approx(x[0] - 1 / 24)


def test_components_are_those_of_the_table_and_none_are_none(tmp_path):
    found = factorize_file(write(tmp_path / "x.csv", *table()[:2]), FactorSettings(components=2))
    image = draw_factors(found)[0].images[0].get_array()
    expected = found.axes.components * np.sqrt(found.axes.explained_variance)[:, None]
    np.testing.assert_allclose(image, expected.T)
    (tmp_path / "x.csv").write_text("a,b\n1,7\n1,7\n,7\n")
    assert draw_factors(factorize_file(tmp_path / "x.csv", FactorSettings()))[0].get_title("left") == "no components"
