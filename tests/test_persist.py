"""The file of a model: what is written comes back, and what would not come back is refused."""

from __future__ import annotations

import copy
import pickle
import tracemalloc
from collections import Counter
from typing import NamedTuple

import joblib
import numpy as np
import pytest
from scipy import sparse

import factorstream
from contracts.asking import fingerprint
from factorstream import BayesianFactorization, DictionaryFilter, SequenceFilter, SGDFactorization, load
from factorstream.persist import FORMAT, ModelFileError
from factorstream.persist.content import to_parts
from factorstream.persist.tree import Decoder, Encoded, Encoder
from factorstream.tall.places import using
from model_files import leaves, with_tree
from split_place import SPLIT


@pytest.fixture
def gappy(rng):
    X = rng.standard_normal((60, 3)) @ rng.standard_normal((3, 8)) + rng.standard_normal(8)
    X[rng.random(X.shape) < 0.2] = np.nan
    return X


@pytest.fixture
def saved(gappy, tmp_path):
    """A file in the middle of a stream's warm-up, so that it holds kept rows as well."""
    path = tmp_path / "model"
    DictionaryFilter(2, random_state=0).partial_fit(gappy[:5]).save(path)
    return path


# ------------------------------------------------------------------ what comes back


def test_the_arrays_can_be_read_by_safetensors(saved):
    numpy_reader = pytest.importorskip("safetensors.numpy")
    arrays = numpy_reader.load_file(saved)
    C = load(saved).state_.filter.C
    assert any(value.shape == C.shape and (value == C).all() for value in arrays.values())


@pytest.mark.parametrize(
    "value",
    [
        np.arange(6.0).reshape(2, 3), np.asfortranarray(np.arange(6.0).reshape(2, 3)), np.zeros((0, 3)),
        np.float32([1.5]), np.arange(3, dtype=np.int8), np.array([True]), np.array(2.0), np.float32(1.5), np.True_,
        np.array(["a", "b"], dtype=object), np.array([["a"], ["b"]], dtype=object), np.array([], dtype=object),
        np.arange(24.0).reshape(2, 3, 4).transpose(1, 0, 2), np.dtype("float32"),
        np.nan, np.inf, -np.inf, -0.0, 5e-324, 2**80, "ü\n", None,
        (1, [2, {"a": (3.0,)}]),
    ],
    ids=repr,
)  # fmt: skip
def test_every_kind_of_value_comes_back(value, tmp_path):
    model = DictionaryFilter()
    model.init = value
    model.save(tmp_path / "model")
    back = load(tmp_path / "model").init
    assert type(back) is type(value)
    np.testing.assert_equal(back, value)
    if isinstance(value, np.ndarray):
        assert back.dtype == value.dtype
        assert back.strides == value.strides
        assert back.flags.writeable
    assert repr(back) == repr(value)


def test_a_random_state_goes_on_where_it_was(tmp_path, gappy):
    random_state = np.random.RandomState(3)
    random_state.standard_normal(3)  # leaves half a pair of normal numbers behind
    model = DictionaryFilter(2, random_state=random_state)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.fit(gappy).components_, model.fit(gappy).components_)


def test_what_cannot_be_saved_is_said_and_nothing_is_written(tmp_path):
    model = DictionaryFilter(init={1, 2})
    with pytest.raises(TypeError, match="init of type set cannot be saved"):
        model.save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "value",
    [
        np.ma.masked_array([1.0, 2.0], [True, False]), np.eye(2).view(np.matrix), np.arange(3.0).astype(">f8"),
        np.array(["a", "bc"]), np.array([1, "a"], dtype=object), np.datetime64("2020-01-01"), np.array([1j]),
        np.dtype("M8[ns]"), np.dtype(object), np.dtype(">f8"), np.longdouble(1), b"bytes", {1: 2}, Counter("a"),
        sparse.csc_array(np.eye(2)), np.random.default_rng(0), np.random.RandomState(np.random.PCG64(0)),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_what_would_not_come_back_the_same_is_refused_by_save_and_kept_by_copies(value, tmp_path):
    model = DictionaryFilter(init=value)
    with pytest.raises(TypeError, match=r"^init (of type .*)?cannot be saved[^\n]*\.$"):
        model.save(tmp_path / "model")
    assert not list(tmp_path.iterdir())
    for copied in (copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))):
        again = copied(model).init
        assert type(again) is type(value)
        assert without_address(again) == without_address(copied(value))


def without_address(value):
    return repr(value).partition(" at 0x")[0]


