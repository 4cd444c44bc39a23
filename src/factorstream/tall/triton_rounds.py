"""One round of rows with gaps in two kernels on a GPU: the twin of ``round_products.go``, which says what a round is.

Every program has some rows of C in registers at a time: it moves them by the row before, writes them, and adds what the
next row needs of them to its own sums in float32. The second kernel adds up the sums of all programs in float64.

A kernel that cannot be compiled fails before it has changed anything, and the twin does the round. So the second one
is compiled once for all sizes: were it to fail after the first has moved C, the twin would move C again.
"""

import torch
import triton
import triton.language as tl

from ..arrays import Array, in_tiles
from .round_products import ends

ROWS, WARPS, PROGRAMS = 16, 2, 2112
"""Rows of C that a program has at a time, its warps of 32 threads, and how many programs there are at most.

Measured on an H200 with an earlier version of this kernel, 10⁶ features and 64 components: 135 µs for a move and its
sums, with four warps 206. 2112 are sixteen programs for each of its processors; speed and rounding only."""

GROUPED_WARPS = 4
"""The warps of a program where features are in several groups. Measured with the same earlier version; with two warps
the compiler also runs out of registers (192 bytes are kept elsewhere, beside 24 without groups). Speed only."""

STAGES = 3
"""Steps whose rows are on their way from memory at a time. Not tuned: what Triton takes; speed only."""

STEPS = 8
"""Times ROWS that a program has at the least: its sums are written and read again. Not tuned; speed and rounding
only."""

COLUMNS, AT_ONCE, TOTAL_WARPS = 32, 32, 4
"""Sums that a program of the second kernel adds up, from so many programs of the first at a time, and its warps.

Measured with the same earlier version: 41 µs; speed only."""

PRECISION = "tf32x3"
"""How float32 is multiplied: by three products of shorter numbers on tensor cores, which together keep nearly all
digits. Not tuned: "ieee" does without tensor cores; speed and rounding only."""


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
    m, stride = C.shape
    steps = max(STEPS, triton.cdiv(triton.cdiv(m, ROWS), PROGRAMS))
    programs = triton.cdiv(triton.cdiv(m, ROWS), steps)
    whole, n_sums = in_tiles(q), ends(q, K).heard
    room = triton.cdiv(n_sums, 16) * 16
    with torch.cuda.device_of(C):
        partial = torch.empty((programs, room), dtype=torch.float32, device=C.device)
        _round[(programs,)](
            C,
            before,
            numbers,
            group,
            seen,
            after,
            partial,
            m,
            steps,
            stride,
            q,
            whole,
            max(16, triton.next_power_of_2(whole)),
            K,
            by_missing,
            room,
            ROWS,
            PRECISION,
            num_warps=WARPS if K == 1 else GROUPED_WARPS,
            num_stages=STAGES,
        )
        _total[(triton.cdiv(n_sums, COLUMNS),)](
            partial, out, programs, n_sums, room, COLUMNS, AT_ONCE, num_warps=TOTAL_WARPS
        )


