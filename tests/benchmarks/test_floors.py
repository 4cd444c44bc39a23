"""Floors count the work that cannot be avoided."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.timing import Machine

from benchmarks import floors


def test_floors_count_what_the_products_do():
    """Two operations for every number multiplied and added; a product with its own transpose counts half."""
    n, m, q, B = 8, 5, 2, 4
    one_block = 2 * m * q * B + m * B * B + 2 * m * q * q + 2 * m * B * q
    assert floors.complete_stream(n, m, q, B).flops == n / B * one_block
    loop = floors.filter_loop(n, m, q)
    assert (loop.flops, loop.cached) == (n * m * q * q, 3 * n * m * q * 8)
    fit, fill = floors.masked_stream(n, m, q, 0.4), floors.filling(n, m, q, 0.4)
    assert fit.flops == pytest.approx(n * (0.4 * m) * q * q)
    assert (fit.cached, fit.streamed) == (3 * n * m * q * 8, n * m * 8)
    assert fill.flops == pytest.approx(fit.flops + 2 * (2 * n * m * q))
    # n m moments of q (q + 1) / 2 numbers, into the rows' matrices and into the columns'
    assert floors.variational_sweep(n, m, q).flops == 2 * (2 * n * m * q * (q + 1) / 2) + (n + m) * q**3
    seen = np.ones((n, m), dtype=bool)
    assert floors.als_sweep(seen, q).flops == pytest.approx(2 * n * m * q * (q + 1) + (n + m) * q**3 / 3)
    assert floors.em_sweep(seen, q).flops == 2 * n * m * q * (q + 1) + n * 14 * q**3


def test_floors_add_up():
    here = Machine("a machine", 1, {}, flops=2.0, bandwidth=4.0, cache=8.0)
    fit, fill = floors.masked_stream(3, 5, 2, 0.25), floors.filling(3, 5, 2, 0.25)
    assert fit == floors.masked_stream(3, 5, 2, 0.75)  # the fewer rows count
    assert floors.both(fit, fill).seconds(here) == pytest.approx(fit.seconds(here) + fill.seconds(here))
    assert floors.Work(flops=2.0, cached=8.0, streamed=4.0).seconds(here) == 3.0
