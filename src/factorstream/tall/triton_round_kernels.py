"""The kernels of a round of rows with gaps, which ``triton_rounds`` launches; ``round_products`` has their twin.

Every program of ``multiply`` and ``move`` has some rows of C in registers at a time, and its own sums in float32. What
these are, ``round_products`` says. Sums are kept apart for each of those rows until the end: to add up over threads is
slow.
"""

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["m", "by_missing"], do_not_specialize_on_alignment=["row"])
def choose(row, idx, found, m, by_missing, CHUNK: tl.constexpr):  # type: ignore[no-untyped-def]
    """The numbers of the features that a row misses, or of those that it has, program by program, and how many."""
    lanes = tl.arange(0, CHUNK)
    i = tl.program_id(0) * CHUNK + lanes
    y = tl.load(row + i, mask=i < m, other=0.0)
    chosen = ((y == y).to(tl.int32) != by_missing) & (i < m)
    ones = chosen.to(tl.int32)
    tl.store(idx + tl.program_id(0) * CHUNK + tl.cumsum(ones, 0) - 1, i, mask=chosen)
    tl.store(found + tl.program_id(0), tl.sum(ones, 0))


@triton.jit
def multiply(  # type: ignore[no-untyped-def]
    C,
    idx,
    found,
    partial,
    stride: tl.constexpr,
    WHOLE: tl.constexpr,
    q: tl.constexpr,
    Q: tl.constexpr,
    room: tl.constexpr,
    CHUNK: tl.constexpr,
    ROWS: tl.constexpr,
    STAGES: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """The chosen rows of C times each other; in ``partial``, for each program, ``square`` and ``last``."""
    columns, lanes = tl.arange(0, Q), tl.arange(0, ROWS)
    inside = columns < WHOLE
    idx += tl.program_id(0) * CHUNK
    n = tl.load(found + tl.program_id(0))
    square = tl.zeros([Q, Q], tl.float32)
    if q > WHOLE:
        last, corner = tl.zeros([ROWS, Q], tl.float32), tl.zeros([ROWS], tl.float32)
    for first in tl.range(0, n, ROWS, num_stages=STAGES):
        here = first + lanes < n
        at = tl.load(idx + first + lanes, mask=here, other=0).to(tl.int64) * stride
        c = tl.load(C + at[:, None] + columns[None, :], mask=here[:, None] & inside[None, :], other=0.0)
        square += tl.dot(tl.trans(c), c, input_precision=PRECISION)
        if q > WHOLE:
            c_last = tl.load(C + at + WHOLE, mask=here, other=0.0)
            last += c * c_last[:, None]
            corner += c_last * c_last
    out = partial + tl.program_id(0).to(tl.int64) * room
    tl.store(out + columns[:, None] * WHOLE + columns[None, :], square, mask=inside[:, None] & inside[None, :])
    if q > WHOLE:
        tl.store(out + WHOLE * WHOLE + columns, tl.sum(last, 0), mask=inside)
        tl.store(out + WHOLE * WHOLE + WHOLE, tl.sum(corner, 0))


@triton.jit(  # one compilation for all numbers of features, and for rows wherever they begin
    do_not_specialize=["m", "steps", "by_missing"],
    do_not_specialize_on_alignment=["before", "after", "numbers", "group", "seen"],
)
def move(  # type: ignore[no-untyped-def]
    C,
    before,
    after,
    numbers,
    group,
    seen,
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
    """C by the row before; in ``partial``, for each program, all sums from ``cross`` on."""
    columns, groups, halves, lanes = tl.arange(0, Q), tl.arange(0, K), tl.arange(0, 2 * K), tl.arange(0, ROWS)
    inside = columns < WHOLE
    first = tl.program_id(0) * steps * ROWS
    weight = tl.load(numbers).to(tl.float64) + tl.load(numbers + 1).to(tl.float64)
    z = tl.load(numbers + 2 + columns, mask=inside, other=0.0)
    gains = numbers + 2 + q
    b, yy = tl.zeros([ROWS, Q], tl.float32), tl.zeros([ROWS], tl.float32)
    if q > WHOLE:
        z_last = tl.load(numbers + 2 + WHOLE)
        b_last = tl.zeros([ROWS], tl.float32)
    if K == 1:
        g = tl.load(gains + columns, mask=inside, other=0.0)
        if q > WHOLE:
            g_last, pulls_last = tl.load(gains + WHOLE), tl.zeros([ROWS], tl.float32)
        errors, chosen_errors = tl.zeros([ROWS], tl.float32), tl.zeros([ROWS], tl.float32)
        pulls = tl.zeros([ROWS, Q], tl.float32)
    else:
        errors, pulls = tl.zeros([ROWS, 2 * K], tl.float32), tl.zeros([2 * K, Q], tl.float32)
        heard = tl.zeros([ROWS, K], tl.float32)
        if q > WHOLE:
            pulls_last = tl.zeros([ROWS, 2 * K], tl.float32)
    beyond = tl.minimum(m, first + steps * ROWS)
    coming = tl.load(before + first + lanes, mask=first + lanes < beyond, other=float("nan"))
    coming_next = tl.load(after + first + lanes, mask=first + lanes < beyond, other=float("nan"))
    for step in range(0, steps):
        i = first + step * ROWS + lanes
        y, y_next = coming, coming_next
        coming = tl.load(before + i + ROWS, mask=i + ROWS < beyond, other=float("nan"))
        coming_next = tl.load(after + i + ROWS, mask=i + ROWS < beyond, other=float("nan"))
        moves, hears = y == y, y_next == y_next
        read = moves | hears  # a row that neither of the two has need not be read
        chosen = hears.to(tl.int32) != by_missing
        y_next = tl.where(hears, y_next, 0.0)
        at = i.to(tl.int64) * stride
        c = tl.load(C + at[:, None] + columns[None, :], mask=read[:, None] & inside[None, :], other=0.0)
        e = y - tl.sum(c * z[None, :], 1)
        if q > WHOLE:
            c_last = tl.load(C + at + WHOLE, mask=read, other=0.0)
            e -= c_last * z_last
        e = tl.where(moves, e, 0.0)
        if K == 1:
            e_chosen = tl.where(chosen, e, 0.0)
            e_other = e - e_chosen
            errors += e_other * e_other
            chosen_errors += e_chosen * e_chosen
            pulls += e_chosen[:, None] * c
            c += e[:, None] * g[None, :]
            if q > WHOLE:
                pulls_last += e_chosen * c_last
                c_last += e * g_last
        else:
            k = tl.load(group + i, mask=read, other=0).to(tl.int32)
            half = k + tl.where(chosen, K, 0)
            of_group = tl.where(half[:, None] == halves[None, :], e[:, None], 0.0)
            errors += of_group * of_group
            pulls += tl.dot(tl.trans(of_group), c, input_precision=PRECISION)
            c += e[:, None] * tl.load(gains + k[:, None] * q + columns[None, :], mask=inside[None, :], other=0.0)
            heard += tl.where((k[:, None] == groups[None, :]) & hears[:, None], 1.0, 0.0)
            if q > WHOLE:
                pulls_last += of_group * c_last[:, None]
                c_last += e * tl.load(gains + k * q + WHOLE)
        b += c * y_next[:, None]
        yy += y_next * y_next
        tl.store(C + at[:, None] + columns[None, :], c, mask=moves[:, None] & inside[None, :])
        if q > WHOLE:
            b_last += c_last * y_next
            tl.store(C + at + WHOLE, c_last, mask=moves)
        if seen is not None:
            tl.store(seen + i, tl.load(seen + i, mask=moves, other=0.0) + weight, mask=moves)
    out = partial + tl.program_id(0).to(tl.int64) * room
    tl.store(out + columns, tl.sum(b, 0), mask=inside)
    tl.store(out + q, tl.sum(yy, 0))
    if q > WHOLE:
        tl.store(out + WHOLE, tl.sum(b_last, 0))
    out += q + 1
    if K == 1:
        tl.store(out, tl.sum(errors, 0))
        tl.store(out + 1, tl.sum(chosen_errors, 0))
        tl.store(out + 2 + columns, tl.sum(pulls, 0), mask=inside)
        if q > WHOLE:
            tl.store(out + 2 + WHOLE, tl.sum(pulls_last, 0))
    else:
        tl.store(out + groups, tl.sum(heard, 0))
        tl.store(out + K + halves, tl.sum(errors, 0))
        out += 3 * K
        tl.store(out + halves[:, None] * q + columns[None, :], pulls, mask=inside[None, :])
        if q > WHOLE:
            tl.store(out + halves * q + WHOLE, tl.sum(pulls_last, 0))


@triton.jit(do_not_specialize=["programs", "n", "room"], do_not_specialize_on_alignment=["out"])
def total(  # type: ignore[no-untyped-def]
    partial, out, programs, n, room, COLUMNS: tl.constexpr, AT_ONCE: tl.constexpr
):
    """The sums of all programs."""
    columns, rows = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS), tl.arange(0, AT_ONCE)
    sums = tl.zeros([AT_ONCE, COLUMNS], tl.float64)
    for first in range(0, programs, AT_ONCE):
        here = ((first + rows) < programs)[:, None] & (columns < n)[None, :]
        part = tl.load(partial + (first + rows)[:, None] * room + columns[None, :], mask=here, other=0.0)
        sums += part.to(tl.float64)
    tl.store(out + columns, tl.sum(sums, 0), mask=columns < n)
