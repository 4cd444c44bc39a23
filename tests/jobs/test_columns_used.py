"""What became of every column of a file."""

from __future__ import annotations

from factorstream.jobs.choice import Choice
from factorstream.jobs.columns_used import MOST, ColumnUse, columns_used, table_of_uses
from factorstream.jobs.reading import Reading, read_given

HEADER = "n,name,when,a,b,c,lead,price,empty,note"


def rows():
    for k in range(12):
        gap = "" if k == 4 else f"{k * k % 7}.5"
        yield (
            f"{k},r{k},2024-01-{k + 1:02d},{k * 3 % 5}.25,{gap},{k * k % 11},"
            f"{'<0.5' if k == 3 else k % 4}.0,{k}%,,{'x' if k % 2 else 'y'}"
        ).replace("<0.5.0", "<0.5")


def test_every_column_is_there_with_its_reason(tmp_path):
    (tmp_path / "x.csv").write_text("\n".join([HEADER, *rows()]) + "\n")
    given = read_given(tmp_path / "x.csv", Reading(choice=Choice((), ("c",), "name")))
    assert columns_used(given) == [
        ColumnUse("n", False, "counts rows or years"),
        ColumnUse("name", False, "names the rows"),
        ColumnUse("when", False, "says when the rows are"),
        ColumnUse("a", True, "numbers"),
        ColumnUse("b", True, "numbers with 1 gap"),
        ColumnUse("c", False, "was to be left out"),
        ColumnUse("lead", False, "has texts among its numbers, such as '<0.5'"),
        ColumnUse("price", False, "has numbers written as '0%'"),
        ColumnUse("empty", False, "holds no value"),
        ColumnUse("note", False, "holds no numbers"),
    ]
    assert given.names == ["a", "b"]


def test_very_many_columns_are_counted():
    table = table_of_uses([ColumnUse(f"c{k}", True, "numbers") for k in range(MOST + 2)])
    assert len(table.rows) == MOST
    assert table.notes == ["2 more columns not listed."]
