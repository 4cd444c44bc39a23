"""One round of rows with gaps in three kernels on a GPU: the twin of ``round_products.go``, which says what a round is.

The first moves C by the row before: it reads and writes the rows of C that this row has. The second reads C once more,
for what the next row needs of it. Every program of these two has its own sums in float32, and the third adds them up in
float64. One kernel that both moves C and sums up took 520 µs or more for 10⁶ features and 64 components on an H200: it
has too much in registers to keep memory busy.

A kernel that cannot be compiled fails before anything has changed, and the twin does the round: all are compiled before
C is moved.
"""

from __future__ import annotations

from collections.abc import Callable
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


MOVE = Setting(16, 2, 1, 2112)
"""Of the kernel that moves C. Measured on an H200 with an earlier version of it, 10⁶ features and 64 components: 135
µs, with four warps 206. 2112 are sixteen programs for each of its processors."""

MOVE_GROUPED = Setting(16, 4, 1, 1056)
"""Of the same where features are in several groups. Measured with the same earlier version: four warps are faster than
two. Half as many programs, not tuned: there are sums of every group to add up."""

SUM = Setting(32, 4, 3, 528)
"""Of the kernel that sums up. Measured with the same earlier version: 95 µs with two or three stages. 528 are four
programs for each processor."""

STEPS = 8
"""Times its rows that a program has at the least: its sums are written and read again. Not tuned; speed and rounding
only."""

COLUMNS, AT_ONCE, TOTAL_WARPS = 32, 128, 4
"""Sums that a program of the third kernel adds up, from so many programs of the others at a time, and its warps.

Measured on an H200, sums of 2112 programs: 47 µs; 60 with 32 at a time, 50 with 16 sums, 66 with 64; speed only."""

PRECISION = "tf32x3"
"""How float32 is multiplied: by three products of shorter numbers on tensor cores, which together keep nearly all
digits. Measured on an H200, 10⁶ features: sums are wrong by 10⁻⁷ of the largest; by 10⁻⁸ with "ieee", which does
without tensor cores. Speed and rounding only."""


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


_ready: dict[tuple[object, ...], Any] = {}
"""Compiled kernels, by all that they were compiled for."""


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

    def ready(self) -> Callable[..., None]:
        """What launches it. Triton's own way looks anew at every argument, which takes longer than a small kernel."""
        if not isinstance(self.kernel, triton.JITFunction):  # it is interpreted on the host
            return self.kernel[(self.programs,)]  # type: ignore[no-any-return]
        C, types = self.given[0], tuple(getattr(part, "dtype", None) for part in self.given)
        key = self.kernel.__name__, C.device, C.data_ptr() % 16, types, self.fixed, self.warps, self.stages
        if key not in _ready:
            how = {"num_warps": self.warps, "num_stages": self.stages}
            _ready[key] = self.kernel.warmup(*self.given, *self.fixed, grid=(1,), **how)
        return _ready[key][(self.programs, 1, 1)]  # type: ignore[no-any-return]


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
        ready = [launch.ready() for launch in launches]  # or fail, as long as nothing has changed
        for run, launch in zip(ready, launches, strict=True):
            run(*launch.given, *launch.fixed)
