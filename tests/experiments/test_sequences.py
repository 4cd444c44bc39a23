"""The sequence experiment and its report, on a small panel."""

import csv
import json

import numpy as np
import pytest

from factorstream import cli, datasets
from factorstream.datasets import LondonAir
from factorstream.experiments.sequences import METHODS, PUBLISHED, interpolate, run
from factorstream.experiments.sequences_report import summary, write_report

pytest.importorskip("matplotlib")
pytest.importorskip("rich")

pytestmark = pytest.mark.long  # an experiment of 64 fits


@pytest.fixture(scope="module")
def values():
    rng = np.random.default_rng(0)
    x = np.zeros(2)
    rows = []
    for _ in range(100):
        x = 0.95 * x + rng.normal(size=2)
        rows.append(x)
    Y = 20 + np.array(rows) @ rng.normal(size=(2, 6)) + 0.3 * rng.normal(size=(100, 6))
    Y[5:9, 1] = np.nan
    return Y


@pytest.fixture(scope="module")
def result(values):
    return run(values, [0.2, 0.35], list(range(8)))  # one removed run in five may decide about a mask


def test_every_method_is_scored_at_every_fraction_and_seed(result):
    assert len(result.scores) == 4 * 2 * 8
    for score in result.scores:
        assert np.isfinite(score.rmse)
        assert (score.two_sigma is None) == (score.method == "linear interpolation")


def test_what_sees_more_restores_better(result):
    for fraction in result.fractions:
        error = {label: np.mean([score.rmse for score in result.of(fraction, label)]) for label in result.labels}
        smoothed, filtered, lagged, lines = error.values()
        assert smoothed < lines
        assert smoothed < lagged < filtered


def test_progress_is_told_once_per_unit_of_work(values):
    told = []
    run(values, [0.1], [0, 1, 2], told.append, METHODS[-1:])
    assert told == [f"linear interpolation · 10% removed · seed {seed}" for seed in range(3)]


def test_straight_lines():
    X = np.array([[np.nan, 1.0, np.nan], [2.0, np.nan, np.nan], [np.nan, 3.0, np.nan]])
    np.testing.assert_array_equal(interpolate(X), [[2.0, 1.0, np.nan], [2.0, 2.0, np.nan], [2.0, 3.0, np.nan]])


def test_the_published_figures_stand_beside_ours(result):
    table = summary(result)
    groups = dict(table.grouped())
    assert [len(rows) for rows in groups.values()] == [6, 4]  # nothing was published for 35%
    published = {row["method"]: row for row in groups[next(iter(groups))][4:]}
    assert published["PSMF (published)"]["rmse"] == 7.26
    assert published["rPSMF (published)"]["two_sigma"] == 0.92
    assert PUBLISHED["PSMF"][0.3] == (7.44, None)


def test_the_report_is_written_in_every_format(result, tmp_path):
    paths = write_report(result, "made up", tmp_path)
    assert [path.name for path in paths] == [
        "sequences.html",
        "sequences.md",
        "sequences.csv",
        "sequences.json",
        "sequences-stations.png",
    ]
    page = paths[0].read_text()
    assert "rPSMF (published)" in page
    assert "data:image/png;base64," in page
    assert "| SequenceFilter, smoothed |" in paths[1].read_text()
    assert len(list(csv.DictReader(paths[2].read_text().splitlines()))) == 10
    data = json.loads(paths[3].read_text())
    assert len(data["scores"]) == 4 * 2 * 8
    assert data["data_source"] == "made up"
    assert paths[4].stat().st_size > 10_000


def test_the_command_prints_the_table_and_names_the_files(values, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(datasets, "load_london_air", lambda: LondonAir(values, "made-up air"))
    arguments = ["reproduce", "--experiment", "sequences", "--quick", "--output", str(tmp_path / "out")]
    assert cli.main(arguments) == 0
    out = capsys.readouterr().out
    for words in (
        "made-up air",
        "20% of every station",
        "SequenceFilter, smoothed",
        "PSMF (published)",
        "sequences.html",
    ):
        assert words in out
    assert len(list((tmp_path / "out").iterdir())) == 5


def test_no_data(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("FACTORSTREAM_DATA", raising=False)
    assert cli.main(["reproduce", "--experiment", "sequences", "--output", str(tmp_path)]) == 1
    assert "London PM10 data were not found" in capsys.readouterr().err
