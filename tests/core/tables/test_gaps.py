"""Gaps that come together, beside counting in all orders of the rows, and gaps lent to other rows."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from factorstream.core.tables import gaps
from factorstream.core.tables.gaps import as_where_missing, come_together
from reference_tables import as_likely_by_chance, fewest_lost


def test_the_law_of_chance_is_that_of_all_orders(monkeypatch):
    """Just above and just below the probability that is counted, the answer changes."""
    seen = np.ones((6, 4), dtype=bool)
    seen[[0, 1], 0] = seen[[0, 1, 2], 1] = seen[[2], 2] = False
    counted = as_likely_by_chance(seen)
    monkeypatch.setattr(gaps, "BY_CHANCE", counted * (1 + 1e-9))
    assert come_together(seen)
    monkeypatch.setattr(gaps, "BY_CHANCE", counted * (1 - 1e-9))
    assert not come_together(seen)


@pytest.mark.parametrize(("n", "m", "share"), [(60, 4, 0.02), (100, 20, 0.01), (60, 20, 0.05), (200, 10, 0.4)])
def test_gaps_at_random_are_rarely_taken_for_more(n, m, share):
    """Few gaps, of which two in one row are a strong correlation, and many."""
    rng = np.random.default_rng(0)
    assert sum(come_together(rng.random((n, m)) > share) for _ in range(300)) <= 3


def test_gaps_in_blocks_and_gaps_that_avoid_each_other_are_seen():
    rng = np.random.default_rng(1)
    seen = np.ones((60, 6), dtype=bool)
    seen[np.ix_(rng.permutation(60)[:6], [1, 2, 4])] = False
    assert come_together(seen)
    one_each = np.ones((100, 4), dtype=bool)
    one_each[np.arange(100), rng.integers(0, 4, 100)] = False
    assert come_together(one_each)
    assert not come_together(np.ones((60, 6), dtype=bool))
    alone = np.ones((60, 3), dtype=bool)
    alone[:20, 1] = False
    alone[:, 2] = False  # a column without any entry says nothing
    assert not come_together(alone)


def test_rows_get_the_gaps_of_a_row_that_misses_the_column():
    rng = np.random.default_rng(2)
    seen = rng.random((130, 5)) > 0.3
    out = as_where_missing(seen, 3, np.random.default_rng(0))
    donors = {tuple(row) for row in ~seen[~seen[:, 3]]}
    for own, given in zip(~seen, out, strict=True):
        if own[3]:
            assert_array_equal(given, own)
            continue
        assert given[3]
        assert any(np.array_equal(given, own | np.array(donor)) for donor in donors)
    assert_array_equal(as_where_missing(seen, 3, np.random.default_rng(0)), out)


def test_a_column_without_gaps_has_no_donors():
    seen = np.random.default_rng(3).random((20, 3)) > 0.5
    seen[:, 1] = True
    assert_array_equal(as_where_missing(seen, 1, np.random.default_rng(0)), ~seen)


def test_donors_are_divided_so_that_fewest_entries_are_lost(monkeypatch):
    """Beside every division of the donors that were drawn among the rows."""
    monkeypatch.setattr(gaps, "MATCHED", 5)
    for seed in range(20):
        seen = np.random.default_rng(seed).random((8, 6)) > 0.4
        seen[:5, 0], seen[5:, 0] = True, False
        out = as_where_missing(seen, 0, np.random.default_rng(seed))
        rng = np.random.default_rng(seed)  # the same rows and donors once more
        rows = rng.permutation(5)
        drawn = np.array([5, 6, 7])[rng.integers(3, size=5)]
        assert out[:5].sum() == fewest_lost(seen, rows, drawn)


def test_donors_are_drawn_alike():
    """Rows with a column missing that differ in their other gaps lend them about equally often."""
    seen = np.ones((2100, 4), dtype=bool)
    seen[:100, 0] = False
    seen[:50, 1] = seen[50:100, 2] = False
    out = as_where_missing(seen, 0, np.random.default_rng(0))[100:]
    assert out[:, 1].mean() == pytest.approx(0.5, abs=0.05)
    assert_array_equal(out[:, 1], ~out[:, 2])
