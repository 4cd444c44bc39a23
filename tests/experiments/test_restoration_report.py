import base64
import csv
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from factorstream.experiments.methods import Settings, paper_methods
from factorstream.experiments.restoration import paper_readings, random_reading, run
from factorstream.experiments.restoration_report import summary, write_report

pytest.importorskip("matplotlib")

SMALL = Settings(n_components=2, passes=2, nmf_iterations=5, step_sizes=(1e-2,), decays=(0.0,), drifts=(1e-5,))


class Balanced(HTMLParser):
    """Fails on a page whose tags do not match."""

    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):
        if tag not in ("meta", "img", "br", "link"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def small_result(readings, seeds=(0, 1)):
    rng = np.random.default_rng(0)
    images = (rng.random((80, 2)) @ rng.random((2, 36)) * 100).reshape(80, 6, 6)
    return run(images, readings, paper_methods(SMALL), seeds)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    return {path.name: path for path in write_report(small_result(paper_readings()), SMALL, "made up", folder)}


def test_all_files_are_written_and_no_temporary_ones_stay(files):
    assert sorted(files) == sorted(
        f"restoration{end}" for end in (".html", ".md", ".csv", ".json", "-faces.png", "-passes.png")
    )
    folder = files["restoration.html"].parent
    assert sorted(path.name for path in folder.iterdir()) == sorted(files)


def test_the_page_is_self_contained(files):
    page = files["restoration.html"].read_text()
    parser = Balanced()
    parser.feed(page)
    assert parser.open == []
    assert not re.search(r'(src|href)="(?!data:|#)', page)
    pictures = re.findall(r'src="data:image/png;base64,([^"]+)"', page)
    assert [base64.b64decode(data) for data in pictures] == [
        files["restoration-faces.png"].read_bytes(),
        files["restoration-passes.png"].read_bytes(),
    ]


@pytest.mark.parametrize("name", ["restoration.html", "restoration.md"])
def test_the_report_states_what_is_ambiguous_and_how_it_differs(files, name):
    text = files[name].read_text()
    for words in (
        "0.68 dB",
        "6.0 dB",
        "85.5%",
        "12.38",
        "12.35",
        "11.75",
        "hiding 10% of the observed",
        "made up",
    ):
        assert words in text
    assert "one block per face" in text


def test_csv_and_json_hold_the_numbers_of_the_table(files):
    records = list(csv.DictReader(files["restoration.csv"].read_text().splitlines()))
    data = json.loads(files["restoration.json"].read_text())
    assert len(records) == len(data["table"]) == 3 * 10
    assert len(data["scores"]) == 3 * 10 * 2
    for record, row in zip(records, data["table"], strict=True):
        assert record["method"] == row["method"]
        assert float(record["missing_mean"]) == row["missing"]["mean"]
        assert float(record["missing_sd"]) == row["missing"]["sd"]
    assert {"python", "numpy", "scipy", "scikit-learn", "factorstream"} == set(data["versions"])
    assert data["settings"]["n_components"] == 2


def test_other_fractions_make_a_report_without_the_paper_readings(tmp_path):
    result = small_result([random_reading(0.4)], seeds=(0,))
    text = write_report(result, SMALL, "made up", tmp_path)[1].read_text()
    assert "40% of the pixels at random" in text
    assert "± " not in "".join(line for line in text.splitlines() if line.startswith("|"))


def test_summary_marks_the_seeds(tmp_path):
    table = summary(small_result([random_reading(0.3)], seeds=(0, 1)))
    assert "2 seeds" in table.title
    assert all(row["missing"].sd is not None for row in table.rows)