def test_an_array_with_gaps_between_its_rows_comes_back_without_them(tmp_path):
    value = np.arange(40.0).reshape(5, 8).T[::2, ::-1]
    DictionaryFilter(init=value).save(tmp_path / "model")
    back = load(tmp_path / "model").init
    np.testing.assert_array_equal(back, value)
    assert back.strides == value.copy(order="K").strides


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_sparse_rows_come_back(kind, index, tmp_path):
    value = kind(np.eye(3, 4))
    value.indices, value.indptr = value.indices.astype(index), value.indptr.astype(index)
    DictionaryFilter(init=value).save(tmp_path / "model")
    back = load(tmp_path / "model").init
    assert type(back) is kind
    assert back.indices.dtype == back.indptr.dtype == index
    np.testing.assert_array_equal(back.toarray(), value.toarray())


def test_a_model_that_joblib_mapped_into_memory_can_be_saved(tmp_path, gappy):
    model = DictionaryFilter(2, random_state=0).fit(gappy)
    joblib.dump(model, tmp_path / "joblib")
    mapped = joblib.load(tmp_path / "joblib", mmap_mode="r")
    assert any(isinstance(array, np.memmap) for array in leaves(mapped.state_))
    mapped.save(tmp_path / "model")
    assert fingerprint(load(tmp_path / "model")) == fingerprint(model)


def test_attributes_of_the_users_own_are_kept_by_copies_and_refused_by_save(tmp_path, gappy):
    class Thing:
        def __deepcopy__(self, memo):
            return self

    model = DictionaryFilter(2, random_state=0).fit(gappy)
    model.note = [Thing(), Thing()]
    assert copy.deepcopy(model).note == model.note
    model.note = Counter("abc")
    joblib.dump(model, tmp_path / "joblib")
    for again in (pickle.loads(pickle.dumps(model)), copy.copy(model), joblib.load(tmp_path / "joblib")):
        assert type(again.note) is Counter
        assert again.note == model.note
    for note in (Counter("abc"), 1, slow):
        model.note = note
        with pytest.raises(TypeError, match="The attribute note cannot be saved; delete it, or pickle the model"):
            model.save(tmp_path / "model")


def test_what_is_newer_than_a_file_has_its_default(tmp_path):
    """A state gains fields; a file from before has a model that goes on as one that has just begun them."""
    rows = np.random.default_rng(0).normal(size=(70, 2))
    model = SequenceFilter(1, period=4).partial_fit(rows[:60])
    model.save(path := tmp_path / "model.factorstream")

    def older(tree):
        assert tree["state"]["fields"].pop("anew") is None
        assert tree["state"]["fields"].pop("anew_at") == 32

    path.write_bytes(with_tree(path.read_bytes(), older))
    again = load(path)
    assert (again.state_.anew, again.state_.anew_at) == (None, 0)
    np.testing.assert_array_equal(again.forecast(3), model.forecast(3))
    assert np.isfinite(again.partial_fit(rows[60:]).forecast(3)).all()


def test_what_is_shared_is_saved_once_and_shared_again(tmp_path):
    X = np.random.default_rng(0).standard_normal((60, 300))
    model = BayesianFactorization(3, max_iter=2, random_state=0).fit(X)
    assert model.state_.settled is model.state_.current
    model.save(tmp_path / "model")
    arrays = {id(part): part.nbytes for part in leaves(model.state_.current)}
    assert (tmp_path / "model").stat().st_size < sum(arrays.values()) + 20_000
    for again in (load(tmp_path / "model"), pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        pairs = zip(leaves(again.state_.settled), leaves(again.state_.current), strict=True)
        assert all(np.shares_memory(one, other) for one, other in pairs if one.size)


def test_neither_saving_nor_loading_holds_the_model_twice(tmp_path):
    model = DictionaryFilter(init=np.ones((2, 2_000_000)))
    size = model.init.nbytes
    tracemalloc.start()
    try:
        model.save(tmp_path / "model")
        assert tracemalloc.get_traced_memory()[1] < 0.1 * size
        tracemalloc.reset_peak()
        assert load(tmp_path / "model").init.shape == (2, 2_000_000)
        assert tracemalloc.get_traced_memory()[1] < 1.1 * size
    finally:
        tracemalloc.stop()


def test_features_kept_elsewhere_are_named(tmp_path, gappy):
    with using(SPLIT):
        model = DictionaryFilter(2, random_state=0).fit(gappy)
    with pytest.raises(TypeError, match="Split cannot be saved: features must be in this process"):
        model.save(tmp_path / "model")
    assert fingerprint(pickle.loads(pickle.dumps(model))) == fingerprint(model)


def test_a_class_of_somebody_else_is_not_saved_under_our_name(tmp_path):
    class Mine(DictionaryFilter):
        pass

    with pytest.raises(TypeError, match="not a class of factorstream"):
        Mine().save(tmp_path / "model")
    Mine.__name__ = "DictionaryFilter"
    with pytest.raises(TypeError, match="not a class of factorstream"):
        Mine().save(tmp_path / "model")


# ------------------------------------------------------------------ functions among the parameters


def slow(k, xx):
    return 0.1 / k


def test_a_function_is_asked_for_and_taken(tmp_path, gappy):
    path = tmp_path / "model"
    model = SGDFactorization(2, step_size=slow, random_state=0).partial_fit(gappy[:30])
    model.save(path)
    with pytest.raises(ModelFileError, match=r"without its function step_size; pass it: load\(path, step_size=...\)"):
        load(path)
    with pytest.raises(ModelFileError, match="needs no function other"):
        load(path, step_size=slow, other=slow)
    with pytest.raises(ModelFileError, match="step_size must be a function"):
        load(path, step_size=0.1)
    again = load(path, step_size=slow)
    np.testing.assert_array_equal(again.partial_fit(gappy[30:]).components_, model.partial_fit(gappy[30:]).components_)
    assert again.get_params() == model.get_params()


def test_a_pickle_keeps_the_function(gappy):
    model = SGDFactorization(2, step_size=slow, random_state=0).partial_fit(gappy[:30])
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.partial_fit(gappy[30:]).components_, model.partial_fit(gappy[30:]).components_)


