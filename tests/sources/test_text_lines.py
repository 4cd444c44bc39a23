"""Lines that are cut when they are asked for are those that the whole text is cut into."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from factorstream.sources.lines import split_lines
from factorstream.sources.table import TableError
from factorstream.sources.text_lines import TextLines

PIECES = ["a", "1", ",", "\n", "\r", "\r\n", '"', '"x,\ny"']


@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=30).map("".join))
def test_cells_are_those_of_the_whole_text(text):
    try:
        expected = list(split_lines(text, ","))
    except TableError:  # a quote that is not closed
        with pytest.raises(TableError, match="quote"):
            list(TextLines(text, ","))
        return
    lines = TextLines(text, ",")
    assert [(cells, end) for cells, end in zip(lines, lines.ends(0, len(lines)), strict=True)] == expected
    np.testing.assert_array_equal(lines.empty(), [cells == [""] for cells, _ in expected])


def test_lots_are_all_lines_in_order(monkeypatch):
    monkeypatch.setattr("factorstream.sources.text_lines.CELLS_AT_ONCE", 4)
    monkeypatch.setattr("factorstream.sources.text_lines.LEAST_LINES", 1)
    lines = TextLines("a,b\n1,2\n\n3,4\n5,6\n7,8", ",")
    lots = list(lines.lots(np.array([1, 3, 4, 5]), 2))
    assert lots == [(0, [["1", "2"], ["3", "4"]]), (2, [["5", "6"], ["7", "8"]])]
