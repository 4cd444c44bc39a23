"""Files that were not written by ``save`` as they are: refused in one sentence, whatever they hold."""

from __future__ import annotations

import copy
import json
import pickle
import struct
import sys

import numpy as np
import pytest

from contracts.asking import EVERY, fingerprint, new
from contracts.estimators import rows
from factorstream import DictionaryFilter, load
from factorstream.persist import FORMAT, ModelFileError
from factorstream.persist.content import DIGITS, START
from model_files import SENTENCE, closed, leaves, opened, refused, signed, with_header, with_tree


@pytest.fixture
def saved(tmp_path):
    """A file in the middle of a stream's warm-up, so that it holds kept rows as well."""
    path = tmp_path / "model"
    DictionaryFilter(2, random_state=0).partial_fit(rows(5)).save(path)
    return path


@pytest.mark.parametrize("older", [0, True, 1.0, "1", None])
def test_an_older_format_asks_for_another_fit(saved, older):
    advice = r"written by factorstream 0.0.9, .*; fit again, or load it with factorstream 0\.0\.9\.$"
    refused(saved, with_tree(saved.read_bytes(), lambda tree: tree.update(format=older, version="0.0.9")), advice)
    state = DictionaryFilter(2).__getstate__()
    state["tree"] = {**state["tree"], "format": older, "version": "0.0.9"}
    with pytest.raises(ModelFileError, match=advice):
        DictionaryFilter.__new__(DictionaryFilter).__setstate__(state)


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


def test_foreign_files_are_refused(tmp_path):
    np.save(tmp_path / "array.npy", rows())
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
    refused(saved, newer, f"written by factorstream 9.9, whose format {FORMAT + 1} this version does not know; upgrade")


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
