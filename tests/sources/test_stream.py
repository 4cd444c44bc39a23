"""Text that arrives line by line."""

from __future__ import annotations

import pytest

from factorstream.sources.delimited import parse_delimited
from factorstream.sources.stream import TextStream
from factorstream.sources.table import TableError


@pytest.mark.parametrize(
    "raw",
    [
        b"a,b\n1,2\n3,4\n",
        b"a,b\r\n1,2\r\n\r\n3,4",
        b"\xef\xbb\xbfa;b\n1;2\n",
        b'"a, ""x""",b\n"1",  2 \n"two\nlines",0004\n',
        "naïve\tgröße\n1\t2\n".encode(),
        b"a\n1\n\n2\n",
    ],
)
def test_what_goes_in_comes_out(raw):
    stream = TextStream(raw.splitlines(keepends=True))
    out = stream.mark.encode() + stream.encoded(stream.header.cells, stream.header.end)
    out += b"".join(stream.encoded(row.cells, row.end) for row in stream.rows())
    assert out == raw
    assert stream.names == parse_delimited(raw).names


def test_a_row_is_there_before_the_next_line_is_asked_for():
    asked = []

    def lines():
        for line in (b"a,b\n", b"1,2\n", b"3,4\n", b"5,6\n"):
            asked.append(line)
            yield line

    stream = TextStream(lines())
    rows = stream.rows()
    assert next(rows).cells == ["1", "2"]
    assert len(asked) == 2
    assert next(rows).cells == ["3", "4"]
    assert len(asked) == 3


def test_numbers_and_gaps():
    stream = TextStream([b"1,NA,x,-9999,00123\n"], header=False, missing=["-9999"])
    values, gaps = stream.numbers(stream.first, range(5))
    assert [str(value) for value in values[0]] == ["1.0", "nan", "nan", "nan", "nan"]
    assert gaps == [False, True, False, True, False]


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([], "it is empty"),
        ([b"a,b\n"], "no rows below"),
        ([b"a,b\n", b"1,2\n", b"3\n"], "row 3 has 1 cell where the first has 2"),
        ([b"a,b\n", b"1,\xff\n"], "not UTF-8"),
        ([b"a,b\n", b"1,\x00\n"], "not a text file"),
        ([b"a,b\n", b'1,"x\n'], "quote that is not closed"),
    ],
)
def test_bad_streams(lines, words):
    with pytest.raises(TableError, match=words):
        list(TextStream(lines).rows())
