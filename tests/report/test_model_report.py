"""The report on a model says what the model says, and what was measured, whatever the table."""

from __future__ import annotations

import pickle
import re
import sys

import numpy as np
import pytest

from factorstream import BayesianFactorization, DictionaryFilter, LowRankImputer, SequenceFilter
from factorstream.extras import MissingExtraError
from factorstream.report.given import given
from factorstream.report.measure import measure
from factorstream.report.model_report import STEPS, Job, Told, write_report
from factorstream.report.page import Number, Part, Words
from factorstream.report.words import pooled
from sequence_problems import quick

MODELS = [
    DictionaryFilter(2, random_state=0),
    BayesianFactorization(2, random_state=0),
    LowRankImputer(2, random_state=0),
    quick(2),
]


def part(text, heading):
    """The HTML of one part of a page."""
    return re.search(rf"<h2>{heading}</h2>(.*?)</section>", text, re.DOTALL)[1]


def cells(html):
    """The rows of a table, as what their cells are sorted by, or else their texts."""
    rows = re.findall(r"<tr>(<td.*?)</tr>", html, re.DOTALL)
    return [
        [value or text for value, text in re.findall(r'<td class="\w+"(?: data-value="(.*?)")?>(.*?)</td>', row)]
        for row in rows
    ]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_every_model_says_what_it_says(model, gappy, tmp_path):
    model.fit(gappy)
    before = pickle.dumps(model)
    path = model.report(tmp_path / "report.html", gappy, level=0.9)
    assert path == tmp_path / "report.html"
    assert pickle.dumps(model) == before
    text = path.read_text(encoding="utf-8")
    filled = model.transform(gappy) if isinstance(model, LowRankImputer) else model.impute(gappy)
    lower, upper = model.predict_interval(gappy, 0.9)
    listed = cells(part(text, "What fills the gaps"))
    gaps = np.argwhere(np.isnan(gappy))
    assert len(listed) == len(gaps)
    for (i, j), row in zip(gaps, listed, strict=True):
        assert [float(value) for value in row] == [i, j, filled[i, j], lower[i, j], upper[i, j]]
    assert f"<h1>{len(gaps)} gaps filled</h1>" in text
    assert type(model).__name__ in part(text, "What was done")
    measured = measure(given(model, gappy), 0.9, 0.1, None, 0)
    assert f"{pooled(measured, measured.errors.model):.2f}</strong> standard deviations" in text
    assert f"{100 * measured.inside[0.9].mean():.1f}%</strong> of the {measured.n} hidden" in text
    errors = cells(part(text, "How good the fills are"))
    for j, row in enumerate(errors):
        here = measured.column == j
        expected = [np.sqrt(np.mean(one[here] ** 2)) for one in measured.errors if one is not None]
        assert [float(value) for value in row[: 2 + len(expected)]] == pytest.approx([j, here.sum(), *expected])
    assert len(errors) == 6
    assert ("straight lines" in text) == isinstance(model, SequenceFilter)
    assert "Nothing: all columns and all values were used." in text


def test_of_many_fills_the_least_certain_are_listed(gappy, imputer, tmp_path):
    text = imputer.report(tmp_path / "report.html", gappy, max_fills=20).read_text(encoding="utf-8")
    rows = cells(part(text, "What fills the gaps"))
    lower, upper = imputer.predict_interval(gappy)
    width = (upper - lower) / np.nanstd(gappy, axis=0)
    widest = np.argsort(-width, axis=None, kind="stable")[:20]
    assert {(int(row[0]), int(row[1])) for row in rows} == {divmod(int(k), 6) for k in widest}
    assert f"the 20 least certain of {np.isnan(gappy).sum()} fills" in text


