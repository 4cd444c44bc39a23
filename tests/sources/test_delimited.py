"""Text comes out of its file as it went in, but for the gaps."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from factorstream.sources.cells import GAPS, Cells, cell_text
from factorstream.sources.delimited import parse_delimited
from factorstream.sources.lines import split_lines
from factorstream.sources.number_form import Asked
from factorstream.sources.rows.opening import open_rows
from factorstream.sources.stream import TextStream
from factorstream.sources.table import NewColumn
from factorstream.sources.tables import Bounds, TableError, encode, encode_parts, read_table


@pytest.mark.parametrize(
    "raw",
    [
        b"a,b\n1,2\n3,4\n",
        b"a,b\n1,2\n3,4",
        b"a,b\r\n1,2\r\n\r\n3,4\r\n\r\n",
        b"\xef\xbb\xbfa,b\n1,2\n",
        b'"a, ""x""",b\n"1",  2 \n"two\nlines",0004\n',
        "naïve;größe\n1;2\n".encode(),
        b"a\tb\n1\t\n",
        b"one\n1\n\n3\n",
        b'x,y\n1,"quoted at the end"',
        b"x,y\n1,",
        b'x,y\n"1",',
    ],
)
def test_text_survives_to_the_byte(raw):
    table = parse_delimited(raw)
    kept = np.where(np.isnan(table.numbers), 7.0, table.numbers)
    if not np.isnan(table.numbers).any():
        assert encode(table, kept) == raw
    again = parse_delimited(encode(table, kept))
    np.testing.assert_array_equal(again.numbers, kept)
    assert again.names == table.names


_cell = st.text(st.characters(codec="utf-8", exclude_characters="\x00\r\ufeff"))


@pytest.mark.parametrize(("delimiter", "words"), [(";", "semicolons"), ("\t", "tabs"), ("|", "bars"), (",", "")])
def test_a_delimiter_that_was_found_is_said(tmp_path, delimiter, words):
    text = "".join(delimiter.join(row) + "\n" for row in (("a", "b"), ("1.5", "2"), ("3.5", "4")))
    expected = [f"Cells were taken as separated by {words}; pass --delimiter if they are not."] if words else []
    (tmp_path / "x.csv").write_text(text)
    assert parse_delimited(text.encode()).assumed == open_rows(tmp_path / "x.csv").assumed == expected
    stream = TextStream([line.encode() for line in text.splitlines(keepends=True)])
    assert [remark for remark in [stream.delimiter_remark] if remark] == expected
    assert not parse_delimited(text.encode(), delimiter).assumed
    (tmp_path / "x.tsv").write_text(text)
    assert delimiter != "\t" or not open_rows(tmp_path / "x.tsv").assumed  # its name says so


@given(
    st.lists(st.lists(_cell, min_size=3, max_size=3), min_size=2, max_size=6),
    st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
)
def test_cells_are_those_that_the_csv_module_wrote(rows, quoting):
    file = io.StringIO()
    csv.writer(file, lineterminator="\n", quoting=quoting).writerows(rows)
    text = file.getvalue()
    lines = list(split_lines(text, ","))
    assert [[cell_text(cell) for cell in cells] for cells, _ in lines] == rows
    assert "".join(",".join(cells) + end for cells, end in lines) == text


@pytest.mark.parametrize("gap", ["", "NA", "n/a", "NaN", "null", "NULL", "None", "?", " ", ".", '""', '"NA"', "<NA>"])
def test_gaps(gap):
    table = parse_delimited(f"a,b\n1,x\n{gap},y\n".encode())
    assert table.numeric == [0]
    np.testing.assert_array_equal(table.numbers, [[1.0], [np.nan]])
    assert encode(table, np.array([[1.0], [2.5]])) == b"a,b\n1,x\n2.5,y\n"


@pytest.mark.parametrize(
    "cells", ["inf,1", "1_000,1", "00123,1", "2024-01-01,1", "1 000,1", "0x10,1", "True,1", "NA,NA", "1e999,1"]
)
def test_columns_that_are_not_numbers(cells):
    first, second = cells.split(",")
    table = parse_delimited(f"a,b\n{first},x\n{second},y\n,z\n".encode())
    assert table.numeric == []
    assert table.gaps(0) >= 1


