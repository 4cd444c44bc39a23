"""The file of a model: what is written comes back, and what was not written so is refused."""

from __future__ import annotations

import copy
import hashlib
import json
import pickle
import struct
import sys
import tracemalloc
from collections import Counter

import joblib
import numpy as np
import pytest
from scipy import sparse

import factorstream
from contracts.asking import EVERY, fingerprint, new
from contracts.estimators import rows
from factorstream import BayesianFactorization, DictionaryFilter, SGDFactorization, load
from factorstream.persist import FORMAT, ModelFileError
from factorstream.persist.content import DIGITS, START, to_parts
from factorstream.persist.tree import Encoded
from factorstream.tall.places import using
from split_place import SPLIT

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


def opened(content):
    """Header, description and arrays of a file."""
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    return header, json.loads(header["__metadata__"]["factorstream"]), content[8 + length :]


def closed(header, tree, arrays):
    """A file with a right checksum, whatever is in it."""
    header["__metadata__"] = {"sha256": "0" * 64, "factorstream": tree if isinstance(tree, str) else json.dumps(tree)}
    first = header.pop("__metadata__")
    text = json.dumps({"__metadata__": first, **header}, separators=(",", ":")).encode()
    return signed(struct.pack("<Q", len(text)) + text + arrays)


def with_tree(content, change):
    """A file whose description was changed by someone who can compute checksums."""
    header, tree, arrays = opened(content)
    changed = change(tree)
    return closed(header, changed if isinstance(changed, list | str) else tree, arrays)


def with_header(content, change):
    """The same for the header."""
    header, tree, arrays = opened(content)
    change(header)
    return closed(header, tree, arrays)


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


