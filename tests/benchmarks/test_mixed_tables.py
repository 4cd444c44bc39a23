"""The comparison on real tables with categories, without the real tables."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import mixed_tables

pandas = pytest.importorskip("pandas")


def made(seed, n=90):
    """A table whose categories follow from its numbers."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(n)
    frame = pandas.DataFrame({"x": x, "y": x + 0.2 * rng.standard_normal(n), "z": rng.standard_normal(n)})
    frame["sign"] = pandas.Categorical(np.where(x > 0, "plus", "minus"))
    frame["third"] = pandas.cut(frame["y"], 3, labels=["low", "middle", "high"])
    return f"made {seed}", frame, ["sign", "third"]


@pytest.mark.long
def test_what_is_printed(monkeypatch, capsys):
    monkeypatch.setattr(mixed_tables, "tables", lambda which: iter([made(0), made(1)]))
    mixed_tables.main([])
    told = capsys.readouterr().out
    assert "2 tables of the even half, 30% of all entries removed" in told
    rows = {line.split("|")[1].strip(): line.split("|") for line in told.splitlines() if line.startswith("| ")}
    assert float(rows["ours"][2]) > float(rows["most frequent"][2])
    assert float(rows["trees"][2]) > float(rows["most frequent"][2])
    assert float(rows["ours"][3]) < 1.0
    assert "nan" not in told


def test_removed_entries_are_counted_and_others_are_not():
    _, frame, categories = made(2)
    gone = mixed_tables.removed(frame, 0.3)
    rows = mixed_tables.gappy(frame, gone)
    assert (rows.isna().to_numpy() == gone).all()
    result = mixed_tables.judge(frame, categories, gone, "most frequent")
    assert len(result.right) == gone[:, 3:].sum()
    expected = np.concatenate([(frame[one] == rows[one].mode()[0])[gone[:, 3 + k]] for k, one in enumerate(categories)])
    assert result.right.mean() == expected.mean()
    assert result.rmse == pytest.approx(1.0, abs=0.15)


def test_the_error_of_calibration(rng):
    sure = rng.uniform(0.3, 1.0, 20_000)
    right = rng.random(20_000) < sure
    assert mixed_tables.expected_error(sure, right) < 0.015
    assert mixed_tables.expected_error(np.minimum(sure + 0.2, 1.2), right) == pytest.approx(0.2, abs=0.01)
