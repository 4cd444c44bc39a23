"""What points may be is the same at once, in blocks, and in a first row."""

from __future__ import annotations

import numpy as np
import pytest

from factorstream import open_rows
from factorstream.sources.cells import Cells
from factorstream.sources.delimited import parse_delimited
from factorstream.sources.number_form import Asked, Points
from factorstream.sources.points import points_of, refuse_or_say
from factorstream.sources.table import TableError
from factorstream.sources.text_lines import TextLines
from row_files import gathered


def points_in(*columns):
    return points_of(list(zip(*columns, strict=True)), range(len(columns)), "abcdef", Cells(["-9.9"]))


def test_gaps_and_texts_do_not_count():
    for gap in ("n.a.", "..", ".", "...", "1.#IND", "-9.9", '"-9.9"', "a.b"):
        assert points_in(["3", "400", gap]) == Points([], [], [])
        assert points_in(["1.200", "1400", gap])[:2] == (["a"], [])


def test_columns_by_what_their_points_may_be():
    found = points_in(
        ["1.200", "1.300"], ["1.200", "1.5"], ["0.125", "3"], ["4", "5"], ["1.200", "1500"], ["-1.200", "\u22127"]
    )
    assert found.thousands == ["a", "e", "f"]
    assert found.decimal == ["b", "c"]
    assert found.doubts == [("f", "-1.200", "\u22127")]  # 1500 would have a point


def test_gaps_with_points_are_read_alike_at_once_and_in_blocks(tmp_path):
    text = "a;b\n1,5;3\n2,5;n.a.\n3,5;7\n4,25;5\n"
    (tmp_path / "x.csv").write_text(text)
    expected = [[1.5, 3], [2.5, np.nan], [3.5, 7], [4.25, 5]]
    np.testing.assert_array_equal(parse_delimited(text.encode()).numbers, expected)
    np.testing.assert_array_equal(gathered(open_rows(tmp_path / "x.csv")), expected)


@pytest.mark.parametrize("delimiter", [";", "\t", ","])
def test_points_that_may_stand_between_thousands_are_not_misread_silently(tmp_path, delimiter):
    rows = [("sales", "people"), ("1.128", "56"), ("892", "44"), ("1.072", "53"), ("971", "12")]
    text = "".join(delimiter.join(row) + "\n" for row in rows)
    path = tmp_path / "x.csv"
    path.write_text(text)

    def at_once(**how):
        return parse_delimited(text.encode(), delimiter, asked=Asked(**how))

    for read in (at_once, lambda **how: open_rows(path, delimiter=delimiter, **how)):
        if delimiter == ",":
            assert "may stand between thousands: column sales has both 1.128 and 892" in read().assumed[0]
        else:
            with pytest.raises(TableError, match=r"1\.128 and 892.*--thousands point.*--decimal point"):
                read()
        assert not read(decimal=".").assumed
        assert not read(thousands=".").assumed
    np.testing.assert_array_equal(at_once(thousands=".").numbers[:2, 0], [1128, 892])


def test_no_doubt_where_something_was_said():
    assert refuse_or_say(points_in(["1.200", "7"]), ";", Asked(decimal=".")) == []


def test_many_columns_are_looked_at_in_one_pass(monkeypatch):
    cuts, lots = [], TextLines.lots
    monkeypatch.setattr(TextLines, "lots", lambda self, *of: cuts.append(1) or lots(self, *of))
    rows = "".join(";".join(["1,5", *["1.2345"] * 39]) + "\n" for _ in range(9))
    parse_delimited((";".join(f"c{j}" for j in range(40)) + "\n" + rows).encode())
    assert len(cuts) < 10
