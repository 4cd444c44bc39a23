"""The file of a fitted estimator: its parameters and its state, without pickle.

Layout, that of the `safetensors` format, so that other tools can open the arrays:

    8 bytes   length of the header, little-endian
    header    JSON: {"__metadata__": {"sha256": ..., "factorstream": ...}, "0": {"dtype", "shape", "data_offsets"}, ...}
    arrays    their bytes, one after another

``sha256`` is that of the whole file with its own 64 digits replaced by zeros. ``factorstream`` is a JSON text: the
number of the format, the version that wrote it, the class, its parameters, what scikit-learn knows of the features,
and the state. Arrays appear in it as references to the entries of the header, everything else as it is; what JSON
has no word for is an object with the key "!", whose value says what it is (see :func:`encode`).

Loading runs no code of the file: the class must be one of this package, records of the state are made only of the
types that the class names, and a file that was changed in a single bit is refused.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import struct
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from .core.filter.coefficients import COEFFICIENT_STEPS
from .files import write_atomic

FORMAT = 1
"""Raised whenever a file of the version before can no longer be read."""

START = b'{"__metadata__":{"sha256":"'
DIGITS = slice(8 + len(START), 8 + len(START) + 64)
"""Where every file has its checksum."""

KINDS = {
    "float64": "F64", "float32": "F32", "float16": "F16", "bool": "BOOL",
    "int64": "I64", "int32": "I32", "int16": "I16", "int8": "I8",
    "uint64": "U64", "uint32": "U32", "uint16": "U16", "uint8": "U8",
}  # fmt: skip
"""Types of arrays, by NumPy's names and by those of the header."""


class ModelFileError(ValueError):
    """A file that cannot be loaded, and why."""


class Encoded(NamedTuple):
    """Something as JSON can hold it, with the arrays and functions that JSON cannot hold."""

    tree: Any
    arrays: list[np.ndarray[Any, Any]]
    functions: dict[str, Callable[..., Any]]
    """Functions among the parameters, by the name of the parameter; they are not written to a file."""


# ------------------------------------------------------------------ the estimators' side


class Saved:
    """Base of every estimator: ``save``, and pickles that go through the same state as files do."""

    _state_types: ClassVar[tuple[type, ...]] = ()
    """Every NamedTuple that may occur in ``state_``."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the estimator, fitted or in the middle of a stream, to a file that :func:`factorstream.load` reads.

        The file is written beside its place and then moved there, so that ``path`` is never half a file. A function
        among the parameters is left out: ``load(path, name=function)`` takes it again.
        """
        if type(self).__name__ not in _public_names():
            raise TypeError(f"{type(self).__name__} is not a class of factorstream; pickle it, or save its base class.")
        write_atomic(Path(path), _to_bytes(_described(self)))

    def __getstate__(self) -> dict[str, Any]:
        return _described(self)._asdict()

    def __setstate__(self, pickled: Mapping[str, Any]) -> None:
        name = type(self).__name__
        if not isinstance(pickled, Mapping) or set(pickled) != set(Encoded._fields):
            raise ModelFileError(
                f"This pickle of {name} comes from a version of factorstream that did not number its pickles; "
                "fit again, and keep models with save and load."
            )
        found = Encoded(**pickled)
        _check_format(found.tree, f"this pickle of {name}")
        vars(self).update(_attributes(found.tree, found, self._state_types))


def load(path: str | os.PathLike[str], **functions: Callable[..., Any]) -> Any:
    """The estimator that was saved in a file; it answers and goes on as the one that was saved, bit for bit.

    A function that was among its parameters is given again by its name, as in ``load(path, step_size=f)``.

    Examples
    --------
    >>> import tempfile, pathlib, numpy as np
    >>> from factorstream import DictionaryFilter, load
    >>> X = np.random.default_rng(0).normal(size=(50, 8))
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.factorstream"
    >>> model = DictionaryFilter(2, random_state=0).partial_fit(X)
    >>> model.save(path)
    >>> bool((load(path).partial_fit(X).components_ == model.partial_fit(X).components_).all())
    True
    """
    with open(path, "rb") as file:
        content = file.read()
    try:
        found = _from_bytes(content)
        tree = found.tree
        _check_format(tree, str(path))
        name = tree["class"]
        if name not in _public_names():
            raise ModelFileError(f"{path} holds a {name}, which this version of factorstream does not have.")
        Estimator = getattr(_package(), name)
        _check_functions(path, tree["functions"], functions)
        estimator = Estimator.__new__(Estimator)
        vars(estimator).update(_attributes(tree, found._replace(functions=dict(functions)), Estimator._state_types))
        if set(Estimator._get_param_names()) != set(tree["parameters"]["items"]):
            raise ModelFileError(f"{path} has other parameters than {name} has in this version of factorstream.")
    except ModelFileError as problem:
        raise ModelFileError(str(problem).replace(_THIS_FILE, str(path))) from None
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, RecursionError) as problem:
        raise ModelFileError(f"{path} is damaged or was not written by factorstream; load another copy.") from problem
    return estimator


