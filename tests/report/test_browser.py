"""Reports as a reader sees them, in a real browser: in light and dark, on a phone, sorted, and without a network."""

from __future__ import annotations

import http.server
import threading
from functools import partial

import pytest

from factorstream.report.document import Document, Section, write_document
from factorstream.report.tables import Column, Table

LEAST_CONTRAST = 4.5
"""Of text on its ground: level AA of the W3C's guidelines for accessible content."""

CONTRASTS = """() => {
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const part = (c) => { c /= 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
  const light = ([r, g, b]) => 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  const ground = (element) => {
    for (; element; element = element.parentElement) {
      const colour = parse(getComputedStyle(element).backgroundColor);
      if (colour.length === 3 || colour[3] > 0) return colour;
    }
    throw new Error("no ground");
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) {
    const text = walker.currentNode, element = text.parentElement;
    if (!text.data.trim() || !element.checkVisibility() || element.closest("script, style")) continue;
    const svg = element.closest("svg");
    let ink = parse(svg ? getComputedStyle(element).fill : getComputedStyle(element).color);
    if (svg && getComputedStyle(svg).filter.includes("invert")) ink = ink.slice(0, 3).map((c) => 255 - c);
    const [a, b] = [light(ink), light(ground(svg ? svg.parentElement : element))];
    found.push([(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), text.data.trim().slice(0, 40)]);
  }
  return found;
}"""

OUTSIDE = """() => [...document.body.querySelectorAll("*")]
  .filter((one) => one.checkVisibility() && !one.closest(".scroll, pre, svg"))
  .filter((one) => one.getBoundingClientRect().right > innerWidth + 0.5 || one.getBoundingClientRect().left < -0.5)
  .map((one) => one.outerHTML.slice(0, 80))"""

TEXT_SIZES = """() => [...document.querySelectorAll("svg text")].filter((one) => one.checkVisibility()).map((one) => {
  const scale = one.getScreenCTM();
  return parseFloat(getComputedStyle(one).fontSize) * Math.hypot(scale.a, scale.b);
})"""

CUT_OFF = """() => [...document.querySelectorAll("svg text")].filter((one) => one.checkVisibility()).filter((one) => {
  const [text, whole] = [one.getBoundingClientRect(), one.closest("svg").getBoundingClientRect()];
  return text.left < whole.left - 1 || text.right > whole.right + 1;
}).map((one) => one.textContent)"""


@pytest.fixture(scope="module")
def document_report(tmp_path_factory):
    """The page of an experiment, which has groups in its table."""
    columns = [Column("method", "method", numeric=False), Column("db", "dB", mark_best=True)]
    rows = [{"method": f"method {k}", "db": float(k), "group": "a group of rows"} for k in range(4)]
    sections = [Section("The table", ["Words with `code`.", "- one", "- two"])]
    document = Document("name", "Title", "Lead.", Table("Table", columns, rows, "group", ["A note."]), sections, {})
    return write_document(document, tmp_path_factory.mktemp("document"))[0]


@pytest.fixture(params=["table", "sequence", "document"])
def report(request, table_report, sequence_report, document_report):
    return {"table": table_report, "sequence": sequence_report, "document": document_report}[request.param]


