"""Texts in blocks have the numbers, names and gaps of the same texts read whole."""

from __future__ import annotations

import numpy as np
import pytest

from factorstream import open_rows
from factorstream.sources.columns import drop_columns
from factorstream.sources.table import TableError
from factorstream.sources.tables import read_table
from factorstream.sources.timeline import counting_columns
from row_files import gathered

TEXTS = {
    "names": "a,b,c\n1,2,x\n3,,y\n",
    "no names": "1,2.5\n3,4\n7,1e3\n",
    "semicolons": "a;b\n1;2\n;4\n",
    "words": "a,b,c\n1,NA,x\nn/a,#DIV/0!,\n-,4,z\n3,?,w\n",
    "quotes": '"a, b","c"\n"1","two\nlines"\n2,"th""ree"\n',
    "codes": "id,x\n001,2\n002,3\n",
    "blank lines": "a,b\n\n1,2\n\n\n3,4\n\n",
    "all gaps": "a,b\n1,\n2,NA\n",
    "text late": "a,b\n1,2\n3,4\n9,x\n",
    "number late": "a,b\n1,\n3,\n5,6\n",
    "infinities": "a,b\n1,2\n3,inf\n",
    "underscores": "a,b\n1,2\n3,1_000\n",
    "windows": "a,b\r\n1,2\r\n,4\r\n",
    "no last end": "a,b\n1,2\n3,",
    "mark of UTF-8": "\ufeffa,b\n1,2\n3,4\n",
    "signs": "a,b,c\n-1,+2, 3\n0,0.5,-0.25\n",
    "one stray": "a,b\n1,2\n5,oops\n4,3\n2,oops\n9,7\n",
    "stray as often as numbers": "a,b\n1,2\n5,oops\n4,oops\n2,3\n",
    "two strays": "a,b\n1,2\n5,x\n4,y\n2,3\n7,4\n",
    "money": "a,b,c\n1,$2,3%\n5,$4.50,x\n4,,7%\n2,5,8\n",
    "commas": 'a,b,c\n1,"1,200",2\n5,"3,14",4\n4,"7,5",3\n',
    "a counter with a gap": "n,a\n1,5\n2,3\n,\n4,9\n",
    "a counter": "n,a\n1,5\n2,3\n3,\n4,9\n",
    "days": "day,a\n20240130,5\n20240131,3\n20240201,\n20240202,9\n",
    "years with a gap": "n,a\n1,5\n,3\n3,\n4,9\n",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("missing", [(), ("3", "z")])
def test_as_read_whole(text, missing, tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(text.encode())
    table = read_table(path, missing=missing)
    source = open_rows(path, missing=missing, block_bytes=20)
    counting, empty = (
        counting_columns(table),
        [j for j in range(len(table.names)) if table.gaps(j) == len(table.numbers)],
    )
    assert source.positions == [
        j for j in range(len(table.names)) if j in (*table.numeric, *empty) and j not in counting
    ]
    drop_columns(table, counting)
    assert source.others.names == tuple(name for j, name in enumerate(table.names) if j not in source.positions)
    assert source.others.counting == tuple(table.names[j] for j in counting)
    assert (list(source.others.strays), list(source.others.unread)) == (list(table.strays), list(table.unread))
    if source.names is not None:
        assert source.names == [table.names[j] for j in source.positions]
    assert source.n_rows == len(table.numbers)
    at = [source.positions.index(j) for j in table.numeric]
    np.testing.assert_array_equal(gathered(source)[:, at], table.numbers)
    assert np.isnan(np.delete(gathered(source), at, axis=1)).all()
    lines = [line for block in source.blocks() for line in block.kept]
    head = source.mark + ("" if source.header is None else ",".join(source.header) + source.header_end)
    if ";" not in text:
        assert head + "".join(lines) == text
    assert len(lines) == source.n_rows


def test_a_tab_and_a_given_delimiter(tmp_path):
    (tmp_path / "x.tsv").write_text("a\tb\n1,5\t2\nx\t3\n")
    assert open_rows(tmp_path / "x.tsv").names == ["b"]
    (tmp_path / "x.txt").write_text("a b\n1 2\n")
    assert open_rows(tmp_path / "x.txt", delimiter=" ").names == ["a", "b"]
    assert open_rows(tmp_path / "x.txt", delimiter=" ", header=False, columns=[0], missing=["a"]).names is None


def test_a_text_among_chosen_numbers_is_named(tmp_path):
    (tmp_path / "x.csv").write_text("a,b\n1,2\n\n3,four\n")
    source = open_rows(tmp_path / "x.csv", columns=["b"])
    assert source.n_rows is None
    with pytest.raises(TableError, match=r"x\.csv cannot be used: line 4 has 'four' in column b where a number"):
        gathered(source)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"a,b\n", "no rows"),
        (b"a,b\nx,y\n", "no columns of numbers"),
        (b"a,b\n1,2\n1,2,3\n", "line 3 has 3 cells where the first has 2"),
        (b"a,b\n1,\x81\n", "neither UTF-8 nor Windows-1252 text; pass --encoding NAME"),
        (b"a,b\n1,\xc3\xa4\n2,\xe4\n", "some of it is UTF-8 text and some is not; pass --encoding NAME"),
        (b"a,b\n1,\xe4\n2,\xc3\xa4\n", "some of it is UTF-8 text and some is not; pass --encoding NAME"),
        (b"a,b\n1,\x00\n", "not a text file"),
        ("a,b\n1,2\n".encode("utf-16-le"), "UTF-16 without a byte-order mark; pass --encoding utf-16-le"),
        ("a,b\n1,2\n".encode("utf-16-be"), "UTF-16 without a byte-order mark; pass --encoding utf-16-be"),
        (b'a,b\n1,"2\n', "not closed"),
    ],
)
def test_texts_that_are_no_tables(content, words, tmp_path):
    (tmp_path / "x.csv").write_bytes(content)
    with pytest.raises(TableError, match=words):
        open_rows(tmp_path / "x.csv")


def test_long_lines_make_small_blocks(tmp_path):
    (tmp_path / "x.csv").write_text("note,x\n" + "".join(f"{'long ' * 100},{k**2}\n" for k in range(100)))
    source = open_rows(tmp_path / "x.csv", block_bytes=5000)
    assert all(sum(map(len, block.kept)) <= 5100 for block in source.blocks())
    np.testing.assert_array_equal(gathered(source)[:, 0], np.arange(100) ** 2)


def test_a_line_of_names_alone_is_refused_in_the_words_of_python(tmp_path):
    (tmp_path / "x.csv").write_text("a,b\n")
    with pytest.raises(TableError, match="no rows below its line of names; pass header=False to open_rows if that"):
        open_rows(tmp_path / "x.csv")