_THIS_FILE = "This file"


def _package() -> Any:
    """The package itself, looked up when it is needed: it imports its estimators, and they import this file."""
    return importlib.import_module("factorstream")


def _public_names() -> list[str]:
    return [name for name in _package().__all__ if name != "load"]


def _described(estimator: Any) -> Encoded:
    """Class, parameters, features and state of an estimator."""
    arrays: list[np.ndarray[Any, Any]] = []
    functions: dict[str, Callable[..., Any]] = {}
    known = vars(estimator)
    parameters = {name: known[name] for name in type(estimator)._get_param_names()}
    others = {name: value for name, value in known.items() if name not in parameters and name != "state_"}
    tree = {
        "format": FORMAT,
        "version": _package().__version__,
        "class": type(estimator).__name__,
        "parameters": encode(parameters, arrays, functions),
        "attributes": encode(others, arrays, functions),
        "state": encode(known.get("state_"), arrays, functions),
    }
    return Encoded({**tree, "functions": sorted(functions)}, arrays, functions)


def _attributes(tree: Mapping[str, Any], found: Encoded, types: tuple[type, ...]) -> dict[str, Any]:
    """What ``vars`` of the estimator is."""
    records = {one.__name__: one for one in types}
    out: dict[str, Any] = {}
    for part in ("parameters", "attributes"):
        out.update(decode(tree[part], found, records))
    state = decode(tree["state"], found, records)
    return out if state is None else {**out, "state_": state}


def _check_format(tree: Mapping[str, Any], where: str) -> None:
    written = tree["format"]
    if not isinstance(written, int) or written > FORMAT:
        raise ModelFileError(
            f"{where} was written by factorstream {tree['version']}, whose format {written} this version does not "
            "know; upgrade factorstream."
        )


def _check_functions(path: Any, wanted: list[str], given: Mapping[str, Any]) -> None:
    for name in wanted:
        if not callable(given.get(name)):
            raise ModelFileError(f"{path} was saved without its function {name}; pass it: load(path, {name}=...).")
    for name in given:
        if name not in wanted:
            raise ModelFileError(f"{path} has no function {name}; leave it out.")


# ------------------------------------------------------------------ values as JSON, and back