@pytest.mark.parametrize("cell", ["1", "-1.5", "+2", "1e-3", ".5", "0", "0.5", "-0", " 7 ", '"8"', "5.", "\u22121.5"])
def test_cells_that_are_numbers(cell):
    assert parse_delimited(f"a,b\n{cell},x\n".encode()).numeric == [0]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(delimiter):
    rows = [["a", "b b", "c"], ["1", "x,y" if delimiter != "," else "x", "2"], ["", "z", "3"]]
    table = parse_delimited("\n".join(delimiter.join(row) for row in rows).encode())
    assert table.names == rows[0]
    assert table.numeric == [0, 2]


def test_bounds_follow_their_column():
    table = parse_delimited(b'id,"a, b",c,name\n1,0.50,,x\n2,,3,y\n')
    filled = np.array([[1.0, 0.5, 2.0], [2.0, 1.5, 3.0]])
    out = encode(table, filled, Bounds(filled - 1.0, filled + 1.0)).decode()
    assert out == (
        'id,"a, b","a, b_lower","a, b_upper",c,c_lower,c_upper,name\n1,0.50,0.50,0.50,2,1,3,x\n2,1.5,0.5,2.5,3,3,3,y\n'
    )


def test_without_a_header():
    table = parse_delimited(b"1,x\n,y\n", header=False)
    assert table.names == ["column 1", "column 2"]
    filled = np.array([[1.0], [2.0]])
    assert encode(table, filled, Bounds(filled - 1, filled + 1)) == b"1,1,1,x\n2,1,3,y\n"


@pytest.mark.parametrize(
    ("cells", "unread"),
    [
        ("3,14;-2;0,5", ("3,14", 2, "3.14", True)),
        ("1;2;3,5", ("3,5", 4, "3.5", True)),
        ("1,200;3,14;", ("3,14", 3, "3.14", True)),
        ("0,125;;", ("0,125", 2, "0.125", True)),
        ("1 200,50 €;7;", ("1 200,50 €", 2, "1200.50", True)),
        ("1,200.50;7;", ("1,200.50", 2, "1200.50", False)),
        ("7;5%;12.5 %", ("5%", 3, "5", False)),
        ("$5;€1,200;", ("$5", 2, "5", True)),
        ("1,200;3,400;", ("1,200", 2, "1200, or 1.200 where the comma is a decimal one", True)),
    ],
)
def test_numbers_that_are_written_in_other_ways(cells, unread):
    text = "\n".join(["a;b;c", *(f"{cell};1;0.5" for cell in cells.split(";"))])
    table = parse_delimited(text.encode(), asked=Asked(None, "'"))  # nothing is guessed
    assert table.numeric == [1, 2]
    assert [tuple(one)[1:5] for one in table.unread] == [unread]
    assert table.strays == []


@pytest.mark.parametrize("cells", ["3,14;Bonn;2,5", "1,2,3;4,5;6", "5 apples;6%;7"])
def test_texts_are_no_such_numbers(cells):
    table = parse_delimited("\n".join(["a;b", *(f"{cell};1" for cell in cells.split(";"))]).encode())
    assert (table.unread, table.numeric) == ([], [1])


