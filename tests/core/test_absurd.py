"""Absurd values are found, whatever the division of the rows; real data are not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from factorstream.arrays import device_of, to_host
from factorstream.core.absurd import judge, nothing_seen, seen_in
from factorstream.core.absurd_limits import ENOUGH, FAR
from factorstream.core.absurd_rows import absurd_beside, absurd_entries, absurd_values
from factorstream.core.entries import NO_ENTRIES, without
from strict_place import DEVICE, STRICT


def naive(values):
    """The rule for one feature, value by value, as its description says it; the positions of what is absurd."""
    return judged_in_order([], values)[1]


def judged_in_order(seen, values):
    """Two lists: all values that are taken as data, beginning with ``seen``; and the positions of the absurd ones."""
    seen, strikes, last, absurd = list(seen), 0, None, []
    fills = (9.969209968386869e36, 1e20, 9999.0, 1e15)
    for at, value in enumerate(values):
        if np.isnan(value):
            continue
        size = max(map(abs, seen), default=0.0)
        length = max(seen) - min(seen) if seen else 0.0
        n = sum(other != 0.0 for other in seen)
        if n < 3:
            reach = FAR * FAR * size
        elif n < ENOUGH:
            reach = FAR * max(length, size)
        else:
            reach = FAR * (length if length > 1e-6 * size else size)
        known = abs(value) in fills
        if size == 0.0:
            is_absurd = known and abs(value) >= 1e18
        else:
            is_absurd = value > max(seen) + reach or value < min(seen) - reach
        if is_absurd:
            strikes, last = strikes + (99 if value == last else 999), value
            if strikes < 7992 or known:
                strikes = min(strikes, 7992)
                absurd.append(at)
                continue
            strikes = 0
        seen.append(value)
        strikes = max(strikes - 1, 0)
    return seen, absurd


def strange(seed):
    """Columns of many kinds, with absurd values here and there."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((120, 8)) * 10.0 ** rng.integers(-3, 4, 8) + rng.choice([0.0, 50.0, 1e4], 8)
    X[:, 0], X[:, 1], X[:60, 2] = 0.0, 5.0, 1.0
    X[rng.random(X.shape) < 0.2] = np.nan
    for value in (1e9, -1e12, 9.969209968386869e36, 1e20, -9999.0, 1e5):
        X[rng.integers(120), rng.integers(8)] = value
    X[70:100, 5] = rng.choice([2e15, 9.969209968386869e36])
    X[70:100, 6] = 1e13 + 1e10 * rng.standard_normal(30)
    X[rng.random(120) < 0.8, 7] = 0.0
    return X


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("container", [np.asarray, "sparse"])
def test_a_stream_is_judged_as_the_rule_says_however_it_is_divided(seed, container):
    X = strange(seed)
    expected = [(i, j) for j in range(8) for i in naive(X[:, j])]

    def contained(part):
        if container != "sparse":
            return part
        row, column = np.nonzero(~np.isnan(part))
        return sparse.csr_array((part[row, column], (row, column)), shape=part.shape)

    for cuts in ([], range(1, 120), [3, 40, 41, 90]):
        seen, found, n = nothing_seen(8), [], 0
        for part in np.split(X, list(cuts)):
            seen, entries = judge(seen, contained(part))
            found += list(zip((entries.row + n).tolist(), entries.column.tolist(), strict=True))
            n += len(part)
        assert sorted(found) == sorted(expected)
    assert expected


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("container", [np.asarray, "sparse"])
def test_a_question_is_judged_value_by_value(seed, dtype, container):
    """Each value as if it were the next one of a stream, and nothing stays behind."""
    before, asked = strange(seed)[:60], strange(seed + 100).astype(dtype)
    seen, _ = judge(nothing_seen(8), before)
    believed = [judged_in_order([], before[:, j])[0] for j in range(8)]
    expected = [
        (i, j) for i in range(120) for j in range(8) if judged_in_order(believed[j], [float(asked[i, j])])[1] == [0]
    ]
    rows = asked
    if container == "sparse":
        row, column = np.nonzero(~np.isnan(asked))
        rows = sparse.csr_array((asked[row, column], (row, column)), shape=asked.shape)
    found = absurd_beside(seen, rows)
    assert list(zip(found.row.tolist(), found.column.tolist(), strict=True)) == expected
    np.testing.assert_array_equal(found.value, asked[found.row, found.column])
    assert expected
    one = [absurd_beside(seen, row[None]) for row in asked]
    assert sum(len(entries.row) for entries in one) == len(expected)


