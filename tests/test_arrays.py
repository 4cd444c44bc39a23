"""Arrays of other libraries, with array-api-strict as one of them."""

from __future__ import annotations

import array_api_strict
import numpy as np
import pytest
from scipy import sparse

from factorstream.arrays import (
    at_least,
    beside,
    column_products,
    copied,
    device_of,
    empty_beside,
    factored,
    full_like,
    is_here,
    namespace,
    picked,
    raising_as_numpy,
    to_host,
    total,
    zeros_beside,
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


@pytest.mark.parametrize("put", [lambda values: values, there], ids=["numpy", "strict"])
def test_what_the_standard_has_no_name_for(put):
    values = put(VALUES)
    found = {
        "zeros": (zeros_beside(values, 2, 3), np.zeros((2, 3))),
        "empty": (0.0 * full_like(empty_beside(values, 2), 1.0), np.zeros(2)),
        "full": (full_like(values, 2.5), np.full((2, 3), 2.5)),
        "total": (total(values), np.float64(15.0)),
        "number": (at_least(values, 2.0), np.maximum(VALUES, 2.0)),
        "array": (at_least(values, put(VALUES[:1])), np.maximum(VALUES, VALUES[:1])),
        "columns": (column_products(values, values), (VALUES**2).sum(axis=0)),
        "picked": (picked(values, put(np.array([2, 0])), 1), VALUES[:, [2, 0]]),
        "copied": (copied(values), VALUES),
        "factored": (factored(put(np.eye(3)[None] * 4.0)), 2.0 * np.eye(3)[None]),
    }
    for name, (one, two) in found.items():
        assert device_of(one) == device_of(values), name
        np.testing.assert_array_equal(to_host(one), two, err_msg=name)
    copied(values)[0, 0] = 7.0
    np.testing.assert_array_equal(to_host(values), VALUES)
