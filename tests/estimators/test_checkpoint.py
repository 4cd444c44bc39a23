"""Fits that were stopped go on and learn the same, bit for bit; checkpoints of other fits are refused."""

from __future__ import annotations

import numpy as np
import pytest

from factorstream import (
    BayesianFactorization,
    Checkpoint,
    DictionaryFilter,
    LowRankImputer,
    SGDFactorization,
    open_rows,
)
from factorstream.estimators import _checkpoint, _source_rows
from factorstream.estimators._checkpoint import CheckpointError

N, M, BLOCK = 600, 5, 60


def steps(k, norm):
    return 0.01


MODELS = {
    "filter": lambda: DictionaryFilter(2, n_passes=2, random_state=0),
    "random numbers": lambda: DictionaryFilter(2, n_passes=3, random_state=np.random.RandomState(3)),
    "function": lambda: SGDFactorization(2, step_size=steps, random_state=0),
    "sweeps": lambda: BayesianFactorization(2, random_state=0),
    "chosen": lambda: BayesianFactorization(calibrate=True, random_state=0),
    "robust": lambda: BayesianFactorization(2, robust=True, max_iter=4, random_state=0),
    "imputer": lambda: LowRankImputer(2, random_state=0),
}


class StoppedError(Exception):
    pass


class Stopping:
    """A source that breaks off after some blocks."""

    rewinds = True

    def __init__(self, source, n_blocks):
        self.source, self.left = source, n_blocks
        self.names, self.dtype = source.names, source.dtype
        self.n_rows, self.n_columns = source.n_rows, source.n_columns

    def blocks(self, start=0):
        for block in self.source.blocks(start):
            if not self.left:
                raise StoppedError
            self.left -= 1
            yield block


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 2)) @ rng.normal(size=(2, M)) + 3.0 + 0.1 * rng.normal(size=(N, M))
    X[rng.random(X.shape) < 0.2] = np.nan
    return X


@pytest.fixture
def few(monkeypatch):
    """A fit begins with few of the rows."""
    monkeypatch.setattr(_source_rows, "SOME_VALUES", 200 * M)


def source_of(X):
    return open_rows(X, block_bytes=8 * M * BLOCK)


def saved(model, folder):
    model.save(folder / "model")
    return (folder / "model").read_bytes()


def stop(model, X, n_blocks, checkpoint):
    with pytest.raises(StoppedError):
        model.fit(Stopping(source_of(X), n_blocks), checkpoint=checkpoint)


@pytest.mark.usefixtures("few")
@pytest.mark.filterwarnings("ignore:X has an absurd value")
@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("n_blocks", [1, 2, 8, 11, 17, 24])
def test_a_fit_goes_on_as_if_it_had_not_been_stopped(kind, n_blocks, X, tmp_path):
    X = X.copy()
    X[130, 2] = 1e20  # absurd
    checkpoint = Checkpoint(tmp_path / "fit.checkpoint", rows=2 * BLOCK)
    want = saved(MODELS[kind]().fit(source_of(X)), tmp_path)
    try:
        MODELS[kind]().fit(Stopping(source_of(X), n_blocks), checkpoint=checkpoint)
    except StoppedError:
        assert n_blocks < 4 or checkpoint.path.exists()
    model = MODELS[kind]()
    assert saved(model.fit(source_of(X), checkpoint=checkpoint), tmp_path) == want
    assert {path.name for path in tmp_path.iterdir()} == {"model", "fit.checkpoint"}


def test_rows_are_not_read_again(X, tmp_path):
    checkpoint = Checkpoint(tmp_path / "fit.checkpoint", rows=1)
    stop(DictionaryFilter(2), X, 8, checkpoint)  # one to know the rows by, and seven
    DictionaryFilter(2).fit(Stopping(source_of(X), 4), checkpoint=checkpoint)  # one, and the last three


def test_a_finished_fit_is_not_made_again(X, tmp_path):
    checkpoint = tmp_path / "fit.checkpoint"
    want = DictionaryFilter(2, random_state=0).fit(source_of(X), checkpoint=checkpoint)
    found = DictionaryFilter(2, random_state=0).fit(Stopping(source_of(X), 1), checkpoint=checkpoint)
    assert saved(found, tmp_path) == saved(want, tmp_path)
    assert found.n_features_in_ == M


def test_nothing_is_saved_before_it_is_time(X, tmp_path):
    stop(DictionaryFilter(2), X, 8, tmp_path / "slow")
    stop(DictionaryFilter(2), X, 8, Checkpoint(tmp_path / "quick", seconds=0.0))
    assert [path.name for path in tmp_path.iterdir()] == ["quick"]


def test_more_rows_than_a_finished_fit_had_are_refused(X, tmp_path):
    checkpoint = tmp_path / "fit.checkpoint"
    rows = open_rows(lambda: iter([X[:300]]), block_bytes=8 * M * BLOCK)
    more = open_rows(lambda: iter([X]), block_bytes=8 * M * BLOCK)  # they do not say how many they are
    DictionaryFilter(2, random_state=0).fit(rows, checkpoint=checkpoint)
    with pytest.raises(CheckpointError, match="more rows than there were"):
        DictionaryFilter(2, random_state=0).fit(more, checkpoint=checkpoint)