@pytest.mark.parametrize("n", [2, 3, 4, 11, 12])
def test_signs_do_not_matter(rng, n):
    values = rng.normal(size=n) + 8.0
    values[-1] = 1e60
    assert absurd_values(values).tolist() == [n - 1]
    assert absurd_values(-values).tolist() == [n - 1]


def test_rows_that_come_together_are_judged_by_their_better_half(rng):
    X = rng.standard_normal((50, 5)) * [1.0, 1e-6, 1e6, 1.0, 1.0] + [0.0, 5.0, 0.0, 0.0, 0.0]
    X[:, 3], X[:, 4] = 7.0, 0.0
    assert len(absurd_entries(X).row) == 0
    bad = X.copy()
    for row, column, value in ((0, 0, 1e6), (1, 1, 9.96921e36), (2, 2, -1e13), (3, 3, 1e9), (4, 4, 1e20)):
        bad[row, column] = value
    bad[10:30, 0] = -9999e9  # less than half
    found = absurd_entries(bad)
    expected = {(k, k) for k in range(5)} | {(k, 0) for k in range(10, 30)}
    assert set(zip(found.row, found.column, strict=True)) == expected
    np.testing.assert_array_equal(np.isnan(without(bad, found)), np.isin(bad, found.value))


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, n: rng.standard_normal(n),
        lambda rng, n: rng.standard_cauchy(n),
        lambda rng, n: np.exp(3.0 * rng.standard_normal(n)),
        lambda rng, n: rng.poisson(0.05, n).astype(float),
        lambda rng, n: 1.0 + 2e-16 * rng.integers(-1, 2, n),
        lambda rng, n: 101325.0 + 0.01 * rng.standard_normal(n),
        lambda rng, n: np.cumsum(rng.standard_normal(n)),
        lambda rng, n: np.where(rng.random(n) < 0.02, rng.integers(0, 8192, n), rng.integers(0, 2, n)).astype(float),
    ],
)
def test_real_data_are_not_absurd(rng, draw):
    X = np.column_stack([draw(rng, 3000) for _ in range(20)])
    assert len(absurd_entries(X).row) == 0
    assert len(judge(nothing_seen(20), X)[1].row) == 0


def events(rng, n, share):
    """Counts, some of which are a million times the others."""
    count = np.where(rng.random(n) < share, rng.integers(10**5, 10**6, n), rng.poisson(0.3, n))
    return count.astype(float)


@pytest.mark.parametrize("share", [0.01, 0.05])
def test_rare_events_are_believed(rng, share):
    """All of them in a fit; in a stream from some on, after which nothing more is lost."""
    X = np.column_stack([events(rng, 4000, share) for _ in range(20)])
    assert len(absurd_entries(X).row) == 0
    seen, found = judge(nothing_seen(20), X)
    assert len(found.row) <= 20 * 12
    assert len(judge(seen, X)[1].row) == 0


def test_a_few_wild_values_are_not_events(rng):
    X = rng.standard_normal((4000, 3))
    at = rng.choice(4000, 3, replace=False)
    X[at] *= 1e7
    X[rng.choice(4000, 20, replace=False), 1] = -8.888e7  # a mark of somebody's own
    X[::7, 2] = 9999e7
    X[1::7, 2] = 1e20  # fill values among others
    bad = np.abs(X) > 1e5
    assert np.count_nonzero(bad[:, 1]) >= 20
    np.testing.assert_array_equal(np.isnan(without(X, absurd_entries(X))), bad)
    clean = np.where(bad, np.nan, X)
    _, found = judge(seen_in(clean), X)
    np.testing.assert_array_equal(np.isnan(without(X, found))[:, :2], bad[:, :2])


