"""Filling a file as a function: what it returns, and that it writes and prints nothing."""

from __future__ import annotations

import io

import numpy as np
import pytest

from factorstream.completion import Settings, complete_file
from factorstream.jobs import filling
from factorstream.jobs.completed import Absurd
from factorstream.sources.tables import TableError


@pytest.fixture
def path(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 2)) @ rng.normal(size=(2, 4)) + 0.1 * rng.normal(size=(150, 4))
    X[rng.random(X.shape) < 0.2] = np.nan
    np.save(tmp_path / "x.npy", X)
    return tmp_path / "x.npy"


def test_facts_are_returned_and_nothing_is_written_or_printed(path, capsys):
    before = path.read_bytes()
    found = complete_file(path, Settings(level=0.9))
    assert found.n_gaps == np.isnan(np.load(path)).sum()
    assert (found.n_columns, found.calibrated, found.remarks, found.other_gaps) == (4, True, [], [])
    assert found.n_components >= 1
    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir()] == ["x.npy"]
    assert capsys.readouterr() == ("", "")


def test_blocks_do_not_matter(path, monkeypatch):
    whole = complete_file(path, Settings(level=0.9))
    monkeypatch.setattr(filling, "CELLS_AT_ONCE", 4 * 7)
    parts = complete_file(path, Settings(level=0.9))
    one, other = (np.frombuffer(found.content[-150 * 12 * 8 :]) for found in (whole, parts))
    np.testing.assert_allclose(one, other, rtol=1e-10)


def test_an_absurd_value_is_named_and_stays_in_the_file(path, monkeypatch):
    X = np.load(path)
    X[140, 2] = np.nan
    np.save(path, X)
    expected = np.load(io.BytesIO(complete_file(path, Settings()).content))
    monkeypatch.setattr(filling, "CELLS_AT_ONCE", 4 * 7)
    X[140, 2] = 1e12
    np.save(path, X)
    completion_ = complete_file(path, Settings())  # without a warning
    assert completion_.absurd == [Absurd("column 3", 1e12, 1, "row 141")]
    found = np.load(io.BytesIO(completion_.content))
    assert found[140, 2] == 1e12
    expected[140, 2] = 1e12
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_progress_never_goes_back(path):
    told = []
    complete_file(path, Settings(level=0.9), lambda what, share: told.append((what, share)))
    assert [what for what, _ in told] == ["reading", "fitting", "filling"]
    assert [share for _, share in told] == sorted(share for _, share in told)


def test_a_small_table_has_the_models_own_bounds(tmp_path):
    (tmp_path / "x.csv").write_text("a,b\n1,2\n2,\n3.5,6.5\n4,8\n,9\n")
    told = []
    found = complete_file(tmp_path / "x.csv", Settings(level=0.95), lambda what, share: told.append(share))
    assert not found.calibrated
    assert b"a_lower" in found.content
    assert told == sorted(told)


def test_without_gaps_the_file_is_returned_as_it_is(tmp_path):
    (tmp_path / "x.csv").write_text('id,"x",word\n1,"2",\n2, 3,a\n')
    found = complete_file(tmp_path / "x.csv", Settings(level=0.95))
    assert found.content == (tmp_path / "x.csv").read_bytes()
    assert (found.n_gaps, found.carried) == (0, {"word": "one value only"})


def test_more_components_than_memory_is_one_sentence(path):
    with pytest.raises(TableError, match=r"x\.npy cannot be used: .*\.$"):
        complete_file(path, Settings(components=10**9))


def test_the_parts_can_be_asked_for_again_and_are_the_content(tmp_path):
    (tmp_path / "x.csv").write_text("a,b\n" + "".join(f"{k},{2 * k}.5\n" for k in range(40)) + "3,\n")
    found = complete_file(tmp_path / "x.csv", Settings())
    assert b"".join(found.parts()) == b"".join(found.parts()) == found.content
    assert found.content.startswith((tmp_path / "x.csv").read_bytes().rstrip(b"\n"))