@pytest.mark.parametrize(
    ("model", "change", "words"),
    [
        (DictionaryFilter(3, random_state=0), lambda X: X, "other n_components"),
        (DictionaryFilter(2, random_state=1), lambda X: X, "other random_state"),
        (DictionaryFilter(2, init=np.ones((2, M)), random_state=0), lambda X: X, "other init"),
        (LowRankImputer(2, random_state=0), lambda X: X, "other class"),
        (DictionaryFilter(2, random_state=0), lambda X: X[:, 1:], "other number of columns"),
        (DictionaryFilter(2, random_state=0), lambda X: X[1:], "other number of rows"),
        (DictionaryFilter(2, random_state=0), lambda X: X[::-1], "other first rows"),
        (DictionaryFilter(2, random_state=0), lambda X: X.astype(np.float32), "other type of numbers"),
    ],
)
def test_checkpoints_of_other_fits_are_refused(model, change, words, X, tmp_path):
    checkpoint = Checkpoint(tmp_path / "fit.checkpoint", rows=1)
    stop(DictionaryFilter(2, random_state=0), X, 5, checkpoint)
    before = checkpoint.path.read_bytes()
    with pytest.raises(CheckpointError, match=f"{words}.*; remove it to begin anew, or give another path"):
        model.fit(source_of(change(X)), checkpoint=checkpoint)
    assert checkpoint.path.read_bytes() == before
    assert not hasattr(model, "state_")


def test_what_shapes_nothing_may_change(X, tmp_path, capsys):
    checkpoint = Checkpoint(tmp_path / "fit.checkpoint", rows=1)
    stop(DictionaryFilter(2, random_state=0), X, 5, checkpoint)
    DictionaryFilter(2, random_state=0, verbose=2).fit(source_of(X), checkpoint=checkpoint)
    assert "DictionaryFilter" in capsys.readouterr().out


@pytest.mark.parametrize("damage", ["cut", "bit"])
def test_damaged_checkpoints_are_refused(damage, X, tmp_path):
    path = tmp_path / "fit.checkpoint"
    stop(DictionaryFilter(2), X, 5, Checkpoint(path, rows=1))
    content = path.read_bytes()
    bad = content[:-1] + bytes([content[-1] ^ 1])
    path.write_bytes({"cut": content[:-50], "bit": bad}[damage])
    with pytest.raises(CheckpointError, match="a damaged checkpoint; remove it"):
        DictionaryFilter(2).fit(source_of(X), checkpoint=path)


@pytest.mark.parametrize("other", ["rows", "model", "text", "nothing"])
def test_nobody_is_told_to_remove_another_file(other, X, tmp_path):
    path = tmp_path / "other"
    if other == "rows":
        with path.open("wb") as file:
            np.save(file, X)
    elif other == "model":
        DictionaryFilter(2).fit(X).save(path)
    else:
        path.write_bytes(b"not a checkpoint" if other == "text" else b"")
    content = path.read_bytes()
    with pytest.raises(CheckpointError, match=r"is no checkpoint; give another path\.$"):
        DictionaryFilter(2).fit(source_of(X), checkpoint=path)
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    ("how", "words"),
    [
        (3, "must be a path or a Checkpoint; got 3"),
        (Checkpoint(None), "must be a path or a Checkpoint"),
        (Checkpoint("c", seconds="10"), "seconds of a Checkpoint must be a number from 0 on; got '10'"),
        (Checkpoint("c", seconds=-1), "seconds of a Checkpoint must be a number from 0 on; got -1"),
        (Checkpoint("c", rows=0), "rows of a Checkpoint must be a number from 1 on; got 0"),
        (".", "is a folder; give the name of a file"),
    ],
)
def test_what_is_no_checkpoint_at_all(how, words, X):
    with pytest.raises((TypeError, ValueError), match=words):
        DictionaryFilter(2).fit(source_of(X), checkpoint=how)


def test_blocks_of_another_size_are_no_other_rows(X, tmp_path):
    path = tmp_path / "fit.checkpoint"
    stop(DictionaryFilter(2), X, 5, Checkpoint(path, rows=1))
    with pytest.raises(CheckpointError, match="other rows of a block"):
        DictionaryFilter(2).fit(open_rows(X), checkpoint=path)


def test_a_save_that_fails_leaves_the_last_one(X, tmp_path, monkeypatch):
    checkpoint = Checkpoint(tmp_path / "fit.checkpoint", rows=1)
    stop(DictionaryFilter(2, random_state=0), X, 5, checkpoint)
    before = checkpoint.path.read_bytes()

    def broken(found):
        yield b"half"
        raise OSError("no space left")

    with monkeypatch.context() as patch:
        patch.setattr(_checkpoint, "to_parts", broken)
        with pytest.raises(OSError, match="no space left"):
            DictionaryFilter(2, random_state=0).fit(source_of(X), checkpoint=checkpoint)
    assert checkpoint.path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [checkpoint.path]
    found = DictionaryFilter(2, random_state=0).fit(source_of(X), checkpoint=checkpoint)
    assert saved(found, tmp_path) == saved(DictionaryFilter(2, random_state=0).fit(source_of(X)), tmp_path)


@pytest.mark.parametrize("model", [DictionaryFilter(2), BayesianFactorization(2), LowRankImputer(2)])
def test_what_cannot_be_gone_on_with_is_refused(model, X, tmp_path):
    with pytest.raises(ValueError, match="A checkpoint is for rows that are read from a file"):
        model.fit(X, checkpoint=tmp_path / "a")
    with pytest.raises(ValueError, match="can be read only once, and a checkpoint"):
        model.fit(iter([X]), checkpoint=tmp_path / "a")
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        model.fit(source_of(X), checkpoint=tmp_path / "nowhere" / "a")
    assert not list(tmp_path.iterdir())


def test_scikit_learn_does_not_route_checkpoints():
    assert not hasattr(DictionaryFilter, "set_fit_request")
