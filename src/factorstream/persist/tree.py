"""Parameters and states as JSON and a list of arrays, and back.

Numbers, text, lists, true, false and null are themselves. What JSON has no word for is an object with the key "!",
whose value says what it is: a line of ``CODECS``. Decoding makes nothing but these things, and NamedTuples of the types
that it is given. Encoding takes only what comes back the same: whatever else a value may be is kept as it is, outside
the tree.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy import sparse

from ..core.filter.coefficients import COEFFICIENT_STEPS

Array: TypeAlias = np.ndarray[Any, Any]
Node: TypeAlias = dict[str, Any]

KINDS = {
    "float64": "F64", "float32": "F32", "float16": "F16", "bool": "BOOL",
    "int64": "I64", "int32": "I32", "int16": "I16", "int8": "I8",
    "uint64": "U64", "uint32": "U32", "uint16": "U16", "uint8": "U8",
}  # fmt: skip
"""Types of arrays, by NumPy's names and by those of the header."""


class Encoded(NamedTuple):
    """Something as JSON can hold it, with the arrays and functions that JSON cannot hold."""

    tree: Any
    arrays: list[Array]
    objects: dict[str, Any]
    """What is neither: functions, and anything else that a parameter may be, by the parameter's name.

    A pickle keeps them; a file does not, and asks for the functions when it is loaded."""


class Encoder:
    """Makes JSON of values, and collects their arrays and the objects that JSON cannot describe."""

    def __init__(self, types: tuple[type, ...]) -> None:
        self.types = types
        self.arrays: list[Array] = []
        self.objects: dict[str, Any] = {}
        self._seen: dict[Any, tuple[int, Array]] = {}

    def encode(self, value: Any, name: str = "") -> Any:
        """A value as JSON; ``name`` is the parameter or field that it belongs to."""
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float and np.isfinite(value):
            return value
        if type(value) is list:
            return [self.encode(part, name) for part in value]
        kind = next(kind for kind, codec in CODECS.items() if codec.fits(self, value))
        return {"!": kind, **CODECS[kind].encode(self, value, name)}

    def add(self, array: Array) -> int:
        """The number of an array of ``arrays``; an array that several values share is there once."""
        key = (array.ctypes.data, array.shape, array.strides, array.dtype.name)
        if key not in self._seen:
            self._seen[key] = len(self.arrays), array  # kept, so that its memory is not used for another one
            self.arrays.append(array.transpose(_axes(array)))
        return self._seen[key][0]

    def keep(self, value: Any, name: str) -> str:
        """Put a value into ``objects``; returns its key, the name of its parameter, numbered if that is taken."""
        key, number = name, 1
        while key in self.objects and self.objects[key] is not value:
            number += 1
            key = f"{name}_{number}"
        self.objects[key] = value
        return key


class Decoder(NamedTuple):
    """Makes values of JSON, of ``arrays`` and of ``objects``; its only NamedTuples are of the types in ``records``.

    ``dropped`` has fields that files of earlier versions have and nothing needs any more, as "Type.field".
    """

    arrays: list[Array]
    objects: Mapping[str, Any]
    records: Mapping[str, type]
    dropped: frozenset[str] = frozenset()

    def decode(self, tree: Any) -> Any:
        """The value that :meth:`Encoder.encode` was given."""
        if isinstance(tree, list):
            return [self.decode(part) for part in tree]
        return CODECS[tree["!"]].decode(self, tree) if isinstance(tree, dict) else tree


class Codec(NamedTuple):
    """One kind of value: whether something is one, its description as JSON without the key "!", and the way back."""

    fits: Callable[[Encoder, Any], bool]
    encode: Callable[[Encoder, Any, str], Node]
    decode: Callable[[Decoder, Node], Any]


def _check(fact: bool, what: str) -> None:
    if not fact:
        raise ValueError(f"{what} is not as it was written.")


# ------------------------------------------------------------------ arrays


def _axes(array: Array) -> list[int]:
    """The array's axes from the one whose steps in memory are longest: BLAS sums in another order if they change."""
    axes = list(range(array.ndim))
    return axes if array.flags.c_contiguous else sorted(axes, key=lambda axis: -abs(array.strides[axis]))


def _is_array(_: Encoder, value: Any) -> bool:
    """A plain array of numbers; joblib makes memory maps of large ones, whose numbers come back in memory."""
    return type(value) in (np.ndarray, np.memmap) and value.dtype.name in KINDS and value.dtype.isnative


def _encode_array(encoder: Encoder, value: Array, _: str) -> Node:
    axes = _axes(value)
    return {"at": encoder.add(value), **({} if axes == sorted(axes) else {"axes": axes})}


def _decode_array(decoder: Decoder, node: Node) -> Array:
    at = node["at"]
    _check(type(at) is int and 0 <= at < len(decoder.arrays), "array")
    array = decoder.arrays[at]
    return array.transpose(np.argsort(node["axes"]).tolist()) if "axes" in node else array


def _is_names(_: Encoder, value: Any) -> bool:
    return type(value) is np.ndarray and value.dtype == object and all(type(item) is str for item in value.flat)


def _encode_names(_: Encoder, value: Array, __: str) -> Node:
    return {"items": value.ravel().tolist(), "shape": list(value.shape)}


def _decode_names(_: Decoder, node: Node) -> Array:
    _check(all(type(item) is str for item in node["items"]), "names")
    return np.array(node["items"], dtype=object).reshape(node["shape"])


def _is_scalar(encoder: Encoder, value: Any) -> bool:
    return isinstance(value, np.generic) and type(value) is value.dtype.type and _is_array(encoder, np.asarray(value))


