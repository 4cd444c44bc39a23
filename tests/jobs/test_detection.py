"""Strange rows and time steps, and the columns to blame."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_wine

from cli_problems import series, write
from factorstream import BayesianFactorization, DictionaryFilter, SequenceFilter
from factorstream.jobs.detection import DetectionSettings, detect_file, table_of, table_with_alarms
from factorstream.jobs.strangeness import blamed_in_row, row_scores
from factorstream.sources.table import TableError


@pytest.fixture
def wines(tmp_path):
    """Real wines, in one of which two values do not go together any more though each alone is ordinary."""
    X = load_wine().data.copy()
    X[100, 5], X[100, 6] = 3.2, 0.5  # total phenols and flavanoids, which go up and down together
    rows = [[f"w{k}", *(f"{value:.6g}" for value in row)] for k, row in enumerate(X)]
    return write(tmp_path / "wine.csv", ["name", *(f"x{j}" for j in range(13))], rows), X


def test_rows_are_ranked_by_their_scores_and_called_by_their_names(wines):
    path, X = wines
    found = detect_file(path, DetectionSettings(top=5, seed=3))
    twin = DictionaryFilter(5, random_state=3).fit(X)
    assert [one.row for one in found.rows] == np.argsort(twin.score_samples(X))[:5].tolist()  # no gaps
    for one in found.rows:
        assert (one.place, one.called) == (one.row + 2, f"w{one.row}")
        assert one.score == pytest.approx(row_scores(twin, X)[one.row])
        blame = blamed_in_row(twin, X[one.row])
        assert [name for name, _ in one.blame] == [f"x{j}" for j, _ in blame]
        assert [away for _, away in one.blame] == pytest.approx([away for _, away in blame], rel=1e-4)  # six digits
    assert [column.name for column in table_of(found)] == ["line", "name", "score", "columns"]


@pytest.mark.parametrize(
    ("columns", "called"),
    [
        (["red", "blue", "red"], ["", "", ""]),  # not all different
        (["u", "", "w"], ["", "", ""]),
        (["u", "v", "w"], ["u", "v", "w"]),
    ],
)
def test_what_rows_are_called(tmp_path, columns, called):
    lines = [f"{text},{x},{y}" for text, x, y in zip(columns, (1.5, 2, 9), (4, 2.5, 1), strict=True)]
    (tmp_path / "x.csv").write_text("\n".join(["what,a,b", *lines]))
    found = detect_file(tmp_path / "x.csv", DetectionSettings(top=3))
    assert [one.called for one in sorted(found.rows)] == called


def test_rows_with_dates_may_be_called_by_numbers(tmp_path):
    lines = [f"2024-05-{k + 1:02d},{700 + k},{k % 3},{k % 4}" for k in range(12)]
    (tmp_path / "x.csv").write_text("\n".join(["day,no,a,b", *lines]))
    found = detect_file(tmp_path / "x.csv", DetectionSettings(top=12))
    assert [column.name for column in table_of(found)] == ["line", "day", "no", "score", "columns"]
    assert [one.called for one in sorted(found.rows)] == [str(700 + k) for k in range(12)]


def test_a_row_that_was_spoiled_is_among_the_strangest(wines):
    path, _ = wines
    found = detect_file(path, DetectionSettings(top=20))
    (spoiled,) = [one for one in found.rows if one.row == 100]
    assert {"x5", "x6"} & {name for name, _ in spoiled.blame}


def test_ordinary_rows_teach_and_others_are_judged(wines, tmp_path):
    path, X = wines
    for model in (DictionaryFilter(4, random_state=0), BayesianFactorization(4)):
        found = detect_file(path, DetectionSettings(top=3), model=model.fit(X[:90]))
        assert found.model is model
        assert found.n_rows == 178


def test_time_steps_are_compared_with_their_forecasts(tmp_path):
    series(tmp_path / "x.csv", left_out=(30,), missing=0.0)
    lines = (tmp_path / "x.csv").read_text().splitlines()
    cells = lines[121].split(",")  # a line of names, and a row less
    cells[4] = "60"
    lines[121] = ",".join(cells)
    (tmp_path / "x.csv").write_text("\n".join(lines))
    found = detect_file(tmp_path / "x.csv", DetectionSettings(top=3, sequence=True))
    first = found.rows[0]
    assert (first.row, first.place, first.when) == (120, 122, "2024-05-06 01:00")
    assert first.score > 6.0
    assert len({one.score for one in found.rows}) == 3
    assert first.blame[0][0] == "c"
    twin = SequenceFilter(10).fit(found.X)
    assert len(found.X) == found.n_rows + 1 == 160
    assert first.blame[0][1] == pytest.approx(twin.deviations(found.X)[121, 2])
    header = [column.name for column in table_of(found)]
    assert header == ["line", "time", "score", "alarm", "columns"]


def test_alarms_are_counted_wherever_they_are(tmp_path):
    rng = np.random.default_rng(0)
    X = np.sin(np.arange(600)[:, None] / 9 + np.arange(4)) + 0.2 * rng.normal(size=(600, 4))
    model = SequenceFilter(3, calibrate=False).fit(X[:300])
    X[450:, 1] += 0.8 * rng.normal(size=150)
    np.save(tmp_path / "x.npy", X)
    found = detect_file(tmp_path / "x.npy", DetectionSettings(top=1), model=model)
    np.testing.assert_array_equal([one.row for one in found.alarms], np.flatnonzero(model.alarms(X).fired))
    assert found.alarms
    assert len(found.rows) == 1
    assert all(one.blame[0][0] == "column 2" for one in found.alarms if one.row > 460)
    table = {column.name: column.values for column in table_with_alarms(found)}
    assert sorted(place - 1 for place in table["row"]) == sorted({one.row for one in (*found.rows, *found.alarms)})
    assert all(text for alarm, text in zip(table["alarm"], table["columns"], strict=True) if alarm)


def test_rows_without_data_are_never_strange(tmp_path):
    (tmp_path / "x.csv").write_text("a,b,t\n1,2,x\n,,y\n2,5,z\n0,1,x\n9,1,x\n")
    found = detect_file(tmp_path / "x.csv", DetectionSettings(top=10))
    assert sorted(one.row for one in found.rows) == [0, 2, 3, 4]


def test_what_cannot_be_scored_is_refused(tmp_path):
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    with pytest.raises(TableError, match=r"x\.csv cannot be used: X has n_samples=1 time steps, fewer than"):
        detect_file(tmp_path / "x.csv", DetectionSettings(sequence=True, components=2))