def leaves(value):
    """Every array in a state."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, tuple | list):
        for part in value:
            yield from leaves(part)


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
    with pytest.raises(TypeError, match=r"features of this model are not in this process .* Split"):
        model.save(tmp_path / "model")
    assert fingerprint(pickle.loads(pickle.dumps(model))) == fingerprint(model)


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(
        FileNotFoundError, match=rf"^There is no folder {tmp_path / 'no'} to write m to; make it first.$"
    ):
        DictionaryFilter().save(tmp_path / "no" / "m")


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


@pytest.mark.parametrize(
    ("key", "numbers"),
    [
        *[("key", [position, 0, 0.0]) for position in (2**28, -1, 625, 2**70, 1.0, True, None)],
        ("key", [1, 2, 0.0]), ("key", [1, "1", 0.0]), ("key", [1, 0, None]), ("key", [1, 0]), ("key", 1),
        ("other", [1, 0, 0.0]), (True, [1, 0, 0.0]), (9, [1, 0, 0.0]),
    ],
)  # fmt: skip
def test_a_made_up_random_state_is_refused(key, numbers, tmp_path):
    path = tmp_path / "model"
    DictionaryFilter(random_state=np.random.RandomState(0), init=np.zeros(624)).save(path)
    content = path.read_bytes()
    header, tree, _ = opened(content)
    right = tree["parameters"]["items"]["random_state"]["key"]["at"]
    assert header[str(right)]["dtype"] == "U32"

    def change(tree):
        node = tree["parameters"]["items"]["random_state"]
        node["key"]["at"] = {"key": right, "other": 1 - right}.get(key, key)
        node["numbers"] = numbers

    refused(path, with_tree(content, change))


@pytest.mark.parametrize(
    ("shape", "indices", "indptr"),
    [
        ([2, 3], [0, 3], [0, 1, 2]), ([2, 3], [0, -1], [0, 1, 2]), ([2, 3], [0, 1], [0, 1, 3]),
        ([2, 3], [0, 1], [0, 2, 1]), ([2, 3], [0, 1], [1, 1, 2]), ([3, 3], [0, 1], [0, 1, 2]),
        ([-2, 3], [0, 1], [0, 1, 2]), ([2, 3.0], [0, 1], [0, 1, 2]), ([2], [0, 1], [0, 1, 2]),
        ([2, 2**70], [0, 1], [0, 1, 2]), ([2, 3], [0.0, 1.0], [0, 1, 2]),
    ],
)  # fmt: skip
def test_made_up_sparse_rows_are_refused(shape, indices, indptr, tmp_path):
    parts = (np.ones(2), np.array(indices), np.array(indptr))
    DictionaryFilter(init=parts).save(tmp_path / "model")

    def change(tree):
        init = tree["parameters"]["items"]["init"]
        tree["parameters"]["items"]["init"] = {"!": "csr", "shape": shape, "matrix": False, "parts": init["items"]}

    refused(tmp_path / "model", with_tree((tmp_path / "model").read_bytes(), change))


@pytest.mark.parametrize(
    "change",
    [
        lambda header: header["1"].update(header["0"]),
        lambda header: header["0"].update(data_offsets=[0, 10**9]),
        lambda header: header["0"].update(shape=[-1, *header["0"]["shape"][1:]]),
        lambda header: header["0"].update(shape=[10**30]),
        lambda header: header["0"].update(dtype="F16"),
        lambda header: header["0"].update(dtype="O"),
        lambda header: header["0"].update(shape=[float(length) for length in header["0"]["shape"]]),
        lambda header: header.update(x=header.pop("0")),
        lambda header: header.update({str(len(header) - 1): {"dtype": "F64", "shape": [0], "data_offsets": [8, 8]}}),
        lambda header: header.popitem(),
    ],
)
def test_a_made_up_header_is_refused(saved, change):
    refused(saved, with_header(saved.read_bytes(), change))


def test_a_key_that_occurs_twice_is_refused(saved):
    header, tree, arrays = opened(saved.read_bytes())
    text = json.dumps(tree)
    refused(saved, closed(header, text.replace("{", '{"format": 1, ', 1), arrays))
    content = closed(header, tree, arrays)
    (length,) = struct.unpack("<Q", content[:8])
    text = content[8 : 8 + length].replace(b'"0":', b'"1":', 1)
    refused(saved, signed(struct.pack("<Q", len(text)) + text + arrays))


def test_a_file_sets_no_other_attributes(saved):
    for name in ("fit", "state_", "n_components", "__class__"):
        refused(
            saved, with_tree(saved.read_bytes(), lambda tree, name=name: tree["attributes"]["items"].update({name: 1}))
        )


def test_a_foreign_file_is_not_read_to_its_end(tmp_path):
    with (tmp_path / "large").open("wb") as file:
        file.truncate(10**12)  # takes no space on the disk
    with pytest.raises(ModelFileError, match="not written by factorstream"):
        load(tmp_path / "large")
    with (tmp_path / "large").open("r+b") as file:
        file.write(struct.pack("<Q", 100) + START + b"0" * 64)
    with pytest.raises(ModelFileError, match=SENTENCE):
        load(tmp_path / "large")


def test_a_missing_value_of_pandas_asks_for_pandas(tmp_path, monkeypatch):
    pandas = pytest.importorskip("pandas")
    DictionaryFilter(init=pandas.NA).save(tmp_path / "model")
    assert load(tmp_path / "model").init is pandas.NA
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ModelFileError, match="install pandas to load it"):
        load(tmp_path / "model")


STRANGE = [
    None, True, False, 0, 1, -1, 2**31, 2**63, 2**70, 0.5, 1e308, "", "x", "array", "F64", "BOOL", "\n", [], {}, [[]],
    {"!": "array", "at": 0}, {"!": "array", "at": 1, "axes": [1, 0]}, {"!": "tuple", "items": [1]}, {"!": []},
    {"!": "scalar", "at": 0}, {"!": "names", "items": ["a"], "shape": [-1]}, {"!": "object", "name": "x"},
    {"!": "dict", "items": {}}, {"!": "float", "value": "nan"}, {"!": "dtype", "name": "int8"}, {"!": "pandas.NA"},
]  # fmt: skip


def mutate(tree, rng):
    """Change, remove, double or exchange one thing, somewhere in a tree of lists and dictionaries."""
    places = [(holder, key) for holder in holders(tree) for key in keys(holder)]
    if not places:
        return
    (holder, key), (other, source) = (places[at] for at in rng.integers(len(places), size=2))
    kind = rng.integers(5)
    if kind == 0:
        del holder[key]
    elif kind == 1 and isinstance(holder, list):
        holder.insert(key, copy.deepcopy(holder[key]))
    elif kind == 1:
        holder[f"{key}x"] = holder.pop(key)
    elif kind == 2:
        holder[key] = copy.deepcopy(other[source])
    elif kind == 3 and type(holder[key]) is int:
        holder[key] += int(rng.integers(-2, 3))
    else:
        holder[key] = copy.deepcopy(STRANGE[rng.integers(len(STRANGE))])


def keys(holder):
    return list(holder) if isinstance(holder, dict) else range(len(holder))


def holders(tree):
    """Every list and dictionary in a tree."""
    if isinstance(tree, dict | list):
        yield tree
        for key in keys(tree):
            yield from holders(tree[key])


@pytest.mark.filterwarnings("ignore")  # what SciPy says about numbers that nobody wrote
@pytest.mark.parametrize("case", EVERY)
def test_files_changed_at_random_end_in_one_error_or_in_the_same_class(case, tmp_path):
    """Whoever can compute a checksum can write other numbers; nothing else can come of it."""
    path, rng, X = tmp_path / "model", np.random.default_rng(0), rows(30)
    models = [new(case).fit(X)]
    if hasattr(case.estimator, "partial_fit"):
        models.append(new(case).partial_fit(X[:7]))
    for model in models:
        model.save(path)
        content = path.read_bytes()
        path.write_bytes(closed(*opened(content)))
        assert fingerprint(load(path)) == fingerprint(model)
        for number in range(200):
            header, tree, arrays = opened(content)
            entries = {key: value for key, value in header.items() if key != "__metadata__"}
            whole = [entries, tree]
            for _ in range(rng.integers(1, 4)):
                mutate(whole[number % 2], rng)
            path.write_bytes(closed(*whole, arrays))
            try:
                loaded = load(path)
            except ModelFileError:
                continue
            assert type(loaded) is type(model)
            assert set(vars(loaded)) <= set(vars(model))
            if number % 2 == 0:  # a header that is not refused describes the same arrays
                pairs = zip(leaves(loaded.state_), leaves(model.state_), strict=True)
                assert all(one.nbytes == other.nbytes for one, other in pairs)


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


@pytest.mark.parametrize("older", [0, True, 1.0, "1", None])
def test_an_older_format_asks_for_another_fit(saved, older):
    advice = r"written by factorstream 0.0.9, .*; fit again, or load it with factorstream 0\.0\.9\.$"
    refused(saved, with_tree(saved.read_bytes(), lambda tree: tree.update(format=older, version="0.0.9")), advice)
    state = DictionaryFilter(2).__getstate__()
    state["tree"] = {**state["tree"], "format": older, "version": "0.0.9"}
    with pytest.raises(ModelFileError, match=advice):
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
