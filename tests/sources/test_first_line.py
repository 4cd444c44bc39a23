"""Names or data: what the first line of a text is taken as."""

from __future__ import annotations

import io
import time

import pytest

from factorstream.sources.delimited import parse_delimited
from factorstream.sources.stream import TextStream
from factorstream.sources.table import TableError


@pytest.mark.parametrize(
    ("text", "header", "words"),
    [
        ("a,b\n1,2\n", True, ""),
        ("a,2\n1,2\n", True, ""),
        (",a\n1,2\n", True, ""),
        ("town,2019,2021\nUlm,1,2\n", True, ""),
        ("id,400.5,401.3,402.9\nx,1,2,3\n", True, ""),
        ("Ulm,5.1,\nBonn,3,4\n", True, "because it has words; pass --no-header if it is data"),
        ("Ulm,5,4,5\nBonn,3,4,4\n", True, "because it has words"),
        ("5.1,,7\n1,2,4\n", False, "taken as data"),
        ("5.1,NA,--\n1,2,4\n", False, "taken as data"),
        ("2024-01-01,5\n2024-01-02,6\n", False, "taken as data"),
        ("2024-01-01,2024-01-02\n4,6\n", True, ""),
        ("0,1,2\n5,3,1\n", True, "taken as names"),
        (",0,1,2\n0,5,3,1\n", True, "taken as names"),
        ("1990,1991,1992\n5,3,1\n", True, "taken as names"),
        ("1,2,3\n4,5,6\n", False, "taken as data"),
        ("1,5;2,25\n3,0;1,5\n", False, "taken as data"),
        ("5.1,2\n", False, "taken as data"),
        ("31.5,26.7,46.3\n48.58,50.28,46.86\n25.33,22.68,33.48\n", False, "taken as data"),  # the air of London
        (",0\n0,5\n1,7\n", True, "it counts the columns"),
        (",0,1\n0,5,\n1,7,2\n", True, "it counts the columns"),
        ("0,1\n5.5,3\n2,1\n", True, "it counts the columns"),
        ("0\n5.5\n2\n", True, "it counts the columns"),
        ("0,1\n1,0\n1,1\n", False, "taken as data"),
        (",1\n3,\n,5\n", False, "taken as data"),
        ("5%,50%,95%\n1,2,4\n", True, ""),
        ("5%,50%,95%\n1%,2%,4%\n", False, "taken as data"),
        ("name,5%,95%\nx,1,2\n", True, ""),
        ("Ulm,5%\nBonn,7%\n", True, "because it has words"),
        ("5%,3\n4,2\n", True, "it has texts above numbers"),
        ('"101","205"\n4,2\n', True, "in quotes"),
        ('"101","205"\n"4","2"\n', False, "taken as data"),
        ("2001,2003\n4,2.5\n", True, "it holds years"),
        (",2001\n1,2.5\n", True, "it holds years"),
        ("2001,2003\n2002,2004\n", False, "taken as data"),
        ("0,1,2\n\n5,3,1\n", True, "taken as names"),
        ("1,2,3\n4,5,6\n7,8,9\n1,1,1\n", False, "taken as data"),
        ("400,410,420\n1,2,3\n5,3,1\n2,7,4\n", True, "equal steps"),
    ],
)
def test_what_is_assumed(text, header, words):
    table, stream = parse_delimited(text.encode()), TextStream(io.BytesIO(text.encode()))
    assert (table.names[0].startswith("column"), stream.header is None) == (not header, not header)
    assert words in table.first_line
    assert table.first_line == stream.first_line
    assert bool(words) == bool(table.first_line)


def test_long_lines_take_time_in_proportion():
    def seconds(n):
        text = (",".join(f"{j * j}.5" for j in range(n)) + "\n").encode()
        began = time.process_time()
        assert parse_delimited(text).names[0] == "column 1"
        return time.process_time() - began

    assert min(seconds(16_000) for _ in range(2)) < 10 * min(seconds(4_000) for _ in range(2))  # squares: 16 times


def test_a_stream_with_words_waits_for_one_row_only():
    def lines():
        yield from (b"a,b\n", b"1,2\n")
        raise AssertionError("a third line was asked for")

    assert TextStream(lines()).names == ["a", "b"]


@pytest.mark.parametrize("header", [True, False])
def test_who_has_been_told_assumes_nothing(header):
    for text in (b"5.1,,7\n1,2,4\n", b"a,b,c\n1,2,4\n", b"0,1,2\n5,3,1\n"):
        table, stream = parse_delimited(text, header=header), TextStream(io.BytesIO(text), header=header)
        assert len(table.numbers) == 2 - header
        assert (table.first_line, stream.first_line, stream.header is not None) == ("", "", header)


@pytest.mark.parametrize("text", ["sep=;\na;b\n1;2\n", "SEP=,\na,b\n1,2\n", "sep=|\na|b\n1|2\n"])
def test_a_line_for_spreadsheets_is_refused(text):
    for read in (parse_delimited, lambda raw: TextStream(io.BytesIO(raw))):
        with pytest.raises(TableError, match="it begins with a line sep=, which is for spreadsheets alone; remove"):
            read(text.encode())
