"""Numbers that are read a lot of cells at once are those that are read one by one."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from factorstream.sources.cells import Cells
from factorstream.sources.number_form import NumberForm
from factorstream.sources.table import Fill, OutputColumn, TableError
from factorstream.sources.text_lines import TextLines
from factorstream.sources.text_numbers import filled_cells, numbers_in

CELLS = ["", " 3", '"4"', "1", "-2.5", "0.5", "-0.1", "0", "1e3", "007", "1_0", "inf", "1e999", "1,5", "-9"]
CELLS += ["NA", "nan", "NaN", "x"]
WAYS = [Cells(), Cells(["-9"]), Cells(["x"]), Cells(["-9", "1,5"], NumberForm(","))]


def naive(rows, how):
    """Columns of numbers and gaps, cell by cell, and the first row of other cells in the others."""
    found, odd = {}, {}
    for j, cells in enumerate(zip(*rows, strict=True)):
        values = [math.nan if how.is_gap(cell) else how.number(cell) for cell in cells]
        if None in values:
            odd[j] = values.index(None)
        elif not all(map(math.isnan, values)):
            found[j] = values
    return found, odd


@given(
    st.lists(st.lists(st.sampled_from(CELLS), min_size=3, max_size=3), min_size=1, max_size=8),
    st.integers(3, 30),
    st.sampled_from(WAYS),
)
def test_numbers_are_those_of_single_cells(rows, at_once, how):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("factorstream.sources.text_lines.CELLS_AT_ONCE", at_once)
        patch.setattr("factorstream.sources.text_lines.LEAST_LINES", 1)
        lines = TextLines("\n".join(map(";".join, rows)), ";")
        found = numbers_in(lines, np.arange(len(rows)), 3, how)
    expected, odd = naive(rows, how)
    assert found.columns == list(expected)
    np.testing.assert_array_equal(found.values, np.array(list(expected.values())).reshape(-1, len(rows)).T)
    assert found.odd == odd


def test_a_line_of_another_width_is_refused():
    lines = TextLines("1,2\n3\n", ",")
    with pytest.raises(TableError, match="line 2 has 1 cell where the first has 2"):
        numbers_in(lines, np.arange(2), 2, Cells())


@pytest.mark.parametrize(("form", "half"), [(NumberForm(), "0.5"), (NumberForm(","), '"0,5"')])
def test_gaps_are_filled_in_the_columns_that_are_written(form, half):
    fill = Fill(np.array([True, False, True, True, True]), np.array([1e10, 2.0, -0.0, 0.5, np.nan]))
    columns = [OutputColumn(1, "b"), OutputColumn(0, "a", fill)]
    lot = [["", "x"], ["7", "y"], ["", "z"], ["", "u"], ["", "v"]]
    expected = [["x", "10000000000"], ["y", "7"], ["z", "0"], ["u", half], ["v", ""]]
    assert filled_cells(lot, columns, 0, Cells(form=form), ",") == expected