@triton.jit(do_not_specialize=["m", "steps"])  # one compilation for all numbers of features
def _round(  # type: ignore[no-untyped-def]
    C,
    before,
    numbers,
    group,
    seen,
    after,
    partial,
    m,
    steps,
    stride: tl.constexpr,
    q: tl.constexpr,
    WHOLE: tl.constexpr,
    Q: tl.constexpr,
    K: tl.constexpr,
    by_missing: tl.constexpr,
    room: tl.constexpr,
    ROWS: tl.constexpr,
    PRECISION: tl.constexpr,
):
    columns, groups = tl.arange(0, Q), tl.arange(0, K)
    inside = columns < WHOLE
    first = tl.program_id(0) * steps * ROWS
    square, last, corner = tl.zeros([Q, Q], tl.float32), tl.zeros([Q], tl.float32), 0.0
    b, b_last, yy = tl.zeros([Q], tl.float32), 0.0, 0.0
    errors, heard = tl.zeros([K], tl.float32), tl.zeros([K], tl.float32)
    pulls, pulls_last = tl.zeros([K, Q], tl.float32), tl.zeros([K], tl.float32)
    if before is not None:
        weight = tl.load(numbers).to(tl.float64) + tl.load(numbers + 1).to(tl.float64)
        z = tl.load(numbers + 2 + columns, mask=inside, other=0.0)
        gains = numbers + 2 + q
        g = tl.load(gains + columns, mask=inside, other=0.0)
        if q > WHOLE:
            z_last = tl.load(numbers + 2 + WHOLE)
            g_last = tl.load(gains + WHOLE)
    for step in range(0, steps):
        i = first + step * ROWS + tl.arange(0, ROWS)
        here = i < m
        at = i.to(tl.int64) * stride
        c = tl.load(C + at[:, None] + columns[None, :], mask=here[:, None] & inside[None, :], other=0.0)
        if q > WHOLE:
            c_last = tl.load(C + at + WHOLE, mask=here, other=0.0)
        if K > 1:
            k = tl.load(group + i, mask=here, other=0).to(tl.int32)
            member = (k[:, None] == groups[None, :]) & here[:, None]
        if before is not None:
            y = tl.load(before + i, mask=here, other=float("nan"))
            moves = y == y
            e = y - tl.sum(c * z[None, :], 1)
            if q > WHOLE:
                e -= c_last * z_last
            e = tl.where(moves, e, 0.0)
            if K == 1:
                errors += tl.sum(e * e, 0)
                c += e[:, None] * g[None, :]
                if q > WHOLE:
                    c_last += e * g_last
            else:
                of_group = tl.where(member, e[:, None], 0.0)
                errors += tl.sum(of_group * of_group, 0)
                pulls += tl.dot(tl.trans(of_group), c, input_precision=PRECISION)
                c += e[:, None] * tl.load(gains + k[:, None] * q + columns[None, :], mask=inside[None, :], other=0.0)
                if q > WHOLE:
                    pulls_last += tl.sum(of_group * c_last[:, None], 0)
                    c_last += e * tl.load(gains + k * q + WHOLE)
            tl.store(C + at[:, None] + columns[None, :], c, mask=moves[:, None] & inside[None, :])
            if q > WHOLE:
                tl.store(C + at + WHOLE, c_last, mask=moves)
            if seen is not None:
                tl.store(seen + i, tl.load(seen + i, mask=moves, other=0.0) + weight, mask=moves)
        if after is not None:
            y = tl.load(after + i, mask=here, other=float("nan"))
            observed = y == y
            y = tl.where(observed, y, 0.0)
            b += tl.sum(c * y[:, None], 0)
            yy += tl.sum(y * y, 0)
            chosen = observed != by_missing  # beyond the last feature too, where c is zero
            rows = tl.where(chosen[:, None], c, 0.0)
            square += tl.dot(tl.trans(rows), rows, input_precision=PRECISION)
            if q > WHOLE:
                b_last += tl.sum(c_last * y, 0)
                last += tl.sum(rows * c_last[:, None], 0)
                corner += tl.sum(tl.where(chosen, c_last * c_last, 0.0), 0)
            if K > 1:
                heard += tl.sum(tl.where(member & observed[:, None], 1.0, 0.0), 0)
    out = partial + tl.program_id(0).to(tl.int64) * room
    tl.store(out + columns[:, None] * WHOLE + columns[None, :], square, mask=inside[:, None] & inside[None, :])
    out += WHOLE * WHOLE
    if q > WHOLE:
        tl.store(out + columns, last, mask=inside)
        tl.store(out + WHOLE, corner)
        out += q
    tl.store(out + columns, b, mask=inside)
    if q > WHOLE:
        tl.store(out + WHOLE, b_last)
    tl.store(out + q, yy)
    out += q + 1
    tl.store(out + groups, errors)
    if K > 1:
        out += K
        tl.store(out + groups[:, None] * q + columns[None, :], pulls, mask=inside[None, :])
        if q > WHOLE:
            tl.store(out + groups * q + WHOLE, pulls_last)
        tl.store(out + K * q + groups, heard)


@triton.jit(do_not_specialize=["programs", "n_sums"])  # one compilation: the first round, which moves nothing, has it
def _total(partial, out, programs, n_sums, room, COLUMNS: tl.constexpr, AT_ONCE: tl.constexpr):  # type: ignore[no-untyped-def]
    columns, rows = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS), tl.arange(0, AT_ONCE)
    sums = tl.zeros([AT_ONCE, COLUMNS], tl.float64)
    for first in range(0, programs, AT_ONCE):
        here = ((first + rows) < programs)[:, None] & (columns < room)[None, :]
        part = tl.load(partial + (first + rows)[:, None] * room + columns[None, :], mask=here, other=0.0)
        sums += part.to(tl.float64)
    tl.store(out + columns, tl.sum(sums, 0), mask=columns < n_sums)
