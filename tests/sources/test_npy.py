"""Arrays come out of their files as they went in, but for the gaps."""

from __future__ import annotations

import io

import numpy as np
import pytest

from factorstream.sources.tables import Bounds, TableError, encode, read_table


@pytest.mark.parametrize("dtype", ["f4", "f8", ">f8", "f2"])
def test_arrays(dtype, tmp_path):
    X = np.array([[1.0, np.nan, np.inf], [np.nan, 4.0, 1.0]], dtype=dtype)
    np.save(tmp_path / "x.npy", X)
    table = read_table(tmp_path / "x.npy")
    assert table.numeric == [0, 1]
    filled = np.array([[9.0, 2.0], [3.0, 9.0]])
    out = np.load(io.BytesIO(encode(table, filled)))
    assert out.dtype == X.dtype
    np.testing.assert_array_equal(out, [[1, 2, np.inf], [3, 4, 1]])
    wide = np.load(io.BytesIO(encode(table, filled, Bounds(filled - 1, filled + 1))))
    np.testing.assert_array_equal(wide, [[1, 1, 1, 2, 1, 3, np.inf], [3, 2, 4, 4, 4, 4, 1]])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"nonsense", "not an NPY file"),
        (b"PK\x03\x04 and no more of a zip file", "not an NPY file"),
        (np.zeros(3), "shape"),
        (np.zeros((0, 2)), "shape"),
        (np.array([["a"]]), "real numbers"),
        (np.array([[None]], dtype=object), "not an NPY file"),
        (np.array([[1j]]), "real numbers"),
    ],
)
def test_arrays_that_are_no_table(content, words, tmp_path):
    path = tmp_path / "bad.npy"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        np.save(path, content, allow_pickle=True)
    with pytest.raises(TableError, match=words):
        read_table(path)


def test_a_header_with_a_flipped_bit_is_read_or_refused(tmp_path):
    """Every bit of it: NumPy takes parts of a header for Python, and fails in many ways."""
    path = tmp_path / "x.npy"
    np.save(path, np.arange(12.0).reshape(4, 3))
    good = path.read_bytes()
    refused = 0
    for bit in range(8 * (len(good) - 12 * 8)):
        bad = bytearray(good)
        bad[bit // 8] ^= 1 << (bit % 8)
        path.write_bytes(bad)
        try:
            read_table(path)
        except TableError:
            refused += 1
    assert refused > 900
