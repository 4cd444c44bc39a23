"""Texts that keep a column from being numbers are counted, the commonest first."""

from __future__ import annotations

import pytest

from factorstream.sources.cells import Cells
from factorstream.sources.delimited import parse_delimited
from factorstream.sources.rows.opening import open_rows
from factorstream.sources.strays import PATIENCE, OddCells
from factorstream.sources.table import Stray, Unread
from factorstream.sources.text_remarks import one_stray


def said(cells, numbers=0):
    odd, reading = OddCells(numbers, points=False), Cells()
    for line, cell in enumerate(cells, 2):
        if not odd.add(cell, line, reading):
            break
    return odd.said("a")


def test_the_commonest_text_comes_first():
    found = said(["<0.1", "n.d.", "<0.5", "7", "<0.5", ">9", "n.d.", "<0.5"], numbers=20)
    assert found == Stray("a", "<0.5", 3, 4, (("n.d.", 2), ("<0.1", 1)), 4)
    sentence = one_stray(found, " ".join)
    assert sentence == (
        "Column a was taken as text, because 4 texts in it are no finite numbers: '<0.5' (3 cells, the first in line 4)"
        ", 'n.d.' (2 cells), '<0.1' (1 cell) and 1 more; correct them, or pass <0.5 n.d. <0.1 if they mark gaps."
    )


def test_columns_of_texts_are_not_looked_at_to_their_end():
    odd, cells = OddCells(0, points=False), Cells()
    looked = [odd.add(f"word {k}", k, cells) for k in range(10 * PATIENCE)]
    assert looked.index(False) == PATIENCE
    assert odd.said("a") is None


def test_as_many_texts_as_numbers_are_a_column_of_texts():
    assert said(["x", "1"]) is None
    assert isinstance(said(["x", "1", "2"]), Stray)


def test_decimal_commas_among_texts():
    found = said(["3,14", "<0,1", "2,5", "1.200,7"])
    assert isinstance(found, Unread)
    assert (found.text, found.sure_comma, found.decimal_comma, found.groups) == ("3,14", True, False, ".")


@pytest.mark.parametrize("texts", [["<0.5"], ["<0.5", "<0.5", "n.d."], ["inf"], ["3,5", "oops"]])
def test_blocks_say_the_same_as_a_text_that_is_read_at_once(tmp_path, texts):
    rows = [*(f"{k / 7:.2f};{k * k}" for k in range(40)), *(f"{text};5" for text in texts), "0.25;6"]
    (tmp_path / "x.csv").write_text("a;b\n" + "".join(f"{row}\n" for row in rows))
    (at_once,) = parse_delimited((tmp_path / "x.csv").read_bytes()).strays
    assert open_rows(tmp_path / "x.csv").others.strays == (at_once,)
    assert (at_once.line, at_once.text) == (42, texts[0])
