"""Texts in blocks have the numbers, names and gaps of the same texts read whole."""

from __future__ import annotations

import numpy as np
import pytest

from factorstream import open_rows
from factorstream.sources.table import TableError
from factorstream.sources.tables import read_table
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
    "text late": "a,b\n1,2\n3,4\n5,x\n",
    "number late": "a,b\n1,\n3,\n5,6\n",
    "infinities": "a,b\n1,2\n3,inf\n",
    "underscores": "a,b\n1,2\n3,1_000\n",
    "windows": "a,b\r\n1,2\r\n,4\r\n",
    "no last end": "a,b\n1,2\n3,",
    "mark of UTF-8": "\ufeffa,b\n1,2\n3,4\n",
    "signs": "a,b,c\n-1,+2, 3\n0,0.5,-0.25\n",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("missing", [(), ("3", "z")])
def test_as_read_whole(text, missing, tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(text.encode())
    table = read_table(path, missing=missing)
    source = open_rows(path, missing=missing, block_bytes=20)
    assert source.positions == table.numeric
    if source.names is not None:
        assert source.names == [table.names[j] for j in table.numeric]
    assert source.n_rows == len(table.numbers)
    np.testing.assert_array_equal(gathered(source), table.numbers)
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
        (b"a,b\n1,\xff\n", "not UTF-8"),
        (b"a,b\n1,\x00\n", "not a text file"),
        ("a,b\n1,2\n".encode("utf-16"), "UTF-16"),
        (b'a,b\n1,"2\n', "not closed"),
    ],
)
def test_texts_that_are_no_tables(content, words, tmp_path):
    (tmp_path / "x.csv").write_bytes(content)
    with pytest.raises(TableError, match=words):
        open_rows(tmp_path / "x.csv")


def test_long_lines_make_small_blocks(tmp_path):
    (tmp_path / "x.csv").write_text("note,x\n" + "".join(f"{'long ' * 100},{k}\n" for k in range(100)))
    source = open_rows(tmp_path / "x.csv", block_bytes=5000)
    assert all(sum(map(len, block.kept)) <= 5100 for block in source.blocks())
    np.testing.assert_array_equal(gathered(source)[:, 0], np.arange(100))
