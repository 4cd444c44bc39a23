"""`factorstream impute` on real files."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pytest

from cli_problems import read, run, table, write


@pytest.mark.parametrize(("suffix", "delimiter"), [(".csv", ","), (".csv", ";"), (".tsv", "\t"), (".txt", "|")])
def test_text(capsys, tmp_path, suffix, delimiter):
    header, rows, X, gaps = table()
    source = write(tmp_path / f"in{suffix}", header, rows, delimiter)
    target = tmp_path / f"out{suffix}"
    code, said = run(capsys, source, "-o", target)
    assert code == 0
    assert f"Filled {gaps.sum()} gaps in 3 columns" in said
    assert "Columns left as they are, gaps included: id, comment (seldom the same value twice)." in said
    new_header, new_rows = read(target, delimiter)
    assert new_header == header
    for old, new, gap in zip(rows, new_rows, gaps, strict=True):
        assert [new[0], new[1], new[6]] == [old[0], old[1], old[6]]
        assert all(after == before for before, after, g in zip(old[2:6], new[2:6], gap, strict=True) if not g)
    filled = np.array([[float(cell) for cell in row[2:6]] for row in new_rows])
    error = ((filled - X) / X.std(axis=0))[gaps]
    assert np.sqrt(np.mean(error**2)) < 0.6


def test_bounds_and_a_second_run_of_the_same_seed(capsys, tmp_path):
    header, rows, _, gaps = table(n=400)
    source = write(tmp_path / "in.csv", header, rows)
    for name in ("one.csv", "two.csv"):
        assert run(capsys, source, "-o", tmp_path / name, "--level", "0.9", "--seed", "3")[0] == 0
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()
    new_header, new_rows = read(tmp_path / "one.csv")
    wide = [f"{name}{end}" for name in "abc" for end in ("", "_lower", "_upper")]
    assert new_header == ["id", "date", *wide, "d", "comment"]
    cells = np.array([row[2:11] for row in new_rows]).reshape(len(rows), 3, 3)
    numbers, gaps = cells.astype(float), gaps[:, :3]
    assert (cells[~gaps] == cells[~gaps][:, :1]).all()  # known values: both bounds are the value
    value, lower, upper = np.moveaxis(numbers[gaps], 1, 0)
    assert (lower < value).all()
    assert (value < upper).all()


def test_bounds_hold_what_they_say(capsys, tmp_path):
    inside = []
    for seed in range(100, 105):  # one table has a few hundred gaps, whose errors go together
        header, rows, X, gaps = table(n=400, seed=seed)
        source = write(tmp_path / "in.csv", header, rows)
        assert run(capsys, source, "-o", tmp_path / "out.csv", "--level", "0.9")[0] == 0
        _, filled = read(tmp_path / "out.csv")
        numbers = np.array([row[2:11] for row in filled]).reshape(len(rows), 3, 3).astype(float)
        _, lower, upper = np.moveaxis(numbers[gaps[:, :3]], 1, 0)
        truth = X[:, :3][gaps[:, :3]]
        inside.append(np.mean((lower <= truth) & (truth <= upper)))
    assert 0.84 < np.mean(inside) < 0.96


def test_columns_without_gaps_help(capsys, tmp_path):
    rng = np.random.default_rng(101)
    x = rng.normal(size=200)
    gaps = rng.random(200) < 0.3
    rows = [[f"{v:.6f}", "" if g else f"{3 * v:.6f}"] for v, g in zip(x, gaps, strict=True)]
    run(capsys, write(tmp_path / "in.csv", ["known", "gappy"], rows), "-o", tmp_path / "out.csv")
    filled = np.array(read(tmp_path / "out.csv")[1], dtype=float)
    assert np.sqrt(np.mean((filled[:, 1] - 3 * x)[gaps] ** 2)) < 0.2


def test_in_place_and_robust_and_components(capsys, tmp_path):
    header, rows, _, gaps = table()
    path = write(tmp_path / "in.csv", header, rows)
    path.chmod(0o644)
    code, said = run(capsys, path, "-o", path, "--robust", "--components", "2")
    assert code == 0
    assert f"Filled {gaps.sum()} gaps" in said
    assert list(tmp_path.iterdir()) == [path]


def test_arrays(capsys, tmp_path):
    _, _, X, gaps = table()
    np.save(tmp_path / "in.npy", np.where(gaps, np.nan, X).astype(np.float32))
    assert run(capsys, tmp_path / "in.npy", "-o", tmp_path / "out.npy", "--level", "0.8")[0] == 0
    out = np.load(tmp_path / "out.npy")
    assert out.shape == (120, 10)
    assert out.dtype == np.float32
    np.testing.assert_array_equal(out[:, [0, 3, 6, 9]][~gaps], X.astype(np.float32)[~gaps])


def test_parquet(capsys, tmp_path):
    frames = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    _, rows, X, gaps = table()
    frame = frames.DataFrame(np.where(gaps, np.nan, X), columns=list("abcd"))
    frame.insert(0, "date", frames.to_datetime([row[1] for row in rows]))
    frame["comment"] = [row[6] for row in rows]
    frame.to_parquet(tmp_path / "in.parquet")
    assert run(capsys, tmp_path / "in.parquet", "-o", tmp_path / "out.parquet", "--level", "0.8")[0] == 0
    out = frames.read_parquet(tmp_path / "out.parquet")
    assert list(out)[:4] == ["date", "a", "a_lower", "a_upper"]
    frames.testing.assert_frame_equal(out[["date", "d", "comment"]], frame[["date", "d", "comment"]])
    np.testing.assert_array_equal(out[list("abcd")].to_numpy()[~gaps], X[~gaps])
    assert not out[list("abcd")].isna().any().any()


def test_no_gaps(capsys, tmp_path):
    text = 'id,"x"\n1,"2"\n2, 3\n'
    (tmp_path / "in.csv").write_text(text)
    code, said = run(capsys, tmp_path / "in.csv", "-o", tmp_path / "out.csv", "--level", "0.9")
    assert code == 0
    assert "There is no gap" in said
    assert said.count("\n") == 1
    assert (tmp_path / "out.csv").read_text() == text


def test_a_column_with_one_known_value_has_no_bounds(capsys, tmp_path):
    (tmp_path / "in.csv").write_text("a,b\n5,1\n,2\n,3\n,4\n,5\n,6\n")
    code, said = run(capsys, tmp_path / "in.csv", "-o", tmp_path / "out.csv", "--level", "0.95")
    assert code == 0
    assert "one value of a column is known, which does not say how far others lie: a." in said
    assert "too small to calibrate" not in said
    header, rows = read(tmp_path / "out.csv")
    assert header == ["a", "a_lower", "a_upper", "b"]
    assert rows == [["5", "5", "5", "1"], *[["5", "", "", str(k)] for k in range(2, 7)]]


def test_columns_without_bounds_leave_the_others_calibrated(capsys, tmp_path):
    header, rows, _, gaps = table()
    odd = [["7" if k < 1 else "", "8" if k < 3 else ""] for k in range(len(rows))]
    outputs = []
    for name, more in (("plain", [[]] * len(rows)), ("odd", odd)):
        more_names = ["single", "equal"] if name == "odd" else []
        write(tmp_path / "in.csv", header + more_names, [a + b for a, b in zip(rows, more, strict=True)])
        code, said = run(capsys, tmp_path / "in.csv", "-o", tmp_path / "out.csv", "--level", "0.9")
        assert code == 0
        assert "too small to calibrate" not in said
        outputs.append(read(tmp_path / "out.csv"))
    (names, plain), (all_names, found) = outputs
    assert gaps.any()
    assert all_names[: len(names)] == names
    assert [row[: len(names)] for row in found] == plain
    assert found[-1][len(names) :] == ["7", "", "", "8", "", ""]
    assert "how far others lie: single." in said
    assert "all equal, and too few for this level: equal." in said


def test_bounds_that_are_left_empty_are_null_in_parquet_and_nan_in_npy(capsys, tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"a": [5.0, np.nan, np.nan], "b": [1.0, 2.0, 3.0]})
    frame.to_parquet(tmp_path / "in.parquet")
    assert run(capsys, tmp_path / "in.parquet", "-o", tmp_path / "out.parquet", "--level", "0.9")[0] == 0
    assert pq_nulls(tmp_path / "out.parquet") == [0, 2, 2, 0]
    np.save(tmp_path / "in.npy", frame.to_numpy())
    assert run(capsys, tmp_path / "in.npy", "-o", tmp_path / "out.npy", "--level", "0.9")[0] == 0
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy")[1], [5.0, np.nan, np.nan, 2.0])


def pq_nulls(path):
    """Nulls of each column of a Parquet file."""
    import pyarrow.parquet as pq

    return [column.null_count for column in pq.read_table(path).columns]


def test_a_table_too_small_to_calibrate(capsys, tmp_path):
    (tmp_path / "in.csv").write_text("a,b\n1,2\n2,\n3,6.5\n5,8\n,9\n")
    code, said = run(capsys, tmp_path / "in.csv", "-o", tmp_path / "out.csv", "--level", "0.95")
    assert code == 0
    assert "too small to calibrate" in said
    header, rows = read(tmp_path / "out.csv")
    assert header == ["a", "a_lower", "a_upper", "b", "b_lower", "b_upper"]
    assert float(rows[1][4]) < float(rows[1][3]) < float(rows[1][5])


@pytest.mark.parametrize("text", ["a,b\n1,\n", "a\n1\n\n", "a,b\n5,1\n5,\n,1\n"])
def test_tiny_tables_are_filled(capsys, tmp_path, text):
    (tmp_path / "in.csv").write_text(text)
    assert run(capsys, tmp_path / "in.csv", "-o", tmp_path / "out.csv")[0] == 0


def test_a_first_line_of_numbers(capsys, tmp_path):
    (tmp_path / "in.csv").write_text("4,\n3,\n4,5\n7,6\n,8\n")
    for more, gaps, words in (([], 3, "taken as data"), (["--no-header"], 3, ""), (["--header"], 2, "")):
        code, said = run(capsys, tmp_path / "in.csv", "-o", tmp_path / "out.csv", *more)
        assert code == 0
        assert f"Filled {gaps} gaps" in said
        assert ("first line" in said, words in said) == (bool(words), True)
    (tmp_path / "in.csv").write_text(",2\n3,\n4,5\n7,6\n,8\n")
    assert "Filled 3 gaps" in run(capsys, tmp_path / "in.csv", "-o", tmp_path / "out.csv")[1]


def test_columns_that_count_rows_have_no_part_in_it(capsys, tmp_path):
    X = np.random.default_rng(3).normal(size=(40, 3)).round(3)
    X[:, 0] = np.arange(1, 41)
    X[5, 1] = np.nan
    outputs = []
    for columns in ([0, 1, 2], [1, 2]):
        np.savetxt(
            tmp_path / "in.csv", X[:, columns], delimiter=",", header=",".join("iab"[j] for j in columns), comments=""
        )
        said = run(capsys, tmp_path / "in.csv", "-o", tmp_path / "out.csv")[1]
        outputs.append(read(tmp_path / "out.csv")[1][5][-2:])
        assert ("Columns that count rows or years were left out: i." in said) == (len(columns) == 3)
    assert outputs[0] == outputs[1]


def test_fills_beyond_what_was_seen_are_counted(capsys, tmp_path):
    x = np.random.default_rng(4).permutation(60) - 30.0
    rows = [[f"{v:g}", "" if abs(v) > 26 else f"{2 * v:g}"] for v in x]
    said = run(capsys, write(tmp_path / "in.csv", ["a", "b"], rows), "-o", tmp_path / "out.csv")[1]
    filled = np.array(read(tmp_path / "out.csv")[1], dtype=float)[:, 1]
    below, above = (filled < -52).sum(), (filled > 52).sum()
    assert (below, above) == (4, 3)
    assert "4 fills are below the lowest value seen in their column, and 3 above the greatest." in said


def test_gaps_that_hold_the_mean_because_nothing_else_was_found(capsys, tmp_path):
    X = np.where(np.arange(80).reshape(40, 2) == 4, np.nan, np.random.default_rng(1).normal(size=(40, 2)))
    np.savetxt(tmp_path / "in.csv", X, delimiter=",", header="a,b", comments="")
    code, said = run(capsys, tmp_path / "in.csv", "-o", tmp_path / "out.csv")
    assert (code, "every gap holds the mean of its column" in said) == (0, True), said
    assert float(read(tmp_path / "out.csv")[1][2][0]) == pytest.approx(np.nanmean(X[:, 0]))


def test_progress_bar_on_a_terminal(tmp_path, monkeypatch, capsys):
    pytest.importorskip("rich")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    source = write(tmp_path / "in.csv", *table()[:2])
    code, said = run(capsys, source, "-o", tmp_path / "out.csv")
    assert code == 0
    assert "Filled" in said


def test_console_entry(tmp_path):
    script = Path(sysconfig.get_path("scripts")) / "factorstream"
    source = write(tmp_path / "in.csv", *table()[:2])
    command = [script, "impute", source, "-o", tmp_path / "out.csv", "--level", "0.95"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
    assert "Filled" in done.stderr
    command[-1] = "7"
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2


def test_text_needs_no_optional_package(tmp_path):
    source = write(tmp_path / "in.csv", *table()[:2])
    hidden = "pandas", "polars", "pyarrow", "rich", "matplotlib"
    code = f"import sys; sys.modules.update(dict.fromkeys({hidden})); from factorstream.cli import main; sys.exit(main(sys.argv[1:]))"  # noqa: E501
    arguments = ["impute", str(source), "-o", str(tmp_path / "out.csv"), "--level", "0.9"]
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert read(tmp_path / "out.csv")[0][3] == "a_lower"


def test_parquet_that_pandas_wrote_can_be_read_back(capsys, tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": pandas.array([1, None, 3] * 20, dtype="Int64"), "b": np.arange(60.0)})
    frame.to_parquet(tmp_path / "in.parquet")
    assert run(capsys, tmp_path / "in.parquet", "-o", tmp_path / "out.parquet")[0] == 0
    again = pandas.read_parquet(tmp_path / "out.parquet")
    assert again["a"].dtype == "Int64"  # whole numbers stay whole
    assert not again["a"].isna().any()


def test_links_and_permissions_stay(capsys, tmp_path):
    source = write(tmp_path / "in.csv", *table()[:2])
    target = tmp_path / "real.csv"
    target.write_text("old")
    target.chmod(0o640)
    (tmp_path / "link.csv").symlink_to(target)
    assert run(capsys, source, "-o", tmp_path / "link.csv")[0] == 0
    assert (tmp_path / "link.csv").is_symlink()
    assert target.stat().st_mode & 0o777 == 0o640
    assert target.read_text() != "old"
