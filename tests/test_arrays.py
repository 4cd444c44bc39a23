"""Arrays of other libraries, with array-api-strict as one of them."""

from __future__ import annotations

import array_api_strict
import numpy as np
import pytest
from scipy import sparse

from factorstream.arrays import (
    add_outer,
    add_product,
    as_dtype,
    beside,
    count_by_number,
    device_of,
    divided_less,
    dtype_of,
    gathered,
    is_here,
    namespace,
    raising_as_numpy,
    set_rows,
    to_host,
)
from strict_place import DEVICE

VALUES = np.arange(6.0).reshape(2, 3)


def there(values=VALUES):
    return array_api_strict.asarray(values, device=DEVICE)


@pytest.mark.parametrize("values", [VALUES, sparse.csr_array(VALUES), 1.5, None, [1.0], np.float64(2.0)])
def test_what_is_no_array_of_another_library_is_here(values):
    assert is_here(values)
    assert to_host(values) is values
    assert device_of(values) is None


def test_an_array_of_another_library_is_elsewhere():
    assert not is_here(there())
    assert device_of(there()) == DEVICE
    assert namespace(there()) is array_api_strict


def test_numbers_go_there_and_back():
    moved = beside(VALUES, there())
    assert device_of(moved) == DEVICE
    np.testing.assert_array_equal(to_host(moved), VALUES)
    assert beside(VALUES, VALUES) is VALUES


def test_numpy_has_the_names_of_the_standard():
    assert namespace(VALUES).permute_dims(VALUES, (1, 0)).shape == (3, 2)


def test_errors_of_linear_algebra_are_those_of_numpy():
    class _LinAlgError(RuntimeError):
        """As PyTorch names it."""

    with pytest.raises(np.linalg.LinAlgError, match="singular"), raising_as_numpy():
        raise _LinAlgError("singular")
    with pytest.raises(RuntimeError, match="other"), raising_as_numpy():
        raise RuntimeError("other")


def test_types_of_numbers_have_the_names_of_numpy():
    single = there(VALUES.astype(np.float32))
    assert dtype_of(single) == dtype_of(to_host(single)) == np.float32
    assert dtype_of(there(VALUES > 2.0)).name == "bool"
    assert dtype_of(as_dtype(there(), np.dtype(np.float32))) == dtype_of(as_dtype(VALUES, np.float32)) == np.float32


@pytest.mark.parametrize("put", [there, np.asarray])
def test_numbers_are_counted(put):
    """By the library's own function, and by the standard's where it has none."""
    numbers, weights = np.array([3, 0, 3, 1, 3]), np.array([0.5, 1.0, 2.0, 4.0, 8.0])
    assert to_host(count_by_number(put(numbers), 5)).tolist() == [1.0, 1.0, 0.0, 3.0, 0.0]
    assert to_host(count_by_number(put(numbers), 5, put(weights))).tolist() == [1.0, 4.0, 0.0, 10.5, 0.0]
    assert to_host(count_by_number(put(numbers[:0]), 2)).tolist() == [0.0, 0.0]


def test_what_the_standard_lacks():
    idx, mask = np.array([1]), np.array([False, True])
    np.testing.assert_array_equal(to_host(gathered(there(), there(idx), axis=1)), VALUES[:, [1]])
    g, unit = np.array([1.0, 2.0, 4.0]), np.array([2.0, 4.0, 8.0])
    np.testing.assert_array_equal(
        to_host(add_outer(there(VALUES.copy()), there(g[:2]), there(g))), VALUES + np.outer(g[:2], g)
    )
    square = VALUES @ VALUES.T
    summed = add_product(there(square.copy()), there(), there(VALUES.T))
    np.testing.assert_array_equal(to_host(summed), 2.0 * square)
    np.testing.assert_array_equal(to_host(divided_less(there(), there(unit), there(g))), VALUES / unit - g)
    changed = set_rows(there(VALUES.copy()), there(mask), there(idx), there(g[None]))
    np.testing.assert_array_equal(to_host(changed), [VALUES[0], g])