def slower(k, xx):
    return 0.01 / k


def test_a_function_changed_after_fit_is_kept_by_copies_and_refused_by_save(tmp_path, gappy):
    model = SGDFactorization(2, step_size=slow, random_state=0).fit(gappy).set_params(step_size=slower)
    for again in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert again.step_size is slower
        assert fingerprint(again) == fingerprint(model)
    with pytest.raises(TypeError, match="if a parameter was changed after fit, set it back or fit again"):
        model.save(tmp_path / "model")
    model.set_params(step_size=slow).save(tmp_path / "model")
    assert fingerprint(load(tmp_path / "model", step_size=slow)) == fingerprint(model)
    model.set_params(step_size=0.5).save(tmp_path / "model")
    assert fingerprint(load(tmp_path / "model", step_size=slow)) == fingerprint(model)


# ------------------------------------------------------------------ pickles


def test_an_old_pickle_says_what_to_do(gappy):
    """Before there was a format, a pickle held the attributes as they were."""
    model = DictionaryFilter(2, random_state=0).fit(gappy)
    old = dict(vars(model), _sklearn_version="1.6.0")
    fresh = DictionaryFilter.__new__(DictionaryFilter)
    with pytest.raises(ModelFileError, match="did not number its pickles; fit again"):
        fresh.__setstate__(old)


def test_a_newer_pickle_asks_for_an_upgrade(gappy):
    state = DictionaryFilter(2).__getstate__()
    state["tree"] = {**state["tree"], "format": FORMAT + 1, "version": "9.9"}
    with pytest.raises(ModelFileError, match="upgrade factorstream"):
        DictionaryFilter.__new__(DictionaryFilter).__setstate__(state)


def test_a_pickle_with_other_parameters_is_refused():
    state = DictionaryFilter(2).__getstate__()
    state["tree"]["parameters"]["items"]["forgotten"] = 1
    with pytest.raises(ModelFileError, match="has other parameters than DictionaryFilter has"):
        DictionaryFilter.__new__(DictionaryFilter).__setstate__(state)


def test_pickles_know_their_version(gappy):
    state = DictionaryFilter(2, random_state=0).fit(gappy).__getstate__()
    assert state["tree"]["version"] == factorstream.__version__
    assert len(to_parts(Encoded(**state))) > 1


# ------------------------------------------------------------------ the disk


def test_saving_over_a_model_leaves_one_or_the_other(saved, gappy, monkeypatch):
    before = saved.read_bytes()

    def fail(*_):
        raise OSError("no space left on device")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="no space"):
        DictionaryFilter(3, random_state=0).fit(gappy).save(saved)
    assert saved.read_bytes() == before
    assert [path.name for path in saved.parent.iterdir()] == ["model"]


class _Before(NamedTuple):
    """A record as an earlier version wrote it."""

    kept: int
    gone: float


class _Now(NamedTuple):
    """The same in this version."""

    kept: int
    added: str = "later"


def test_a_record_may_lack_what_came_later_and_have_what_nothing_needs_any_more():
    tree, records = Encoder((_Before,)).encode(_Before(1, 2.0)), {"_Before": _Now}
    assert Decoder([], {}, records, frozenset({"_Before.gone"})).decode(tree) == _Now(1)
    with pytest.raises(ValueError, match="record is not as it was written"):
        Decoder([], {}, records).decode(tree)
    fields = {f"SequenceState.{name}" for name in SequenceFilter._state_types[0]._fields}
    assert not fields & SequenceFilter._state_dropped
