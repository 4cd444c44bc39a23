"""A made-up machine and made-up rows for the tests of the benchmark."""

from __future__ import annotations

from benchmarks.rows import Row
from benchmarks.timing import Machine

HERE = Machine("a machine", 1, {}, flops=1e10, bandwidth=1e10, cache=4e10)


def row(method, seconds, quality=None, role="ours", floor=0.1):
    return Row("case", method, role, seconds, floor, quality=quality)
