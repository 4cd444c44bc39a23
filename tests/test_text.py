"""Small pieces of sentences."""

from __future__ import annotations

from factorstream.text import counted, listed, without_components


def test_only_what_is_left_out_is_counted():
    assert listed([]) == ""
    assert listed(range(5)) == "0, 1, 2, 3, 4"
    assert listed(range(6)) == "0, 1, 2, 3, 4 and 1 more"


def test_one_thing_is_no_plural():
    assert [counted(n, "row") for n in (0, 1, 2)] == ["0 rows", "1 row", "2 rows"]


def test_a_model_without_components_says_where_its_answers_come_from():
    assert "gap holds the mean of its column." in without_components("LowRankImputer")
    assert "column, in which outliers have less weight." in without_components("LowRankImputer", robust=True)
    assert "every forecast is told by its own column alone." in without_components("SequenceFilter", "forecast")
