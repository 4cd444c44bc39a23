"""Parameters and states as JSON and a list of arrays, and back.

Numbers, text, lists, true, false and null are themselves. What JSON has no word for is an object with the key "!",
whose value says what it is. Decoding makes nothing but these things, and NamedTuples of the types that it is given.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..core.filter.coefficients import COEFFICIENT_STEPS

KINDS = {
    "float64": "F64", "float32": "F32", "float16": "F16", "bool": "BOOL",
    "int64": "I64", "int32": "I32", "int16": "I16", "int8": "I8",
    "uint64": "U64", "uint32": "U32", "uint16": "U16", "uint8": "U8",
}  # fmt: skip
"""Types of arrays, by NumPy's names and by those of the header."""


class Encoded(NamedTuple):
    """Something as JSON can hold it, with the arrays and functions that JSON cannot hold."""

    tree: Any
    arrays: list[np.ndarray[Any, Any]]
    objects: dict[str, Any]
    """What is neither: functions, and anything else that a parameter may be, by the parameter's name.

    A pickle keeps them; a file does not, and asks for the functions when it is loaded."""


def encode(value: Any, arrays: list[np.ndarray[Any, Any]], objects: dict[str, Any], name: str = "") -> Any:
    """A value as JSON; its arrays are appended to ``arrays`` and referred to, other objects go to ``objects``."""

    def inner(part: Any, name: str = name) -> Any:
        return encode(part, arrays, objects, name)

    if value is None or type(value) in (bool, int, str):
        return value
    if isinstance(value, np.generic | np.ndarray | np.dtype):
        return _encode_array(value, arrays)
    if type(value) is float:
        return value if np.isfinite(value) else {"!": "float", "value": repr(value)}
    if type(value) is list:
        return [inner(part) for part in value]
    if type(value) is dict and all(isinstance(key, str) for key in value):
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
    return {"!": "object", "name": _kept(value, objects, name)}


def _kept(value: Any, objects: dict[str, Any], name: str) -> str:
    """The name under which ``objects`` keeps the value: that of its parameter, with a number if it is taken."""
    key, number = name, 1
    while key in objects and objects[key] is not value:
        number += 1
        key = f"{name}_{number}"
    objects[key] = value
    return key


def _encode_array(value: Any, arrays: list[np.ndarray[Any, Any]]) -> Any:
    if isinstance(value, np.dtype):
        return {"!": "dtype", "name": value.name}
    if isinstance(value, np.generic):
        return {"!": "scalar", "value": _encode_array(np.asarray(value), arrays)}
    if value.dtype.kind in "OU":
        if not all(type(name) is str for name in value.ravel()):
            raise TypeError("An array of objects that are not text cannot be saved; use numbers or text.")
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
    if kind == "object":
        return found.objects[tree["name"]]
    raise ValueError(f"{kind} is not known.")
