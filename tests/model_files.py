"""Files of models opened, changed and closed again by someone who can compute checksums."""

from __future__ import annotations

import hashlib
import json
import struct

import numpy as np
import pytest

from factorstream import load
from factorstream.persist import ModelFileError
from factorstream.persist.content import DIGITS

SENTENCE = r"^[^\n]*\.$"
"""One line that ends like a sentence."""


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


def leaves(value):
    """Every array in a state."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, tuple | list):
        for part in value:
            yield from leaves(part)