@pytest.fixture
def opened(chromium):
    """Opens a page; at the end nothing may have gone wrong in it or been asked for besides the page."""
    contexts, wrong = [], []

    def open_page(address):
        context = chromium.new_context(viewport={"width": 1200, "height": 800})
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda problem: wrong.append(str(problem)))
        page.on("dialog", lambda dialog: (wrong.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda ask: ask.url in (address, "data:,") or wrong.append(ask.url))
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert wrong == []


def test_a_page_renders_and_asks_for_nothing(opened, report):
    page = opened(report.as_uri())
    assert page.locator("h1").count() == 1
    assert page.locator("h2").count() == page.locator("section").count() >= 1
    for chart in page.locator(".chart").all():
        box = chart.bounding_box()
        assert box["width"] > 200
        assert box["height"] > 80


def test_names_of_columns_stay_text(opened, table_report):
    page = opened(table_report.as_uri())
    assert page.evaluate("document.images.length + document.querySelectorAll('main script, svg script').length") == 0
    evil = "<img src=x onerror=alert(1)> & $x^{$"
    assert page.get_by_role("cell", name=evil, exact=True).count() >= 3
    assert page.locator("svg text", has_text="<img src=x onerror=aler").count() >= 2
    assert page.get_by_text("<script>alert(2)</script>").count() == 1


def test_text_can_be_told_from_its_ground_in_light_and_dark(opened, report):
    page = opened(report.as_uri())
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        contrasts = page.evaluate(CONTRASTS)
        assert len(contrasts) > 10
        assert [one for one in contrasts if one[0] < LEAST_CONTRAST] == []
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
        assert (sum(ground) < 200) == (scheme == "dark")


def test_nothing_overflows_sideways_and_charts_can_be_read(opened, report):
    page = opened(report.as_uri())
    for width in (360, 800, 1200):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert page.evaluate(OUTSIDE) == []
        assert page.evaluate(CUT_OFF) == []
        sizes = page.evaluate(TEXT_SIZES)
        assert len(sizes) > 50 or not page.locator(".chart").count()
        assert all(9.5 < size < 20 for size in sizes)


def column(page, number):
    """What a table's column is sorted by, and its texts, from the top."""
    cells = page.locator("section", has_text="What fills the gaps").last.locator(f"tbody td:nth-child({number})")
    return cells.evaluate_all("cells => cells.map(cell => [cell.dataset.value ?? null, cell.textContent])")


def test_a_click_sorts_and_another_turns_round(opened, table_report):
    page = opened(table_report.as_uri())
    table = page.locator("section", has_text="What fills the gaps").last
    before = column(page, 1)
    title = table.get_by_role("button", name="fill")
    title.click()
    numbers = [float(value) for value, _ in column(page, 3)]
    assert numbers == sorted(numbers)
    assert len(numbers) == len(before) > 50
    assert table.locator("th").nth(2).get_attribute("aria-sort") == "ascending"
    title.click()
    assert [float(value) for value, _ in column(page, 3)] == sorted(numbers, reverse=True)
    assert table.locator("th[aria-sort]").count() == 1
    table.get_by_role("button", name="95% from").click()
    lower = [float(value) for value, _ in column(page, 4)]
    assert lower == sorted(lower)
    assert lower[0] == float("-inf")  # the column of equal values
    table.get_by_role("button", name="row").click()
    assert [value for value, _ in column(page, 1)] == sorted((value for value, _ in before), key=float)


def test_the_keyboard_sorts_too(opened, sequence_report):
    page = opened(sequence_report.as_uri())
    table = page.locator("section", has_text="What fills the gaps").last
    button = table.get_by_role("button", name="column")
    button.focus()
    page.keyboard.press("Enter")
    names = [text for _, text in column(page, 2)]
    assert names == sorted(names)
    assert set(names) == {"a", "c"}
    page.keyboard.press("Space")
    assert [text for _, text in column(page, 2)] == sorted(names, reverse=True)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "fill"


def test_cells_without_a_value_stay_at_the_end(opened, tmp_path):
    from factorstream.report.page import Page, Part, write_page

    rows = [{"x": value} for value in (2.0, None, 10.0, float("nan"), -1.0)]
    table = Table("T", [Column("x", "x", digits=0)], rows, sorts=True)
    page = opened(write_page(tmp_path / "page.html", Page("T", "L", [Part("One", [table])], "F")).as_uri())
    texts = "cells => cells.map(cell => cell.textContent)"
    button = page.get_by_role("button", name="x")
    button.click()
    assert page.locator("td").evaluate_all(texts) == ["-1", "2", "10", "–", "nan"]
    button.click()
    assert page.locator("td").evaluate_all(texts) == ["10", "2", "-1", "–", "nan"]


def test_served_by_a_server_it_asks_for_nothing_more(opened, table_report):
    asked = []

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *words):
            asked.append(self.path)

    handler = partial(Quiet, directory=str(table_report.parent))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        opened(f"http://127.0.0.1:{server.server_port}/report.html").wait_for_load_state("networkidle")
        server.shutdown()
    assert asked == ["/report.html"]
