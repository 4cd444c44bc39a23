"""A fill that was stopped goes on, and the file is the same as if nothing had happened."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from factorstream import LowRankImputer, fill, open_rows
from factorstream.jobs import large

N, M, BLOCK = 200, 4, 16


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 2)) @ rng.normal(size=(2, M)) + 3.0 + 0.1 * rng.normal(size=(N, M))
    X[rng.random(X.shape) < 0.3] = np.nan
    X[:, 3] = np.nan  # nobody knows it
    return X


@pytest.fixture(scope="module")
def model(X):
    with pytest.warns(UserWarning, match="without any observed value"):
        return LowRankImputer(2, random_state=0).fit(X)


@pytest.fixture
def path(X, tmp_path):
    np.save(tmp_path / "rows.npy", X)
    return tmp_path / "rows.npy"


def source_of(path):
    return open_rows(path, block_bytes=8 * M * BLOCK)


def rows_of(path):
    return np.concatenate([block.values for block in open_rows(path).blocks()])


def stopped(monkeypatch, n_blocks, *arguments, **how):
    """Fill some blocks, and break off."""
    left, answered = [n_blocks], large._answered

    def breaking(model, values, level):
        if len(values) > 1:  # not the question what the model knows at all
            if not left[0]:
                raise KeyboardInterrupt
            left[0] -= 1
        return answered(model, values, level)

    with monkeypatch.context() as patch:
        patch.setattr(large, "_answered", breaking)
        with pytest.raises(KeyboardInterrupt):
            fill(*arguments, resume=True, **how)


@pytest.mark.parametrize("ending", [".npy", ".csv", ".npy.gz", ".npz"])
@pytest.mark.parametrize("level", [None, 0.9])
def test_a_fill_goes_on(ending, level, model, path, monkeypatch):
    want, out = path.with_name(f"want{ending}"), path.with_name(f"out{ending}")
    told = fill(model, source_of(path), want, level)
    stopped(monkeypatch, 5, model, source_of(path), out, level=level)
    assert not out.exists()
    found = fill(model, source_of(path), out, level, resume=True)
    assert found == told._replace(path=out)
    assert found.n_left == N
    if ending == ".csv":
        assert out.read_bytes() == want.read_bytes()
    np.testing.assert_array_equal(rows_of(out), rows_of(want))
    assert {one.name for one in path.parent.iterdir()} == {"rows.npy", want.name, out.name}


def test_only_what_is_left_is_asked_for(model, path, monkeypatch):
    out = path.with_name("out.npy")
    stopped(monkeypatch, 5, model, source_of(path), out)
    stopped(monkeypatch, 7, model, source_of(path), out)  # thirteen blocks in all
    fill(model, source_of(path), out, resume=True)
    assert not np.isnan(np.load(out)[:, :3]).any()


def test_a_row_that_was_half_written_is_written_again(model, path, monkeypatch):
    out, want = path.with_name("out.npy"), path.with_name("want.npy")
    stopped(monkeypatch, 5, model, source_of(path), out)
    draft = path.with_name(".out.npy.draft")
    draft.write_bytes(draft.read_bytes()[: -8 * M - 3])
    fill(model, source_of(path), out, resume=True)
    fill(model, source_of(path), want)
    assert out.read_bytes() == want.read_bytes()


@pytest.mark.parametrize("other", ["model", "level", "rows"])
def test_drafts_of_other_fills_are_not_used(other, X, model, path, monkeypatch):
    out, want = path.with_name("out.npy"), path.with_name("want.npy")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the column that nobody knows
        before = LowRankImputer(1, random_state=0).fit(X) if other == "model" else model
    stopped(monkeypatch, 5, before, source_of(path), out, level=0.8 if other == "level" else 0.9)
    if other == "rows":
        np.save(path, X[::-1])
    fill(model, source_of(path), out, 0.9, resume=True)
    fill(model, source_of(path), want, 0.9)
    assert out.read_bytes() == want.read_bytes()


def test_rows_that_can_be_read_once_are_refused(model, X, tmp_path):
    with pytest.raises(ValueError, match="can be read only once, and resume reads them again"):
        fill(model, iter([X]), tmp_path / "out.npy", resume=True)