def _decode_scalar(decoder: Decoder, node: Node) -> Any:
    array = _decode_array(decoder, node)
    _check(array.shape == (), "scalar")
    return array[()]


def _is_csr(encoder: Encoder, value: Any) -> bool:
    if type(value) not in (sparse.csr_array, sparse.csr_matrix) or len(value.shape) != 2:
        return False
    return all(_is_array(encoder, part) for part in (value.data, value.indices, value.indptr))


def _encode_csr(encoder: Encoder, value: Any, name: str) -> Node:
    parts = [encoder.encode(part, name) for part in (value.data, value.indices, value.indptr)]
    return {"shape": list(value.shape), "matrix": type(value) is sparse.csr_matrix, "parts": parts}


def _decode_csr(decoder: Decoder, node: Node) -> Any:
    data, indices, indptr = (_decode_array(decoder, part) for part in node["parts"])
    n, m = node["shape"]
    _check(type(n) is int and type(m) is int and min(n, m) >= 0 and indptr.shape == (n + 1,), "csr")
    _check(indices.dtype == indptr.dtype and indptr.dtype.name in ("int32", "int64"), "csr")
    made = (sparse.csr_matrix if node["matrix"] else sparse.csr_array)((data, indices, indptr), shape=(n, m))
    made.indices, made.indptr = indices, indptr  # SciPy may have chosen a smaller type
    made.check_format(full_check=True)
    return made


# ------------------------------------------------------------------ records and parameters


def _decode_dict(decoder: Decoder, node: Node) -> dict[str, Any]:
    return {key: decoder.decode(part) for key, part in node["items"].items()}


def _encode_record(encoder: Encoder, value: Any, _: str) -> Node:
    fields = {field: encoder.encode(part, field) for field, part in value._asdict().items()}
    return {"type": type(value).__name__, "fields": fields}


def _decode_record(decoder: Decoder, node: Node) -> Any:
    made: Any = decoder.records[node["type"]]
    given = {field for field in node["fields"] if f"{node['type']}.{field}" not in decoder.dropped}
    missing = set(made._fields) - given  # fields that the writer's version did not have yet
    _check(given <= set(made._fields) and missing <= set(made._field_defaults), "record")
    return made(**{field: decoder.decode(node["fields"][field]) for field in given})


def _is_random_state(_: Encoder, value: Any) -> bool:
    return type(value) is np.random.RandomState and value.get_state(legacy=False)["bit_generator"] == "MT19937"


def _encode_random_state(encoder: Encoder, value: np.random.RandomState, name: str) -> Node:
    _, key, *numbers = value.get_state(legacy=True)
    return {"key": encoder.encode(key, name), "numbers": numbers}


def _decode_random_state(decoder: Decoder, node: Node) -> np.random.RandomState:
    key = _decode_array(decoder, node["key"])
    position, has_gauss, gauss = node["numbers"]
    _check(key.shape == (624,) and key.dtype == np.uint32, "RandomState")
    _check(type(position) is int and 0 <= position <= 624, "RandomState")  # NumPy would read beyond its memory
    _check(type(has_gauss) is int and has_gauss in (0, 1) and type(gauss) is float, "RandomState")
    made = np.random.RandomState()
    made.set_state(("MT19937", key, position, has_gauss, gauss))
    return made


def _step_name(value: Any) -> str | None:
    return next((name for name, step in COEFFICIENT_STEPS.items() if step is value), None)


def _is_missing(_: Encoder, value: Any) -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is not None and value is pandas.NA


CODECS = {
    "array": Codec(_is_array, _encode_array, _decode_array),
    "scalar": Codec(_is_scalar, lambda to, value, name: _encode_array(to, np.asarray(value), name), _decode_scalar),
    "names": Codec(_is_names, _encode_names, _decode_names),
    "dtype": Codec(
        lambda to, value: isinstance(value, np.dtype) and value.name in KINDS and value.isnative,
        lambda to, value, _: {"name": value.name},
        lambda of, node: {name: np.dtype(name) for name in KINDS}[node["name"]],
    ),
    "float": Codec(
        lambda to, value: type(value) is float,
        lambda to, value, _: {"value": repr(value)},
        lambda of, node: {"nan": np.nan, "inf": np.inf, "-inf": -np.inf}[node["value"]],
    ),
    "dict": Codec(
        lambda to, value: type(value) is dict and all(type(key) is str for key in value),
        lambda to, value, _: {"items": {key: to.encode(part, key) for key, part in value.items()}},
        _decode_dict,
    ),
    "step": Codec(
        lambda to, value: _step_name(value) is not None,
        lambda to, value, _: {"name": _step_name(value)},
        lambda of, node: COEFFICIENT_STEPS[node["name"]],
    ),
    "record": Codec(lambda to, value: type(value) in to.types, _encode_record, _decode_record),
    "tuple": Codec(
        lambda to, value: type(value) is tuple,
        lambda to, value, name: {"items": [to.encode(part, name) for part in value]},
        lambda of, node: tuple(of.decode(part) for part in node["items"]),
    ),
    "csr": Codec(_is_csr, _encode_csr, _decode_csr),
    "RandomState": Codec(_is_random_state, _encode_random_state, _decode_random_state),
    "pandas.NA": Codec(_is_missing, lambda *_: {}, lambda *_: importlib.import_module("pandas").NA),
    "object": Codec(
        lambda *_: True,
        lambda to, value, name: {"name": to.keep(value, name)},
        lambda of, node: of.objects[node["name"]],
    ),
}
"""Every kind of value; the first that fits describes it."""