def encode(value: Any, arrays: list[np.ndarray[Any, Any]], functions: dict[str, Any], name: str = "") -> Any:
    """A value as JSON; its arrays are appended to ``arrays`` and referred to, functions go to ``functions``."""

    def inner(part: Any, name: str = name) -> Any:
        return encode(part, arrays, functions, name)

    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, np.generic | np.ndarray | np.dtype):
        return _encode_array(value, arrays)
    if isinstance(value, float):
        return value if np.isfinite(value) else {"!": "float", "value": repr(value)}
    if isinstance(value, list):
        return [inner(part) for part in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {"!": "dict", "items": {key: inner(part, key) for key, part in value.items()}}
    if (step := next((key for key, known in COEFFICIENT_STEPS.items() if known is value), None)) is not None:
        return {"!": "step", "name": step}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        fields = {field: inner(part, field) for field, part in zip(value._fields, value, strict=True)}
        return {"!": "record", "type": type(value).__name__, "fields": fields}
    if isinstance(value, tuple):
        return {"!": "tuple", "items": [inner(part) for part in value]}
    if isinstance(value, sparse.csr_array | sparse.csr_matrix):
        parts = {"data": value.data, "indices": value.indices, "indptr": value.indptr}
        return {"!": "csr", "shape": list(value.shape), **{key: inner(part) for key, part in parts.items()}}
    if isinstance(value, np.random.RandomState):
        return {"!": "RandomState", "state": inner(value.get_state(legacy=True))}
    if (pandas := sys.modules.get("pandas")) is not None and value is pandas.NA:
        return {"!": "pandas.NA"}
    if callable(value):
        functions[name] = value
        return {"!": "function", "name": name}
    raise TypeError(f"{name or 'A value'} of type {type(value).__name__} cannot be saved; use numbers, text or arrays.")


def _encode_array(value: Any, arrays: list[np.ndarray[Any, Any]]) -> Any:
    if isinstance(value, np.dtype):
        return {"!": "dtype", "name": value.name}
    if isinstance(value, np.generic):
        return {"!": "scalar", "value": _encode_array(np.asarray(value), arrays)}
    if value.dtype.kind in "OU":
        if not all(isinstance(name, str) for name in value.ravel()):
            raise TypeError("An array of objects that are not text cannot be saved.")
        return {"!": "names", "items": value.ravel().tolist(), "object": value.dtype.kind == "O"}
    if value.dtype.name not in KINDS:
        raise TypeError(f"An array of type {value.dtype} cannot be saved; use one of {', '.join(KINDS)}.")
    by_columns = value.flags.f_contiguous and not value.flags.c_contiguous  # BLAS sums in another order then
    stored = np.ascontiguousarray(value.T if by_columns else value).reshape(
        value.shape[::-1] if by_columns else value.shape
    )
    arrays.append(stored)
    return {"!": "array", "at": len(arrays) - 1, "columns first": by_columns}


def decode(tree: Any, found: Encoded, records: Mapping[str, type]) -> Any:
    """The value that :func:`encode` was given. Only the types of ``records`` are made."""

    def inner(part: Any) -> Any:
        return decode(part, found, records)

    if isinstance(tree, list):
        return [inner(part) for part in tree]
    if not isinstance(tree, dict):
        return tree
    kind = tree["!"]
    if kind == "array":
        value = dict(enumerate(found.arrays))[tree["at"]]
        return value.T if tree["columns first"] else value
    if kind == "record":
        made: Any = records[tree["type"]]
        if set(tree["fields"]) != set(made._fields):
            raise ValueError(f"{tree['type']} has other fields.")
        return made(**{field: inner(part) for field, part in tree["fields"].items()})
    if kind == "dict":
        return {key: inner(part) for key, part in tree["items"].items()}
    if kind == "tuple":
        return tuple(inner(part) for part in tree["items"])
    if kind == "csr":
        parts = (inner(tree["data"]), inner(tree["indices"]), inner(tree["indptr"]))
        return sparse.csr_array(parts, shape=tuple(tree["shape"]))
    return _decode_value(kind, tree, found, inner)


def _decode_value(kind: str, tree: Mapping[str, Any], found: Encoded, inner: Callable[[Any], Any]) -> Any:
    if kind == "float":
        return float(tree["value"])
    if kind == "scalar":
        return inner(tree["value"])[()]
    if kind == "dtype":
        return np.dtype({name: name for name in KINDS}[tree["name"]])
    if kind == "names":
        return np.array(tree["items"], dtype=object if tree["object"] else None)
    if kind == "step":
        return COEFFICIENT_STEPS[tree["name"]]
    if kind == "RandomState":
        random_state = np.random.RandomState()
        random_state.set_state(inner(tree["state"]))
        return random_state
    if kind == "pandas.NA":
        return importlib.import_module("pandas").NA
    if kind == "function":
        return found.functions[tree["name"]]
    raise ValueError(f"{kind} is not known.")


# ------------------------------------------------------------------ bytes


def _to_bytes(found: Encoded) -> bytes:
    """The file's content."""
    header: dict[str, Any] = {"__metadata__": {"sha256": "0" * 64, "factorstream": _json(found.tree)}}
    at, parts = 0, []
    for number, array in enumerate(found.arrays):
        part = array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
        place = {"shape": list(array.shape), "data_offsets": [at, at + len(part)]}
        header[str(number)] = {"dtype": KINDS[array.dtype.name], **place}
        parts.append(part)
        at += len(part)
    text = _json(header).encode()
    text += b" " * (-len(text) % 8)  # arrays begin at a multiple of 8 bytes
    content = bytearray(struct.pack("<Q", len(text)) + text + b"".join(parts))
    content[DIGITS] = hashlib.sha256(content).hexdigest().encode()
    return bytes(content)


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def _from_bytes(content: bytes) -> Encoded:
    """What a file holds; refused unless every bit is as it was written."""
    if content[8 : DIGITS.start] != START:
        raise ModelFileError(f"{_THIS_FILE} was not written by factorstream's save.")
    blank = bytearray(content)
    blank[DIGITS] = b"0" * 64
    if hashlib.sha256(blank).hexdigest().encode() != content[DIGITS]:
        raise ModelFileError(f"{_THIS_FILE} is damaged: its checksum does not match; load another copy of it.")
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    tree = json.loads(header.pop("__metadata__")["factorstream"])
    names = {code: name for name, code in KINDS.items()}
    arrays = []
    for number in range(len(header)):
        entry = header[str(number)]
        first, last = entry["data_offsets"]
        part = np.frombuffer(content, dtype=np.dtype(names[entry["dtype"]]).newbyteorder("<"), offset=0, count=0)
        part = np.frombuffer(content[8 + length + first : 8 + length + last], dtype=part.dtype)
        arrays.append(part.astype(part.dtype.newbyteorder("="), copy=True).reshape(entry["shape"]))
    return Encoded(tree, arrays, {})


__all__ = ["ModelFileError", "Saved", "load"]
