"""Names or data: what the first line of a text is taken as."""

from __future__ import annotations

import io

import pytest

from factorstream.sources.delimited import parse_delimited
from factorstream.sources.stream import TextStream


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
    ],
)
def test_what_is_assumed(text, header, words):
    table, stream = parse_delimited(text.encode()), TextStream(io.BytesIO(text.encode()))
    assert (table.names[0].startswith("column"), stream.header is None) == (not header, not header)
    assert words in table.first_line
    assert table.first_line == stream.first_line
    assert bool(words) == bool(table.first_line)


@pytest.mark.parametrize("header", [True, False])
def test_who_has_been_told_assumes_nothing(header):
    for text in (b"5.1,,7\n1,2,4\n", b"a,b,c\n1,2,4\n", b"0,1,2\n5,3,1\n"):
        table, stream = parse_delimited(text, header=header), TextStream(io.BytesIO(text), header=header)
        assert len(table.numbers) == 2 - header
        assert (table.first_line, stream.first_line, stream.header is not None) == ("", "", header)
