"""Columns of a table for the features of a model."""

from __future__ import annotations

import numpy as np
import pytest

from factorstream.sources.columns import drop_columns, feature_names, take_columns, take_names, use_names
from factorstream.sources.delimited import parse_delimited
from factorstream.sources.table import TableError

TEXT = b"id,a,b,empty,note\n1,5,,,x\n2,6,8,,y\n4,7,9,,z\n"


def test_columns_are_taken_by_name_in_the_order_of_the_model():
    table = parse_delimited(TEXT)
    assert take_columns(table, ["empty", "b"], 2) == ["id", "a"]
    assert feature_names(table) == ["empty", "b"]
    np.testing.assert_array_equal(table.numbers, [[np.nan, np.nan], [np.nan, 8], [np.nan, 9]])


def test_a_model_without_names_takes_all():
    table = parse_delimited(TEXT)
    assert take_columns(table, None, 3) == []
    with pytest.raises(TableError, match="3 columns of numbers, and the model 2 features without names"):
        take_columns(table, None, 2)


@pytest.mark.parametrize(
    ("names", "words"), [(["a", "z"], "lacks columns that the model knows: z"), (["note"], "column note is no numbers")]
)
def test_other_tables_are_refused(names, words):
    with pytest.raises(TableError, match=words):
        take_columns(parse_delimited(TEXT), names, len(names))


def test_dropped_columns_stay_in_the_table():
    table = parse_delimited(TEXT)
    drop_columns(table, [0])
    assert feature_names(table) == ["a", "b"]
    assert table.names[0] == "id"


def test_names_of_a_model():
    class Model:
        pass

    model = use_names(Model(), ["a", "b"])
    assert take_names(model) == ["a", "b"]
    assert take_names(model) is None
    assert take_names(use_names(model, ["a", "a"])) is None
