"""One round of rows with gaps in three kernels on a GPU: the twin of ``round_products.go``, which says what a round is.

The first moves C by the row before: it reads and writes the rows of C that this row has. The second reads C once more,
for what the next row needs of it. Every program of these two has some rows of C in registers at a time, and its own sums
in float32. The third adds up the sums of all programs in float64. One kernel that both moves and sums up was slower: it
has too much in registers to keep memory busy.

A kernel that cannot be compiled fails before anything has changed, and the twin does the round: the other two are
compiled before C is moved.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import torch
import triton
import triton.language as tl
from triton.runtime.interpreter import InterpretedFunction

from ..arrays import Array, in_tiles
from .round_products import ends


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
"""Of the kernel that moves C. Measured on an H200 with an earlier version of it, 10⁶ features and 64 components: 135 µs,
with four warps 206. 2112 are sixteen programs for each of its processors."""

MOVE_GROUPED = Setting(16, 4, 1, 1056)
"""Of the same where features are in several groups. Measured with the same earlier version: four warps are faster than
two. Half as many programs, not tuned: there are sums of every group to add up."""

SUM = Setting(32, 4, 3, 528)
"""Of the kernel that sums up. Measured with the same earlier version: 95 µs with two or three stages. 528 are four
programs for each processor, as many as its registers hold."""

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


_compiled: set[tuple[object, ...]] = set()
"""For what the second and the third kernel have been compiled."""


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
    with torch.cuda.device_of(C):
        partial = torch.empty(n_summers * size.summed + n_movers * size.moved, dtype=torch.float32, device=C.device)
        moved = partial[n_summers * size.summed :]
        fixed = stride, q, size.whole, size.Q, K
        move = C, before, numbers, group, seen, moved, m, move_steps, *fixed, size.moved, setting.rows, PRECISION
        add = C, group, after, partial, m, sum_steps, int(by_missing), *fixed, size.summed, SUM.rows, PRECISION
        total = (
            partial,
            out,
            n_summers,
            n_movers,
            size.n_summed,
            size.n_moved,
            size.summed,
            size.moved,
            COLUMNS,
            AT_ONCE,
        )
        kind = C.device, after is None, *fixed
        if before is not None:
            if kind not in _compiled and not isinstance(_move, InterpretedFunction):
                if after is not None:
                    _sum.warmup(*add, grid=(1,), num_warps=SUM.warps, num_stages=SUM.stages)
                _total.warmup(*total, grid=(1,), num_warps=TOTAL_WARPS)
            _move[(n_movers,)](*move, num_warps=setting.warps, num_stages=setting.stages)
            _compiled.add(kind)
        if after is not None:
            _sum[(n_summers,)](*add, num_warps=SUM.warps, num_stages=SUM.stages)
        blocks = -(-size.n_summed // COLUMNS) - (-size.n_moved // COLUMNS)
        _total[(blocks,)](*total, num_warps=TOTAL_WARPS)


@triton.jit(  # one compilation for all numbers of features, and for rows wherever they begin
    do_not_specialize=["m", "steps"], do_not_specialize_on_alignment=["before", "group", "seen"]
)
def _move(  # type: ignore[no-untyped-def]
    C,
    before,
    numbers,
    group,
    seen,
    moved,
    m,
    steps,
    stride: tl.constexpr,
    q: tl.constexpr,
    WHOLE: tl.constexpr,
    Q: tl.constexpr,
    K: tl.constexpr,
    room: tl.constexpr,
    ROWS: tl.constexpr,
    PRECISION: tl.constexpr,
):
    columns, groups, lanes = tl.arange(0, Q), tl.arange(0, K), tl.arange(0, ROWS)
    inside = columns < WHOLE
    first = tl.program_id(0) * steps * ROWS
    weight = tl.load(numbers).to(tl.float64) + tl.load(numbers + 1).to(tl.float64)
    z = tl.load(numbers + 2 + columns, mask=inside, other=0.0)
    gains = numbers + 2 + q
    if q > WHOLE:
        z_last = tl.load(numbers + 2 + WHOLE)
    if K == 1:
        g = tl.load(gains + columns, mask=inside, other=0.0)
        if q > WHOLE:
            g_last = tl.load(gains + WHOLE)
        errors = tl.zeros([ROWS], tl.float32)
    else:
        errors, pulls_last = tl.zeros([ROWS, K], tl.float32), tl.zeros([ROWS, K], tl.float32)
        pulls = tl.zeros([K, Q], tl.float32)
    beyond = tl.minimum(m, first + steps * ROWS)
    following = tl.load(before + first + lanes, mask=first + lanes < beyond, other=float("nan"))
    for step in range(0, steps):
        i = first + step * ROWS + lanes
        y = following
        following = tl.load(before + i + ROWS, mask=i + ROWS < beyond, other=float("nan"))
        moves = y == y  # rows that stay need not be read
        at = i.to(tl.int64) * stride
        c = tl.load(C + at[:, None] + columns[None, :], mask=moves[:, None] & inside[None, :], other=0.0)
        e = y - tl.sum(c * z[None, :], 1)
        if q > WHOLE:
            c_last = tl.load(C + at + WHOLE, mask=moves, other=0.0)
            e -= c_last * z_last
        e = tl.where(moves, e, 0.0)
        if K == 1:
            errors += e * e
            c += e[:, None] * g[None, :]
            if q > WHOLE:
                c_last += e * g_last
        else:
            k = tl.load(group + i, mask=moves, other=0).to(tl.int32)
            of_group = tl.where(k[:, None] == groups[None, :], e[:, None], 0.0)
            errors += of_group * of_group
            pulls += tl.dot(tl.trans(of_group), c, input_precision=PRECISION)
            c += e[:, None] * tl.load(gains + k[:, None] * q + columns[None, :], mask=inside[None, :], other=0.0)
            if q > WHOLE:
                pulls_last += of_group * c_last[:, None]
                c_last += e * tl.load(gains + k * q + WHOLE)
        tl.store(C + at[:, None] + columns[None, :], c, mask=moves[:, None] & inside[None, :])
        if q > WHOLE:
            tl.store(C + at + WHOLE, c_last, mask=moves)
        if seen is not None:
            tl.store(seen + i, tl.load(seen + i, mask=moves, other=0.0) + weight, mask=moves)
    out = moved + tl.program_id(0).to(tl.int64) * room
    if K == 1:
        tl.store(out, tl.sum(errors, 0))
    else:
        tl.store(out + groups, tl.sum(errors, 0))
        out += K
        tl.store(out + groups[:, None] * q + columns[None, :], pulls, mask=inside[None, :])
        if q > WHOLE:
            tl.store(out + groups * q + WHOLE, tl.sum(pulls_last, 0))


@triton.jit(
    do_not_specialize=["m", "steps", "by_missing"], do_not_specialize_on_alignment=["group", "after"]
)  # likewise
def _sum(  # type: ignore[no-untyped-def]
    C,
    group,
    after,
    partial,
    m,
    steps,
    by_missing,
    stride: tl.constexpr,
    q: tl.constexpr,
    WHOLE: tl.constexpr,
    Q: tl.constexpr,
    K: tl.constexpr,
    room: tl.constexpr,
    ROWS: tl.constexpr,
    PRECISION: tl.constexpr,
):
    columns, groups, lanes = tl.arange(0, Q), tl.arange(0, K), tl.arange(0, ROWS)
    inside = columns < WHOLE
    first = tl.program_id(0) * steps * ROWS
    square, b, yy = tl.zeros([Q, Q], tl.float32), tl.zeros([ROWS, Q], tl.float32), tl.zeros([ROWS], tl.float32)
    if q > WHOLE:
        last, corner, b_last = tl.zeros([ROWS, Q], tl.float32), yy, yy
    if K > 1:
        heard = tl.zeros([ROWS, K], tl.float32)
    for step in range(0, steps):
        i = first + step * ROWS + lanes
        here = i < m
        at = i.to(tl.int64) * stride
        c = tl.load(C + at[:, None] + columns[None, :], mask=here[:, None] & inside[None, :], other=0.0)
        y = tl.load(after + i, mask=here, other=float("nan"))
        observed = y == y
        y = tl.where(observed, y, 0.0)
        chosen = observed.to(tl.int32) != by_missing  # beyond the last feature too, where c is zero
        rows = tl.where(chosen[:, None], c, 0.0)
        square += tl.dot(tl.trans(rows), rows, input_precision=PRECISION)
        b += c * y[:, None]
        yy += y * y
        if q > WHOLE:
            c_last = tl.load(C + at + WHOLE, mask=here, other=0.0)
            last += rows * c_last[:, None]
            corner += tl.where(chosen, c_last * c_last, 0.0)
            b_last += c_last * y
        if K > 1:
            k = tl.load(group + i, mask=observed, other=K).to(tl.int32)
            heard += tl.where(k[:, None] == groups[None, :], 1.0, 0.0)
    out = partial + tl.program_id(0).to(tl.int64) * room
    tl.store(out + columns[:, None] * WHOLE + columns[None, :], square, mask=inside[:, None] & inside[None, :])
    out += WHOLE * WHOLE
    if q > WHOLE:
        tl.store(out + columns, tl.sum(last, 0), mask=inside)
        tl.store(out + WHOLE, tl.sum(corner, 0))
        tl.store(out + q + WHOLE, tl.sum(b_last, 0))
        out += q
    tl.store(out + columns, tl.sum(b, 0), mask=inside)
    tl.store(out + q, tl.sum(yy, 0))
    if K > 1:
        tl.store(out + q + 1 + groups, tl.sum(heard, 0))


@triton.jit(do_not_specialize=["n_summers", "n_movers", "n_summed", "n_moved", "summed_room", "moved_room"])  # likewise
def _total(  # type: ignore[no-untyped-def]
    partial,
    out,
    n_summers,
    n_movers,
    n_summed,
    n_moved,
    summed_room,
    moved_room,
    COLUMNS: tl.constexpr,
    AT_ONCE: tl.constexpr,
):
    block, blocks, rows = tl.program_id(0), tl.cdiv(n_summed, COLUMNS), tl.arange(0, AT_ONCE)
    of_move = block >= blocks
    columns = tl.where(of_move, block - blocks, block) * COLUMNS + tl.arange(0, COLUMNS)
    n, room = tl.where(of_move, n_moved, n_summed), tl.where(of_move, moved_room, summed_room)
    programs, base = tl.where(of_move, n_movers, n_summers), tl.where(of_move, n_summers * summed_room, 0)
    sums = tl.zeros([AT_ONCE, COLUMNS], tl.float64)
    for first in range(0, programs, AT_ONCE):
        here = ((first + rows) < programs)[:, None] & (columns < n)[None, :]
        part = tl.load(partial + base + (first + rows)[:, None] * room + columns[None, :], mask=here, other=0.0)
        sums += part.to(tl.float64)
    tl.store(out + tl.where(of_move, n_summed, 0) + columns, tl.sum(sums, 0), mask=columns < n)
