"""One round of rows with gaps in three kernels on a GPU: the twin of ``round_products.go``, which says what a round is.

The first moves C by the row before: it reads and writes the rows of C that this row has. The second reads C once more,
for what the next row needs of it. Every program of these two has its own sums in float32, and the third adds them up in
float64. One kernel that both moves C and sums up took 520 µs or more for 10⁶ features and 64 components on an H200: it
has too much in registers to keep memory busy.

A kernel that cannot be compiled fails before anything has changed, and the twin does the round: all are compiled before
C is moved.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import torch
import triton

from ..arrays import Array, in_tiles
from .round_products import ends
from .triton_round_kernels import move, sum_up, total


class Setting(NamedTuple):
    """How a kernel is launched. Speed and rounding only."""

    rows: int
    """Rows of C that a program has at a time."""
    warps: int
    """Its warps of 32 threads."""
    stages: int
    """Steps whose rows are on their way from memory at a time."""
    programs: int
    """How many programs there are at most."""


MOVE = Setting(32, 2, 1, 2112)
"""Of the kernel that moves C. Measured on an H200, 10⁶ features, 64 components and a mean: 135 µs; 155 to 197 with 16
or 8 rows, other numbers of warps and of programs; a copy of C takes 198. 2112 are sixteen for each processor."""

MOVE_GROUPED = Setting(32, 4, 1, 1056)
"""Of the same where features are in several groups. Measured there with 16 groups: 195 µs; 216 to 335 with others."""

SUM = Setting(32, 4, 3, 528)
"""Of the kernel that sums up. Measured there: 254 µs, with eight warps 267. Four programs for each processor."""

STEPS = 8
"""Times its rows that a program has at the least: its sums are written and read again. Not tuned; speed and rounding
only."""

COLUMNS, AT_ONCE, TOTAL_WARPS = 32, 256, 8
"""Sums that a program of the third kernel adds up, from so many programs of the others at a time, and its warps.

Measured there: 9 µs; 11 with 128 at a time, 17 with 64. Speed only."""

PRECISION = "ieee"
"""How float32 is multiplied: as it is. Measured there: sums are wrong by 3e-8 of the largest, and by 1.3e-7 with
"tf32x3", three products of shorter numbers, with which the second kernel takes 318 µs. Speed and rounding only."""


@lru_cache
def divided(m: int, setting: Setting) -> tuple[int, int]:
    """How often a program takes rows of m features, and how many programs there are."""
    tiles = -(-m // setting.rows)
    steps = max(STEPS, -(-tiles // setting.programs))
    return steps, -(-tiles // steps)


class Sizes(NamedTuple):
    """What kernels are compiled for."""

    whole: int
    """Columns of C that are multiplied at once (``in_tiles``)."""
    Q: int
    """The power of two that has room for them."""
    n_summed: int
    """Sums of the second kernel."""
    n_moved: int
    """Sums of the first."""
    summed: int
    """Room for the sums of a program of the second."""
    moved: int
    """Room for those of a program of the first."""


@lru_cache
def sizes(q: int, K: int) -> Sizes:
    """For q columns and K groups."""
    stops, whole = ends(q, K), in_tiles(q)
    n_summed, n_moved = stops.heard, stops.pulls - stops.heard
    Q = max(16, 1 << (whole - 1).bit_length())
    return Sizes(whole, Q, n_summed, n_moved, *(-(-n // 16) * 16 for n in (n_summed, n_moved)))


_compiled: set[tuple[object, ...]] = set()
"""All that kernels were compiled for."""


class Launch(NamedTuple):
    """A kernel with what it is given."""

    kernel: Any
    programs: int
    given: tuple[Any, ...]
    """What differs from launch to launch."""
    fixed: tuple[Any, ...]
    """What it is compiled for."""
    warps: int
    stages: int

    def compile(self) -> None:
        """Compile it where that has not been done, without launching it."""
        if not isinstance(self.kernel, triton.JITFunction):  # it is interpreted on the host
            return
        C, types = self.given[0], tuple(getattr(part, "dtype", None) for part in self.given)
        key = self.kernel.__name__, C.device, C.data_ptr() % 16, types, self.fixed, self.warps, self.stages
        if key not in _compiled:
            self.kernel.warmup(*self.given, *self.fixed, grid=(1,), num_warps=self.warps, num_stages=self.stages)
            _compiled.add(key)

    def run(self) -> None:
        """Launch it."""
        self.kernel[(self.programs,)](*self.given, *self.fixed, num_warps=self.warps, num_stages=self.stages)


def go(
    C: Array,
    q: int,
    K: int,
    before: Array | None,
    numbers: Array | None,
    group: Array | None,
    seen: Array | None,
    after: Array | None,
    by_missing: bool,
    out: Array,
) -> None:
    """See ``round_products.go``. C is float32, its rows lie one after the other, and K is 1, 16 or 32."""
    (m, stride), size = C.shape, sizes(q, K)
    setting = MOVE if K == 1 else MOVE_GROUPED
    (move_steps, n_movers), (sum_steps, n_summers) = divided(m, setting), divided(m, SUM)
    n_movers, n_summers = n_movers * (before is not None), n_summers * (after is not None)
    given: tuple[Any, ...]
    with torch.cuda.device_of(C):
        partial = torch.empty(n_summers * size.summed + n_movers * size.moved, dtype=torch.float32, device=C.device)
        moved = partial[n_summers * size.summed :]
        fixed = stride, q, size.whole, size.Q, K
        launches = []
        if before is not None:
            given = C, before, numbers, group, seen, moved, m, move_steps
            more = *fixed, size.moved, setting.rows, PRECISION
            launches.append(Launch(move, n_movers, given, more, setting.warps, setting.stages))
        if after is not None:
            given = C, group, after, partial, m, sum_steps, int(by_missing)
            more = *fixed, size.summed, SUM.rows, PRECISION
            launches.append(Launch(sum_up, n_summers, given, more, SUM.warps, SUM.stages))
        given = partial, out, n_summers, n_movers, size.n_summed, size.n_moved, size.summed, size.moved
        blocks = -(-size.n_summed // COLUMNS) - (-size.n_moved // COLUMNS)
        launches.append(Launch(total, blocks, given, (COLUMNS, AT_ONCE), TOTAL_WARPS, 1))
        for launch in launches:
            launch.compile()  # or fail, as long as nothing has changed
        for launch in launches:
            launch.run()