def test_the_documentation_has_all_words_for_gaps():
    page = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text(encoding="utf-8")
    (part,) = re.findall(r"\* \*\*Gaps\*\* are(.*?)`--na", page, flags=re.DOTALL)
    assert {""} | {word.lower() for word in re.findall("`(.*?)`", part)} == GAPS


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_comes_back_as_utf_16(encoding):
    raw = "\ufeffgröße;b\r\n1;2\r\n;3\r\n".encode(encoding)
    table = parse_delimited(raw)
    assert table.names == ["größe", "b"]
    assert encode(table, table.numbers).decode(encoding) == "\ufeffgröße;b\r\n1;2\r\n;3\r\n"
    assert table.encode_new([NewColumn("ä", [1.5])]).decode(encoding) == "\ufeffä\r\n1.5\r\n"


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"", "empty"),
        (b"\n \n", "empty"),
        (b"a,b\n", "no rows"),
        (b"a,b\n1,2\n1\n", "line 3 has 1 cell where the first has 2"),
        (b'a,b\n"1\n",2\n1\n', "line 4 has 1 cell where the first has 2"),
        (b"a,b\n1,2,3\n", "line 2 has 3 cells where the first has 2"),
        (b'a,b\n1,"x\n2,y\n', "line 2 has a quote that is not closed"),
        (b"a,b\n1,\x81\n", "neither UTF-8 nor Windows-1252 text; pass --encoding NAME"),
        (b"a,b\n1,\xc3\xa4\n2,\xe4\n", "some of it is UTF-8 text and some is not; pass --encoding NAME"),
        (b"a,b\n1,\xe4\x05\n", "not a text file"),
        (b"abcdefgh\x00b", "not a text file"),
        (b"a\x00,\x00b\x00\n\x00", "UTF-16 without a byte-order mark; pass --encoding utf-16-le"),
        (b"\xff\xfea", "not utf-16-le text; pass another --encoding"),
    ],
)
def test_text_that_is_no_table(raw, words, tmp_path):
    path = tmp_path / "bad.csv"
    path.write_bytes(raw)
    with pytest.raises(TableError, match=words) as caught:
        read_table(path)
    assert str(path) in str(caught.value)


def test_large_and_small_numbers_keep_their_digits():
    table = parse_delimited(b"t\n1700000000123\n\n")
    assert encode(table, np.array([[0.0], [1700000000500.0]])) == b"t\n1700000000123\n1700000000500\n"


def test_many_cells_are_read_as_single_ones():
    cells = ["", " ", "1", "01", "0.5", "-0.5", "-01", "+3", " 4", "1e999", "nan", "NA", "x", "1_0", '"7"', "-9", "9.0"]
    cells += [
        "0",
        "-0",
        "1e3",
        "0x1",
        "-",
        "--",
        "inf",
        "-inf",
        "1.",
        ".5",
        "-.5",
        "1 ",
        "00",
        "0.",
        "-0.",
        "\u0663",
        "\u22124",
    ]
    for missing in ((), ("-9", "0.5", "x")):
        reading = Cells(missing)
        np.testing.assert_equal(reading.values(cells), [reading.value(cell) for cell in cells])
        numbers = [reading.number(cell) for cell in cells]
        np.testing.assert_equal([None if value != value else value for value in reading.values(cells)], numbers)


def test_the_minus_of_typesetters_goes_with_every_way_of_writing_numbers():
    for text, expected in (
        ("a;b\n\u22121,5;3\n2,5;4\n\u22123,5;9\n", [-1.5, 2.5, -3.5]),
        ("a;b\n\u22121.200,5;3\n2,5;4\n", [-1200.5, 2.5]),
        ('a,b\n"\u22121,200",3\n"1,200,300",4\n', [-1200.0, 1200300.0]),
        ("a,b\n\u22121'200,3\n1'200,4\n", [-1200.0, 1200.0]),
    ):
        table = parse_delimited(text.encode(), delimiter=text[1])
        assert table.numbers[:, 0].tolist() == expected
        assert len(table.assumed) == 1  # that marks were found


@given(
    st.lists(
        st.tuples(*[st.sampled_from(["1", "12", "-3", "2.0", "1e3", "0.5", "1e-2", "", "NA", '"7"', '"1.5"'])] * 3),
        min_size=1,
        max_size=8,
    )
)
def test_columns_of_whole_numbers_are_those_whose_every_cell_says_so(rows):
    table = parse_delimited("".join(",".join(["x", *row]) + "\n" for row in [("a", "b", "c"), *rows]).encode())
    cells = [["x", *row] for row in rows]
    assert table.whole == Cells().whole_columns(cells, table.numeric)


def test_a_long_text_is_written_in_parts():
    raw = b"a,b\n" + b"1.5,2.5\n,3.5\n" * 50_000
    table = parse_delimited(raw)
    filled = np.where(np.isnan(table.numbers), 7.5, table.numbers)
    sizes = [len(part) for part in encode_parts(table, filled)]
    assert max(sizes) < len(raw) / 2
    assert encode(table, filled) == raw.replace(b"\n,3", b"\n7.5,3")
