"""Numbers with decimal commas and marks between thousands."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from factorstream.sources.cells import Cells
from factorstream.sources.delimited import parse_delimited
from factorstream.sources.number_form import Asked, NumberForm
from factorstream.sources.tables import Bounds, encode


@given(
    st.floats(-1e9, 1e9).map(lambda value: round(value, 3)),
    st.sampled_from([(".", ","), (",", "."), (",", " "), (".", "'"), (",", ""), (".", "")]),
)
def test_every_form_is_read_as_it_was_written(value, marks):
    decimal, thousands = marks
    text = f"{value:,.3f}".replace(",", "T").replace(".", decimal).replace("T", thousands)
    cells = Cells(form=NumberForm(decimal, thousands))
    assert cells.value(text) == value
    assert cells.values([text, f'"{text}"', ""])[:2] == [value, value]
    assert cells.value(cells.written(value)) == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (NumberForm(",", ""), "1.5"),
        (NumberForm(",", "."), "1.5"),
        (NumberForm(",", "."), "0.125"),
        (NumberForm(",", "."), "12.34.567"),
        (NumberForm(".", ","), "3,14"),
        (NumberForm(".", ""), "3,14"),
        (NumberForm(",", ""), "1,2,3"),
        (NumberForm(",", " "), "1 20"),
    ],
)
def test_other_forms_are_no_numbers(form, text):
    assert Cells(form=form).value(text) is None


@pytest.mark.parametrize(
    ("text", "numbers", "words"),
    [
        ("a;b\n3,14;1\n2,5;\n", [[3.14, 1], [2.5, np.nan]], "Commas were taken as decimal commas: line 2 of column a"),
        ("a;b\n1.234,5;1.200\n2,5;3.400\n", [[1234.5, 1200], [2.5, 3400]], "and points as marks between thousands"),
        ("a;b\n1 234,5;7\n2,5;8\n", [[1234.5, 7], [2.5, 8]], "and spaces as marks between thousands"),
        (
            'a,b\n"1,234.5",1\n"2",2.5\n',
            [[1234.5, 1], [2, 2.5]],
            "Commas were taken as marks between thousands: line 2",
        ),
        ("a;b\n1,234,567;1\n7;2.5\n", [[1234567, 1], [7, 2.5]], "pass --decimal comma if they are decimal commas"),
        ("a;b\n1'234.5;1\n2;2\n", [[1234.5, 1], [2, 2]], "Apostrophes were taken as marks between thousands: line 2"),
        ("a|b\n<0,1|1\n3,14|2\n2,71|3\n1,5|4\n", [[1], [2], [3], [4]], "Commas were taken as decimal commas: line 3"),
    ],
)
def test_what_is_beyond_doubt_is_read_and_said(text, numbers, words):
    table = parse_delimited(text.encode(), delimiter=text[1])
    np.testing.assert_array_equal(table.numbers, numbers)
    (said,) = table.assumed
    assert words in said


@pytest.mark.parametrize(
    ("text", "numeric"),
    [
        ("a;b\n3,14;1.5\n2,5;2.5\n", [1]),  # decimal points elsewhere: these may be lists
        ("a;b\n3,14;1.200\n2,5;2.400\n", [1]),  # refused by whoever uses it: 1.200 may be 1200
        ('a,b\n"3,14",1\n"2,5",2\n', [1]),  # quoted: may be lists
        ("a;b\n1,200;1\n3,400;2\n", [1]),  # 1200 or 1.2
        ("a;b\n0.5;1\n3,4;2\n", [1]),  # both in one column
        ("a;b\n3,5 %;1\n4,5 %;2\n", [1]),
    ],
)
def test_what_is_in_doubt_is_not(text, numeric):
    table = parse_delimited(text.encode(), delimiter=text[1])
    assert (table.numeric, table.assumed) == (numeric, [])


@pytest.mark.parametrize(
    ("asked", "text", "numbers"),
    [
        (Asked(","), 'a,b\n"3,14",1\n"2,5",2\n', [[3.14, 1], [2.5, 2]]),
        (Asked(","), "a;b\n1,200;1\n3,400;2\n", [[1.2, 1], [3.4, 2]]),
        (Asked(None, ","), "a;b\n1,200;1\n3,400;2\n", [[1200, 1], [3400, 2]]),
        (Asked(None, "."), "a;b\n3,14;1.200\n2,5;2.400\n", [[3.14, 1200], [2.5, 2400]]),
        (Asked("."), "a;b\n3,14;1.200\n2,5;2.400\n", [[1.2], [2.4]]),
        (Asked(","), "a;b\n1.200,5;1\n2,5;2\n", [[1200.5, 1], [2.5, 2]]),
        (Asked(None, " "), "a;b\n1 200;1\n2 500;2\n", [[1200, 1], [2500, 2]]),
    ],
)
def test_what_is_asked_for_is_done(asked, text, numbers):
    np.testing.assert_array_equal(parse_delimited(text.encode(), asked=asked).numbers, numbers)


def test_fills_and_bounds_have_the_decimal_mark_of_the_file():
    table = parse_delimited(b"a;b\r\n3,14;1\r\n;2\r\n")
    filled = np.array([[3.14, 1.0], [2.5, 2.0]])
    assert encode(table, filled, Bounds(filled - 0.25, filled + 0.25)) == (
        b"a;a_lower;a_upper;b\r\n3,14;3,14;3,14;1\r\n2,5;2,25;2,75;2\r\n"
    )
    table = parse_delimited(b'a,b\n"3,14",1\n,2\n', asked=Asked(","))
    assert encode(table, filled) == b'a,b\n"3,14",1\n"2,5",2\n'


def test_marks_of_gaps_are_compared_as_numbers_in_the_form_of_the_file():
    table = parse_delimited(b"a;b\n3,14;1\n-99,90;2\n2,5;3\n", missing=["-99,9"])
    np.testing.assert_array_equal(table.numbers[:, 0], [3.14, np.nan, 2.5])
