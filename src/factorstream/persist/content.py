"""The bytes of a file, in the layout of the `safetensors` format, with a checksum.

    8 bytes   length of the header, little-endian
    header    JSON: {"__metadata__": {"sha256": ..., "factorstream": ...}, "0": {"dtype", "shape", "data_offsets"}, ...}
    arrays    their bytes, one after another

``sha256`` is that of the whole file with its own 64 digits replaced by zeros; ``factorstream`` the description of the
model as a JSON text, in which arrays are referred to by the numbers of the header's entries.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from .tree import KINDS, Array, Encoded

START = b'{"__metadata__":{"sha256":"'
DIGITS = slice(8 + len(START), 8 + len(START) + 64)
"""Where every file has its checksum."""


class ModelFileError(ValueError):
    """A file that cannot be loaded, and why."""


def to_parts(found: Encoded) -> list[bytes | memoryview]:
    """The file's content, in parts: the header, and the memory of each array."""
    header: dict[str, Any] = {"__metadata__": {"sha256": "0" * 64, "factorstream": _json(found.tree)}}
    at = 0
    parts: list[bytes | memoryview] = []
    for number, array in enumerate(found.arrays):
        place = {"shape": list(array.shape), "data_offsets": [at, at + array.nbytes]}
        header[str(number)] = {"dtype": KINDS[array.dtype.name], **place}
        little_endian = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        parts.append(_memory(little_endian))
        at += array.nbytes
    text = _json(header).encode()
    text += b" " * (-len(text) % 8)  # arrays begin at a multiple of 8 bytes
    start = struct.pack("<Q", len(text)) + text
    return [start[: DIGITS.start] + _checksum([start, *parts]) + start[DIGITS.stop :], *parts]


def from_file(path: str | os.PathLike[str]) -> Encoded:
    """What a file holds; refused unless every bit is as it was written."""
    with Path(path).open("rb") as file:
        start = file.read(DIGITS.stop)
        if start[8 : DIGITS.start] != START or len(start) < DIGITS.stop:
            raise ModelFileError(f"{path} was not written by factorstream's save, or is cut off; load another file.")
        (length,) = struct.unpack("<Q", start[:8])
        rest = os.fstat(file.fileno()).st_size - 8 - length
        if rest < 0 or 8 + length < DIGITS.stop:
            raise ModelFileError(f"{path} is cut off; load another copy of it.")
        text = start[8:] + file.read(8 + length - len(start))
        header = _unique_keys(text)
        tree = _unique_keys(header.pop("__metadata__")["factorstream"])
        arrays = _empty_arrays(header, rest)
        for array in arrays:
            file.readinto(_memory(array))
    blank = start[: DIGITS.start] + b"0" * 64 + text[DIGITS.stop - 8 :]
    if _checksum([blank, *map(_memory, arrays)]) != start[DIGITS]:
        raise ModelFileError(f"{path} is damaged: its checksum does not match; load another copy of it.")
    return Encoded(tree, [array.astype(array.dtype.newbyteorder("="), copy=False) for array in arrays], {})


def _empty_arrays(header: dict[str, Any], size: int) -> list[Array]:
    """Arrays as the header describes them: one after another, and together ``size`` bytes."""
    names = {code: name for name, code in KINDS.items()}
    described = []
    at = 0
    for number in range(len(header)):
        entry = header[str(number)]
        dtype, shape = np.dtype(names[entry["dtype"]]), entry["shape"]
        if not all(type(length) is int and length >= 0 for length in shape):
            raise ValueError("A shape is not made of lengths.")
        end = at + math.prod(shape) * dtype.itemsize
        if entry["data_offsets"] != [at, end] or end > size:
            raise ValueError("Arrays do not follow one another.")
        described.append((shape, dtype.newbyteorder("<")))
        at = end
    if at != size:
        raise ValueError("There are bytes that belong to no array.")
    return [np.empty(shape, dtype) for shape, dtype in described]


def _memory(array: Array) -> memoryview:
    """The bytes of an array, not copied."""
    return array.reshape(-1).view(np.uint8).data


def _checksum(parts: Iterable[bytes | memoryview]) -> bytes:
    found = hashlib.sha256()
    for part in parts:
        found.update(part)
    return found.hexdigest().encode()


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def _unique_keys(text: str | bytes) -> Any:
    """JSON in which no object has a key twice: of two, readers do not agree which one counts."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        out = dict(pairs)
        if len(out) != len(pairs):
            raise ValueError("A key occurs twice.")
        return out

    return json.loads(text, object_pairs_hook=once)
