"""Text that arrives line by line."""

from __future__ import annotations

import io
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from factorstream.sources.delimited import parse_delimited
from factorstream.sources.lines import split_lines
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


@pytest.mark.parametrize(
    "raw",
    [
        b'item,x\n4 5" pipe,1\n6,2\n7 5" pipe,3\n8,4\n',
        b'item,x\n4 5" pipe,1\n6,2\n7,4\n',
        b'x,item\n1,5" pipe\n2,"two\nlines"\n3,"6"" pipe\n, ""old"""\n4,7"\n',
        b'x,item\n1,"a" "b"\n2,""\n3,""""\n',
        b'x;item\n1;2,"\n2;3,"4\n3;4\n',
        b"x,item\r1,2\r3,4\r",
        b'x,"it\rem"\r\n1,2\r3,"4\r\n"\n',
    ],
)
@pytest.mark.parametrize("header", [True, False])
def test_rows_are_those_of_the_whole_text(raw, header):
    table, stream = parse_delimited(raw, header=header), TextStream(io.BytesIO(raw), header=header)
    assert stream.names == table.names
    rows = [[stream.cells.text(cell) or None for cell in row.cells] for row in stream.rows()]
    assert rows == [list(row) for row in zip(*(table.cells(j) for j in range(2)), strict=True)]


PLAIN = st.text('ab "', max_size=4).map(lambda text: f"x{text}")
QUOTED = st.text('a",\n\r', max_size=5).map(lambda text: '"' + text.replace('"', '""') + '"')
CELL = PLAIN | QUOTED


@given(st.lists(st.tuples(CELL, CELL, st.sampled_from(["\n", "\r\n", "\r"])), min_size=1, max_size=8))
@settings(deadline=None, max_examples=200)
def test_any_cells_come_out_as_they_are(rows):
    raw = "".join(f"{one},{two}{end}" for one, two, end in rows).encode()
    stream = TextStream(io.BytesIO(raw), delimiter=",", header=False)
    assert [(*row.cells, row.end) for row in stream.rows()] == rows


@given(st.text('a",\n', min_size=1, max_size=25))
@example('"a""\nb\n')
@example('a\n"b""\nc" d\n')
@settings(deadline=None, max_examples=500)
def test_no_row_is_lost_whatever_the_quotes(text):
    """A cell such as "a"" is none to one reader and open to the other, which then says so."""
    raw = "a\n" + text
    try:
        wanted = [cells for cells, _ in split_lines(raw, ",")]
    except TableError:
        wanted = None
    try:
        found = list(all_cells(TextStream(io.BytesIO(raw.encode()), ",", header=False)))
    except TableError:
        assert wanted is None or any(cell.startswith('"') for row in wanted for cell in row)
    else:
        assert found == wanted


def all_cells(stream):
    """The cells of rows of any width."""
    return (row.cells for row in stream._rows)


def test_a_long_quoted_cell_takes_time_in_proportion():
    def seconds(n):
        lines = [b"a,b\n", b'1,"\n', *[b'more ""text""\n'] * n, b'"\n']
        began = time.process_time()
        assert len(list(TextStream(lines).rows())) == 1
        return time.process_time() - began

    assert min(seconds(40_000) for _ in range(3)) < 12 * min(seconds(10_000) for _ in range(3))  # squares: 16 times


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
        ([b"a,b\n", b'"1\n', b'",2\n', b"3\n"], "line 4 has 1 cell where the first has 2"),
        ([b"a,b\n", b"1,2\n", b"3\n"], "line 3 has 1 cell where the first has 2"),
        ([b"Report\n", b"a,b\n", b"3,4\n"], "where the first has 1; remove what stands above the table"),
        ([b"a,b\n", b"1,2,\n"], "its last cell is empty: remove the delimiters at the ends, or name it"),
        ([b"a,b\n", b"1,\x81\n"], "neither UTF-8 nor Windows-1252"),
        ([b"a,b\n", b"1,\x00\n"], "not a text file"),
        ([b"a,b\n", b'1,"x\n'], "line 2 has a quote that is not closed"),
        ([b"a,b\n", b"1,2\n", b'1,"x""\n', b"2,3\n"], "line 3 has a quote that is not closed"),
    ],
)
def test_bad_streams(lines, words):
    with pytest.raises(TableError, match=words):
        list(TextStream(lines).rows())
