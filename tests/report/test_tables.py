import io

import pytest

from factorstream.report.tables import (
    Column,
    Estimate,
    Table,
    print_table,
    to_csv,
    to_data,
    to_markdown,
)

TABLE = Table(
    "Title",
    [
        Column("name", "name", numeric=False),
        Column("db", "dB", mark_best=True),
        Column("n", "n"),
        Column("why", "why", numeric=False, aside=True),
    ],
    [
        {"group": "A", "name": "x|<y>", "db": Estimate(1.0, 0.25), "n": 3, "why": "because"},
        {"group": "A", "name": "z", "db": Estimate(2.0), "n": None, "why": ""},
        {"group": "B [b]", "name": "w", "db": -1.0, "n": 4, "why": ""},
    ],
    group="group",
    notes=["A note."],
)


def test_markdown():
    assert to_markdown(TABLE).splitlines() == [
        "**A**",
        "",
        "| name | dB | n | why |",
        "|---|---:|---:|---|",
        "| x\\|<y> | 1.00 ± 0.25 | 3 | because |",
        "| z | **2.00** | – |  |",
        "",
        "**B [b]**",
        "",
        "| name | dB | n | why |",
        "|---|---:|---:|---|",
        "| w | -1.00 | 4 |  |",
        "",
        "A note.",
    ]


def test_csv_and_data():
    assert to_csv(TABLE).splitlines() == [
        "group,name,db_mean,db_sd,n,why,db",
        "A,x|<y>,1.0,0.25,3,because,",
        "A,z,2.0,,,,",
        "B [b],w,,,4,,-1.0",
    ]
    assert to_data(TABLE)[0] == {
        "group": "A",
        "name": "x|<y>",
        "db": {"mean": 1.0, "sd": 0.25},
        "n": 3,
        "why": "because",
    }


def test_terminal():
    console_module = pytest.importorskip("rich.console")
    stream = io.StringIO()
    print_table(TABLE, console_module.Console(file=stream, width=80))
    text = stream.getvalue()
    assert "B [b]" in text
    assert "1.00±0.25" in text
    assert "why: x|<y>: because" in text


def test_no_text_is_markup_on_a_terminal():
    console_module = pytest.importorskip("rich.console")
    evil = "x [m/s] [/b] :smile:"
    columns = [Column("name", f"1 {evil}", numeric=False), Column("db", f"2 {evil}", mark_best=True)]
    columns.append(Column("why", f"3 {evil}", aside=True))
    rows = [{"g": f"4 {evil}", "name": f"{5 + k} {evil}", "db": float(k), "why": f"{7 + k} {evil}"} for k in range(2)]
    stream = io.StringIO()
    print_table(Table(f"0 {evil}", columns, rows, group="g"), console_module.Console(file=stream, width=400))
    for k in range(9):
        assert f"{k} {evil}" in stream.getvalue()


def test_words_that_may_wrap_are_not_cut_off():
    console_module = pytest.importorskip("rich.console")
    columns = [Column("name", "name", numeric=False), Column("said", "said", numeric=False, wraps=True)]
    stream = io.StringIO()
    print_table(
        Table("T", columns, [{"name": "n" * 30, "said": "some last words"}]),
        console_module.Console(file=stream, width=40),
    )
    assert {"n" * 30, "some", "last", "words"} <= set(stream.getvalue().split())


def test_estimate():
    assert Estimate.of([2.0]) == Estimate(2.0, None)
    assert Estimate.of([1.0, 2.0, 3.0]) == Estimate(2.0, 1.0)
