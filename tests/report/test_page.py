"""Pages are complete in themselves, and no text becomes markup."""

from __future__ import annotations

import re

from factorstream.report.page import Chart, Charts, Code, Number, Page, Part, Picture, Words, plain, render, write_page
from factorstream.report.tables import Column, Estimate, Shown, Table

EVIL = "<script>alert(1)</script> & \"'{{ 7 * 7 }}"

GROUPED = Table(
    "Title",
    [Column("name", "name", numeric=False), Column("db", "dB", mark_best=True)],
    [
        {"group": "A", "name": "x|<y>", "db": Estimate(1.0, 0.25)},
        {"group": "A", "name": "z", "db": Estimate(2.0)},
        {"group": "B", "name": "w", "db": -1.0},
    ],
    group="group",
    notes=["A note."],
)


def page(*blocks, **more):
    return Page("Title", "Lead.", [Part("One", blocks)], "Foot.", **more)


def test_lists_in_words():
    text = render(page(Words(["a", "- b", "- c", "d **e** `f`"])))
    assert text.count("<ul>") == 1
    assert re.findall(r"<li>(.*?)</li>", text) == ["b", "c"]
    assert "<p>d <strong>e</strong> <code>f</code></p>" in text


def test_names_are_not_marked_up():
    name = r"x**2, y**2 `z` \\server\*"
    text = render(page(Words([f"**Column {plain(name)}** is `{plain(name)}`."])))
    assert f"<p><strong>Column {name}</strong> is <code>{name}</code>.</p>" in text


def test_no_text_becomes_markup_wherever_it_stands():
    table = Table(EVIL, [Column("a", EVIL, numeric=False)], [{"a": EVIL}, {"a": Shown(1.0, EVIL)}], notes=[EVIL])
    blocks = [Words([EVIL, f"- {EVIL}"]), table, Code(EVIL), Charts([Chart("<svg></svg>", EVIL)], EVIL)]
    blocks.append(Picture("key", b"PNG", EVIL, EVIL))
    grouped = Table("T", [Column("a", "a")], [{"a": 1.0, "g": EVIL}], group="g")
    text = render(Page(EVIL, EVIL, [Part(EVIL, [*blocks, grouped])] * 5, EVIL, EVIL, [Number(EVIL, EVIL)]))
    assert text.count("<script") == 0  # no table here can be sorted
    assert "49" not in text
    assert text.count("alert(1)") == text.count("&lt;script&gt;alert(1)&lt;/script&gt;") > 5 * 15


def test_tables_have_groups_best_numbers_and_notes():
    text = render(page(GROUPED))
    assert "x|&lt;y&gt;" in text
    assert "<strong>2.00</strong>" in text
    assert text.count('<tr class="group">') == 2
    assert '<p class="note">A note.</p>' in text
    assert "<button" not in text


def test_what_tables_are_sorted_by():
    columns = [Column("name", "name", numeric=False), Column("x", "x")]
    rows = [
        {"name": "a", "x": Shown(float("-inf"), "−∞")},
        {"name": Shown(3, "c"), "x": None},
        {"name": "b", "x": float("nan")},
        {"name": "d", "x": Estimate(2.0, 0.1)},
    ]
    text = render(page(Table("T", columns, rows, sorts=True)))
    cells = re.findall(r'<td class="(\w+)"(?: data-value="(.*?)")?>(.*?)</td>', text)
    assert [value for css, value, _ in cells if css == "num"] == ["-Infinity", "", "", "2.0"]
    assert [value for css, value, _ in cells if css == "txt"] == ["", "3", "", ""]
    assert text.count('<th scope="col"') == text.count('<button type="button">') == 2


def test_nothing_outside_the_file_is_named():
    text = render(page(GROUPED, Picture("key", b"PNG", "alt", "caption"), Charts([Chart("<svg></svg>", "alt")])))
    assert re.findall(r'(?:src|href)="(?!data:|#)', text) == []
    assert "url(" not in text
    assert "default-src 'none'" in text


def test_a_page_is_written_whole(tmp_path):
    path = write_page(tmp_path / "page.html", page(Words(["Text: é."])))
    assert path.read_text(encoding="utf-8") == render(page(Words(["Text: é."])))
    assert [one.name for one in tmp_path.iterdir()] == ["page.html"]


def test_a_table_without_titles_has_no_head():
    text = render(page(Table("Settings", [Column("a", "", numeric=False), Column("b", "")], [{"a": "x", "b": 1}])))
    assert "<thead>" not in text
    assert '<p class="caption">Settings</p>' in text
    assert '<p class="caption">' not in render(page(Table("", [Column("a", "a")], [{"a": 1}])))
