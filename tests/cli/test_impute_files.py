"""`factorstream impute` on files as people have them: other encodings, decimal commas, codes, chosen columns."""

from __future__ import annotations

import gzip
import html
import io
import re
import sys

import numpy as np
import pytest

from cli_problems import read, run, say, table, write
from factorstream import LowRankImputer, cli
from factorstream.jobs import large_files


def german(n=120, seed=0):
    """A table as a spreadsheet in German saves it; what is measured goes together."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 1)) @ [[1.0, 8.0, 300.0, 9.0]] + 0.2 * rng.normal(size=(n, 4)) * [1, 8, 300, 9]
    X += [10, 50, 4000, 40]
    gaps = rng.random(X.shape) < 0.12
    lines = ["Straße;Größe;Gewicht;Umsatz €;Anzahl;Notiz"]
    for k, (row, gap) in enumerate(zip(X, gaps, strict=True)):
        texts = [f"{row[0]:.2f}", f"{row[1]:.1f}", f"{row[2]:,.2f}", f"{row[3]:.0f}"]
        cells = [text.replace(",", "T").replace(".", ",").replace("T", ".") for text in texts]
        lines.append(
            ";".join([f"Weg {k}", *("" if g else c for c, g in zip(cells, gap, strict=True)), "schön" * (k % 3)])
        )
    return "\r\n".join(lines) + "\r\n", X, gaps


def numbers_of(text):
    rows = [line.split(";")[1:5] for line in text.splitlines()[1:]]
    return np.array([[float(cell.replace(".", "").replace(",", ".")) for cell in row] for row in rows])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_a_german_spreadsheet_in_any_encoding(capsys, tmp_path, encoding, monkeypatch):
    text, X, gaps = german()
    (tmp_path / "in.csv").write_bytes(text.encode(encoding))
    code, said = run(capsys, tmp_path / "in.csv", "-o", tmp_path / "out.csv", "--numbers-only")
    assert code == 0
    assert f"Filled {gaps.sum()} gaps in 4 columns" in said
    assert "Commas were taken as decimal commas, and points as marks between thousands: line 2 of column Umsatz" in said
    assert ("was read as Windows-1252 (a word in it is 'Straße')" in said) == (encoding == "cp1252")
    assert "bounds outwards, in columns that hold whole numbers only: Anzahl." in said
    raw = (tmp_path / "out.csv").read_bytes()
    filled = raw.decode(encoding)
    assert filled.encode(encoding) == raw  # byte-order mark and all
    assert filled.count("\r\n") == filled.count("\n") == len(X) + 1
    found = numbers_of(filled)
    assert np.sqrt(np.mean(((found - X) / X.std(axis=0))[gaps] ** 2)) < 0.5
    assert (found[:, 3] % 1 == 0).all()
    for old, new in zip(text.splitlines(), filled.splitlines(), strict=True):
        assert all(before in ("", after) for before, after in zip(old.split(";"), new.split(";"), strict=True))
    monkeypatch.setattr(large_files, "LARGE", 100)
    code, by_blocks = run(capsys, tmp_path / "in.csv", "-o", tmp_path / "blocks.csv")
    assert code == 0
    assert (tmp_path / "blocks.csv").read_bytes() == raw
    assert all(line in by_blocks for line in said.splitlines()[1:] if "Gaps left" not in line)
    assert by_blocks.count("Commas") == 1
    (tmp_path / "in.csv.gz").write_bytes(gzip.compress(text.encode(encoding)))
    assert run(capsys, tmp_path / "in.csv.gz", "-o", tmp_path / "out.csv.gz", "--numbers-only")[0] == 0
    assert gzip.decompress((tmp_path / "out.csv.gz").read_bytes()) == raw


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16"])
def test_a_german_spreadsheet_row_by_row_from_standard_input(capsysbinary, tmp_path, encoding, monkeypatch):
    text, _, gaps = german()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode(encoding))))
    assert cli.main(["impute", "-", "-o", "-", "--online", "--level", "0.9"]) == 0
    raw, said = capsysbinary.readouterr()
    lines = raw.decode(encoding).splitlines()
    assert lines[0].startswith("Straße;Größe;Größe_lower;Größe_upper;")
    assert f"Filled {gaps.sum()} gaps".encode() in said
    assert b"Commas were taken as decimal commas" in said
    counts = [line.split(";")[10:13] for line in lines[1:]]
    assert all(re.fullmatch(r"(-?\d+)?", cell) for cells in counts for cell in cells)  # whole, and so are their bounds


def test_columns_that_are_chosen(capsys, tmp_path, monkeypatch):
    header, rows, _, gaps = table(n=200)
    source = write(tmp_path / "in.csv", header, rows)
    plain = write(tmp_path / "plain.csv", header[2:4], [row[2:4] for row in rows])
    assert run(capsys, plain, "-o", tmp_path / "two.csv", "--level", "0.9")[0] == 0
    _, expected = read(tmp_path / "two.csv")
    for large in (2**40, 100):
        monkeypatch.setattr(large_files, "LARGE", large)
        for chosen in (["--columns", "a,b"], ["--columns", "3", "--columns", "b"], ["--exclude", "c,6,date"]):
            code, said = run(capsys, source, "-o", tmp_path / "out.csv", "--level", "0.9", "--id", "id", *chosen)
            assert code == 0
            new_header, found = read(tmp_path / "out.csv")
            wide = [f"{name}{end}" for name in "ab" for end in ("", "_lower", "_upper")]
            assert new_header == ["id", "date", *wide, "c", "d", "comment"]
            assert [row[2:8] for row in found] == expected
            assert [row[8] for row in found] == [row[4] for row in rows]  # its gaps too
            assert "Columns left as they are because they were not to be used: " in said
            assert "id" not in said.partition("not to be used: ")[2].partition("\n")[0].split(", ")
    assert gaps[:, 2].any()


@pytest.mark.parametrize("large", [2**40, 100])
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--columns", "aa"], "it has no column aa; the nearest name"),
        (["--exclude", "77"], "it has no column 77, by name or position; it has 7 columns"),
        (["--columns", "comment"], "column comment holds no numbers"),
        (["--columns", "a", "--id", "a"], "column a is both to be used and not; name it once"),
        (["--exclude", "a,b,c,d,date"], "among those to be used"),
    ],
)
def test_columns_that_cannot_be_chosen(capsys, tmp_path, monkeypatch, large, options, words):
    monkeypatch.setattr(large_files, "LARGE", large)
    source = write(tmp_path / "in.csv", *table()[:2])
    code, said = run(capsys, source, "-o", tmp_path / "out.csv", *options)
    assert (code, said.count("\n")) == (2, 1)
    assert words in said
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("option", ["--columns", "--exclude"])
def test_a_model_knows_its_columns(capsys, option):
    code, said = run(capsys, "in.csv", "-o", "out.csv", "--model", "m", option, "a")
    assert (code, said.count("\n")) == (2, 1)
    assert f"{option} is a setting of the fit, and --model was fitted before" in said


def test_every_command_takes_the_options(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.csv").write_bytes(german()[0].encode("cp1252"))
    options = ["--na", "<0,1", "--id", "Straße", "--exclude", "Anzahl", "--decimal", ",", "--thousands", "."]
    for command in (
        ["impute", "-o", "out.csv"],
        ["detect"],
        ["factorize"],
        ["forecast", "-n", "1", "-o", "ahead.csv"],
        ["info"],
    ):
        told = options[2:6] if command == ["info"] else []  # which columns are used is nothing that it asks
        arguments = [one for one in options if one not in told]
        code, out, err = say(capsys, command[0], "in.csv", *command[1:], *arguments, "--encoding", "cp1252")
        assert code == 0, err
        assert "Commas" not in err
        assert "Windows" not in err
        assert command[0] != "detect" or out.startswith("line,Straße,score,columns\n")


def test_suspected_codes_are_pointed_out_once_for_all_columns(capsys, tmp_path, monkeypatch):
    header, rows, _, gaps = table(n=200)
    for k, row in enumerate(rows):
        for j in (2, 5):
            row[j] = "-999" if k % 17 == j else row[j]
    source = write(tmp_path / "in.csv", header, rows)
    said = []
    for large in (2**40, 100):
        monkeypatch.setattr(large_files, "LARGE", large)
        said.append(run(capsys, source, "-o", tmp_path / "out.csv")[1])
        assert "2 columns have the value -999, 24 times together, unlike their other values (a, d);" in said[-1]
        assert "it was taken as a number, and if it marks a gap, pass --na -999.\n" in said[-1]
        code, then = run(capsys, source, "-o", tmp_path / "out.csv", "--na", "-999.0")
        assert code == 0
        assert "-999" not in then
        assert "-999" not in (tmp_path / "out.csv").read_text()
    assert gaps.any()


def test_columns_of_whole_numbers_stay_whole_in_every_format(capsys, tmp_path, monkeypatch):
    pa, feather, pq = (pytest.importorskip(f"pyarrow{part}") for part in ("", ".feather", ".parquet"))
    rng = np.random.default_rng(0)
    x = rng.normal(size=150)
    whole = np.rint(20 + 7 * x).astype(int)
    gap = rng.random(150) < 0.2
    columns = {"count": pa.array(whole, pa.uint8(), mask=gap), "x": pa.array(x + 0.1 * rng.normal(size=150))}
    pq.write_table(pa.table(columns), tmp_path / "in.parquet")
    feather.write_feather(pa.table(columns), str(tmp_path / "in.feather"))
    found = {}
    for name, large in (("in.parquet", 2**40), ("in.parquet", 100), ("in.feather", 100)):
        monkeypatch.setattr(large_files, "LARGE", large)
        out = tmp_path / name.replace("in", "out")
        code, said = run(capsys, tmp_path / name, "-o", out, "--level", "0.99")
        assert code == 0
        assert "in columns that hold whole numbers only: count." in said
        back = pq.read_table(out) if out.suffix == ".parquet" else feather.read_table(str(out))
        assert [str(kind) for kind in back.schema.types] == ["uint8", "uint8", "uint8", "double"]
        found[name, large] = np.column_stack([column.to_numpy() for column in back.columns])
    at_once = found["in.parquet", 2**40]
    for other in found.values():
        np.testing.assert_array_equal(other, at_once)
    value, lower, upper = at_once[gap, :3].T
    assert np.abs(value - whole[gap]).max() < 10
    assert (lower <= value).all()
    assert (value <= upper).all()
    assert (lower[value > 0] < value[value > 0]).all()  # outwards
    np.testing.assert_array_equal(at_once[~gap, 0], whole[~gap])


def test_numbers_that_are_written_with_fractions_are_filled_with_fractions(capsys, tmp_path):
    rng = np.random.default_rng(0)
    rows = [[f"{k}.0" if rng.random() > 0.1 else "", str(k)] for k in rng.integers(0, 90, 60)]
    code, said = run(capsys, write(tmp_path / "in.csv", ["a", "b"], rows), "-o", tmp_path / "out.csv")
    assert code == 0
    assert "whole numbers" not in said
    filled = [new[0] for old, new in zip(rows, read(tmp_path / "out.csv")[1], strict=True) if not old[0]]
    assert any("." in cell for cell in filled)


NEARLY_EMPTY = {
    "one": lambda k: "7.5" if k == 11 else "",
    "same": lambda k: "8" if k in (3, 60) else "",
    "two": lambda k: {5: "1.25", 90: "3"}.get(k, ""),
    "none": lambda k: "",
    "words": lambda k: "NA",
    "constant": lambda k: "" if k % 9 == 0 else "4.5",
}


@pytest.mark.parametrize("large", [2**40, 100])
def test_columns_with_hardly_a_value_cost_the_others_nothing(capsys, tmp_path, monkeypatch, large):
    monkeypatch.setattr(large_files, "LARGE", large)
    header, rows, _, gaps = table(n=150)
    write(tmp_path / "plain.csv", header[2:6], [row[2:6] for row in rows])
    odd = [[cell(k) for cell in NEARLY_EMPTY.values()] for k in range(len(rows))]
    write(tmp_path / "odd.csv", header[2:6] + list(NEARLY_EMPTY), [a[2:6] + b for a, b in zip(rows, odd, strict=True)])
    found = {}
    for name in ("plain", "odd"):
        code, said = run(capsys, tmp_path / f"{name}.csv", "-o", tmp_path / "out.csv", "--level", "0.9")
        assert code == 0
        assert "too small to calibrate" not in said
        found[name] = read(tmp_path / "out.csv")
    assert "Columns without any value are not filled: none, words." in said
    width = len(found["plain"][0])
    plain, beside = (np.array([row[:width] for row in found[name][1]], dtype=float) for name in ("plain", "odd"))
    known = np.repeat(~gaps[:, :3], 3, axis=1)
    np.testing.assert_array_equal(beside[:, :9][known], plain[:, :9][known])
    value, lower, upper = (beside[:, :9].reshape(-1, 3, 3)[gaps[:, :3]]).T
    assert np.isfinite(beside).all()
    assert (lower < value).all()
    assert (value < upper).all()
    scale = np.nanstd(np.where(gaps, np.nan, plain[:, [0, 3, 6, 9]]), axis=0)[:3]
    widths = {name: (x[:, 2:9:3] - x[:, 1:8:3])[gaps[:, :3]] for name, x in (("plain", plain), ("odd", beside))}
    assert np.median(widths["odd"]) < 1.5 * np.median(widths["plain"])
    assert scale.min() > 0


def test_columns_with_hardly_a_value_in_python():
    _, _, X, gaps = table(n=150)
    X = np.where(gaps, np.nan, X)
    odd = np.array([[float(cell(k) or "nan") for name, cell in NEARLY_EMPTY.items() if name not in ("none", "words")]
                    for k in range(len(X))])  # fmt: skip
    bounds = [
        LowRankImputer(random_state=0).fit(table).predict_interval(table, 0.9) for table in (X, np.hstack([X, odd]))
    ]
    for plain, beside in zip(*bounds, strict=True):
        assert np.isfinite(beside[:, :4]).all()
        assert np.isfinite(plain).all()
    width = [np.median((upper - lower)[:, :4][gaps]) for lower, upper in bounds]
    assert width[1] < 1.5 * width[0]


def test_a_report_lists_every_column_and_labels_rows(capsys, tmp_path):
    for package in ("jinja2", "matplotlib", "pandas"):
        pytest.importorskip(package)
    header, rows, _, _ = table()
    for k, row in enumerate(rows):
        row[0] = f"name {k}"
        row[5] = "<0.5" if k == 40 else row[5]
    source = write(tmp_path / "in.csv", header, rows)
    code, said = run(
        capsys, source, "-o", tmp_path / "out.csv", "--id", "id", "--exclude", "c", "--report", tmp_path / "r.html"
    )
    assert code == 0, said
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    text = " ".join(html.unescape(re.sub("<[^>]*>", " ", page)).split())
    assert "What was used, what was left out, and why" in text
    for words in (
        "id left out names the rows",
        "a used numbers with",
        "c left out was to be left out",
        "d left out has texts among its numbers, such as '<0.5'",
        "comment left out seldom the same value twice",
        "date left out reports are for numbers; without --report these are used and filled",
        "pass --na '<0.5' if it marks a gap",
        "choice=Choice(columns=(), exclude=('c',), id='id')",
        "from factorstream.jobs.choice import Choice",
    ):
        assert words in text
    assert "name 3" in text.partition("What fills the gaps")[2]
