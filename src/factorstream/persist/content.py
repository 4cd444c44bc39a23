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
import struct
from typing import Any

import numpy as np

from .tree import KINDS, Encoded

START = b'{"__metadata__":{"sha256":"'
DIGITS = slice(8 + len(START), 8 + len(START) + 64)
"""Where every file has its checksum."""


class ModelFileError(ValueError):
    """A file that cannot be loaded, and why."""


THIS_FILE = "This file"
"""Stands for the path in messages, until someone who knows it puts it in."""


def to_bytes(found: Encoded) -> bytes:
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


def from_bytes(content: bytes) -> Encoded:
    """What a file holds; refused unless every bit is as it was written."""
    if content[8 : DIGITS.start] != START:
        raise ModelFileError(f"{THIS_FILE} was not written by factorstream's save, or is cut off; load another file.")
    blank = bytearray(content)
    blank[DIGITS] = b"0" * 64
    if hashlib.sha256(blank).hexdigest().encode() != content[DIGITS]:
        raise ModelFileError(f"{THIS_FILE} is damaged: its checksum does not match; load another copy of it.")
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    tree = json.loads(header.pop("__metadata__")["factorstream"])
    names = {code: name for name, code in KINDS.items()}
    arrays = []
    for number in range(len(header)):
        entry = header[str(number)]
        first, last = entry["data_offsets"]
        dtype = np.dtype(names[entry["dtype"]])
        part = np.frombuffer(content[8 + length + first : 8 + length + last], dtype=dtype.newbyteorder("<"))
        arrays.append(part.astype(dtype).reshape(entry["shape"]))
    return Encoded(tree, arrays, {})