def test_what_was_left_out_is_named(gappy, tmp_path):
    frames = pytest.importorskip("pandas")
    frame = frames.DataFrame(gappy.copy(), columns=list("abcdef"))
    frame["empty"] = np.nan
    frame.loc[5, "b"] = 1e20
    with pytest.warns(UserWarning, match="absurd|Dropping"):
        model = LowRankImputer(2, random_state=0).fit(frame)
    frame["town"] = "Ulm"
    told = Told(left_out=["Column x was asked to be left out."])
    text = write_report(tmp_path / "report.html", model, frame, told=told).read_text(encoding="utf-8")
    items = re.findall(r"<li>(.*?)</li>", part(text, "What was left out, and why"))
    assert items[:3] == [
        "Column x was asked to be left out.",
        "Column “town” holds no numbers.",
        "Columns without any value (empty): they are not in the filled table.",
    ]
    assert re.match(r"Column “b”: 1e\+20 .*in row 5 is out of all proportion", items[3])
    assert len(items) == 4


def test_columns_without_values_that_stay_are_named_too(gappy, tmp_path):
    X = gappy.copy()
    X[:, 1] = np.nan
    model = DictionaryFilter(2, random_state=0)
    model.partial_fit(X)
    text = model.report(tmp_path / "report.html", X).read_text(encoding="utf-8")
    assert "Columns without any value (column 1): nothing is known that could fill them" in text
    assert "∞" in part(text, "What fills the gaps")


def test_what_a_caller_tells_is_said(gappy, imputer, tmp_path):
    told = Told(
        source="in <1>.csv",
        done=["The first sentence."],
        settings={"command": f"factorstream impute {'x' * 80}.csv"},
        code="factorstream impute in.csv",
    )
    text = write_report(tmp_path / "report.html", imputer, gappy, told=told).read_text(encoding="utf-8")
    assert "filled in in &lt;1&gt;.csv</h1>" in text
    assert part(text, "What was done").strip().startswith("<p>The first sentence.</p>")
    assert ["command", f"factorstream impute {'x' * 80}.csv"] in cells(part(text, "Settings and versions"))
    assert "<code>factorstream impute in.csv</code>" in part(text, "Do it again")


def test_a_job_that_fills_no_gaps_is_called_what_it_is(gappy, imputer, tmp_path):
    job = Job(
        "A forecast of {source}",
        "What comes.",
        [Number("2", "rows")],
        [Part("Rows", [Words(["Sun."])])],
        "A note.",
        "row",
        [],
    )
    told = Told(source="in.csv", code="x = 1", job=job)
    text = write_report(tmp_path / "report.html", imputer, gappy, told=told).read_text(encoding="utf-8")
    assert "<h1>A forecast of in.csv</h1>" in text
    assert "Sun." in part(text, "Rows")
    assert "A note." in part(text, "How well the model knows this table")
    assert "filled" not in part(text, "Where values are missing")
    for heading in ("Before and after", "What fills the gaps"):
        assert f"<h2>{heading}</h2>" not in text


def test_settings_are_those_of_the_fit_and_versions_are_named(gappy, tmp_path):
    model = DictionaryFilter(2, random_state=0).fit(gappy)
    model.set_params(n_components=5)
    text = part(model.report(tmp_path / "report.html", gappy).read_text(encoding="utf-8"), "Settings and versions")
    assert ["n_components", "2"] in cells(text)
    assert [row for row in cells(text) if row[0] == "components"] == [["components", "2"]]
    assert f"numpy {np.__version__}" in text


def test_small_tables_and_tables_without_gaps_are_reported_too(rng, tmp_path):
    X = rng.normal(size=(8, 3))
    X[0, 0] = np.nan
    model = LowRankImputer(1, random_state=0).fit(X)
    text = model.report(tmp_path / "small.html", X).read_text(encoding="utf-8")
    assert "<h1>1 gap filled</h1>" in text
    assert "too small to calibrate" in part(text, "What fills the gaps")
    text = model.report(tmp_path / "none.html", X[1:2]).read_text(encoding="utf-8")
    assert "<h1>No gap</h1>" in text
    assert "This could not be measured on this table: There is no entry to hide" in text
    assert "There is no gap to fill." in text


