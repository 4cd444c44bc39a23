"""Kernels on a GPU for a round of rows with gaps: the twins of ``round_products``, which says what a round is.

:func:`chosen_products` writes down which rows of C it needs, and then reads only these. :func:`go` reads and writes
every row of C once. In both every program has its own sums in float32, and one more kernel adds them up in float64. One
kernel for all of it took 520 µs or more for 10⁶ features and 64 components on an H200: it has too much in registers to
keep memory busy.

A kernel that cannot be compiled fails before anything has changed, and the twin does the round: all are compiled before
C is moved.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import torch
import triton

from ..arrays import Array, in_tiles
from .round_products import ends
from .triton_round_kernels import choose, move, multiply, total


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


MOVE = Setting(32, 4, 1, 1056)
"""Of the kernel that moves C. Measured on an H200 (``python -m benchmarks.gpu --only kernels``) with 10⁶ features and
64 components, its sums added up: 126 µs; 127 to 179 with other numbers of rows, warps and programs."""

MOVE_GROUPED = Setting(64, 4, 1, 1056)
"""Of the same where features are in several groups. Measured there with a mean and eight groups: 303 µs; 312 to 385
with others."""

MULTIPLY = Setting(32, 4, 3, 0)
"""Of the kernel that multiplies the chosen rows. It has a program for each part of the features. Measured there with a
quarter of the features chosen, choosing and adding up included: 71 µs; 71 to 85 with others."""

CHUNK = 2048
"""Features whose chosen ones are written down together. Derived: with 10⁶ features about four programs for each of the
132 processors of an H200, and steps of the kernel that multiplies are full but for one in sixteen."""

CHOOSE_WARPS = 8
"""Of the kernel that writes them down. Measured there: four and sixteen make no difference."""

STEPS = 8
"""Times its rows that a program has at the least: its sums are written and read again. Not tuned; speed and rounding
only."""


class Adding(NamedTuple):
    """How the sums of programs are added up. Speed and rounding only."""

    columns: int
    """Sums that a program adds up."""
    at_once: int
    """From so many of the others at a time."""
    warps: int


CHOSEN_SUMS = Adding(32, 256, 8)
"""Of :func:`chosen_products`, which has many sums of few programs. Measured there: others make no difference."""

MOVED_SUMS = Adding(8, 1024, 8)
"""Of :func:`go`, which has few sums of many programs. Measured there: others differ by 3% of the whole."""

PRECISION = "ieee"
"""How float32 is multiplied: as it is. With "tf32x3", three products of shorter numbers, sums were wrong by 1.3e-7 of
the largest instead of 3e-8, and took longer. Rounding and speed only."""


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
    n_chosen: int
    """Sums of :func:`chosen_products`."""
    n_moved: int
    """Sums of :func:`go`."""
    chosen: int
    """Room for the sums of a program of the former."""
    moved: int
    """Room for those of a program of the latter."""


@lru_cache
def sizes(q: int, K: int) -> Sizes:
    """For q columns and K groups."""
    stops, whole = ends(q, K), in_tiles(q)
    n_chosen, n_moved = stops.last, stops.pulls - stops.last
    Q = max(16, 1 << (whole - 1).bit_length())
    return Sizes(whole, Q, n_chosen, n_moved, *(-(-n // 16) * 16 for n in (n_chosen, n_moved)))


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
        """Compile it, without launching it."""
        if isinstance(self.kernel, triton.JITFunction):  # otherwise it is interpreted on the host
            self.kernel.warmup(*self.given, *self.fixed, grid=(1,), num_warps=self.warps, num_stages=self.stages)

    def run(self) -> None:
        """Launch it."""
        self.kernel[(self.programs,)](*self.given, *self.fixed, num_warps=self.warps, num_stages=self.stages)


def _added_up(partial: Array, out: Array, programs: int, n: int, room: int, adding: Adding) -> Launch:
    """The kernel that adds up n sums of some programs."""
    columns, at_once, warps = adding
    return Launch(total, -(-n // columns), (partial, out, programs, n, room), (columns, at_once), warps, 1)


def make_room(C: Array, q: int, K: int, room: list[Array]) -> None:
    """See ``round_products.make_room``."""
    m, size, programs = C.shape[0], sizes(q, K), -(-C.shape[0] // CHUNK)
    movers = divided(m, MOVE if K == 1 else MOVE_GROUPED)[1]
    lengths = (
        (movers * size.moved, torch.float32),
        (programs * CHUNK, torch.int32),
        (programs, torch.int32),
        (programs * size.chosen, torch.float32),
    )
    room += [torch.empty(n, dtype=dtype, device=C.device) for n, dtype in lengths]  # all, or none where memory is short


def chosen_products(C: Array, q: int, row: Array, by_missing: bool, out: Array, room: Sequence[Array] = ()) -> None:
    """See ``round_products.chosen_products``. C is float32, and its rows lie one after the other."""
    (m, stride), size, setting, made = C.shape, sizes(q, 1), MULTIPLY, list(room)
    programs = -(-m // CHUNK)
    with torch.cuda.device_of(C):
        if not made:
            make_room(C, q, 1, made)
        _, idx, found, partial = made
        Launch(choose, programs, (row, idx, found, m, int(by_missing)), (CHUNK,), CHOOSE_WARPS, 1).run()
        fixed = stride, size.whole, q, size.Q, size.chosen, CHUNK, setting.rows, setting.stages, PRECISION
        Launch(multiply, programs, (C, idx, found, partial), fixed, setting.warps, setting.stages).run()
        _added_up(partial, out, programs, size.n_chosen, size.chosen, CHOSEN_SUMS).run()


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
    room: Sequence[Array] = (),
) -> None:
    """See ``round_products.go``. C is float32, its rows lie one after the other, and K is 1, 8, 16 or 32."""
    (m, stride), size = C.shape, sizes(q, K)
    setting = MOVE if K == 1 else MOVE_GROUPED
    steps, programs = divided(m, setting)
    with torch.cuda.device_of(C):
        if before is None:  # a row with nothing observed moves nothing
            before, numbers = torch.full_like(after, torch.nan), C.new_zeros(2 + q + K * q)
            group = C.new_zeros(m, dtype=torch.int64) if K > 1 and group is None else group
        if after is None:
            after = torch.full_like(before, torch.nan)
        partial = room[0] if room else torch.empty(programs * size.moved, dtype=torch.float32, device=C.device)
        given = C, before, after, numbers, group, seen, partial, m, steps, int(by_missing)
        fixed = stride, q, size.whole, size.Q, K, size.moved, setting.rows, PRECISION
        launches = (
            Launch(move, programs, given, fixed, setting.warps, setting.stages),
            _added_up(partial, out[size.n_chosen :], programs, size.n_moved, size.moved, MOVED_SUMS),
        )
        types = tuple(None if part is None else part.dtype for part in (before, after, group, seen))
        key = C.device, C.data_ptr() % 16, fixed, setting, MOVED_SUMS, types
        if key not in _compiled:
            for launch in launches:
                launch.compile()  # or fail, as long as nothing has changed
            _compiled.add(key)
        for launch in launches:
            launch.run()
