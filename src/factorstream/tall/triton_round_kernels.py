"""The kernels of a round of rows with gaps, which ``triton_rounds`` launches; ``round_products`` has their twin.

Every program of the first two has some rows of C in registers at a time, and its own sums in float32. What these are,
``round_products`` says. Sums are kept apart for each of those rows until the end: to add up over threads is slow.
"""

import triton
import triton.language as tl


@triton.jit(  # one compilation for all numbers of features, and for rows wherever they begin
    do_not_specialize=["m", "steps"], do_not_specialize_on_alignment=["before", "numbers", "group", "seen", "moved"]
)
def move(  # type: ignore[no-untyped-def]
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
    """C by the row before; in ``moved``, for each program, ``errors`` and ``pulls``."""
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
def sum_up(  # type: ignore[no-untyped-def]
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
    """What the next row needs of C: in ``partial``, for each program, ``square``, ``last``, ``cross`` and ``heard``."""
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


@triton.jit(
    do_not_specialize=["n_summers", "n_movers", "n_summed", "n_moved", "summed_room", "moved_room"],
    do_not_specialize_on_alignment=["out"],
)
def total(  # type: ignore[no-untyped-def]
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
    """The sums of all programs: those of ``sum_up``, and behind them in memory those of ``move``."""
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
