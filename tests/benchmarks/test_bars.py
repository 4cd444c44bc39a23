"""Verdicts follow from the table."""

from __future__ import annotations

import pytest
from benchmarks.cases import judged
from benchmarks.masked import FIT, FIT_AND_FILL
from benchmarks.streams import EXACT, LOOP, PRODUCTS

from bench_problems import row


def bar_of(rows, what):
    (found,) = [bar for bar in judged(rows) if what in bar.what and "compiled" not in bar.what]
    return found


def test_bars_are_judged_from_the_table():
    rows = [row(EXACT, 1.0), row(PRODUCTS, 0.4), row(LOOP, 12.0)]
    loop, products = bar_of(rows, "textbook loop"), bar_of(rows, "complete: ours / its products")
    assert (loop.measured, loop.met) == (12.0, True)
    assert (products.measured, products.met) == (2.5, False)
    assert "would need 800 ms" in products.limit
    assert "floor" in products.limit
    assert bar_of([], "textbook loop").met is None


def test_the_fastest_peer_must_be_good_enough():
    rows = [
        row(FIT_AND_FILL, 0.3, 18.97, floor=0.03),
        row(FIT, 0.2, 18.97, floor=0.01),
        row("quick and poor", 0.1, 18.0, role="peer"),
        row("slow and good", 9.0, 19.2, role="peer"),
        row("good", 0.24, 19.0, role="peer"),
    ]
    both, fit = (bar_of(rows, f"18.9 dB / {what}") for what in ("fit and fill", "fit alone"))
    assert both.measured == pytest.approx(0.8)
    assert "the fastest is good: 19.00 dB" in both.against
    assert "less than the floor" in both.limit  # 24 ms, below 30 ms
    assert "would need 24 ms; the floor" in fit.limit