def test_columns_of_a_wide_table_are_not_all_listed(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2)) @ rng.normal(size=(2, 400)) + 0.1 * rng.normal(size=(40, 400))
    X[rng.random(X.shape) < 0.1] = np.nan
    model = DictionaryFilter(2, random_state=0).fit(X)
    text = model.report(tmp_path / "report.html", X).read_text(encoding="utf-8")
    assert len(cells(part(text, "Before and after"))) == 300
    assert "100 more columns with no more gaps than these are not listed." in part(text, "Before and after")
    assert "The 25 columns with most hidden values" in text


def test_a_call_that_fails_writes_nothing_and_says_what_to_do(gappy, imputer, tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    with pytest.raises(ValueError, match="level"):
        imputer.report(path, gappy, level=1.5)
    with pytest.raises(ValueError, match="X has 3 features, and the model was fitted to 6"):
        imputer.report(path, gappy[:, :3])
    with pytest.raises(ValueError, match="fraction must lie strictly between 0 and 1"):
        imputer.report(path, gappy, fraction=2.0)
    with pytest.raises(ValueError, match="max_fills must be a whole number of at least 1"):
        imputer.report(path, gappy, max_fills=0)
    with pytest.raises(FileNotFoundError, match=r"There is no folder .*nowhere to write report.html to; make it first"):
        imputer.report(tmp_path / "nowhere" / "report.html", gappy)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingExtraError, match=r'This needs jinja2; run `pip install "factorstream\[report\]"`'):
        imputer.report(path, gappy)
    assert list(tmp_path.iterdir()) == []


def test_a_model_that_is_no_use_is_called_so(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 4))  # nothing to be learned
    X[0, 0] = np.nan
    text = DictionaryFilter(3, random_state=0).fit(X).report(tmp_path / "report.html", X).read_text(encoding="utf-8")
    assert "<strong>Here the mean does better than this model.</strong>" in text


def test_progress_is_told_to_whoever_asks(gappy, imputer, tmp_path):
    heard = []
    write_report(tmp_path / "report.html", imputer, gappy, step=lambda done, note="": heard.append(done))
    assert heard == sorted(heard)
    assert 0 <= heard[0] < heard[-1] <= STEPS


def test_columns_of_an_array_can_be_named(gappy, imputer, tmp_path):
    told = Told(columns=["a", "b", "c", "d", "e", "f"])
    text = write_report(tmp_path / "report.html", imputer, gappy, told=told).read_text(encoding="utf-8")
    assert [row[0] for row in cells(part(text, "How good the fills are"))] == list("abcdef")
    assert re.findall(r">([a-f])</text>", part(text, "Where values are missing")) == 2 * list("abcdef")
    assert "column 1" not in text


def test_whether_gaps_depend_on_what_is_observed_is_said(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2)) @ rng.normal(size=(2, 4)) + rng.normal(size=(300, 4))
    X[X[:, 2] > 1.0, 0] = np.nan
    told = Told(columns=["salt", "b", "heat", "d"])
    model = DictionaryFilter(2, random_state=0).fit(X)
    text = write_report(tmp_path / "report.html", model, X, told=told).read_text(encoding="utf-8")
    assert "in 1 of 1 tested column: salt (where heat is high" in part(text, "Where values are missing")


def test_whose_errors_are_measured_is_said(gappy, tmp_path):
    model = DictionaryFilter(2, random_state=0).fit(gappy[:90])
    known = model.report(tmp_path / "known.html", gappy[:90]).read_text(encoding="utf-8")
    new = model.report(tmp_path / "new.html", gappy[90:]).read_text(encoding="utf-8")
    assert "these are the errors of the new model" in part(known, "How good the fills are")
    assert "these are its own errors" in part(new, "How good the fills are")
    assert ".fit(X)" in part(known, "Do it again")
    assert ".fit(X)" not in part(new, "Do it again")
    assert "DictionaryFilter(n_components=2, random_state=0), fitted to other rows than X" in part(new, "Do it again")