def test_zeros_do_not_say_how_large_values_are(rng):
    """Traces of rain, then a storm: 60 is more than 10⁴ times all that was seen before."""
    X = np.zeros((500, 1))
    X[[40, 100], 0] = 0.001, 0.002
    X[200, 0] = 60.0
    assert len(absurd_entries(X).row) == 0
    assert len(judge(nothing_seen(1), X)[1].row) == 0


def test_a_value_within_the_range_changes_nothing(rng):
    X = rng.standard_normal((100, 4))
    seen = seen_in(X)
    after, found = judge(seen, 0.5 * X)
    assert after is seen
    assert len(found.row) == 0


@pytest.mark.parametrize("share", [0.05, 0.6, 1.0])
@pytest.mark.parametrize("fill", [9.969209968386869e36, 1e20, -1e30])
def test_huge_fill_values_are_absurd_however_many_there_are(rng, share, fill):
    values = rng.standard_normal(100)
    gone = np.arange(100) < 100 * share
    values[gone] = fill
    X = np.column_stack([rng.standard_normal(100), values])
    found = absurd_entries(X)
    np.testing.assert_array_equal(found.row, np.flatnonzero(gone))
    assert (found.column == 1).all()
    assert len(absurd_entries(X[:1]).row) == 1


def fetched(seen):
    return tuple(np.asarray(to_host(part)).tolist() for part in seen)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("seed", range(3))
def test_rows_on_a_device_are_judged_as_rows_here(seed, dtype):
    with np.errstate(over="ignore"):
        X = strange(seed).astype(dtype)
    X[np.isinf(X)] = np.nan
    there = STRICT.put(X, 1)
    for found, expected in zip(absurd_entries(there), absurd_entries(X), strict=True):
        np.testing.assert_array_equal(found, expected)
    clean = without(X, absurd_entries(X))
    np.testing.assert_array_equal(to_host(without(there, absurd_entries(there))), clean)
    assert without(there, NO_ENTRIES) is there
    assert repr(fetched(seen_in(STRICT.put(clean[:40], 1)))) == repr(fetched(seen_in(clean[:40])))
    here, elsewhere = seen_in(clean[:5]), seen_in(STRICT.put(clean[:5], 1))
    for start, stop in ((5, 6), (6, 20), (20, 21), (21, 22), (22, 100), (100, 120)):
        for found, expected in zip(
            absurd_beside(elsewhere, there[start:stop, :]), absurd_beside(here, X[start:stop]), strict=True
        ):
            np.testing.assert_array_equal(found, expected)
        here, expected = judge(here, X[start:stop])
        elsewhere, found = judge(elsewhere, there[start:stop, :])
        assert repr(fetched(elsewhere)) == repr(fetched(here))
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)
    assert device_of(elsewhere.low) == DEVICE
    assert len(absurd_entries(X).row) > 3


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("wild", [None, 1e9])
def test_many_features_are_judged_as_few_at_a_time(rng, n, wild):
    """Enough of them that they are taken in pieces: the same is seen after them, and the same entries are absurd."""
    m, few = 150_000, 1_000
    before = rng.standard_normal((20, m))
    X = 2.0 * rng.standard_normal((n, m))
    X[rng.random(X.shape) < 0.2] = np.nan
    if wild is not None:
        X[0, 77_777] = wild
    seen = seen_in(before)
    after, entries = judge(seen, X)
    parts = [slice(first, first + few) for first in range(0, m, few)]
    apart = [judge(seen_in(before[:, some]), X[:, some]) for some in parts]
    for k in range(5):
        np.testing.assert_array_equal(after[k], np.concatenate([one[0][k] for one in apart]))
    assert after.quiet == all(one[0].quiet for one in apart)
    columns = [some.start + one[1].column for some, one in zip(parts, apart, strict=True)]
    assert entries.column.tolist() == np.concatenate(columns).tolist() == ([] if wild is None else [77_777])
    assert absurd_beside(seen, X).column.tolist() == entries.column.tolist()
    again, _ = judge(after, np.where(np.isnan(X), np.nan, 0.0))
    assert (again is after) == (wild is None)
