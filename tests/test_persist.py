"""The file of a model: what is written comes back, and what was not written so is refused."""

from __future__ import annotations

import hashlib
import json
import pickle
import struct

import numpy as np
import pytest

import factorstream
from factorstream import DictionaryFilter, SGDFactorization, load
from factorstream.persist import FORMAT, ModelFileError
from factorstream.persist.content import DIGITS, to_parts
from factorstream.persist.tree import Encoded

SENTENCE = r"^[^\n]*\.$"
"""One line that ends like a sentence."""


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


def refused(path, content, match=SENTENCE, **functions):
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=match):
        load(path, **functions)


def signed(content):
    """The same with a checksum that fits."""
    blank = bytearray(content)
    blank[DIGITS] = b"0" * 64
    blank[DIGITS] = hashlib.sha256(blank).hexdigest().encode()
    return bytes(blank)


def with_tree(content, change):
    """A file whose description was changed by someone who can compute checksums."""
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    tree = json.loads(header["__metadata__"]["factorstream"])
    changed = change(tree)
    tree = changed if isinstance(changed, list | str) else tree
    header["__metadata__"]["factorstream"] = json.dumps(tree)
    text = json.dumps(header, separators=(",", ":")).encode()
    return signed(struct.pack("<Q", len(text)) + text + content[8 + length :])


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
        np.array(["a", "b"], dtype=object), np.dtype("float32"), np.inf, -np.inf, -0.0, 5e-324, 2**80, "ü\n", None,
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
        assert back.flags.f_contiguous == value.flags.f_contiguous
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


def test_a_class_of_somebody_else_is_not_saved_under_our_name(tmp_path):
    class Mine(DictionaryFilter):
        pass

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


# ------------------------------------------------------------------ files that are refused


def test_no_bit_can_be_changed(saved, tmp_path):
    content = saved.read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(2000):
        changed = bytearray(content)
        changed[rng.integers(len(content))] ^= 1 << rng.integers(8)
        refused(tmp_path / "changed", bytes(changed))


def test_no_byte_can_be_missing_or_added(saved, tmp_path):
    content = saved.read_bytes()
    rng = np.random.default_rng(0)
    lengths = {0, 1, 7, 8, 9, DIGITS.start, DIGITS.stop, len(content) - 1, *rng.integers(len(content), size=1000)}
    for length in lengths:
        refused(tmp_path / "short", content[:length])
        refused(tmp_path / "inside", content[:length] + content[length + 1 :])
    refused(tmp_path / "long", content + b"\0")
    refused(tmp_path / "twice", content + content)


def test_foreign_files_are_refused(tmp_path, gappy):
    np.save(tmp_path / "array.npy", gappy)
    for content in (
        b"", b"{}", b"PK\x03\x04", pickle.dumps(DictionaryFilter()), (tmp_path / "array.npy").read_bytes(),
        struct.pack("<Q", 2) + b"{}", struct.pack("<Q", 2**63) + b"{}" * 50, bytes(5000),
    ):  # fmt: skip
        refused(tmp_path / "foreign", content)


def test_a_file_that_is_not_there_is_no_damaged_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nothing")


def test_a_newer_format_asks_for_an_upgrade(saved):
    newer = with_tree(saved.read_bytes(), lambda tree: tree.update(format=FORMAT + 1, version="9.9"))
    refused(saved, newer, "written by factorstream 9.9, whose format 2 this version does not know; upgrade")


@pytest.mark.parametrize(
    "change",
    [
        lambda tree: tree.update({"class": "Popen"}),
        lambda tree: tree.update({"class": "load"}),
        lambda tree: tree["state"].update({"type": "Popen"}),
        lambda tree: tree["state"].update({"type": "SGDGain"}),
        lambda tree: tree["state"]["fields"].pop("filter"),
        lambda tree: tree["state"]["fields"].update(more=1),
        lambda tree: tree["parameters"]["items"].pop("drift"),
        lambda tree: tree["parameters"]["items"].update(shell="rm"),
        lambda tree: tree["parameters"]["items"].update(init={"!": "import", "name": "os"}),
        lambda tree: tree["parameters"]["items"].update(init={"!": "array", "at": 99, "columns first": False}),
        lambda tree: tree["parameters"]["items"].update(init={"!": "array", "at": -1, "columns first": False}),
        lambda tree: tree["parameters"]["items"].update(init={"!": "dtype", "name": "O"}),
        lambda tree: {} if tree.pop("version") and tree.update(format=9) else None,
        lambda tree: [tree],
        lambda tree: "text",
    ],
)
def test_a_file_made_up_with_a_right_checksum_makes_nothing_that_was_not_saved(saved, change):
    refused(saved, with_tree(saved.read_bytes(), change))


def test_descriptions_changed_at_random_never_end_in_another_error(saved, tmp_path):
    """Whoever can compute a checksum can write other numbers; nothing else can come of it."""
    content = saved.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    rng = np.random.default_rng(0)
    path, loaded = tmp_path / "changed", 0
    for _ in range(2000):
        changed = bytearray(content)
        for _ in range(rng.integers(1, 4)):
            changed[rng.integers(DIGITS.stop, 8 + length)] = rng.integers(32, 127)
        path.write_bytes(signed(bytes(changed)))
        try:
            model = load(path)
        except ModelFileError:
            continue
        assert type(model) is DictionaryFilter
        loaded += 1
    assert loaded < 1900


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
