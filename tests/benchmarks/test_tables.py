"""The comparison on real tables, without the real tables."""

from __future__ import annotations

import json

import numpy as np
import pytest

from benchmarks import tables
from conftest import low_rank

pytestmark = pytest.mark.long  # fits of several imputers


@pytest.fixture
def two_tables(rng, monkeypatch):
    made = [(name, low_rank(rng, 80, 5, 2, noise=0.3)) for name in ("first", "second")]
    monkeypatch.setattr(tables, "tables", lambda which: iter(made))
    return made


def test_what_is_printed(two_tables, tmp_path, capsys):
    kept = tmp_path / "peers.json"
    tables.main(["--without", "trees", "--keep", str(kept), "--masks", "2"])
    told = capsys.readouterr().out
    assert "2 tables of the even half, 30% removed (random, 2 mask(s))" in told
    assert "| KNNImputer | " in told
    assert "ours: 95% intervals hold" in told
    assert "worst table beside the column mean" in told
    assert "nan" not in told
    found = json.loads(kept.read_text())
    assert len(found) == 2 * 3  # tables, peers
    kept.write_text(json.dumps({key: [1e9, 1e9, 1.0, None, None] for key in found}))
    tables.main(["--without", "trees", "factorisation alone", "--keep", str(kept), "--masks", "2"])
    assert "| KNNImputer | 0.000 | 100% |" in capsys.readouterr().out  # what is kept is believed


def test_the_standing_is_a_geometric_mean():
    mine = [tables.Result(1.0, 2.0, 1.0), tables.Result(1.0, 1.0, 1.0)]
    theirs = [tables.Result(4.0, 1.0, 2.0), tables.Result(1.0, 1.0, 8.0)]
    found = tables.standing(mine, theirs)
    np.testing.assert_allclose(found[:4], [0.5, 0.5, np.sqrt(2.0), 0.0])
    assert str(found).endswith("| 4")


@pytest.mark.parametrize("gaps", ["random", "block"])
def test_what_is_removed_was_known_and_leaves_enough(rng, gaps):
    X = np.where(rng.random((60, 6)) < 0.2, np.nan, 1.0)
    X[6:, 0] = np.nan
    gone = tables.removed(X, 0.3, gaps, seed=0)
    assert not (gone & np.isnan(X)).any()
    assert gone[:, 1:].sum() > 0.15 * np.isfinite(X[:, 1:]).sum()
    assert (np.isfinite(X) & ~gone).sum(axis=0).min() >= min(5, np.isfinite(X).sum(axis=0).min())
